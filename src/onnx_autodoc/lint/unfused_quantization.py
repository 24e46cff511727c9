"""Convolutions or matrix products of a quantized model compute in floating point.

Why it matters: a runtime computes an operator in int8 only where it finds DequantizeLinear before all that the
operator multiplies and, in onnxruntime for convolutions, QuantizeLinear right after it. Elsewhere it turns integers
into floating point, computes as before, and turns them back: slower than the model was before it was quantized.

What to do: see why they were left out: quantize_static of onnxruntime.quantization takes the operators that
op_types_to_quantize names, without those in nodes_to_exclude; run
onnxruntime.quantization.shape_inference.quant_pre_process on the model before. If they were left out to keep accuracy,
this is its price.

Reported where such operators have a fifth of the multiply-adds, so not for a first or last layer that is kept in
floating point. Two things are told apart: operators whose data nobody quantized, which no runtime can compute in int8;
and convolutions whose answer is not quantized, which TensorRT runs in int8 and onnxruntime does not. Not reported:
products whose weights alone are quantized, types other than 8-bit integers, what stands inside functions, loops and
branches, and models whose data are quantized while they run.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Final

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Confidence, Found, Severity
from onnx_autodoc.ops import DEQUANTIZE, QUANTIZE, judged, kinds
from onnx_autodoc.text import percent, plural

SEVERITY: Final = Severity.NOTE
CONFIDENCE: Final = Confidence.MEDIUM
_SHARE: Final = 0.2  # of the multiply-adds
_FAR: Final = 8  # nodes between a quantization and what it is for
_ZEROS: Final = {"int8": -128, "uint8": 0}  # the lowest number of a type
_ABOUT: Final = "onnxruntime"
_ONE: Final = "convolution or matrix product"
_MANY: Final = "convolutions and matrix products"
_APART: Final = "in floating point in onnxruntime, which needs the answer quantized as well"
_DO: Final = (
    "quantize what these convolutions make as well, as quantize_static of onnxruntime.quantization does, or run the "
    "model with TensorRT, which needs no quantization there"
)


class _How(Enum):
    """How an operator computes. OPEN: in int8 but for its answer, which is not quantized."""

    INT8 = 1
    OPEN = 2
    FLOAT = 3
    OTHER = 4  # its weights alone are quantized, or it hangs on the runtime


def check(case: Case) -> Iterator[Found]:
    if not case.of(DEQUANTIZE) and not case.of(DEQUANTIZE, domain=judged.MICROSOFT):
        return
    known = [(spot, _how(spot)) for spot in case.main.spots if _is_heavy(spot)]
    found = {how: [spot for spot, each in known if each is how] for how in _How}
    if not any(spot.node.op in judged.INT8_PRODUCTS for spot in (*found[_How.INT8], *found[_How.OPEN])):
        return
    for how, about in ((_How.FLOAT, None), (_How.OPEN, _ABOUT)):
        share = _share(case, found[how], [spot for spot, _ in known]) if found[how] else 0.0
        if share >= _SHARE:
            names = tuple(spot.path for spot in found[how])
            message = f"{_start(len(names), len(known), share)} {_APART if about else _float(found)}"
            yield Found(message, names, do=_DO if about else "", about=about)


def _start(some: int, whole: int, share: float) -> str:
    verb = "computes" if some == 1 else "compute"
    return f"{some:,} of {plural(whole, _ONE, _MANY)}, with {percent(share)} of the multiply-adds, {verb}"


def _float(found: dict[_How, list[Spot]]) -> str:
    return f"in floating point; {len(found[_How.INT8]) + len(found[_How.OPEN]):,} can run in int8"


def _share(case: Case, some: list[Spot], whole: list[Spot]) -> float:
    """Of the multiply-adds; nothing where they are not known of all."""
    total, part = _macs(case, whole), _macs(case, some)
    return part / total if total and part is not None else 0.0


def _macs(case: Case, spots: list[Spot]) -> int | None:
    found = [case.facts.costs.price(spot.step, bookkeeping=False).cost.macs for spot in spots]
    known = [macs for macs in found if isinstance(macs, int)]
    return sum(known) if len(known) == len(found) else None


def _is_heavy(spot: Spot) -> bool:
    """Whether it multiplies data, in floating point or on integers."""
    op, inputs = spot.node.op, spot.node.inputs
    if op in judged.INT8_ALREADY:
        return True
    if op not in judged.INT8_PRODUCTS or spot.node.domain or len(inputs) < 2:
        return False
    return not all(map(spot.scope.is_fixed, inputs[:2]))


def _how(spot: Spot) -> _How:
    if spot.node.op in judged.INT8_ALREADY:
        return _How.INT8
    one, other = (_quantized(spot, name) for name in spot.node.inputs[:2])
    if one is not None and other is not None:
        return _How.OPEN if _is_open(spot, one) else _How.INT8
    fixed = [spot.scope.is_fixed(name) for name in spot.node.inputs[:2]]
    if one is None and other is not None and fixed[1] and spot.node.op not in judged.MAKES_INT8:
        return _How.OTHER  # a product whose weights alone are quantized
    if one is not None and fixed[1] and spot.node.op in judged.FINDS_SCALES:
        return _How.OTHER  # onnxruntime quantizes such weights itself, other runtimes do not
    return _How.FLOAT


def _quantized(spot: Spot, name: str) -> str | None:
    """The type that a value was dequantized from, perhaps before it was moved or clipped."""
    first = name
    for _ in range(_FAR):
        maker = spot.scope.maker(name)
        if maker is None or not maker.node.inputs:
            return None
        if maker.node.op == DEQUANTIZE:
            return _dequantized(maker, of_data=not spot.scope.is_fixed(first))
        if maker.node.op not in judged.AROUND_INT8:
            return None
        name = maker.node.inputs[0]
    return ""


def _dequantized(maker: Spot, of_data: bool) -> str | None:
    """The type before it; data that only look at a table of weights were not quantized."""
    if of_data and maker.scope.is_fixed(maker.node.inputs[0]):
        return None
    given = maker.input(0)
    return (given.dtype if given is not None else None) or ""


def _is_open(spot: Spot, dtype: str) -> bool:
    """Whether the answer surely goes on in floating point, of an operator that onnxruntime then computes so."""
    name = spot.node.outputs[0]
    if spot.node.op not in judged.MAKES_INT8 or dtype not in _ZEROS:
        return False
    return name in spot.scope.leaving or any(_goes_on(reader) for reader in spot.scope.readers(name))


def _goes_on(reader: Spot) -> bool:
    node, name = reader.node, reader.node.outputs[0] if reader.node.outputs else ""
    if node.op == judged.RECTIFIER:
        return name in reader.scope.leaving or any(map(_is_cut_apart, reader.scope.readers(name)))
    return node.op != QUANTIZE and node.op not in judged.AROUND_INT8 and node.op not in kinds.OF_SIZES


def _is_cut_apart(reader: Spot) -> bool:
    """Whether what reads a rectifier is no quantization, or one to numbers below its zero too."""
    zero = reader.input(2)
    if reader.node.op != QUANTIZE:
        return reader.node.op not in judged.AROUND_INT8 and reader.node.op not in kinds.OF_SIZES
    if zero is None or zero.value is None or zero.dtype not in _ZEROS:
        return False
    return bool((zero.value != _ZEROS[zero.dtype]).any())
