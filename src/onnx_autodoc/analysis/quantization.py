"""How a quantized weight is dequantized: per block or channel, symmetric or with a zero point.

Derived from constant scales and zero points. Scales computed at run time stay unknown.
"""

from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import BITS, Node, Tensor, is_float
from onnx_autodoc.ops import Trait, has_trait, operator_of

# The bytes of zero points in the middle of their type's range: raw, and as varints. The last byte of an odd number of
# 4-bit numbers is half filled.
_ZERO: Final[dict[str, tuple[bytes, ...]]] = {"raw": (b"\x00",), "varints": (b"\x00",)}
_MID_RANGE_BYTES: Final[dict[str, dict[str, tuple[bytes, ...]]]] = {
    **dict.fromkeys(("int2", "int4", "int8", "int16", "int32"), _ZERO),
    "uint8": {"raw": (b"\x80",), "varints": (b"\x80\x01",)},
    "uint4": {"raw": (b"\x88", b"\x08"), "varints": (b"\x88\x01", b"\x08")},
}

_PACKED_DTYPES: Final = {4: "uint4", 8: "uint8"}


class Scaling(Struct, frozen=True):
    """The properties of a quantization; None where one does not apply or is unknown."""

    bits: int | None  # of the type to which it is quantized in the graph, where the file stores it in floating point
    block_size: int | None = None
    per_channel: bool | None = None
    symmetric: bool | None = None


class SideInput(Struct, frozen=True):
    """The scale or zero point of a weight: absent, a constant of the file, or computed."""

    given: bool
    tensor: Tensor | None = None


def scaling(node: Node, weight: Tensor, scale: SideInput, zero: SideInput) -> Scaling:
    size = node.attributes.get("block_size", operator_of(node).default_block_size)
    block = size if type(size) is int and size > 0 else None
    bits = None
    if is_float(weight.dtype):  # quantized and dequantized in the graph: the file stores the trained weight
        bits = BITS.get(zero.tensor.dtype or "", 8) if zero.tensor else 8
    side, per_channel = scale.tensor or zero.tensor, None
    if side is not None and not block:
        # Several scales are one for each channel; recurrent cells have one for each direction anyway.
        directions = weight.dims[0] if has_trait(node, Trait.SCALES_PER_DIRECTION) and weight.dims else 1
        per_channel = side.elements > directions
    return Scaling(bits, block, per_channel, _symmetric(node, weight, zero))


def explicit_scaling(weight: Tensor, scale: Tensor) -> Scaling:
    """Return the scaling by a product. The block size is unknown if there are more scales than channels."""
    is_clear = scale.elements <= max(weight.dims, default=1)
    return Scaling(None, None, scale.elements > 1 if is_clear else None)


def _symmetric(node: Node, weight: Tensor, zero: SideInput) -> bool | None:
    """Return whether the zero point is mid-range, as it is by default for signed and packed numbers."""
    if is_float(weight.dtype) and zero.tensor is None:
        return None
    packs = has_trait(node, Trait.PACKS_SUB_BYTES)
    if not zero.given:
        return (packs and weight.dtype == "uint8") or not (weight.dtype or "").startswith("uint")
    if zero.tensor is None:
        return None
    dtype, payload = zero.tensor.dtype, zero.tensor.payload
    if dtype == "uint8" and packs:  # packed like the weights
        bits = node.attributes.get("bits", node.attributes.get("expert_weight_bits", 4))
        dtype = _PACKED_DTYPES.get(bits) if type(bits) is int else "uint4"
    if dtype not in _MID_RANGE_BYTES or payload is None or not isinstance(payload.data, bytes) or not payload.data:
        return None
    rest = payload.data
    for middle in _MID_RANGE_BYTES[dtype].get(payload.encoding, ()):
        rest = rest.replace(middle, b"")
    return not rest
