"""Quantised operators of onnxruntime (com.microsoft): few bits in, few bits or floating point out."""

from onnx_autodoc.ir import dtype_name
from onnx_autodoc.ops import _packs as packs
from onnx_autodoc.ops import _quantized_prices as prices
from onnx_autodoc.ops._call import Call, axis_of, broadcast, size
from onnx_autodoc.ops._cost import each, untold
from onnx_autodoc.ops._fusion import as_plain
from onnx_autodoc.ops._known import Contradiction, Dim, Known, Shape, Unknown, tensor
from onnx_autodoc.ops._operator import Operator, scales, weights
from onnx_autodoc.ops._ranks import deep, ranked
from onnx_autodoc.ops._sizes import sizes
from onnx_autodoc.ops._window import ceil_div, differ
from onnx_autodoc.ops.elementwise import same
from onnx_autodoc.ops.matmul import gemm_shape, product, product_shape, requantized
from onnx_autodoc.ops.quantization import OPERATORS as QUANTIZATION
from onnx_autodoc.ops.recurrent import cell, recurrent
from onnx_autodoc.ops.reduction import OPERATORS as REDUCTION
from onnx_autodoc.ops.reduction import reduced_shape


# products with a quantised weight
def _columns(call: Call, count: Dim) -> Shape:
    """[..., K] by a weight of so many columns."""
    return (*deep(call, 0)[:-1], count)


def _packed_product(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), _columns(call, call.attr_required("N")))]


def _nbits(call: Call) -> list[Known]:
    """[..., K] by N columns of blocks of so many numbers, of so many bits each."""
    count, over = call.attr_required("N"), call.attr_required("K")
    bits, block = call.attr_int("bits", 4), call.attr_int("block_size", 0)
    if not 2 <= bits <= 8 or block < 16 or block & (block - 1):
        raise Contradiction(f"MatMulNBits of {bits} bits in blocks of {block}")
    if differ(deep(call, 0)[-1], over):
        raise Contradiction(f"MatMulNBits over {call.shape(0)[-1]} elements with a weight for {over}")
    packed, wanted = call.known(1).shape, count * ceil_div(over, block) * ceil_div(block * bits, 8)
    if packed is not None and differ(size(packed), wanted):
        raise Contradiction(f"MatMulNBits wants a weight of {wanted:,} bytes, there are {size(packed):,}")
    return _packed_product(call)


def _packed_mlp(call: Call) -> list[Known]:
    return [*_packed_product(call), *same(call)]


def _packed_qkv(call: Call) -> list[Known]:
    query, key = (tensor(call.dtype(0), _columns(call, call.attr_required(name))) for name in ("Nq", "Nkv"))
    return [query, key, key, *same(call)]


def _bnb4(call: Call) -> list[Known]:
    # the weight is [N, K], turned unless transB is 0
    return [tensor(call.dtype(0), _columns(call, call.attr_required("N" if call.attr_int("transB", 1) else "K")))]


def _rows_product(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), _columns(call, ranked(call, 1, 2)[0]))]  # the weight is [N, K]


def _blob_product(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), product_shape(call.shape(0), sizes(call, 2)))]  # the blob's dims are an input


# products of integers
def _integer_to_float(call: Call) -> list[Known]:
    return [tensor(call.dtype(2), product_shape(call.shape(0), call.shape(1)))]


def _dynamic_product(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), product_shape(call.shape(0), call.shape(1)))]


def _integer16_product(call: Call) -> list[Known]:
    dtype = {"int16": "int32", "uint16": "uint32"}.get(call.dtype(0) or "")
    return [tensor(dtype, product_shape(call.shape(0), call.shape(1)))]


def _ordered_product(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), product_shape(call.shape(0), call.shape(2)))]


def _gemm(call: Call) -> list[Known]:
    return [tensor(call.dtype(8) if call.has(8) else "float32", gemm_shape(call, 0, 3))]


# element by element; scales and zero points are between the operands
def _binary(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), broadcast(call.shape(0), call.shape(3)))]


