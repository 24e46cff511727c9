"""Number formats of the weights, and the quantization scheme."""

from collections.abc import Set
from typing import Final

from onnx_autodoc.analysis.parameters import Parameters
from onnx_autodoc.analysis.weight_groups import format_float_rest
from onnx_autodoc.card import Precision
from onnx_autodoc.ir import Model, is_integer
from onnx_autodoc.ops import Trait, operator_of

FLOAT_LABELS: Final = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64"}
SUB_BYTE_LABELS: Final = {"int4": "int4", "uint4": "int4", "int2": "int2", "uint2": "int2"} | {
    "float4e2m1": "fp4",
    "fp4": "fp4",
    "nf4": "nf4",
}
_MAIN_SHARE: Final = 0.9  # from this share on, the rest (a norm kept in fp32) does not make a model "mixed"
_NEGLIGIBLE_SHARE: Final = 0.01  # up to this share, a few quantized numbers (a mask, a table of flags) are no scheme


def precision(model: Model, parameters: Parameters) -> Precision:
    used = {(node.domain, node.op): node for graph in model.all_graphs for node in graph.nodes}
    traits = {trait for node in used.values() for trait in operator_of(node).traits}
    total = parameters.total
    shares = {dtype: count / total for dtype, count in parameters.by_dtype.items()} if total else {}
    few_bits = parameters.packed or any(group.how == "weight-only" for group in parameters.groups)
    label, scheme = _scheme(traits, shares, parameters.packed, few_bits)
    return Precision(label or _plain(shares), shares, scheme, parameters.groups, format_float_rest(parameters.groups))


def _scheme(
    traits: Set[Trait], shares: dict[str, float], packed: bool, few_bits: bool
) -> tuple[str | None, str | None]:
    """A label for quantized models and a sentence on how; nothing for plain ones."""
    for dtype, share in shares.items():
        if dtype in SUB_BYTE_LABELS and (packed or share > 1 - _MAIN_SHARE):
            return f"{SUB_BYTE_LABELS[dtype]}-weights", f"weights packed in {dtype}, computed in floating point"
    if Trait.DYNAMIC_QUANTIZATION in traits:
        return "int8-dynamic", "int8 weights, activations quantized while the model runs"
    if Trait.QOPERATOR in traits:
        return "int8-qoperator", "int8 operators on int8 tensors (QLinear…)"
    if Trait.DEQUANTIZES in traits and any(dtype.startswith("float8") for dtype in shares):
        return "fp8-qdq", "float8 weights between QuantizeLinear and DequantizeLinear"
    if Trait.QUANTIZES in traits and Trait.DEQUANTIZES in traits:
        return "int8-qdq", "int8 weights and activations between QuantizeLinear and DequantizeLinear"
    integers = sum(share for dtype, share in shares.items() if is_integer(dtype))
    if (Trait.DEQUANTIZES in traits or few_bits) and (integers > _NEGLIGIBLE_SHARE or not shares):
        return "int8-weights", "int8 weights, computed in floating point"
    return None, None


def _plain(shares: dict[str, float]) -> str | None:
    """fp32, fp16 … where nearly all weights are of one type; mixed where not; None without weights."""
    if not shares:
        return None
    dtype, share = next(iter(shares.items()))
    if share < _MAIN_SHARE:
        return "mixed"
    return "fp8" if dtype.startswith("float8") else FLOAT_LABELS.get(dtype, dtype)
