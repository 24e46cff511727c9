"""Fused products, normalizations, activations and data movement of onnxruntime (com.microsoft)."""

from onnx_autodoc.ir import dtype_name
from onnx_autodoc.ops import fused_costs as cost_rules
from onnx_autodoc.ops.call import Call, check_shape, normalize_axis, shape_of_min_rank, shape_of_rank, size, sizes
from onnx_autodoc.ops.cost import (
    Cost,
    free,
    generated,
    interpolation_ops,
    per_output_element,
    reads_picked_elements,
    uncounted,
    unknown_arithmetic,
    view,
)
from onnx_autodoc.ops.dim_specs import rule
from onnx_autodoc.ops.elementwise import OPERATORS as ELEMENTWISE
from onnx_autodoc.ops.elementwise import broadcast_same
from onnx_autodoc.ops.fused_costs import add_activation, chained_cost, known_output, sum_costs
from onnx_autodoc.ops.image import OPERATORS as IMAGE
from onnx_autodoc.ops.indexing import OPERATORS as INDEXING
from onnx_autodoc.ops.input_constraints import ONE, ZERO, index_into
from onnx_autodoc.ops.matmul import gemm_cost
from onnx_autodoc.ops.operator import Operator, QuantizedInput, Trait, WorkClass, constants, of_class, scales, weights
from onnx_autodoc.ops.shape_rules import gemm_shape, one_output, product_shape, same, same_as
from onnx_autodoc.ops.signal import fourier
from onnx_autodoc.ops.slicing import OPERATORS as SLICING
from onnx_autodoc.ops.values import Contradiction, InferenceError, Shape, Unknown, ValueInfo, tensor
from onnx_autodoc.text import quote_name


# products
def _operand(call: Call, at: int, side: str) -> Shape:
    """Return [..., M, K] or [..., K, N]: attributes may swap the last two axes, or put the batch after the first."""
    shape = call.shape(at)
    is_swapped, has_inner_batch = call.attr_int(f"trans{side}", 0), call.attr_int(f"transBatch{side}", 0)
    if len(shape) < 2:
        return shape
    if has_inner_batch:
        shape = (*shape[1:-1], shape[0], shape[-1])
    return (*shape[:-2], shape[-1], shape[-2]) if is_swapped else shape


def _fused_matmul(call: Call) -> list[ValueInfo]:
    a, b = _operand(call, 0, "A"), _operand(call, 1, "B")
    return [tensor(call.dtype(0) or call.dtype(1), product_shape(a, b))]


def _fused_matmul_cost(call: Call) -> Cost:
    """K MACs per output element; 1 FLOP per output element if alpha is not 1"""
    shape_of_min_rank(call, 0)
    elements = size(call.output())
    return Cost(elements * _operand(call, 0, "A")[-1], elements if call.attr_float("alpha", 1.0) != 1 else 0)


def _gemm_gelu_cost(call: Call) -> Cost:
    """as MatMul and Gelu with the tanh approximation; 1 FLOP per element for a bias"""
    biases = Cost(other=size(call.output()) * cost_rules.count_present(call, 2))
    return sum_costs(_fused_matmul_cost(call), biases, cost_rules.tanh_gelu(known_output(call)))


def _cdist_cost(call: Call) -> Cost:
    """3 FLOPs per feature of each pair: subtract, square, add; 1 per pair for the sqrt of the euclidean metric"""
    metric = call.attr_text("metric", "sqeuclidean")
    if metric not in ("euclidean", "sqeuclidean"):
        raise InferenceError(f"CDist has an unknown metric: {quote_name(metric, 40)}")
    return Cost(other=size(call.output()) * (3 * shape_of_rank(call, 0, 2)[1] + (metric == "euclidean")))


def _inverse_cost(call: Call) -> Cost:
    """2n³ - 2n² + n FLOPs per n × n matrix: Gauss-Jordan elimination in place"""
    *batch, rows, _ = shape_of_min_rank(call, 0, 2)
    return Cost(other=size(tuple(batch)) * (2 * rows * rows * (rows - 1) + rows))


