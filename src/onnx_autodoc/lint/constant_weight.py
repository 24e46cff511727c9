"""A whole matrix of weights is one value.

Why it matters: a layer whose matrix is all zero gives its bias, whatever comes in: it costs time and memory and does
nothing, or the file lost its weights (a graph that was stripped for sharing, an export before the checkpoint was
loaded). One that is all another value only sums its inputs.

What to do: compare with the checkpoint (state_dict()[name].unique()); if it differs, load it before the export
(model.load_state_dict(…, strict=True) says what is missing) and export anew. If it is the same there, the layer was
never trained or was pruned: remove it from the model.

Only with --weights. Zeros in less than a tenth of the parameters are a note: some layers start as zeros, and stay so
until they are trained. Looked at are matrices and kernels of 4,096 numbers or more that multiply data. Vectors are not:
biases of 0 and scales of 1 are usual. Nor are kernels of one channel each that are all one value but not zero: they
average, which is what blurs and poolings do.
"""

import math
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.analysis.weights import Numbers
from onnx_autodoc.ir import is_float
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Confidence, Found, Severity
from onnx_autodoc.lint._weight_stats import Weighed, axes, named, weighed
from onnx_autodoc.ops import judged
from onnx_autodoc.text import percent, plural

SEVERITY: Final = Severity.WARNING
NEEDS_WEIGHTS: Final = True
_LEAST: Final = 4096
_MUCH: Final = 0.1  # of the parameters: the file lost its weights, or most of it does nothing


def check(case: Case) -> Iterator[Found]:
    alike = [each for each in weighed(case) if each.op in judged.MULTIPLYING and _is_constant(each.numbers)]
    zero = [each for each in alike if _is_zero(each.numbers)]
    other = [each for each in alike if not _is_zero(each.numbers) and not _is_average(each.numbers)]
    if zero:
        much = _share(zero, case) >= _MUCH
        yield Found(_said(zero, "all zero", case), _names(zero), severity=None if much else Severity.NOTE)
    if other:
        said = _said(other, "one value each", case)
        yield Found(said, _names(other), severity=Severity.NOTE, confidence=Confidence.MEDIUM, about="not zero")


def _is_constant(numbers: Numbers) -> bool:
    return numbers.constant is True and axes(numbers) > 1 and math.prod(numbers.dims) >= _LEAST


def _is_zero(numbers: Numbers) -> bool:
    """Of integers the zero is elsewhere, as their zero point says."""
    return numbers.least == 0 and is_float(numbers.dtype)


def _is_average(numbers: Numbers) -> bool:
    """A kernel for each channel alone."""
    return len(numbers.dims) > 2 and numbers.dims[1] == 1


def _names(found: list[Weighed]) -> tuple[str, ...]:
    return tuple(each.numbers.name for each in found)


def _said(found: list[Weighed], what: str, case: Case) -> str:
    matrices = plural(len(found), "matrix of weights is", "matrices of weights are")
    one = what.removesuffix(" each") if len(found) == 1 else what
    return f"{matrices} {one}, {percent(_share(found, case))} of the parameters: {named(_names(found))}"


def _share(found: list[Weighed], case: Case) -> float:
    return sum(each.elements for each in found) / max(case.facts.parameters.total, 1)
