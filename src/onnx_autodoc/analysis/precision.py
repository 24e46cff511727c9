"""In which number formats a model keeps its weights, and how it was quantized if it was."""

from collections import Counter
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis._quantized import WeightGroup, stayed
from onnx_autodoc.analysis.parameters import Parameters
from onnx_autodoc.ir import Model, all_graphs, is_integer
from onnx_autodoc.ops import DEQUANTIZE, DYNAMIC, QOPERATOR, QUANTIZE

_SHORT: Final = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64"}
_FEW_BITS: Final = {"int4": "int4", "uint4": "int4", "int2": "int2", "uint2": "int2"} | {
    "float4e2m1": "fp4",
    "fp4": "fp4",
    "nf4": "nf4",
}
_MOSTLY: Final = 0.9  # from this share on, the rest (a norm kept in fp32) does not make a model "mixed"
_HARDLY: Final = 0.01  # up to this share, a few quantized numbers (a mask, a table of flags) are no scheme


class Precision(Struct, frozen=True):
    label: str | None
    weights: dict[str, float]  # share of the weights' elements by type
    scheme: str | None
    story: tuple[WeightGroup, ...]  # which layers keep their weights how
    stayed: str | None  # what a quantized model still keeps in floating point


def precision(model: Model, parameters: Parameters) -> Precision:
    ops = Counter(node.op for graph in all_graphs(model) for node in graph.nodes)
    total = parameters.total
    shares = {dtype: count / total for dtype, count in parameters.by_dtype.items()} if total else {}
    few_bits = parameters.packed or any(group.how == "weight-only" for group in parameters.groups)
    label, scheme = _scheme(ops, shares, parameters.packed, few_bits)
    return Precision(label or _plain(shares), shares, scheme, parameters.groups, stayed(parameters.groups))


def _scheme(ops: Counter[str], shares: dict[str, float], packed: bool, few_bits: bool) -> tuple[str | None, str | None]:
    """A label for quantized models and a sentence on how; nothing for plain ones."""
    for dtype, share in shares.items():
        if dtype in _FEW_BITS and (packed or share > 1 - _MOSTLY):
            return f"{_FEW_BITS[dtype]}-weights", f"weights packed in {dtype}, computed in floating point"
    if ops.keys() & DYNAMIC:
        return "int8-dynamic", "int8 weights, activations quantized while the model runs"
    if ops.keys() & QOPERATOR:
        return "int8-qoperator", "int8 operators on int8 tensors (QLinear…)"
    if ops[DEQUANTIZE] and any(dtype.startswith("float8") for dtype in shares):
        return "fp8-qdq", "float8 weights between QuantizeLinear and DequantizeLinear"
    if ops[QUANTIZE] and ops[DEQUANTIZE]:
        return "int8-qdq", "int8 weights and activations between QuantizeLinear and DequantizeLinear"
    integers = sum(share for dtype, share in shares.items() if is_integer(dtype))
    if (ops[DEQUANTIZE] or few_bits) and (integers > _HARDLY or not shares):
        return "int8-weights", "int8 weights, computed in floating point"
    return None, None


def _plain(shares: dict[str, float]) -> str | None:
    """fp32, fp16 … where nearly all weights are of one type; mixed where not; None without weights."""
    if not shares:
        return None
    dtype, share = next(iter(shares.items()))
    if share < _MOSTLY:
        return "mixed"
    return "fp8" if dtype.startswith("float8") else _SHORT.get(dtype, dtype)