# normalizations
def _skip_norm(call: Call) -> list[ValueInfo]:
    """Infer the normalized sum, two statistics and the sum."""
    source, skip = shape_of_min_rank(call, 0), call.input_info(1).shape
    if len(source) > 1 and skip is not None:
        # the skip may omit the batch, or have one for all
        check_shape(call, 1, *shape_of_min_rank(call, 1, 2)[:-2], *source[-2:])
        check_shape(call, 2, source[-1])
    whole, statistic = tensor(call.dtype(0), source), tensor("float32", (*source[:-1], 1))
    return [whole, statistic, statistic, whole]


def simplified_norm(call: Call) -> list[ValueInfo]:
    # [.., axis:] is normalized together; the statistic has those axes as 1
    source = call.shape(0)
    axis = normalize_axis(call.attr_int("axis", -1), len(source))
    statistic = (*source[:axis], *(1 for _ in source[axis:]))
    return [tensor(call.dtype(1), source), tensor(dtype_name(call.attr_int("stash_type", 1)), statistic)]


# activations and moves
def _bitmask_dropout(call: Call) -> list[ValueInfo]:
    # 32 elements of the mask in each number
    return [*same(call), tensor("uint32", ((size(call.shape(0)) + 31) // 32,))]


def _expand_dims(call: Call) -> list[ValueInfo]:
    source, axis = call.shape(0), normalize_axis(call.one(1), call.rank(0) + 1)
    return [tensor(call.dtype(0), (*source[:axis], 1, *source[axis:]))]


def _unfold(call: Call) -> list[ValueInfo]:
    # every `step` a slice of `size`, which becomes the last axis
    source, length, step = call.shape(0), call.attr_required("size"), call.attr_int("step", 1)
    axis = normalize_axis(call.attr_int("dim", -1), len(source))
    if step < 1 or length < 1:
        raise Contradiction(f"UnfoldTensor requires a positive size and step, got {length} and {step}")
    return [tensor(call.dtype(0), (*source[:axis], (source[axis] - length) // step + 1, *source[axis + 1 :], length))]


def _unique(call: Call) -> list[ValueInfo]:
    why = "Unique: the number of distinct elements is data-dependent"
    return [
        tensor(call.dtype(0), (Unknown(why),)),
        tensor("int64", (size(call.shape(0)),)),
        tensor("int64", (Unknown(why),)),
    ]


def _range(call: Call) -> list[ValueInfo]:
    # max(ceil((limit - start) / delta), 0) elements; a step that is left out is 1
    start, limit = call.one(0), call.one(1)
    delta = call.one(2) if call.has(2) else 1
    if isinstance(start, Unknown) or isinstance(limit, Unknown) or isinstance(delta, Unknown):
        why = next(item.why for item in (start, limit, delta) if isinstance(item, Unknown))
        return [tensor(call.dtype(0), (Unknown(why),))]
    if delta == 0:
        raise Contradiction("Range has a step of 0")
    return [tensor(call.dtype(0), (max(int(-((start - limit) // delta)), 0),))]


def _fourier_cost(call: Call) -> Cost:
    """5/2 n log2 n FLOPs per signal of n real numbers: FFT, log2 rounded up"""
    *signals, length = call.shape(0) if call.node.op == "Rfft" else call.output()
    return Cost(other=size(tuple(signals)) * fourier(length, 1))


def _crop_and_resize_cost(call: Call) -> Cost:
    """7 FLOPs per output element: bilinear interpolation; none for nearest"""
    return Cost(
        other=size(call.output()) * interpolation_ops(1 if call.attr_text("mode", "bilinear") == "nearest" else 4)
    )


def _crop_and_resize(call: Call) -> list[ValueInfo]:
    # X [N, C, H, W], rois [R, 4] = [R, C, height, width]
    height_width = sizes(call, 3)
    if len(height_width) != 2:
        raise Contradiction(f"CropAndResize requires 2 output sizes, got {len(height_width)}")
    return [tensor(call.dtype(0), (shape_of_rank(call, 1, 2)[0], shape_of_rank(call, 0, 4)[1], *height_width))]


def _all_finite_cost(call: Call) -> Cost:
    """1 FLOP per input element: comparison"""
    return Cost(other=sum((size(call.shape(at)) for at in range(len(call.inputs)) if call.has(at)), start=0))


def _opaque(call: Call) -> list[ValueInfo]:
    raise InferenceError(f"{call.node.op} contains a precompiled part of the model")


_TRANSLATED = uncounted("it contains a precompiled part of the model")
_COMPLEX = per_output_element(3, "half of a complex product, which takes four multiplies and two adds")

OPERATORS: dict[str, Operator] = (
    of_class(
        WorkClass.POINTWISE,
        {
            "BiasAdd": Operator(same, cost=cost_rules.bias_add),
            "BiasGelu": Operator(same, cost=chained_cost("Add", "Gelu"), fused_block="gelu", kernel="function gelu"),
            "FastGelu": Operator(same, cost=cost_rules.fast_gelu, fused_block="gelu", kernel="function tanh"),
            "GatedAdd": Operator(same, cost=per_output_element(2, "multiply, add")),
            "QuickGelu": Operator(same, cost=cost_rules.scaled_silu, fused_block="gelu", kernel="function silu"),
            "Trilu": Operator(same, cost=free, number_inputs=(0,)),
            "ComplexMul": Operator(broadcast_same, cost=_COMPLEX),
            "ComplexMulConj": Operator(broadcast_same, cost=_COMPLEX),
            "BiasDropout": Operator(
                lambda call: [*same(call), tensor("bool", call.shape(0))],
                cost=cost_rules.bias_dropout,
                roles=constants(3),
            ),
            "BiasSplitGelu": Operator(
                rule("0: ... D -> 0: ... D//2"), cost=cost_rules.bias_split_gelu, fused_block="gelu"
            ),
            "BitmaskBiasDropout": Operator(_bitmask_dropout, cost=cost_rules.bias_dropout, roles=constants(3)),
            "BitmaskDropout": Operator(
                _bitmask_dropout, cost=ELEMENTWISE["Dropout"].cost, roles=constants(1), traits={Trait.FORWARDS}
            ),
            "ScaledSiLU": Operator(same, cost=cost_rules.scaled_silu, roles=constants(1)),
        },
    )
    | of_class(
        WorkClass.PRODUCT,
        {
            "MoE": Operator(same, cost=cost_rules.moe),
            "FusedMatMul": Operator(_fused_matmul, cost=_fused_matmul_cost, traits={Trait.MULTIPLIES, Trait.PRODUCT}),
            "FusedMatMulActivation": Operator(_fused_matmul, cost=add_activation(_fused_matmul_cost)),
            "GemmFastGelu": Operator(_fused_matmul, cost=_gemm_gelu_cost, fused_block="gelu"),
            "SparseToDenseMatMul": Operator(
                _fused_matmul,
                cost=uncounted("the number of elements of the sparse matrix does not follow from its shape"),
            ),
            "TransposeMatMul": Operator(
                _fused_matmul, cost=_fused_matmul_cost, traits={Trait.MULTIPLIES, Trait.PRODUCT}
            ),
            "CDist": Operator(rule("0: M _, 1: N _ -> 0: M N"), cost=_cdist_cost),
            "FusedGemm": Operator(
                one_output(gemm_shape),
                cost=add_activation(gemm_cost),
                roles=weights(2),
                traits={Trait.MULTIPLIES, Trait.PRODUCT},
            ),
            "GemmFloat8": Operator(
                lambda call: [tensor(dtype_name(call.attr_int("dtype", 1)), gemm_shape(call))],
                cost=add_activation(gemm_cost),
                roles=weights(2) | scales(3, 4, 5),
            ),
        },
    )
    | of_class(
        WorkClass.NORMALIZATION,
        {
            "BranchwiseRMSNorm": Operator(same, cost=cost_rules.branch_norm, roles=weights(1)),
            "EmbedLayerNormalization": Operator(
                rule("0: B S, 2: words D -> 5: B S D, int32: B, 5: B S D"),  # the mask becomes one index per batch
                cost=cost_rules.embed_norm,
                roles=weights(5, 6),
                index_input=0,
                position_input=8,
                fused_block="layer-norm",
                constraints={0: index_into(2), 1: index_into(4), 8: index_into(3)},
            ),
            "GatedRMSNorm": Operator(same, cost=cost_rules.gated_norm, roles=weights(1)),
            "GroupNorm": Operator(same, cost=cost_rules.group_norm, roles=weights(1, 2)),
            "QEmbedLayerNormalization": Operator(
                rule("0: B S, 2: words D -> 8: B S D, int32: B"),
                cost=cost_rules.quantized_embed_norm,
                roles=scales(*range(8, 18)),
                position_input=99,
                quantized=(QuantizedInput(2, 8, 13), QuantizedInput(3, 9, 14), QuantizedInput(4, 10, 15)),
                traits={Trait.QOPERATOR},
                fused_block="layer-norm",
                constraints={0: index_into(2), 1: index_into(4)},
            ),
            "SimplifiedLayerNormalization": Operator(
                simplified_norm, cost=cost_rules.rms_norm, roles=weights(1), traits={Trait.PROPAGATES_NAN}
            ),
            "SkipGroupNorm": Operator(same_as(0, 0), cost=cost_rules.skip_group_norm, roles=weights(1, 2, 4)),
            "SkipLayerNormalization": Operator(
                _skip_norm,
                cost=cost_rules.skip_norm,
                roles=weights(2, 3, 4),
                traits={Trait.PROPAGATES_NAN},
                fused_block="layer-norm",
            ),
            "SkipSimplifiedLayerNormalization": Operator(
                _skip_norm, cost=cost_rules.skip_rms_norm, roles=weights(2, 3), traits={Trait.PROPAGATES_NAN}
            ),
        },
    )
    | {
        "BiasSoftmax": Operator(same, cost=chained_cost("Add", "Softmax"), work=WorkClass.SOFTMAX),
        "Inverse": Operator(same, cost=_inverse_cost),
        "SampleOp": Operator(same, cost=free),
        "EPContext": Operator(_opaque, cost=_TRANSLATED),
        "Snpe": Operator(_opaque, cost=_TRANSLATED),
        "CropAndResize": Operator(_crop_and_resize, cost=_crop_and_resize_cost, work=WorkClass.MOVE),
        "ExpandDims": Operator(_expand_dims, cost=view, work=WorkClass.VIEW),
        "GatherND": INDEXING["GatherND"],
        "Gelu": ELEMENTWISE["Gelu"],
        "GridSample": Operator(
            rule("0: N C _ _, 1: _ H W _ -> 0: N C H W"),
            cost=IMAGE["GridSample"].cost,
            roles=constants(1),
            work=WorkClass.MOVE,
        ),
        "Irfft": Operator(rule("0: ... n _ -> 0: ... n-1*2"), cost=_fourier_cost),
        "IsAllFinite": Operator(lambda _: [tensor("bool", ())], cost=_all_finite_cost, work=WorkClass.REDUCTION),
        "MurmurHash3": Operator(
            lambda call: [tensor("uint32" if call.attr_int("positive", 1) else "int32", call.shape(0))],
            cost=unknown_arithmetic("a hash operates on bits, not on numbers"),
        ),
        "Pad": SLICING["Pad"],
        "Range": Operator(
            _range,
            cost=generated,
            roles=constants(0, 1, 2),
            traits={Trait.GENERATES},
            size_inputs=(0, 1, 2),
            kernel="copy",
            constraints={0: ZERO, 1: ONE, 2: ONE},
        ),
        "Rfft": Operator(rule("0: ... n -> 0: ... n//2+1 2"), cost=_fourier_cost),
        "TorchEmbedding": Operator(
            rule("0: _ D, 1: ... -> 0: ... D"),
            cost=reads_picked_elements,
            work=WorkClass.LOOKUP,
        ),
        "UnfoldTensor": Operator(_unfold, cost=free, work=WorkClass.MOVE),
        "Unique": Operator(_unique, cost=INDEXING["Unique"].cost, number_inputs=(0,), traits={Trait.DATA_SIZED}),
    }
)
