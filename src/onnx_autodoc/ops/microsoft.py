"""Operators that onnxruntime adds (com.microsoft): fused products, normalisations, activations and tensor moves.

Attention, quantisation, layouts, decoding and stateful layers of that domain are in the files beside this one.
"""

from onnx_autodoc.ir import dtype_name
from onnx_autodoc.ops import _microsoft_prices as prices
from onnx_autodoc.ops._call import Call, axis_of, size
from onnx_autodoc.ops._cost import Cost, Price, each, free, picked, uncounted, untold, view
from onnx_autodoc.ops._fusion import activated, chain, result, total
from onnx_autodoc.ops._known import Contradiction, Known, NotKnown, Shape, Unknown, tensor
from onnx_autodoc.ops._operator import Operator, Rule, constants, scales, weights
from onnx_autodoc.ops._prices import between, made
from onnx_autodoc.ops._ranks import deep, ranked, sized
from onnx_autodoc.ops._sizes import sizes
from onnx_autodoc.ops.elementwise import OPERATORS as ELEMENTWISE
from onnx_autodoc.ops.elementwise import broadcast_same, same
from onnx_autodoc.ops.image import OPERATORS as IMAGE
from onnx_autodoc.ops.indexing import OPERATORS as INDEXING
from onnx_autodoc.ops.matmul import gemm_cost, gemm_shape, product_shape
from onnx_autodoc.ops.signal import fourier
from onnx_autodoc.ops.slicing import OPERATORS as SLICING
from onnx_autodoc.text import told


# products
def _turned(shape: Shape, swap: int, batch: int) -> Shape:
    """[M, ..., K] seen as [..., M, K] where the batch is inside; then the last two swapped, where asked for."""
    if len(shape) < 2:
        return shape
    if batch:
        shape = (*shape[1:-1], shape[0], shape[-1])
    return (*shape[:-2], shape[-1], shape[-2]) if swap else shape


def _fused_matmul(call: Call) -> list[Known]:
    a = _turned(call.shape(0), call.attr_int("transA", 0), call.attr_int("transBatchA", 0))
    b = _turned(call.shape(1), call.attr_int("transB", 0), call.attr_int("transBatchB", 0))
    return [tensor(call.dtype(0) or call.dtype(1), product_shape(a, b))]


def _fused_matmul_cost(call: Call) -> Cost:
    """K multiply-adds for each element of the output; 1 per element where alpha is not 1"""
    over = _turned(deep(call, 0), call.attr_int("transA", 0), call.attr_int("transBatchA", 0))[-1]
    elements = size(call.output())
    return Cost(elements * over, elements if call.attr_float("alpha", 1.0) != 1 else 0)


def _gemm_gelu_cost(call: Call) -> Cost:
    """as MatMul and Gelu by tanh; 1 per element for a bias"""
    biases = Cost(other=size(call.output()) * prices.given(call, 2))
    return total(_fused_matmul_cost(call), biases, prices.tanh_gelu(result(call)))


def _fused_gemm(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), gemm_shape(call))]


def _gemm_float8(call: Call) -> list[Known]:
    return [tensor(dtype_name(call.attr_int("dtype", 1)), gemm_shape(call))]


def _cdist(call: Call) -> list[Known]:
    # [M, N] against [K, N]: the distance of each pair
    return [tensor(call.dtype(0), (ranked(call, 0, 2)[0], ranked(call, 1, 2)[0]))]


def _cdist_cost(call: Call) -> Cost:
    """3 for each feature of each pair: difference, square, sum; 1 per pair for the root of the euclidean metric"""
    metric = call.attr_text("metric", "sqeuclidean")
    if metric not in ("euclidean", "sqeuclidean"):
        raise NotKnown(f"CDist by the metric {told(metric, 40)}")
    return Cost(other=size(call.output()) * (3 * ranked(call, 0, 2)[1] + (metric == "euclidean")))


def _inverse_cost(call: Call) -> Cost:
    """2n³ - 2n² + n per matrix of n rows: Gauss-Jordan elimination in place"""
    *batch, rows, _ = deep(call, 0, 2)
    return Cost(other=size(tuple(batch)) * (2 * rows * rows * (rows - 1) + rows))


# normalisations
def _skip_norm(call: Call) -> list[Known]:
    """The normalised sum, two statistics, the sum itself."""
    source, skip = deep(call, 0), call.known(1).shape
    if len(source) > 1 and skip is not None:
        sized(call, 1, *deep(call, 1, 2)[:-2], *source[-2:])  # the skip may leave out the batch, or have one for all
        sized(call, 2, source[-1])
    whole, statistic = tensor(call.dtype(0), source), tensor("float32", (*source[:-1], 1))
    return [whole, statistic, statistic, whole]


