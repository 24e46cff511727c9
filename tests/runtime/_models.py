"""Small models, run in this process: what the child would answer, without its start."""

from pathlib import Path
from typing import Any

import onnx

from onnx_autodoc.analysis import Facts, measure
from onnx_autodoc.architecture import describe
from onnx_autodoc.readers import read
from onnx_autodoc.runtime import Agreement, feeds_of
from onnx_autodoc.runtime._agree import agreement
from onnx_autodoc.runtime._child import answer
from onnx_autodoc.runtime._messages import Message, Operators, Ran, Task
from onnx_autodoc.runtime._types import CPU
from onnx_autodoc.shapes import Request, fit
from tests._text import proto

HEAD = '<ir_version: 10, opset_import: ["" : 20, "local" : 1]>'


def saved(folder: Path, text: str, functions: str = "", opset: int = 20) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(proto(text, opset, functions).SerializeToString())
    return path


def facts_of(path: Path, *dims: str, values: tuple[str, ...] = ()) -> Facts:
    model = read(path)
    binding, shapes = fit(model, Request(dims, values=values))
    return measure(model, binding, shapes)


def asked(path: Path, facts: Facts, what: Any, folder: Path) -> Message:
    feeds = feeds_of(facts, describe(facts).samples)
    return answer(Task(what, str(path), feeds, CPU, 1, 2, str(folder)), lambda _: None)


def agreed(path: Path, *dims: str, values: tuple[str, ...] = ()) -> Agreement:
    facts = facts_of(path, *dims, values=values)
    ran = asked(path, facts, "shapes", path.parent)
    assert isinstance(ran, Ran), ran
    return agreement(facts, ran.executions, ran.full)


def operators(path: Path) -> Operators:
    found = asked(path, facts_of(path), "operators", path.parent)
    assert isinstance(found, Operators), found
    return found


def renamed(path: Path, names: dict[int, str]) -> Path:
    """The model with these names on its nodes; the text notation gives names to none or all."""
    model = onnx.load(path)
    for at, name in names.items():
        model.graph.node[at].name = name
    path.write_bytes(model.SerializeToString())
    return path
