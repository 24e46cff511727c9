"""The models of the scoreboard with their reference values.

Loads no model and imports nothing heavy: a child's peak memory starts at its parent's.
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
    values: dict[str, int]  # of the inputs that control it
    macs: int
    params: int | None = None  # weight elements in the file, if recorded
    tolerance: int = 0


def load_entries() -> list[Entry]:
    """Return every model whose file is present, by name."""
    models: dict[str, dict[str, Any]] = json.loads((DATA / "models.json").read_text())
    candidates = [make_entry(name, models[name]) for name in sorted(models)]
    return [candidate for candidate in candidates if candidate.path.is_file()]


def make_entry(name: str, model: dict[str, Any]) -> Entry:
    return Entry(
        name,
        model_path(name, model),
        shapes=model["inputs"],
        values=model.get("values", {}),
        macs=model["flops_2mac"] // 2,
        params=model.get("weights_in_file"),
        tolerance=model.get("weights_tolerance", 0),
    )


def model_path(name: str, model: dict[str, Any]) -> Path:
    """Return the path of its graph, or of the file from `make corpus` if the graph may not be redistributed."""
    if model.get("graph"):
        return DATA / str(model["graph"])
    return REGISTRY / name / Path(model["origin"]["members"][0]).name
