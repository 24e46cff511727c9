"""Costs of quantized com.microsoft operators, and weights that store several numbers per byte."""

from collections.abc import Callable
from typing import Final

from onnx_autodoc.ir import Node, Tensor
from onnx_autodoc.ops.call import Call, normalize_axis, shape_of_min_rank, size
from onnx_autodoc.ops.cost import Cost, CostRule, bytes_read
from onnx_autodoc.ops.fused_costs import (
    PLAIN,
    activation_cost,
    cost_of,
    count_present,
    experts,
    input_or_none,
    known_output,
    sum_costs,
)
from onnx_autodoc.ops.matmul import gemm_cost, product
from onnx_autodoc.ops.operator import PackedWeight
from onnx_autodoc.ops.quantization import OPERATORS as QUANTIZATION
from onnx_autodoc.ops.values import Dim, tensor, with_shape


# products
def nbits(call: Call) -> Cost:
    """K MACs per output element; 1 FLOP per output element for a bias"""
    elements = size(call.output())
    return Cost(elements * call.attr_required("K"), elements * count_present(call, 5))


def with_bias(price: CostRule, *bias_at: int) -> CostRule:
    """Return `price` with the cost of an optional bias."""

    def biased(call: Call) -> Cost:
        return sum_costs(price(call), Cost(other=size(call.output()) * count_present(call, *bias_at)))

    biased.__doc__ = f"{price.__doc__}; 1 FLOP per output element for a bias"
    return biased


def bnb4(call: Call) -> Cost:
    """K MACs per output element; N if transB is 0"""
    length = call.attr_required("K" if call.attr_int("transB", 1) else "N")
    return Cost(macs=size(call.output()) * length)


def fp8_weight(call: Call) -> Cost:
    """K MACs per output element; 1 FLOP per output element for a bias; 3 per element of A if it is scaled: divide,
    round, multiply"""
    return sum_costs(with_bias(product, 4)(call), Cost(other=3 * size(call.shape(0)) * count_present(call, 3)))


def integer_to_float(call: Call, bias_at: int = 6) -> Cost:
    """K MACs per output element; 1 FLOP per output element for the scale, 1 for a bias"""
    return sum_costs(product(call), Cost(other=size(call.output()) * (1 + count_present(call, bias_at))))


def dynamic_product(call: Call) -> Cost:
    """as DynamicQuantizeLinear, then K MACs per output element; 1 FLOP per output element for the scale, 1 for a
    bias"""
    quantization = cost_of(QUANTIZATION, "DynamicQuantizeLinear", tensor("uint8", call.shape(0)), call.input_info(0))
    return sum_costs(quantization, integer_to_float(call, 4))


def gemm(call: Call) -> Cost:
    """K MACs per output element; 1 FLOP per output element for C; 3 to requantize: scale, round, zero point; only the
    scale for a floating-point output"""
    return sum_costs(gemm_cost(call, bias_at=6), Cost(other=size(call.output()) * (3 if call.has(8) else 1)))


def ordered_product(call: Call) -> Cost:
    """K MACs per output element; 2 FLOPs per output element: scale, round; 1 for a bias, 2 for C: scale, add"""
    element_ops = 2 + count_present(call, 5) + 2 * count_present(call, 6)
    return sum_costs(product(call), Cost(other=size(call.output()) * element_ops))


def _norm(call: Call) -> Cost:
    """Return the cost of a residual addition and RMSNormalization before the products."""
    x = call.input_info(0)
    sums = Cost(other=size(call.shape(0)) * count_present(call, 1))
    return sum_costs(sums, cost_of(PLAIN, "RMSNormalization", x, x, call.input_info(2))) if call.has(2) else sums


def mlp(call: Call) -> Cost:
    """2 · K MACs per output element; 1 FLOP per output element for each bias, the activation, 1 for the gate; before
    the products, Add and RMSNormalization if present"""
    elements = size(call.output())
    gate = activation_cost(call, call.attr_text("activation", "silu"), known_output(call))
    sums = Cost(2 * elements * call.attr_required("K"), elements * (1 + count_present(call, 5, 8)))
    return sum_costs(_norm(call), sums, gate)


def qkv(call: Call) -> Cost:
    """K MACs per element of the first three outputs; 1 FLOP per element for each bias; before the products,
    RMSNormalization, and Add for a skip input"""
    length = call.attr_required("K")
    outputs = [(size(call.output(at)), count_present(call, bias)) for at, bias in ((0, 5), (1, 8), (2, 11))]
    return sum_costs(_norm(call), *(Cost(elements * length, elements * biases) for elements, biases in outputs))


# element-wise
def dequantized(call: Call, at: int) -> Cost:
    """Return the cost of dequantizing an input that is followed by its scale and zero point."""
    x = tensor("float32", call.shape(at))
    return cost_of(
        QUANTIZATION, "DequantizeLinear", x, call.input_info(at), call.input_info(at + 1), input_or_none(call, at + 2)
    )


def quantized(call: Call) -> Cost:
    """Return the cost of quantizing the output."""
    y = known_output(call)
    return cost_of(
        QUANTIZATION, "QuantizeLinear", y, with_shape(y, call.output()), tensor("float32", ()), tensor(y.dtype, ())
    )


