"""Data or weights are in float64.

Why it matters: consumer and inference GPUs compute float64 at 1/32 or 1/64 of the speed of float32, NPUs and most
mobile engines do not have it at all, TensorRT casts it down, and every value takes twice the memory. Few models need
the digits.

What to do: make the model float32 before it is exported: model.float() in PyTorch, dtype=np.float32 for constants that
come from NumPy (its default is float64), FloatTensorType instead of DoubleTensorType as initial type in skl2onnx. Keep
float64 only where a comparison of answers shows that it is needed.

It is a warning where float64 has a tenth of the arithmetic and that is a million operations at least, else a note;
what is inside a loop counts once for that. Not reported: arithmetic on sizes, constants that are computed from
constants, casts and moves, tree ensembles and other classic models, whose thresholds may have to be doubles.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.ops import judged
from onnx_autodoc.shapes import Step
from onnx_autodoc.text import memory, percent, plural

SEVERITY: Final = Severity.NOTE
_DOUBLE: Final = "float64"
_SHARE: Final = 0.1  # of the arithmetic, from which it costs
_LEAST: Final = 1_000_000  # operations, below which nobody will notice
_STORED: Final = 0.01  # of the weights, and
_LEAST_STORED: Final = 1 << 20  # bytes, from which weights alone are worth a word


def check(case: Case) -> Iterator[Found]:
    found = _computing(case)
    if found:
        names = tuple(spot.path for spot, _, _ in found)
        yield Found(_said(len(found), sum(macs > 0 for _, macs, _ in found)), names, severity=_severity(case, found))
    else:
        yield from _stored(case)


def _said(nodes: int, heavy: int) -> str:
    products = "a matrix product or convolution" if heavy == 1 else f"{heavy:,} matrix products or convolutions"
    among = f", among them {products}" if 0 < heavy < nodes else f": {products}" if heavy else ""
    return f"{plural(nodes, 'node')} {'computes' if nodes == 1 else 'compute'} in float64{among}"


def _severity(case: Case, found: list[tuple[Spot, int, int]]) -> Severity:
    spent = sum(flops for _, _, flops in found)
    return Severity.WARNING if spent >= max(_LEAST, _SHARE * case.facts.costs.total.flops) else Severity.NOTE


def _computing(case: Case) -> list[tuple[Spot, int, int]]:
    """The nodes that do arithmetic on data in float64, with their multiply-adds and operations."""
    doubles = [spot for spot in case.spots() if _is_double(spot.step) and spot.scope.runs and not spot.step.bodies]
    varying = [spot for spot in doubles if not case.settled.made(spot.scope, spot.node)]
    priced = [(spot, *_price(case, spot)) for spot in varying]
    return [(spot, macs, flops) for spot, macs, flops in priced if flops]


def _is_double(step: Step) -> bool:
    """By its first input, as comparisons answer otherwise, or its first output, as what draws numbers has no input."""
    first = step.inputs[0] if step.inputs else None
    made = (first is not None and first.dtype == _DOUBLE) or (bool(step.outputs) and step.outputs[0].dtype == _DOUBLE)
    return made and step.node.domain != judged.CLASSIC


def _price(case: Case, spot: Spot) -> tuple[int, int]:
    """Multiply-adds and operations of a node, as far as they are known."""
    cost = case.facts.costs.price(spot.step, bookkeeping=False).cost
    macs = cost.macs if isinstance(cost.macs, int) else 0
    return macs, 2 * macs + (cost.other if isinstance(cost.other, int) else 0)


def _stored(case: Case) -> Iterator[Found]:
    """Weights that are kept in float64 although nothing is computed in it."""
    parameters = case.facts.parameters
    doubles = [weight for weight in parameters.held if weight.dtype == _DOUBLE and weight.name]
    doubles = [weight for weight in doubles if parameters.readers[weight.place].domain != judged.CLASSIC]
    elements = sum(weight.elements for weight in doubles)
    if elements * 8 >= _LEAST_STORED and elements >= _STORED * parameters.total:
        share = percent(elements / parameters.total)
        message = f"weights of {memory(elements * 8)} are kept in float64, {share} of all numbers"
        yield Found(message, tuple(weight.name for weight in doubles))
