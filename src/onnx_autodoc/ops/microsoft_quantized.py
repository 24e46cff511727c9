"""Quantized operators of onnxruntime (com.microsoft)."""

from onnx_autodoc.ir import dtype_name
from onnx_autodoc.ops import quantized_costs as cost_rules
from onnx_autodoc.ops.call import (
    Call,
    ceil_div,
    normalize_axis,
    shape_of_min_rank,
    size,
    sizes,
    sizes_differ,
)
from onnx_autodoc.ops.cost import per_output_element, unknown_arithmetic
from onnx_autodoc.ops.dim_specs import rule
from onnx_autodoc.ops.fused_costs import cost_as
from onnx_autodoc.ops.input_constraints import index_into, time_steps
from onnx_autodoc.ops.matmul import product, requantized
from onnx_autodoc.ops.operator import (
    Operator,
    QuantizedInput,
    Trait,
    WorkClass,
    of_class,
    scales,
    weights,
    with_traits,
)
from onnx_autodoc.ops.quantization import OPERATORS as QUANTIZATION
from onnx_autodoc.ops.recurrent import cell, recurrent
from onnx_autodoc.ops.reduction import OPERATORS as REDUCTION
from onnx_autodoc.ops.reduction import reduced_shape
from onnx_autodoc.ops.shape_rules import broadcast_of, gemm_shape, one_output, product_of, product_shape, same, shape_of
from onnx_autodoc.ops.values import Contradiction, Dim, Shape, Unknown, ValueInfo, tensor

_columns_k = rule("0: ... N -> 0: ... @K")
_columns_n = rule("0: ... K -> 0: ... @N")


def _nbits(call: Call) -> list[ValueInfo]:
    """Check a weight of N columns, in blocks of numbers of a few bits."""
    count, over = call.attr_required("N"), call.attr_required("K")
    bits, block = call.attr_int("bits", 4), call.attr_int("block_size", 0)
    if not 2 <= bits <= 8 or block < 16 or block & (block - 1):
        raise Contradiction(
            f"MatMulNBits requires 2 to 8 bits and a block_size of 16 or a larger power of two, got {bits} and {block}"
        )
    if sizes_differ(shape_of_min_rank(call, 0)[-1], over):
        raise Contradiction(f"K of MatMulNBits ({over}) differs from the last axis of its input ({call.shape(0)[-1]})")
    packed, expected = call.input_info(1).shape, count * ceil_div(over, block) * ceil_div(block * bits, 8)
    if packed is not None and sizes_differ(size(packed), expected):
        raise Contradiction(f"MatMulNBits requires a weight of {expected:,} bytes, got {size(packed):,}")
    return list(_columns_n(call))


def _integer16_product(call: Call) -> list[ValueInfo]:
    dtype = {"int16": "int32", "uint16": "uint32"}.get(call.dtype(0) or "")
    return [tensor(dtype, product_shape(call.shape(0), call.shape(1)))]


def _concat(call: Call) -> Shape:
    """Infer from the scale and zero point of the output, then tensor, scale and zero point of each part."""
    parts = [call.shape(at) for at in range(2, len(call.inputs), 3)]
    if not parts or len({len(part) for part in parts}) != 1:
        raise Contradiction("QLinearConcat requires inputs of equal rank")
    axis = normalize_axis(call.attr_required("axis"), len(parts[0]))
    total: Dim = sum((part[axis] for part in parts), start=0)
    others = [next((dim for dim in column if type(dim) is int), column[0]) for column in zip(*parts, strict=True)]
    return (*others[:axis], total, *others[axis + 1 :])


def _reduced(call: Call) -> Shape:
    axes = call.attr_ints("axes")
    return reduced_shape(call, call.shape(0), list(axes) if axes else None)


