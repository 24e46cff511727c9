"""Outputs that have something for each pixel: pictures, masks, maps of classes."""

from typing import Final

from msgspec import Struct

from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._output_trace import Tail, size, softmax_size, width

_UPSAMPLING: Final = frozenset(("Resize", "Upsample", "DepthToSpace"))
_CONVS: Final = frozenset(("conv", "conv-norm-act", "depthwise-separable", "inverted-residual"))
_COLOURS: Final = 3
_COARSEST: Final = 8  # pixels of the picture to one of a map of classes
_FEWEST: Final = 8  # pixels on a side


class Pixels(Struct, frozen=True):
    kind: str
    classes: int | None
    places: int
    evidence: str


def pixels(net: Net, tail: Tail) -> Pixels | None:
    dims, wide = net.shape(tail.value), _channels(net, tail)
    if dims is None or wide is None or len(dims) < 3 or not tail.sources or "Concat" in tail.ops:
        return None
    high, broad = _sides(dims, wide, "ArgMax" in tail.ops)
    if min(high, broad) < 2 or not all(term.op in _CONVS or "skip" in term.facts for term in tail.sources):
        return None
    if min(high, broad) < _FEWEST:
        return Pixels("features", wide, high * broad, _said(tail, wide, high, broad))
    return _judged(net, tail, wide, high, broad)


def _said(tail: Tail, wide: int, high: int, broad: int) -> str:
    return f"{tail.said} has {wide} number{'s' if wide > 1 else ''} for each of {high} × {broad} cells"


def _channels(net: Net, tail: Tail) -> int | None:
    """What there is for each pixel: the channels before an arg max over them, else those of the output."""
    picked = next((term for term in tail.terms if term.op == "ArgMax"), None)
    if picked is not None:
        return softmax_size(net, picked)
    dims = net.shape(tail.value)
    if dims is None or len(dims) != 4:
        return 1 if dims is not None and len(dims) == 3 and _is_single(tail) else None
    wide = width(tail.source) if tail.source is not None else None
    return dims[-1] if dims[-1] == wide != dims[1] else dims[1]


def _is_single(tail: Tail) -> bool:
    return tail.source is not None and tail.source.op in _CONVS and width(tail.source) == 1


def _sides(dims: tuple[int, ...], wide: int, picked: bool) -> tuple[int, int]:
    left = [dim for dim in dims if dim != 1] if picked or len(dims) == 3 else None
    if left is not None:
        return (left[-2], left[-1]) if len(left) > 1 else (0, 0)
    return (dims[1], dims[2]) if dims[-1] == wide != dims[1] else (dims[2], dims[3])


def _judged(net: Net, tail: Tail, wide: int, high: int, broad: int) -> Pixels | None:
    seen = picture_sides(net)
    said = _said(tail, wide, high, broad)
    source = tail.source
    plain = source is None or source.facts.get("norm") is None or source.facts.get("act") is None or wide <= _COLOURS
    if seen is not None and high * _COARSEST <= seen[0]:
        return Pixels("features", wide, high * broad, said)
    if "ArgMax" in tail.ops or ("softmax" in tail.ops and wide > 1):
        return Pixels("segmentation", wide, high * broad, said)
    if wide == 1:
        if source is not None and _is_doubled_twice(net, source) and "Sigmoid" in tail.ops:
            return Pixels("text-map", None, high * broad, f"{said}, by two transposed convolutions that double it")
        return Pixels("map", None, high * broad, said)
    if wide == _COLOURS:
        return Pixels("picture", None, high * broad, said)
    if source is not None and plain and source.op in _CONVS and seen is not None:
        return Pixels("segmentation", wide, high * broad, said)
    return Pixels("features", wide, high * broad, said)


def _is_doubled_twice(net: Net, source: Term) -> bool:
    """The head of DBNet, which finds text: nets for other masks end with a plain convolution."""
    before = net.maker(source.inputs[0], *_CONVS)
    return all(
        term is not None
        and term.facts.get("transposed")
        and term.facts.get("kernel") == term.facts.get("strides") == (2, 2)
        for term in (source, before)
    )


def picture_sides(net: Net) -> tuple[int, int] | None:
    """Height and width of the first input that can be a picture."""
    for value in net.inputs.values():
        if net.rank(value) == 4:
            channels, last = size(net, value, 1), size(net, value, 3)
            first = 1 if last in (1, 3, 4) and channels not in (1, 3, 4, None) else 2
            high, broad = size(net, value, first), size(net, value, first + 1)
            return (high, broad) if high and broad else None
    return None