def between(op: str, *inputs: int) -> CostRule:
    """Return the rule of an operator between DequantizeLinear and QuantizeLinear."""

    def rule(call: Call) -> Cost:
        plain = cost_of(
            PLAIN, op, known_output(call), *(call.input_info(at) for at in inputs), named=call.node.attributes
        )
        return sum_costs(*(dequantized(call, at) for at in inputs), plain, quantized(call))

    rule.__doc__ = f"as DequantizeLinear of {'both inputs' if len(inputs) > 1 else 'the input'}, {op}, QuantizeLinear"
    return rule


def concat(call: Call) -> Cost:
    """as DequantizeLinear of each input and QuantizeLinear of the output"""
    return sum_costs(*(dequantized(call, at) for at in range(2, len(call.inputs), 3)), quantized(call))


def ordered(op: str, *inputs: int) -> CostRule:
    """Return the rule of an operator with a scale before it, and a scale and rounding after it."""

    def rule(call: Call) -> Cost:
        values = [input_or_none(call, at) for at in inputs]
        scaling = Cost(other=size(call.shape(0)) + 2 * size(call.output()))
        return sum_costs(scaling, cost_of(PLAIN, op, known_output(call), *values, named=call.node.attributes))

    rule.__doc__ = f"as {op}; 3 FLOPs per element: scale before it, scale and round after it"
    return rule


def integer_product(call: Call) -> Cost:
    """1 FLOP per output element; 1 per element of each input with a zero point"""
    offsets = sum((size(call.shape(at)) * count_present(call, at + 1) for at in (0, 2)), start=0)
    return Cost(other=size(call.output()) + offsets)


def gather(call: Call) -> Cost:
    """2 FLOPs per output element: zero point, scale; reads at most the selected rows"""
    axis, picks = normalize_axis(call.attr_int("gather_axis", 0), call.rank(0)), size(call.shape(1))
    return Cost(0, 2 * size(call.output()), bytes_read(call, dict.fromkeys((0, 2, 3), (axis, picks))))


def moe(call: Call) -> Cost:
    """as MoE, with the unpacked element counts of an expert's weights"""
    weights = [
        unpacked(size(shape_of_min_rank(call, at)[1:]), call.dtype(at), expert_bits(call.node, at))
        for at in ((2, 5, 8) if call.has(8) else (2, 5))
    ]
    return experts(call, weights, (4, 7, 10), range(2, 14))


# weights that store several numbers per byte
PackedReader = Callable[[Node, Tensor], PackedWeight]

_BYTES: Final = frozenset(("uint8", "int8"))
# MatMulFpQ4's blk_quant_type -> (numbers in a block, bytes that it takes: half as many, a scale, an offset)
_BLOCKS: Final = {0: (32, 16 + 4), 1: (32, 16 + 4 + 1), 2: (64, 32 + 4)}


def unpacked(count: Dim, dtype: str | None, bits: int) -> Dim:
    """Return how many numbers `count` elements hold; only bytes hold several."""
    return count * 8 // bits if dtype in _BYTES else count


def expert_bits(node: Node, at: int) -> int:
    """Return the bits per number of the QMoE weight at input 2, 5 or 8."""
    kind = node.attributes.get("quant_type", "int")
    if kind != "int":
        return 8 if kind == "fp8" else 4
    return _integer(node, f"fc{(at + 1) // 3}_expert_weight_bits", _integer(node, "expert_weight_bits", 4))


def pack_by_attributes(columns: str = "N") -> PackedReader:
    """Read a weight of K rows whose `columns` an attribute declares; its bytes may hold more, to fill blocks."""

    def packed(node: Node, weight: Tensor) -> PackedWeight:
        stored = _in_bytes(weight, _integer(node, "bits", 4))
        used = _integer(node, "K", 0) * _integer(node, columns, 0)
        return PackedWeight(stored.dtype, min(used, stored.elements) if used else stored.elements)

    return packed


def pack_bnb4(node: Node, weight: Tensor) -> PackedWeight:
    """Read 4-bit floating-point numbers of bitsandbytes, in one of two encodings."""
    return PackedWeight(
        "nf4" if node.attributes.get("quant_type") == 1 else "fp4", pack_by_attributes()(node, weight).elements
    )


def pack_by_type(node: Node, weight: Tensor) -> PackedWeight:
    """Read a table of bytes that hold several numbers each, or of a packed element type."""
    return _in_bytes(weight, _integer(node, "bits", 4))


def pack_halves(node: Node, weight: Tensor) -> PackedWeight:
    """Read two 4-bit floating-point numbers per byte."""
    return PackedWeight("float4e2m1", weight.elements * 2) if weight.dtype in _BYTES else _in_bytes(weight, 4)


def pack_expert(at: int) -> PackedReader:
    def packed(node: Node, weight: Tensor) -> PackedWeight:
        return _in_bytes(weight, expert_bits(node, at))

    return packed


def pack_blob(node: Node, weight: Tensor) -> PackedWeight:
    """Read blocks of numbers that are interleaved with their scales; columns are padded to whole blocks."""
    numbers, stored = _BLOCKS.get(_integer(node, "blk_quant_type", 0), _BLOCKS[0])
    return PackedWeight("int4", weight.elements // stored * numbers)


def _in_bytes(weight: Tensor, bits: int) -> PackedWeight:
    if weight.dtype not in _BYTES:
        return PackedWeight(weight.dtype or "unknown", weight.elements)
    return PackedWeight(f"int{bits}", weight.elements * 8 // bits)


def _integer(node: Node, name: str, default: int) -> int:
    """Return a positive integer attribute, or the default."""
    declared = node.attributes.get(name)
    return declared if type(declared) is int and declared > 0 else default
