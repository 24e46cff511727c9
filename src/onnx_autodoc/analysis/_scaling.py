"""How a quantized weight becomes numbers again: by blocks or channels, and around which zero.

Read from the constants beside a weight: its scales tell how many numbers share one, its zero points whether the
quantized range lies evenly around zero. What the file does not hold (scales made while the model runs) stays unknown.
"""

from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import BITS, Node, Tensor, is_float
from onnx_autodoc.ops import kinds

# The bytes of zero points in the middle of their type's range: as they are, and as varints. The last byte of an odd
# count of 4-bit numbers is half filled.
_ZERO: Final[dict[str, tuple[bytes, ...]]] = {"raw": (b"\x00",), "varints": (b"\x00",)}
_MIDDLES: Final[dict[str, dict[str, tuple[bytes, ...]]]] = {
    **dict.fromkeys(("int2", "int4", "int8", "int16", "int32"), _ZERO),
    "uint8": {"raw": (b"\x80",), "varints": (b"\x80\x01",)},
    "uint4": {"raw": (b"\x88", b"\x08"), "varints": (b"\x88\x01", b"\x08")},
}

_IN_BYTES: Final = {4: "uint4", 8: "uint8"}


class Scaling(Struct, frozen=True):
    """What is known of it; None where that does not apply, or the file does not tell."""

    bits: int | None  # of the type it is quantized to on the way, where the file keeps it in floating point
    block_size: int | None = None
    per_channel: bool | None = None
    symmetric: bool | None = None


class Beside(Struct, frozen=True):
    """An input beside a weight: left out, a constant of the file, or neither."""

    given: bool
    tensor: Tensor | None = None


def scaling(node: Node, weight: Tensor, scale: Beside, zero: Beside) -> Scaling:
    block = _block_size(node)
    bits = None
    if is_float(weight.dtype):  # quantized and back again: the file keeps what was trained
        bits = BITS.get(zero.tensor.dtype or "", 8) if zero.tensor else 8
    channels = None if block else _per_channel(node, weight, scale, zero)
    return Scaling(bits, block, channels, _symmetric(node, weight, zero))


def written_out(weight: Tensor, scale: Tensor) -> Scaling:
    """By a plain product: one scale, one for each channel, or more than that, which does not say how many share one."""
    some = scale.elements <= max(weight.dims, default=1)
    return Scaling(None, None, scale.elements > 1 if some else None)


def _block_size(node: Node) -> int | None:
    size = node.attributes.get("block_size", kinds.BLOCKS.get(node.op))
    return size if type(size) is int and size > 0 else None


def _per_channel(node: Node, weight: Tensor, scale: Beside, zero: Beside) -> bool | None:
    """Several scales are one for each channel; recurrent cells have one for each direction anyway."""
    found = scale.tensor or zero.tensor
    if found is None:
        return None
    least = weight.dims[0] if node.op in kinds.BY_DIRECTION and weight.dims else 1
    return found.elements > least


def _symmetric(node: Node, weight: Tensor, zero: Beside) -> bool | None:
    """Whether the zero point is the middle of the type's range, as it is by default for signed and packed numbers."""
    if is_float(weight.dtype) and zero.tensor is None:
        return None
    if not zero.given:
        packed = weight.dtype == "uint8" and node.op in kinds.PACKED
        return packed or not (weight.dtype or "").startswith("uint")
    return _in_the_middle(node, zero.tensor) if zero.tensor is not None else None


def _in_the_middle(node: Node, zero: Tensor) -> bool | None:
    kind, payload = zero.dtype, zero.payload
    if kind == "uint8" and node.op in kinds.PACKED:  # packed as the weights are
        kind = _IN_BYTES.get(_bits(node))
    if kind not in _MIDDLES or payload is None or not isinstance(payload.data, bytes) or not payload.data:
        return None
    rest = payload.data
    for middle in _MIDDLES[kind].get(payload.encoding, ()):
        rest = rest.replace(middle, b"")
    return not rest


def _bits(node: Node) -> int:
    found = node.attributes.get("bits", node.attributes.get("expert_weight_bits", 4))
    return found if type(found) is int else 4
