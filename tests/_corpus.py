"""The corpus: real models with recorded results. `graphs/` has them without large weights."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from onnx_autodoc.api import make_card
from onnx_autodoc.readers import read_model
from onnx_autodoc.render import Report
from onnx_autodoc.shapes import Request, Shapes, bind, infer_shapes, parse_request

DATA = Path(__file__).parent / "data" / "corpus"
REGISTRY = Path(__file__).parent.parent / ".corpus"  # filled by `make corpus`, with weights
MODELS: dict[str, dict[str, Any]] = json.loads((DATA / "models.json").read_text())
GRAPH_NAMES = sorted(name for name, model in MODELS.items() if model.get("graph"))


def graph(name: str) -> Path:
    return DATA / str(MODELS[name]["graph"])


@cache
def load_report(name: str) -> Report:
    """Return the report at the default sizes, cached for all tests."""
    return make_card(graph(name), Request())


def request(name: str) -> Request:
    """Return the binding of the recorded run."""
    model = MODELS[name]
    dims = [f"{key}.{axis}={size}" for key, shape in model["inputs"].items() for axis, size in enumerate(shape)]
    return parse_request(
        dims=tuple(dims), values=tuple(f"{key}={value}" for key, value in model.get("values", {}).items())
    )


def read_recorded_shapes(name: str) -> dict[str, list[int]]:
    """Return the shapes that onnxruntime produced, by value name; inside subgraphs by scope and name."""
    shapes: dict[str, list[int]] = json.loads((DATA / MODELS[name]["shapes"]).read_text())
    return shapes


@cache
def infer_recorded(path: Path, name: str) -> Shapes:
    model = read_model(path)
    return infer_shapes(model, bind(model, request(name)))


def index_values(shapes: Shapes) -> dict[str, tuple[tuple[int, ...] | None, str, str]]:
    """Return each value's concrete shape, its node's gap and its scope, by the name in the record."""
    values = {}
    for scope, step in shapes.rows():
        for value, info in zip(step.node.outputs, step.outputs):
            values[f"{scope}/{value}" if scope else value] = (info.concrete, step.gap, scope)
    return values
