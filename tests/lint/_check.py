"""Run one rule on a model: parsed from ONNX's text format, or with weights that are read."""

from pathlib import Path

import numpy as np
import onnx

from onnx_autodoc.analysis.weights import survey
from onnx_autodoc.api import measure_model
from onnx_autodoc.architecture import describe
from onnx_autodoc.card import Finding
from onnx_autodoc.ir import Model
from onnx_autodoc.lint import RULES, LintContext
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import parse_request
from tests._text import model, proto, save_and_read


def lint_context(model: Model, *dims: str) -> LintContext:
    facts = measure_model(model, parse_request(dims=dims))
    return LintContext(facts, describe(facts))


def check_rule(rule: str, source: Model | onnx.ModelProto | str, *dims: str, opset: int = 18) -> list[Finding]:
    """Return the findings of one rule on a model, a proto, or a graph in ONNX's text format."""
    read = (
        model(source, opset)
        if isinstance(source, str)
        else save_and_read(source)
        if not isinstance(source, Model)
        else source
    )
    return list(RULES[rule].findings(lint_context(read, *dims)))


def check_weights(rule: str, folder: Path, model_proto: onnx.ModelProto) -> list[Finding]:
    """Return the findings of one rule on a model whose weights are read."""
    path = folder / "model.onnx"
    path.write_bytes(model_proto.SerializeToString())
    read = read_model(path)
    facts = measure_model(read, parse_request())
    return list(RULES[rule].findings(LintContext(facts, describe(facts), survey(read))))


def with_weights(text: str, opset: int = 18, **arrays: np.ndarray) -> onnx.ModelProto:
    """Parse a graph and add initializers for names that nothing defines."""
    model_proto = proto(text, opset)
    model_proto.graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in arrays.items())
    return model_proto
