"""The models of the scoreboard with their recorded truth. Holds no model itself, and imports nothing heavy: the peak
memory of a tool's run starts at that of the process that starts it.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data" / "corpus"
REGISTRY = ROOT / ".corpus"  # filled by `make corpus`


class Entry(NamedTuple):
    name: str
    path: Path
    shapes: dict[str, list[int]]  # of the inputs, in the recorded run
    values: dict[str, int]  # of the inputs that steer it
    macs: int
    params: int | None = None  # weight elements in the file, where that is recorded
    tolerance: int = 0


def entries() -> list[Entry]:
    """Every model whose file is here, by name."""
    models: dict[str, dict[str, Any]] = json.loads((DATA / "models.json").read_text())
    found = [entry(name, models[name]) for name in sorted(models)]
    return [each for each in found if each.path.is_file()]


def entry(name: str, model: dict[str, Any]) -> Entry:
    return Entry(
        name,
        file(name, model),
        shapes=model["inputs"],
        values=model.get("values", {}),
        macs=model["flops_2mac"] // 2,
        params=model.get("weights_in_file"),
        tolerance=model.get("weights_tolerance", 0),
    )


def file(name: str, model: dict[str, Any]) -> Path:
    """Its graph, or what `make corpus` brought where the graph may not be copied."""
    if model.get("graph"):
        return DATA / str(model["graph"])
    return REGISTRY / name / Path(model["origin"]["members"][0]).name
