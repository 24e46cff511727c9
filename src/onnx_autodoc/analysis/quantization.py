"""How a quantized weight is dequantized: per block or channel, symmetric or with a zero point.

Derived from constant scales and zero points. Scales computed at run time stay unknown.
"""

from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import BITS, Node, Tensor, is_float
from onnx_autodoc.ops import Trait, has_trait, operator_of

# The bytes of zero points in the middle of their type's range: as they are, and as varints. The last byte of an odd
# count of 4-bit numbers is half filled.
_ZERO: Final[dict[str, tuple[bytes, ...]]] = {"raw": (b"\x00",), "varints": (b"\x00",)}
_MID_RANGE_BYTES: Final[dict[str, dict[str, tuple[bytes, ...]]]] = {
    **dict.fromkeys(("int2", "int4", "int8", "int16", "int32"), _ZERO),
    "uint8": {"raw": (b"\x80",), "varints": (b"\x80\x01",)},
    "uint4": {"raw": (b"\x88", b"\x08"), "varints": (b"\x88\x01", b"\x08")},
}

_PACKED_DTYPES: Final = {4: "uint4", 8: "uint8"}


class Scaling(Struct, frozen=True):
    """What is known of it; None where that does not apply, or the file does not tell."""

    bits: int | None  # of the type it is quantized to on the way, where the file keeps it in floating point
    block_size: int | None = None
    per_channel: bool | None = None
    symmetric: bool | None = None


class SideInput(Struct, frozen=True):
    """An input beside a weight: left out, a constant of the file, or neither."""

    given: bool
    tensor: Tensor | None = None


def scaling(node: Node, weight: Tensor, scale: SideInput, zero: SideInput) -> Scaling:
    block = _block_size(node)
    bits = None
    if is_float(weight.dtype):  # quantized and back again: the file keeps what was trained
        bits = BITS.get(zero.tensor.dtype or "", 8) if zero.tensor else 8
    channels = None if block else _per_channel(node, weight, scale, zero)
    return Scaling(bits, block, channels, _symmetric(node, weight, zero))


def explicit_scaling(weight: Tensor, scale: Tensor) -> Scaling:
    """By a plain product: one scale, one for each channel, or more than that, which does not say how many share one."""
    some = scale.elements <= max(weight.dims, default=1)
    return Scaling(None, None, scale.elements > 1 if some else None)


def _block_size(node: Node) -> int | None:
    size = node.attributes.get("block_size", operator_of(node).default_block_size)
    return size if type(size) is int and size > 0 else None


def _per_channel(node: Node, weight: Tensor, scale: SideInput, zero: SideInput) -> bool | None:
    """Several scales are one for each channel; recurrent cells have one for each direction anyway."""
    found = scale.tensor or zero.tensor
    if found is None:
        return None
    least = weight.dims[0] if has_trait(node, Trait.SCALES_PER_DIRECTION) and weight.dims else 1
    return found.elements > least


def _symmetric(node: Node, weight: Tensor, zero: SideInput) -> bool | None:
    """Whether the zero point is the middle of the type's range, as it is by default for signed and packed numbers."""
    if is_float(weight.dtype) and zero.tensor is None:
        return None
    if not zero.given:
        packed = weight.dtype == "uint8" and has_trait(node, Trait.PACKS_SUB_BYTES)
        return packed or not (weight.dtype or "").startswith("uint")
    return _is_mid_range(node, zero.tensor) if zero.tensor is not None else None


def _is_mid_range(node: Node, zero: Tensor) -> bool | None:
    kind, payload = zero.dtype, zero.payload
    if kind == "uint8" and has_trait(node, Trait.PACKS_SUB_BYTES):  # packed as the weights are
        kind = _PACKED_DTYPES.get(_bits(node))
    if kind not in _MID_RANGE_BYTES or payload is None or not isinstance(payload.data, bytes) or not payload.data:
        return None
    rest = payload.data
    for middle in _MID_RANGE_BYTES[kind].get(payload.encoding, ()):
        rest = rest.replace(middle, b"")
    return not rest


def _bits(node: Node) -> int:
    found = node.attributes.get("bits", node.attributes.get("expert_weight_bits", 4))
    return found if type(found) is int else 4
