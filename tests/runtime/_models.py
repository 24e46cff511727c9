"""Small models, run in this process instead of a worker."""

from pathlib import Path
from typing import Any

import onnx

from onnx_autodoc.analysis import Facts, measure
from onnx_autodoc.architecture import describe
from onnx_autodoc.card import Agreement
from onnx_autodoc.readers import read_model
from onnx_autodoc.runtime import make_feeds
from onnx_autodoc.runtime.agreement import compare_executions
from onnx_autodoc.runtime.protocol import Failure, OperatorsResult, Result, RunRequest, ShapesResult
from onnx_autodoc.runtime.worker import run_job
from onnx_autodoc.shapes import Request, bind_and_infer, parse_request
from tests._text import proto

HEAD = '<ir_version: 10, opset_import: ["" : 20, "local" : 1]>'


def save_model(folder: Path, text: str, functions: str = "", opset: int = 20) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(proto(text, opset, functions).SerializeToString())
    return path


def measure_file(path: Path, *dims: str, values: tuple[str, ...] = (), request: Request | None = None) -> Facts:
    model = read_model(path)
    binding, shapes = bind_and_infer(model, request or parse_request(dims, values=values))
    return measure(model, binding, shapes)


def run_in_process(path: Path, facts: Facts, job: Any) -> Result | Failure:
    feeds = make_feeds(facts, describe(facts).samples)
    request = RunRequest(job, bytes(path), feeds, threads=1, runs=2, folder=str(path.parent))
    return run_job(request, lambda _: None, tuple)


def verify_shapes(path: Path, values: tuple[str, ...] = (), request: Request | None = None) -> Agreement:
    facts = measure_file(path, values=values, request=request)
    result = run_in_process(path, facts, "shapes")
    assert isinstance(result, ShapesResult), result
    return compare_executions(facts, result.executions, result.truncated)


def run_operators(path: Path) -> OperatorsResult:
    result = run_in_process(path, measure_file(path), "operators")
    assert isinstance(result, OperatorsResult), result
    return result


def rename_nodes(path: Path, names: dict[int, str]) -> Path:
    """Set the names of some nodes; the text notation names none or all."""
    model = onnx.load(path)
    for at, name in names.items():
        model.graph.node[at].name = name
    path.write_bytes(model.SerializeToString())
    return path