def _integer_binary(call: Call) -> list[Known]:
    return [tensor("int32", broadcast(call.shape(0), call.shape(2)))]


def _where(call: Call) -> list[Known]:
    return [tensor(call.dtype(1), broadcast(call.shape(0), call.shape(1), call.shape(4)))]


def _concat(call: Call) -> list[Known]:
    # inputs: the result's scale and zero point, then tensor, scale, zero point of each part
    parts = [call.shape(at) for at in range(2, len(call.inputs), 3)]
    if not parts or len({len(part) for part in parts}) != 1:
        raise Contradiction("QLinearConcat of parts with different numbers of dimensions")
    axis = axis_of(call.attr_required("axis"), len(parts[0]))
    total: Dim = sum((part[axis] for part in parts), start=0)
    others = [next((dim for dim in column if type(dim) is int), column[0]) for column in zip(*parts, strict=True)]
    return [tensor(call.dtype(1), (*others[:axis], total, *others[axis + 1 :]))]


def _reduce(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), _reduced(call))]


def _reduce_integer(call: Call) -> list[Known]:
    return [tensor(None, _reduced(call))]  # int32 or uint32: the file's own declaration decides


def _reduced(call: Call) -> Shape:
    axes = call.attr_ints("axes")
    return reduced_shape(call, call.shape(0), list(axes) if axes else None)