def _gather(call: Call) -> list[ValueInfo]:
    """Gather from a table whose bytes hold several numbers along the last axis."""
    data = shape_of_min_rank(call, 0)
    axis, bits = normalize_axis(call.attr_int("gather_axis", 0), len(data)), call.attr_int("bits", 4)
    if call.dtype(0) == "uint8":
        if bits not in (2, 4, 8):
            raise Contradiction(f"GatherBlockQuantized requires 2, 4 or 8 bits, got {bits}")
        data = (*data[:-1], data[-1] * (8 // bits))
    elif call.dtype(0) is None:
        data = (*data[:-1], Unknown("the element type of the table of GatherBlockQuantized is unknown"))
    return [tensor(call.dtype(2), (*data[:axis], *call.shape(1), *data[axis + 1 :]))]


def _quantize_blocks(call: Call) -> list[ValueInfo]:
    nbytes = Unknown("QuantizeBFP: the size of its blocks is hardware-specific")
    dims = tensor("int64", (call.rank(0),))
    return [tensor("uint8", (nbytes,)), dims, dims]


_BLOCK_FLOAT = unknown_arithmetic("the block size and the rounding are hardware-specific")
_ONE = scales(1, 2, 3, 4)  # the scale and zero point of one input, and of the output
_CONCAT_SCALES = scales(0, 1, *(at for at in range(3, 3000) if at % 3 != 2))
_DYNAMIC = frozenset((Trait.DYNAMIC_QUANTIZATION, Trait.MULTIPLIES, Trait.PRODUCT))

_PRODUCTS = of_class(
    WorkClass.PRODUCT,
    {
        "DynamicQuantizeMatMul": Operator(
            product_of(),
            cost=cost_rules.dynamic_product,
            roles=scales(2, 3),
            traits=_DYNAMIC,
            quantized=(QuantizedInput(1, 2, 3),),
        ),
        "MatMulBlockQuantizedFp4Weight": Operator(
            rule("0: ... K, 1: N _ -> 0: ... N"),
            cost=cost_rules.with_bias(product, 5),
            roles=scales(2, 3, 4),
            packed={1: cost_rules.pack_halves},
            quantized=(QuantizedInput(1, 2, -1),),
        ),
        "MatMulBlockQuantizedFp8Weight": Operator(
            rule("0: ... K, 1: N _ -> 0: ... N"),
            cost=cost_rules.fp8_weight,
            roles=scales(2, 3),
            quantized=(QuantizedInput(1, 2, -1),),
        ),
        "MatMulBnb4": Operator(
            lambda call: (_columns_n if call.attr_int("transB", 1) else _columns_k)(call),
            cost=cost_rules.bnb4,
            roles=scales(2),
            packed={1: cost_rules.pack_bnb4},
            quantized=(QuantizedInput(1, 2, 3),),
        ),
        "MatMulFpQ4": Operator(
            one_output(lambda call: product_shape(call.shape(0), sizes(call, 2))),
            cost=product,
            packed={1: cost_rules.pack_blob},
        ),
        "MatMulInteger16": Operator(_integer16_product, cost=product),
        "MatMulIntegerToFloat": Operator(
            product_of(dtype=2),
            cost=cost_rules.integer_to_float,
            roles=scales(2, 3, 4, 5),
            traits=_DYNAMIC,
            quantized=(QuantizedInput(1, 3, 5),),
        ),
        "MatMulNBits": Operator(
            _nbits,
            cost=cost_rules.nbits,
            roles=scales(2, 3),
            packed={1: cost_rules.pack_by_attributes()},
            traits={Trait.MULTIPLIES, Trait.PACKS_SUB_BYTES},
            quantized=(QuantizedInput(1, 2, 3),),
        ),
        "MatMulNBitsMlp": Operator(
            rule("0: ... K -> 0: ... @N, 0: ... K"),
            cost=cost_rules.mlp,
            roles=scales(4, 7),
            packed=dict.fromkeys((3, 6), cost_rules.pack_by_attributes()),
            traits={Trait.PACKS_SUB_BYTES},
            quantized=(QuantizedInput(3, 4, -1), QuantizedInput(6, 7, -1)),
        ),
        "MatMulNBitsQkv": Operator(
            rule("0: ... K -> 0: ... @Nq, 0: ... @Nkv, 0: ... @Nkv, 0: ... K"),
            cost=cost_rules.qkv,
            roles=scales(4, 7, 10),
            packed={at: cost_rules.pack_by_attributes(columns) for at, columns in ((3, "Nq"), (6, "Nkv"), (9, "Nkv"))},
            traits={Trait.PACKS_SUB_BYTES},
            quantized=(QuantizedInput(3, 4, -1), QuantizedInput(6, 7, -1), QuantizedInput(9, 10, -1)),
        ),
        "QGemm": Operator(
            lambda call: [tensor(call.dtype(8) if call.has(8) else "float32", gemm_shape(call, 0, 3))],
            cost=cost_rules.gemm,
            roles=scales(1, 2, 4, 5, 7, 8) | weights(3, 6),
            traits={Trait.INT8_OPERATOR, Trait.MULTIPLIES, Trait.QOPERATOR},
            operands=(0, 3),
            quantized=(QuantizedInput(3, 4, 5),),
        ),
        "QMoE": Operator(
            same,
            cost=cost_rules.moe,
            roles=scales(3, 6, 9, *range(11, 14), *range(15, 21)),
            packed={at: cost_rules.pack_expert(at) for at in (2, 5, 8)},
            traits={Trait.PACKS_SUB_BYTES},
            quantized=(QuantizedInput(2, 3, 11), QuantizedInput(5, 6, 12), QuantizedInput(8, 9, 13)),
        ),
        "QOrderedMatMul": Operator(
            product_of(0, 2), cost=cost_rules.ordered_product, roles=scales(1, 3, 4, 7), traits={Trait.QOPERATOR}
        ),
    },
)

_QLINEAR = with_traits(
    {Trait.QOPERATOR},
    {
        f"QLinear{op}": Operator(
            broadcast_of(0, 3),
            cost=cost_rules.between(op, 0, 3),
            roles=scales(1, 2, 4, 5, 6, 7),
            quantized=(QuantizedInput(3, 4, 5), QuantizedInput(0, 1, 2)),
            kernel="integer pointwise",
        )
        for op in ("Add", "Mul")
    }
    | {
        f"QLinear{op}": Operator(same, cost=cost_rules.between(op, 0), roles=_ONE, kernel="integer pointwise")
        for op in ("LeakyRelu", "Sigmoid")
    }
    | {
        "QLinearConcat": Operator(
            one_output(_concat, 1),
            cost=cost_rules.concat,
            roles=_CONCAT_SCALES,
            work=WorkClass.MOVE,
            kernel="integer pointwise",
        ),
        "QLinearReduceMean": Operator(
            one_output(_reduced),
            cost=requantized(cost_as(REDUCTION, "ReduceMean")),
            roles=_ONE,
            work=WorkClass.REDUCTION,
        ),
        "QLinearSoftmax": Operator(same, cost=cost_rules.between("Softmax", 0), roles=_ONE, work=WorkClass.SOFTMAX),
        "QLinearWhere": Operator(
            broadcast_of(0, 1, 4, dtype=1), cost=cost_rules.between("Where", 1, 4), roles=scales(2, 3, 5, 6, 7, 8)
        ),
        "QOrderedGelu": Operator(same, cost=cost_rules.ordered("Gelu", 0), roles=scales(1, 2)),
        "QOrderedLayerNormalization": Operator(
            same,
            cost=cost_rules.ordered("LayerNormalization", 0, 2, 3),
            roles=scales(1, 4) | weights(2, 3),
            work=WorkClass.NORMALIZATION,
        ),
    },
)

OPERATORS: dict[str, Operator] = _PRODUCTS | of_class(
    WorkClass.POINTWISE,
    _QLINEAR
    | {
        "DynamicQuantizeLSTM": Operator(
            lambda call: recurrent(call, states=2, hidden_axis=1),  # R is [directions, hidden, 4 * hidden]
            cost=cell("LSTM", hidden_axis=1),
            roles=scales(8, 9, 10, 11),
            traits={Trait.DYNAMIC_QUANTIZATION, Trait.SCALES_PER_DIRECTION},
            quantized=(QuantizedInput(1, 8, 9), QuantizedInput(2, 10, 11)),
            work=WorkClass.RECURRENT,
            constraints={4: time_steps},
        ),
        "GatherBlockQuantized": Operator(
            _gather,
            cost=cost_rules.gather,
            roles=scales(2, 3),
            packed={0: cost_rules.pack_by_type},
            traits={Trait.PACKS_SUB_BYTES},
            index_input=1,
            quantized=(QuantizedInput(0, 2, 3),),
            default_block_size=128,
            work=WorkClass.LOOKUP,
            constraints={1: index_into(0, "gather_axis")},
        ),
        "MulInteger": Operator(broadcast_of(0, 2, dtype="int32"), cost=cost_rules.integer_product, roles=scales(1, 3)),
        "ReduceSumInteger": Operator(
            lambda call: [tensor(None, _reduced(call))],  # int32 or uint32, as the file declares
            cost=cost_as(REDUCTION, "ReduceSum"),
            work=WorkClass.REDUCTION,
        ),
        "DequantizeBFP": Operator(
            lambda call: [tensor(dtype_name(call.attr_int("dtype", 1)), sizes(call, 1))], cost=_BLOCK_FLOAT
        ),
        "DequantizeLinear": QUANTIZATION["DequantizeLinear"],
        "DequantizeWithOrder": Operator(
            lambda call: [tensor(dtype_name(call.attr_required("to")), call.shape(0))],
            cost=per_output_element(1, "scale"),
            roles=scales(1),
        ),
        "QuantizeBFP": Operator(_quantize_blocks, cost=_BLOCK_FLOAT),
        "QuantizeLinear": QUANTIZATION["QuantizeLinear"],
        "QuantizeWithOrder": Operator(shape_of(0, "int8"), cost=per_output_element(2, "scale, round"), roles=scales(1)),
    },
)
