"""The weight of a depthwise convolution is quantized with one scale for all of its channels.

Why it matters: each channel of a depthwise convolution has a filter of its own, and their ranges differ by orders of
magnitude, the more so after batch normalization was folded in. With one scale for all of them the small filters keep
two or three bits, which can cost MobileNets and their kin accuracy. Whether and how much was not measured here: a model
that was trained with this quantization may have learned to live with it.

What to do: quantize again with one scale for each channel (per_channel=True in
onnxruntime.quantization.quantize_static; quantize_dynamic has one scale for a convolution's weight in any case), and
compare the answers with the original's.

Convolutions of fewer than 8 channels are not looked at, nor weights of more than 8 bits, nor those whose scales the
file does not tell.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import BITS
from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Confidence, Found, Severity
from onnx_autodoc.ops import DEQUANTIZE, Known, judged, kinds
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.NOTE
CONFIDENCE: Final = Confidence.MEDIUM
_BITS: Final = 8  # of a weight, up to which it matters
_FEW: Final = 8  # channels, below which it does not matter


def check(case: Case) -> Iterator[Found]:
    known = [(spot, one) for spot, one in _depthwise(case) if one is not None]
    found = tuple(spot.path for spot, one in known if one)
    if found:
        message = f"{len(found):,} of {plural(len(known), 'quantized depthwise convolution')} {_have(len(found))}"
        yield Found(message, found)


def _have(count: int) -> str:
    return "has one scale for all channels of its weight" if count == 1 else "have one scale for all channels"


def _depthwise(case: Case) -> Iterator[tuple[Spot, bool | None]]:
    """The quantized depthwise convolutions, and whether they have one scale; None where the file does not tell."""
    for spot in case.of(judged.QUANTIZED_CONV):
        maker = spot.scope.maker(spot.node.inputs[1]) if _is_depthwise(spot, 1) else None
        fixed = maker is not None and maker.node.op == DEQUANTIZE and spot.scope.is_fixed(spot.node.inputs[1])
        if maker is not None and fixed and _is_coarse(maker, 0):
            yield spot, _is_one(maker.input(1))
    for spot in case.of(judged.INTEGER_CONV):
        if _is_depthwise(spot, 3) and _is_coarse(spot, 3):
            yield spot, _is_one(spot.input(4))
    yield from ((spot, _is_one(_scale_after(spot))) for spot in case.of(judged.DYNAMIC_CONV) if _is_depthwise(spot, 1))


def _scale_after(spot: Spot) -> Known | None:
    """Sums of products become numbers by a cast, and a product with the scale of the data times that of the weight."""
    cast = spot.only_reader()
    scaled = cast.only_reader() if cast is not None else None
    for maker in scaled.makers() if scaled is not None and scaled.node.op == kinds.SCALE else ():
        if maker is not None and maker.node.op == kinds.SCALE:
            fixed = [at for at, name in enumerate(maker.node.inputs) if maker.scope.is_fixed(name)]
            return maker.input(fixed[0]) if len(fixed) == 1 else None
    return None


def _is_depthwise(spot: Spot, at: int) -> bool:
    group, weight = spot.node.attributes.get("group", 1), spot.input(at)
    dims = weight.concrete if weight is not None else None
    return isinstance(group, int) and group >= _FEW and dims is not None and len(dims) > 2 and dims[1] == 1


def _is_coarse(spot: Spot, at: int) -> bool:
    """With 16 bits there are enough numbers for small filters too."""
    known = spot.input(at)
    return known is not None and known.dtype in BITS and BITS[known.dtype] <= _BITS


def _is_one(scale: Known | None) -> bool | None:
    dims = scale.concrete if scale is not None else None
    return None if dims is None else all(dim == 1 for dim in dims)
