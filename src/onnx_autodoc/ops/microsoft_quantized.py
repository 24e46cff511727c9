"""Quantised operators of onnxruntime (com.microsoft): few bits in, few bits or floating point out."""

from onnx_autodoc.graph import dtype_name
from onnx_autodoc.ops._call import Call, axis_of, broadcast
from onnx_autodoc.ops._known import Contradiction, Dim, Known, Shape, Unknown, tensor
from onnx_autodoc.ops._operator import Operator, Rule
from onnx_autodoc.ops._ranks import deep, ranked
from onnx_autodoc.ops._sizes import sizes
from onnx_autodoc.ops.elementwise import same
from onnx_autodoc.ops.matmul import gemm_shape, product_shape
from onnx_autodoc.ops.quantization import OPERATORS as QUANTIZATION
from onnx_autodoc.ops.recurrent import recurrent
from onnx_autodoc.ops.reduction import reduced_shape


# products with a quantised weight
def _columns(call: Call, count: Dim) -> Shape:
    """[..., K] by a weight of so many columns."""
    return (*deep(call, 0)[:-1], count)


def _packed_product(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), _columns(call, call.attr_required("N")))]


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


def _table(rule: Rule, names: str) -> dict[str, Operator]:
    return {name: Operator(rule) for name in names.split()}


OPERATORS: dict[str, Operator] = {
    **_table(same, "QLinearLeakyRelu QLinearSigmoid QLinearSoftmax QMoE QOrderedGelu QOrderedLayerNormalization"),
    **_table(_rows_product, "MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight"),
    "DequantizeBFP": Operator(_dequantize_blocks),
    "DequantizeLinear": QUANTIZATION["DequantizeLinear"],
    "DequantizeWithOrder": Operator(_dequantize_ordered),
    "DynamicQuantizeLSTM": Operator(_dynamic_lstm),
    "DynamicQuantizeMatMul": Operator(_dynamic_product),
    "GatherBlockQuantized": Operator(_gather),
    "MatMulBnb4": Operator(_bnb4),
    "MatMulFpQ4": Operator(_blob_product),
    "MatMulInteger16": Operator(_integer16_product),
    "MatMulIntegerToFloat": Operator(_integer_to_float),
    "MatMulNBits": Operator(_packed_product),
    "MatMulNBitsMlp": Operator(_packed_mlp),
    "MatMulNBitsQkv": Operator(_packed_qkv),
    "MulInteger": Operator(_integer_binary),
    "QGemm": Operator(_gemm),
    "QLinearAdd": Operator(_binary),
    "QLinearConcat": Operator(_concat),
    "QLinearMul": Operator(_binary),
    "QLinearReduceMean": Operator(_reduce),
    "QLinearWhere": Operator(_where),
    "QOrderedMatMul": Operator(_ordered_product),
    "QuantizeBFP": Operator(_quantize_blocks),
    "QuantizeLinear": QUANTIZATION["QuantizeLinear"],
    "QuantizeWithOrder": Operator(_quantize_ordered),
    "ReduceSumInteger": Operator(_reduce_integer),
}
