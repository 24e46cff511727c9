"""What a rule finds in a model whose weights are read."""

from pathlib import Path

import numpy as np
import onnx

from onnx_autodoc.analysis.weights import survey
from onnx_autodoc.api import facts_of
from onnx_autodoc.architecture import describe
from onnx_autodoc.lint import RULES, Case, Finding
from onnx_autodoc.readers import read
from onnx_autodoc.shapes import Request
from tests._text import proto


def found(rule: str, folder: Path, made: onnx.ModelProto) -> list[Finding]:
    path = folder / "model.onnx"
    path.write_bytes(made.SerializeToString())
    model = read(path)
    facts = facts_of(model, Request())
    entry = RULES[rule]
    return list(map(entry.finding, entry.check(Case(facts, describe(facts), survey(model)))))


def with_weights(text: str, opset: int = 18, **arrays: np.ndarray) -> onnx.ModelProto:
    """A graph in ONNX's own notation, and initializers for the names in it that nobody makes."""
    made = proto(text, opset)
    made.graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in arrays.items())
    return made
