"""What rules say of models that are written as a few lines of text."""

import onnx

from onnx_autodoc.api import facts_of
from onnx_autodoc.architecture import describe
from onnx_autodoc.ir import Model
from onnx_autodoc.lint import RULES, Case, Finding
from onnx_autodoc.shapes import Request
from tests._text import loaded, model


def case(model: Model, *dims: str) -> Case:
    facts = facts_of(model, Request(dims=dims))
    return Case(facts, describe(facts))


def found(rule: str, given: Model | onnx.ModelProto | str, *dims: str, opset: int = 18) -> list[Finding]:
    """What one rule finds in a model, a proto, or a text in ONNX's own notation."""
    read = model(given, opset) if isinstance(given, str) else loaded(given) if not isinstance(given, Model) else given
    entry = RULES[rule]
    return list(map(entry.finding, entry.check(case(read, *dims))))
