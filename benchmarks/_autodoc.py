"""`onnx-autodoc card MODEL --format json`, with a `--dim` for every size and a `--value` for every value of the
recorded run; the whole card is made. `compute.macs` and `parameters.total` are compared. Where
`compute.coverage.gaps` names operators that may contain MACs, the MACs are reported as a lower bound. Where the
branch is data-dependent, the more expensive one is counted and reported as such (`compute.cheapest` has the other):
compared with a run that took the other one, that counts as wrong here.
"""

import json
from typing import Any

from benchmarks._entries import Entry
from benchmarks._measure import autodoc_command


def command(entry: Entry, model: str) -> list[str]:
    dims = [f"{name}.{axis}={size}" for name, shape in entry.shapes.items() for axis, size in enumerate(shape)]
    values = [f"{name}={value}" for name, value in entry.values.items()]
    options = [word for dim in dims for word in ("--dim", dim)] + [
        word for value in values for word in ("--value", value)
    ]
    return autodoc_command("card", model, "--format", "json", *options)


def parse_card(text: str) -> dict[str, Any]:
    """Return the figures of a JSON card; a missing section is no result."""
    card: dict[str, Any] = json.loads(text)
    compute = card.get("compute") or {}
    gaps = (compute.get("coverage") or {}).get("gaps") or ()
    params = (card.get("parameters") or {}).get("total")
    return {"macs": compute.get("macs"), "params": params, "at_least": any(gap["macs"] for gap in gaps)}