def simplified_norm(call: Call) -> list[Known]:
    # [.., axis:] is normalised together; the statistic keeps those axes as 1
    source = call.shape(0)
    axis = axis_of(call.attr_int("axis", -1), len(source))
    kept = (*source[:axis], *(1 for _ in source[axis:]))
    return [tensor(call.dtype(1), source), tensor(dtype_name(call.attr_int("stash_type", 1)), kept)]


def _embed_norm(call: Call, dtype_at: int = 5) -> list[Known]:
    # ids [B, S] from a table [words, D] = [B, S, D]; the mask becomes one index per batch
    ids, table = ranked(call, 0, 2), ranked(call, 2, 2)
    embedded = tensor(call.dtype(dtype_at), (*ids, table[1]))
    return [embedded, tensor("int32", ids[:1]), embedded]


def _quantized_embed_norm(call: Call) -> list[Known]:
    return _embed_norm(call, 8)[:2]


def _twice(call: Call) -> list[Known]:
    return same(call) * 2


# activations
def _bias_split(call: Call) -> list[Known]:
    # one half of the last axis gates the other
    source = deep(call, 0)
    return [tensor(call.dtype(0), (*source[:-1], source[-1] // 2))]


def _dropout(call: Call) -> list[Known]:
    return [*same(call), tensor("bool", call.shape(0))]


def _bitmask_dropout(call: Call) -> list[Known]:
    # 32 elements of the mask in each number
    return [*same(call), tensor("uint32", ((size(call.shape(0)) + 31) // 32,))]


# moves
def _expand_dims(call: Call) -> list[Known]:
    source, axis = call.shape(0), axis_of(call.one(1), call.rank(0) + 1)
    return [tensor(call.dtype(0), (*source[:axis], 1, *source[axis:]))]


def _unfold(call: Call) -> list[Known]:
    # every `step` a slice of `size`, which becomes the last axis
    source, length, step = call.shape(0), call.attr_required("size"), call.attr_int("step", 1)
    axis = axis_of(call.attr_int("dim", -1), len(source))
    if step < 1 or length < 1:
        raise Contradiction(f"UnfoldTensor by {length} every {step}")
    return [tensor(call.dtype(0), (*source[:axis], (source[axis] - length) // step + 1, *source[axis + 1 :], length))]


def _unique(call: Call) -> list[Known]:
    why = "Unique: how many elements differ depends on the data"
    return [
        tensor(call.dtype(0), (Unknown(why),)),
        tensor("int64", (size(call.shape(0)),)),
        tensor("int64", (Unknown(why),)),
    ]


def _range(call: Call) -> list[Known]:
    # max(ceil((limit - start) / delta), 0) elements; a step that is left out is 1
    start, limit = call.one(0), call.one(1)
    delta = call.one(2) if call.has(2) else 1
    if isinstance(start, Unknown) or isinstance(limit, Unknown) or isinstance(delta, Unknown):
        why = next(item.why for item in (start, limit, delta) if isinstance(item, Unknown))
        return [tensor(call.dtype(0), (Unknown(why),))]
    if delta == 0:
        raise Contradiction("Range with a step of 0")
    return [tensor(call.dtype(0), (max(int(-((start - limit) // delta)), 0),))]


def _rfft(call: Call) -> list[Known]:
    # n numbers become n // 2 + 1 complex ones, in two parts
    source = deep(call, 0)
    return [tensor(call.dtype(0), (*source[:-1], source[-1] // 2 + 1, 2))]


def _irfft(call: Call) -> list[Known]:
    source = deep(call, 0, 2)
    return [tensor(call.dtype(0), (*source[:-2], (source[-2] - 1) * 2))]


def _fourier_cost(call: Call) -> Cost:
    """5/2 n log2 n for each signal of n real numbers: the fast transform, log2 rounded up"""
    *signals, length = call.shape(0) if call.node.op == "Rfft" else call.output()
    return Cost(other=size(tuple(signals)) * fourier(length, 1))


def _crop_and_resize_cost(call: Call) -> Cost:
    """7 per element of the output: place between four others; to the nearest: none"""
    return Cost(other=size(call.output()) * between(1 if call.attr_text("mode", "bilinear") == "nearest" else 4))


def _crop_and_resize(call: Call) -> list[Known]:
    # X [N, C, H, W], rois [R, 4] = [R, C, height, width]
    height_width = sizes(call, 3)
    if len(height_width) != 2:
        raise Contradiction(f"CropAndResize to {len(height_width)} sizes, not 2")
    return [tensor(call.dtype(0), (ranked(call, 1, 2)[0], ranked(call, 0, 4)[1], *height_width))]


def _grid_sample(call: Call) -> list[Known]:
    # X [N, C, H, W] at the places of a grid [N, H', W', 2]
    return [tensor(call.dtype(0), (*ranked(call, 0, 4)[:2], *ranked(call, 1, 4)[1:3]))]


def _embedding(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), (*call.shape(1), ranked(call, 0, 2)[1]))]


def _hash(call: Call) -> list[Known]:
    return [tensor("uint32" if call.attr_int("positive", 1) else "int32", call.shape(0))]


def _all_finite(call: Call) -> list[Known]:
    return [tensor("bool", ())]


def _all_finite_cost(call: Call) -> Cost:
    """1 per element of the inputs: comparison"""
    return Cost(other=sum((size(call.shape(at)) for at in range(len(call.inputs)) if call.has(at)), start=0))


def _opaque(call: Call) -> list[Known]:
    raise NotKnown(f"{call.node.op} holds a part of the model that another compiler has translated")


def _table(rule: Rule, **priced: Price) -> dict[str, Operator]:
    return {name: Operator(rule, cost=price) for name, price in priced.items()}


_TRANSLATED = uncounted("another compiler has translated that part of the model")
_COMPLEX = each(3, "half of a complex one, which takes four multiplications and two additions")

OPERATORS: dict[str, Operator] = {
    **_table(
        same,
        BiasAdd=prices.bias_add,
        BiasGelu=chain("Add", "Gelu"),
        BiasSoftmax=chain("Add", "Softmax"),
        FastGelu=prices.fast_gelu,
        GatedAdd=each(2, "one multiplication, one addition"),
        Inverse=_inverse_cost,
        MoE=prices.moe,
        QuickGelu=prices.scaled_silu,
        SampleOp=free,
        Trilu=free,
    ),
    **_table(broadcast_same, ComplexMul=_COMPLEX, ComplexMulConj=_COMPLEX),
    **_table(
        _fused_matmul,
        FusedMatMul=_fused_matmul_cost,
        FusedMatMulActivation=activated(_fused_matmul_cost),
        GemmFastGelu=_gemm_gelu_cost,
        SparseToDenseMatMul=uncounted("how many elements the sparse matrix has, its shape does not tell"),
        TransposeMatMul=_fused_matmul_cost,
    ),
    **_table(_opaque, EPContext=_TRANSLATED, Snpe=_TRANSLATED),
    "BiasDropout": Operator(_dropout, cost=prices.bias_dropout, parts=constants(3)),
    "BiasSplitGelu": Operator(_bias_split, cost=prices.bias_split_gelu),
    "BitmaskBiasDropout": Operator(_bitmask_dropout, cost=prices.bias_dropout, parts=constants(3)),
    "BitmaskDropout": Operator(_bitmask_dropout, cost=ELEMENTWISE["Dropout"].cost, parts=constants(1)),
    "BranchwiseRMSNorm": Operator(same, cost=prices.branch_norm, parts=weights(1)),
    "CDist": Operator(_cdist, cost=_cdist_cost),
    "CropAndResize": Operator(_crop_and_resize, cost=_crop_and_resize_cost),
    "EmbedLayerNormalization": Operator(_embed_norm, cost=prices.embed_norm, parts=weights(5, 6)),
    "ExpandDims": Operator(_expand_dims, cost=view),
    "FusedGemm": Operator(_fused_gemm, cost=activated(gemm_cost), parts=weights(2)),
    "GatedRMSNorm": Operator(same, cost=prices.gated_norm, parts=weights(1)),
    "GatherND": INDEXING["GatherND"],
    "Gelu": ELEMENTWISE["Gelu"],
    "GemmFloat8": Operator(_gemm_float8, cost=activated(gemm_cost), parts=weights(2) | scales(3, 4, 5)),
    "GridSample": Operator(_grid_sample, cost=IMAGE["GridSample"].cost, parts=constants(1)),
    "GroupNorm": Operator(same, cost=prices.group_norm, parts=weights(1, 2)),
    "Irfft": Operator(_irfft, cost=_fourier_cost),
    "IsAllFinite": Operator(_all_finite, cost=_all_finite_cost),
    "MurmurHash3": Operator(_hash, cost=untold("a hash works on bits, not on numbers")),
    "Pad": SLICING["Pad"],
    "QEmbedLayerNormalization": Operator(
        _quantized_embed_norm, cost=prices.quantized_embed_norm, parts=scales(*range(8, 18))
    ),
    "Range": Operator(_range, cost=made, parts=constants(0, 1, 2)),
    "Rfft": Operator(_rfft, cost=_fourier_cost),
    "ScaledSiLU": Operator(same, cost=prices.scaled_silu, parts=constants(1)),
    "SimplifiedLayerNormalization": Operator(simplified_norm, cost=prices.rms_norm, parts=weights(1)),
    "SkipGroupNorm": Operator(_twice, cost=prices.skip_group_norm, parts=weights(1, 2, 4)),
    "SkipLayerNormalization": Operator(_skip_norm, cost=prices.skip_norm, parts=weights(2, 3, 4)),
    "SkipSimplifiedLayerNormalization": Operator(_skip_norm, cost=prices.skip_rms_norm, parts=weights(2, 3)),
    "TorchEmbedding": Operator(_embedding, cost=picked),
    "UnfoldTensor": Operator(_unfold, cost=free),
    "Unique": Operator(_unique, cost=INDEXING["Unique"].cost),
}
