"""`onnx-autodoc card MODEL --format json`, with a `--dim` for every size and a `--value` for every value of the
recorded run; the whole card is made. Compared are `compute.macs` and `parameters.total`. Where `compute.coverage.gaps`
names operators that may hold multiply-adds, the MACs are said to be a lower bound. Where only the data decide which
branch runs, it counts the dearer one and says so (`compute.cheapest` has the other end): against a run that took the
cheaper one, that is wrong here.
"""

import json
from typing import Any

from benchmarks._entries import Entry
from benchmarks._measure import ours


def command(entry: Entry, model: str) -> list[str]:
    dims = [f"{name}.{axis}={size}" for name, shape in entry.shapes.items() for axis, size in enumerate(shape)]
    values = [f"{name}={value}" for name, value in entry.values.items()]
    options = [word for dim in dims for word in ("--dim", dim)] + [
        word for value in values for word in ("--value", value)
    ]
    return ours("card", model, "--format", "json", *options)


def found(text: str) -> dict[str, Any]:
    """What the card says; a section that it does not have is no answer."""
    card: dict[str, Any] = json.loads(text)
    compute = card.get("compute") or {}
    gaps = (compute.get("coverage") or {}).get("gaps") or ()
    params = (card.get("parameters") or {}).get("total")
    return {"macs": compute.get("macs"), "params": params, "at_least": any(gap["macs"] for gap in gaps)}
