"""Operators that onnxruntime adds (com.microsoft): fused products, normalisations, activations and tensor moves.

Attention, quantisation, layouts, decoding and stateful layers of that domain are in the files beside this one.
"""

from onnx_autodoc.graph import dtype_name
from onnx_autodoc.ops._call import Call, axis_of, size
from onnx_autodoc.ops._known import Contradiction, Known, NotKnown, Shape, Unknown, tensor
from onnx_autodoc.ops._operator import Operator, Rule
from onnx_autodoc.ops._ranks import deep, ranked
from onnx_autodoc.ops._sizes import sizes
from onnx_autodoc.ops.elementwise import broadcast_same, same
from onnx_autodoc.ops.indexing import OPERATORS as INDEXING
from onnx_autodoc.ops.matmul import gemm_shape, product_shape
from onnx_autodoc.ops.slicing import OPERATORS as SLICING


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


def _fused_gemm(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), gemm_shape(call))]


def _gemm_float8(call: Call) -> list[Known]:
    return [tensor(dtype_name(call.attr_int("dtype", 1)), gemm_shape(call))]


def _cdist(call: Call) -> list[Known]:
    # [M, N] against [K, N]: the distance of each pair
    return [tensor(call.dtype(0), (ranked(call, 0, 2)[0], ranked(call, 1, 2)[0]))]


# normalisations
def _skip_norm(call: Call) -> list[Known]:
    """The normalised sum, two statistics, the sum itself."""
    source = deep(call, 0)
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


def _opaque(call: Call) -> list[Known]:
    raise NotKnown(f"{call.node.op} holds a part of the model that another compiler has translated")


def _table(rule: Rule, names: str) -> dict[str, Operator]:
    return {name: Operator(rule) for name in names.split()}


OPERATORS: dict[str, Operator] = {
    **_table(
        same,
        "BiasAdd BiasGelu BiasSoftmax BranchwiseRMSNorm FastGelu GatedAdd GatedRMSNorm Gelu GroupNorm Inverse MoE "
        "QuickGelu SampleOp ScaledSiLU Trilu",
    ),
    **_table(broadcast_same, "ComplexMul ComplexMulConj"),
    **_table(_fused_matmul, "FusedMatMul FusedMatMulActivation GemmFastGelu SparseToDenseMatMul TransposeMatMul"),
    **_table(_skip_norm, "SkipLayerNormalization SkipSimplifiedLayerNormalization"),
    **_table(_opaque, "EPContext Snpe"),
    "BiasDropout": Operator(_dropout),
    "BiasSplitGelu": Operator(_bias_split),
    "BitmaskBiasDropout": Operator(_bitmask_dropout),
    "BitmaskDropout": Operator(_bitmask_dropout),
    "CDist": Operator(_cdist),
    "CropAndResize": Operator(_crop_and_resize),
    "EmbedLayerNormalization": Operator(_embed_norm),
    "ExpandDims": Operator(_expand_dims),
    "FusedGemm": Operator(_fused_gemm),
    "GatherND": INDEXING["GatherND"],
    "GemmFloat8": Operator(_gemm_float8),
    "GridSample": Operator(_grid_sample),
    "Irfft": Operator(_irfft),
    "IsAllFinite": Operator(_all_finite),
    "MurmurHash3": Operator(_hash),
    "Pad": SLICING["Pad"],
    "QEmbedLayerNormalization": Operator(_quantized_embed_norm),
    "Range": Operator(_range),
    "Rfft": Operator(_rfft),
    "SimplifiedLayerNormalization": Operator(simplified_norm),
    "SkipGroupNorm": Operator(_twice),
    "TorchEmbedding": Operator(_embedding),
    "UnfoldTensor": Operator(_unfold),
    "Unique": Operator(_unique),
}
