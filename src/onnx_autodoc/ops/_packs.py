"""What weights hold that keep several numbers in one byte."""

from collections.abc import Callable
from typing import Final

from onnx_autodoc.ir import Node, Tensor
from onnx_autodoc.ops._known import Dim
from onnx_autodoc.ops._operator import Packed

Packs = Callable[[Node, Tensor], Packed]

_BYTES: Final = frozenset(("uint8", "int8"))
# MatMulFpQ4's blk_quant_type -> (numbers in a block, bytes that it takes: half as many, a scale, an offset)
_BLOCKS: Final = {0: (32, 16 + 4), 1: (32, 16 + 4 + 1), 2: (64, 32 + 4)}


def unpacked(count: Dim, dtype: str | None, bits: int) -> Dim:
    """How many numbers so many elements hold: of all element types, only bytes hold several."""
    return count * 8 // bits if dtype in _BYTES else count


def expert_bits(node: Node, at: int) -> int:
    """Of a number in a QMoE's weight at input 2, 5 or 8."""
    kind = node.attributes.get("quant_type", "int")
    if kind != "int":
        return 8 if kind == "fp8" else 4
    return _integer(node, f"fc{(at + 1) // 3}_expert_weight_bits", _integer(node, "expert_weight_bits", 4))


def by_attributes(columns: str = "N") -> Packs:
    """A weight of K rows and so many columns, as the node's attributes say; its bytes may hold more, to fill blocks."""

    def packed(node: Node, weight: Tensor) -> Packed:
        most = _in_bytes(weight, _integer(node, "bits", 4))
        held = _integer(node, "K", 0) * _integer(node, columns, 0)
        return Packed(most.dtype, min(held, most.elements) if held else most.elements)

    return packed


def bnb4(node: Node, weight: Tensor) -> Packed:
    """Four bits that stand for a floating-point number, by one of two tables."""
    return Packed("nf4" if node.attributes.get("quant_type") == 1 else "fp4", by_attributes()(node, weight).elements)


def by_type(node: Node, weight: Tensor) -> Packed:
    """A table of bytes that hold several numbers each, or of an element type that tells by itself."""
    return _in_bytes(weight, _integer(node, "bits", 4))


def halves(node: Node, weight: Tensor) -> Packed:
    """Two floating-point numbers in each byte."""
    return Packed("float4e2m1", weight.elements * 2) if weight.dtype in _BYTES else _in_bytes(weight, 4)


def expert(at: int) -> Packs:
    def packed(node: Node, weight: Tensor) -> Packed:
        return _in_bytes(weight, expert_bits(node, at))

    return packed


def blob(node: Node, weight: Tensor) -> Packed:
    """Blocks of numbers with their scales between them; columns are filled up to whole blocks."""
    numbers, stored = _BLOCKS.get(_integer(node, "blk_quant_type", 0), _BLOCKS[0])
    return Packed("int4", weight.elements // stored * numbers)


def _in_bytes(weight: Tensor, bits: int) -> Packed:
    if weight.dtype not in _BYTES:
        return Packed(weight.dtype or "unknown", weight.elements)
    return Packed(f"int{bits}", weight.elements * 8 // bits)


def _integer(node: Node, name: str, default: int) -> int:
    """An attribute that is a number above 0; a file may hold anything."""
    found = node.attributes.get(name)
    return found if type(found) is int and found > 0 else default