def _gather(call: Call) -> list[Known]:
    """Gather from a table whose bytes hold several numbers along the last axis, given back as floating point."""
    data = deep(call, 0)
    axis, bits = axis_of(call.attr_int("gather_axis", 0), len(data)), call.attr_int("bits", 4)
    if call.dtype(0) == "uint8":
        if bits not in (2, 4, 8):
            raise Contradiction(f"GatherBlockQuantized of {bits} bits")
        data = (*data[:-1], data[-1] * (8 // bits))
    elif call.dtype(0) is None:
        data = (*data[:-1], Unknown("the element type of GatherBlockQuantized's table is not known"))
    return [tensor(call.dtype(2), (*data[:axis], *call.shape(1), *data[axis + 1 :]))]


# changes of representation
def _quantize_ordered(call: Call) -> list[Known]:
    return [tensor("int8", call.shape(0))]


def _dequantize_ordered(call: Call) -> list[Known]:
    return [tensor(dtype_name(call.attr_required("to")), call.shape(0))]


def _quantize_blocks(call: Call) -> list[Known]:
    why = "QuantizeBFP: how many bytes its blocks take is left to the hardware"
    rank = tensor("int64", (call.rank(0),))
    return [tensor("uint8", (Unknown(why),)), rank, rank]


def _dequantize_blocks(call: Call) -> list[Known]:
    return [tensor(dtype_name(call.attr_int("dtype", 1)), sizes(call, 1))]


def _dynamic_lstm(call: Call) -> list[Known]:
    return recurrent(call, states=2, hidden_axis=1)  # R is [directions, hidden, 4 * hidden], turned against LSTM's


_BLOCK_FLOAT = untold("how many numbers share an exponent, and how they are rounded, is left to the hardware")
_TWO, _ONE = (
    scales(1, 2, 4, 5, 6, 7),
    scales(1, 2, 3, 4),
)  # tensors, each with its scale and zero point, then the result's
_PARTS = scales(
    0, 1, *(at for at in range(3, 3000) if at % 3 != 2)
)  # each part is followed by its scale and zero point

OPERATORS: dict[str, Operator] = {
    # products
    "DynamicQuantizeLSTM": Operator(_dynamic_lstm, cost=cell("LSTM", hidden_axis=1), parts=scales(8, 9, 10, 11)),
    "DynamicQuantizeMatMul": Operator(_dynamic_product, cost=prices.dynamic_product, parts=scales(2, 3)),
    "MatMulBlockQuantizedFp4Weight": Operator(
        _rows_product, cost=prices.with_bias(product, 5), parts=scales(2, 3, 4), packs={1: packs.halves}
    ),
    "MatMulBlockQuantizedFp8Weight": Operator(_rows_product, cost=prices.fp8_weight, parts=scales(2, 3)),
    "MatMulBnb4": Operator(_bnb4, cost=prices.bnb4, parts=scales(2), packs={1: packs.bnb4}),
    "MatMulFpQ4": Operator(_blob_product, cost=product, packs={1: packs.blob}),
    "MatMulInteger16": Operator(_integer16_product, cost=product),
    "MatMulIntegerToFloat": Operator(_integer_to_float, cost=prices.integer_to_float, parts=scales(2, 3, 4, 5)),
    "MatMulNBits": Operator(_nbits, cost=prices.nbits, parts=scales(2, 3), packs={1: packs.by_attributes()}),
    "MatMulNBitsMlp": Operator(
        _packed_mlp, cost=prices.mlp, parts=scales(4, 7), packs=dict.fromkeys((3, 6), packs.by_attributes())
    ),
    "MatMulNBitsQkv": Operator(
        _packed_qkv,
        cost=prices.qkv,
        parts=scales(4, 7, 10),
        packs={3: packs.by_attributes("Nq"), **dict.fromkeys((6, 9), packs.by_attributes("Nkv"))},
    ),
    "QGemm": Operator(_gemm, cost=prices.gemm, parts=scales(1, 2, 4, 5, 7, 8) | weights(3, 6)),
    "QMoE": Operator(
        same,
        cost=prices.moe,
        parts=scales(3, 6, 9, *range(11, 14), *range(15, 21)),
        packs={at: packs.expert(at) for at in (2, 5, 8)},
    ),
    "QOrderedMatMul": Operator(_ordered_product, cost=prices.ordered_product, parts=scales(1, 3, 4, 7)),
    # element by element, reductions, parts put together
    "GatherBlockQuantized": Operator(_gather, cost=prices.gather, parts=scales(2, 3), packs={0: packs.by_type}),
    "MulInteger": Operator(_integer_binary, cost=prices.integer_product, parts=scales(1, 3)),
    "QLinearAdd": Operator(_binary, cost=prices.between("Add", 0, 3), parts=_TWO),
    "QLinearConcat": Operator(_concat, cost=prices.concat, parts=_PARTS),
    "QLinearLeakyRelu": Operator(same, cost=prices.between("LeakyRelu", 0), parts=_ONE),
    "QLinearMul": Operator(_binary, cost=prices.between("Mul", 0, 3), parts=_TWO),
    "QLinearReduceMean": Operator(_reduce, cost=requantized(as_plain(REDUCTION, "ReduceMean")), parts=_ONE),
    "QLinearSigmoid": Operator(same, cost=prices.between("Sigmoid", 0), parts=_ONE),
    "QLinearSoftmax": Operator(same, cost=prices.between("Softmax", 0), parts=_ONE),
    "QLinearWhere": Operator(_where, cost=prices.between("Where", 1, 4), parts=scales(2, 3, 5, 6, 7, 8)),
    "QOrderedGelu": Operator(same, cost=prices.ordered("Gelu", 0), parts=scales(1, 2)),
    "QOrderedLayerNormalization": Operator(
        same, cost=prices.ordered("LayerNormalization", 0, 2, 3), parts=scales(1, 4) | weights(2, 3)
    ),
    "ReduceSumInteger": Operator(_reduce_integer, cost=as_plain(REDUCTION, "ReduceSum")),
    # changes of representation
    "DequantizeBFP": Operator(_dequantize_blocks, cost=_BLOCK_FLOAT),
    "DequantizeLinear": QUANTIZATION["DequantizeLinear"],
    "DequantizeWithOrder": Operator(_dequantize_ordered, cost=each(1, "scale"), parts=scales(1)),
    "QuantizeBFP": Operator(_quantize_blocks, cost=_BLOCK_FLOAT),
    "QuantizeLinear": QUANTIZATION["QuantizeLinear"],
    "QuantizeWithOrder": Operator(_quantize_ordered, cost=each(2, "scale, round"), parts=scales(1)),
}
