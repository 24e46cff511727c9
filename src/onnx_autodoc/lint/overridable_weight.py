"""Weights are listed as inputs too, so a caller may replace them.

Why it matters: what may be replaced is no constant. onnxruntime then folds nothing into it and fuses nothing with it,
converters fail or ask for these inputs, and people cannot tell the inputs from the weights.

What to do: python -m onnxruntime.tools.remove_initializer_from_input --input model.onnx --output new.onnx, or export
with keep_initializers_as_inputs=False of torch.onnx.export, which is the default.

Not said of files of IR version 3 and older, whose format wanted it so and whose weights onnxruntime holds fixed, nor of
single numbers and a few tensors among many: those are defaults that an author meant to be replaced.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.text import count, plural

SEVERITY: Final = Severity.NOTE
_FREE: Final = 4  # the IR version since which weights need not be inputs


def check(case: Case) -> Iterator[Found]:
    graph = case.model.graph
    inputs = {value.name for value in graph.inputs}
    weights = [tensor.name for tensor in graph.initializers if tensor.elements > 1]
    found = tuple(name for name in weights if name in inputs)
    if (case.model.ir_version or 0) >= _FREE and 2 * len(found) > len(weights):
        are = plural(len(found), "weight is an input", "weights are inputs")
        yield Found(f"{are} too, of {count(len(weights))}: what callers may replace, optimizers do not fold", found)
