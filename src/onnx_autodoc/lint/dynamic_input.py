"""An input has a size that is only known at run time.

Why it matters: engines that compile ahead of time (TensorRT, OpenVINO on an NPU, QNN, CoreML) need a number or a range
for it, and plan memory for the largest one.

What to do: fix the size in the file if it never changes (onnxruntime.tools.make_dynamic_shape_fixed), else give the
engine a range for it, as an optimization profile or an enumerated shape.

A size that the file gives as 0 is not reported: some exporters mean an open one by it, but onnxruntime takes it at its
word and accepts 0 alone.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Value
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.shapes import open_axes
from onnx_autodoc.text import named, plural

SEVERITY: Final = Severity.NOTE
_MOST: Final = 6  # that are listed in the sentence


def check(case: Case) -> Iterator[Found]:
    axes = [axis for axis in open_axes(case.model) if not _is_zero(axis.value, axis.axis)]
    keys = list(dict.fromkeys(axis.key for axis in axes))
    if keys:
        listed = ", ".join(named(key, 40) for key in keys[:_MOST]) + (" …" if len(keys) > _MOST else "")
        inputs = tuple(dict.fromkeys(axis.value.name for axis in axes))
        yield Found(f"{plural(len(keys), 'dimension')} of the inputs {_are(keys)} open: {listed}", inputs)


def _is_zero(value: Value, axis: int) -> bool:
    dims = (value.type.dims if value.type else None) or ()
    return dims[axis] == 0


def _are(keys: list[str]) -> str:
    return "is" if len(keys) == 1 else "are"
