"""Prices of onnxruntime's quantised operators.

To bring a packed weight to floating point is no arithmetic of its own: kernels do it while they multiply.
"""

from onnx_autodoc.ops._call import Call, axis_of, size
from onnx_autodoc.ops._cost import Cost, Price
from onnx_autodoc.ops._fusion import PLAIN, activation, part, result, total
from onnx_autodoc.ops._known import like, tensor
from onnx_autodoc.ops._microsoft_prices import experts, given, optional
from onnx_autodoc.ops._packs import expert_bits, unpacked
from onnx_autodoc.ops._partial_reads import read_of
from onnx_autodoc.ops._ranks import deep
from onnx_autodoc.ops.matmul import gemm_cost, product
from onnx_autodoc.ops.quantization import OPERATORS as QUANTIZATION


# products
def nbits(call: Call) -> Cost:
    """K multiply-adds for each element of the output; 1 per element for a bias"""
    elements = size(call.output())
    return Cost(elements * call.attr_required("K"), elements * given(call, 5))


def with_bias(price: Price, *bias_at: int) -> Price:
    """The same, and a bias where there is one."""

    def biased(call: Call) -> Cost:
        return total(price(call), Cost(other=size(call.output()) * given(call, *bias_at)))

    biased.__doc__ = f"{price.__doc__}; 1 per element for a bias"
    return biased


def bnb4(call: Call) -> Cost:
    """K multiply-adds for each element of the output; N where transB is 0"""
    length = call.attr_required("K" if call.attr_int("transB", 1) else "N")
    return Cost(macs=size(call.output()) * length)


def fp8_weight(call: Call) -> Cost:
    """K multiply-adds for each element of the output; 1 per element for a bias; 3 per element of A where it is scaled:
    quotient, rounding, product"""
    quantized = Cost(other=3 * size(call.shape(0)) * given(call, 3))
    return total(with_bias(product, 4)(call), quantized)


def integer_to_float(call: Call, bias_at: int = 6) -> Cost:
    """K multiply-adds for each element of the output; 1 per element for the scale, 1 for a bias"""
    return total(product(call), Cost(other=size(call.output()) * (1 + given(call, bias_at))))


def dynamic_product(call: Call) -> Cost:
    """as DynamicQuantizeLinear, then K multiply-adds for each element of the output; 1 per element for the scale, 1 for
    a bias"""
    small = part(QUANTIZATION, "DynamicQuantizeLinear", tensor("uint8", call.shape(0)), call.known(0))
    return total(small, integer_to_float(call, 4))


def gemm(call: Call) -> Cost:
    """K multiply-adds for each element of the output; 1 per element where there is a C; 3 per element: scale, round,
    zero point; only the scale where the result is floating point"""
    return total(gemm_cost(call, bias_at=6), Cost(other=size(call.output()) * (3 if call.has(8) else 1)))


def ordered_product(call: Call) -> Cost:
    """K multiply-adds for each element of the output; 2 per element: scale, round; 1 for a bias, 2 for a C: scale,
    sum"""
    each = 2 + given(call, 5) + 2 * given(call, 6)
    return total(product(call), Cost(other=size(call.output()) * each))


def _norm(call: Call) -> Cost:
    """What may come before the products: a sum with another input, RMSNormalization."""
    x = call.known(0)
    sums = Cost(other=size(call.shape(0)) * given(call, 1))
    return total(sums, part(PLAIN, "RMSNormalization", x, x, call.known(2))) if call.has(2) else sums


def mlp(call: Call) -> Cost:
    """twice K multiply-adds for each element of the output; 1 per element for each bias, the activation, 1 for the
    gate; before them, where asked for, as Add and RMSNormalization"""
    elements = size(call.output())
    gate = activation(call, call.attr_text("activation", "silu"), result(call))
    sums = Cost(2 * elements * call.attr_required("K"), elements * (1 + given(call, 5, 8)))
    return total(_norm(call), sums, gate)


def qkv(call: Call) -> Cost:
    """K multiply-adds for each element of the first three outputs; 1 per element for each bias; before them as
    RMSNormalization, as Add where there is a skip"""
    length = call.attr_required("K")
    made = [(size(call.output(at)), given(call, bias)) for at, bias in ((0, 5), (1, 8), (2, 11))]
    return total(_norm(call), *(Cost(elements * length, elements * biased) for elements, biased in made))


# element by element
def dequantized(call: Call, at: int) -> Cost:
    """An input with its scale and zero point behind it, brought to floating point."""
    x = tensor("float32", call.shape(at))
    return part(QUANTIZATION, "DequantizeLinear", x, call.known(at), call.known(at + 1), optional(call, at + 2))


def quantized(call: Call) -> Cost:
    """The output, brought back to small integers."""
    y = result(call)
    return part(QUANTIZATION, "QuantizeLinear", y, like(y, call.output()), tensor("float32", ()), tensor(y.dtype, ()))


def between(op: str, *inputs: int) -> Price:
    """An operator between the DequantizeLinear of each input and the QuantizeLinear of the output."""

    def price(call: Call) -> Cost:
        plain = part(PLAIN, op, result(call), *(call.known(at) for at in inputs), named=call.node.attributes)
        return total(*(dequantized(call, at) for at in inputs), plain, quantized(call))

    price.__doc__ = f"as DequantizeLinear of {'both inputs' if len(inputs) > 1 else 'the input'}, {op}, QuantizeLinear"
    return price


def concat(call: Call) -> Cost:
    """as DequantizeLinear of each part and QuantizeLinear of the whole"""
    return total(*(dequantized(call, at) for at in range(2, len(call.inputs), 3)), quantized(call))


def ordered(op: str, *inputs: int) -> Price:
    """An operator between scales: one multiplication before it, a scale and a rounding after it."""

    def price(call: Call) -> Cost:
        taken = [optional(call, at) for at in inputs]
        scaled = Cost(other=size(call.shape(0)) + 2 * size(call.output()))
        return total(scaled, part(PLAIN, op, result(call), *taken, named=call.node.attributes))

    price.__doc__ = f"as {op}; 3 per element: scale before it, scale and rounding after it"
    return price


def integer_product(call: Call) -> Cost:
    """1 per element of the output; 1 per element of an input that has a zero point"""
    offsets = sum((size(call.shape(at)) * given(call, at + 1) for at in (0, 2)), start=0)
    return Cost(other=size(call.output()) + offsets)


def gather(call: Call) -> Cost:
    """2 per element of the output: zero point, scale; reads no more rows than it hands on"""
    axis, picks = axis_of(call.attr_int("gather_axis", 0), call.rank(0)), size(call.shape(1))
    return Cost(0, 2 * size(call.output()), read_of(call, dict.fromkeys((0, 2, 3), (axis, picks))))


def moe(call: Call) -> Cost:
    """as MoE, by the numbers that the packed weights of an expert hold"""
    weights = [
        unpacked(size(deep(call, at)[1:]), call.dtype(at), expert_bits(call.node, at))
        for at in ((2, 5, 8) if call.has(8) else (2, 5))
    ]
    return experts(call, weights, (4, 7, 10), range(2, 14))
