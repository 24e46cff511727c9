"""Number formats of the weights, and the quantization scheme."""

from collections.abc import Sequence, Set
from typing import Final

from onnx_autodoc.analysis.parameters import Parameters
from onnx_autodoc.card import Precision, WeightGroup
from onnx_autodoc.ir import Model, is_integer
from onnx_autodoc.ops import Trait, find, operator_of
from onnx_autodoc.text import pluralize, quote_name

FLOAT_LABELS: Final = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64"}
SUB_BYTE_LABELS: Final = {"int4": "int4", "uint4": "int4", "int2": "int2", "uint2": "int2"} | {
    "float4e2m1": "fp4",
    "fp4": "fp4",
    "nf4": "nf4",
}
_MAIN_SHARE: Final = 0.9  # from this share on, the rest (a norm kept in fp32) does not make a model "mixed"
_MAX_NAMED_OPERATORS: Final = 6  # in the sentence on weights in floating point
_NEGLIGIBLE_SHARE: Final = 0.01  # up to this share, a few quantized numbers (a mask, a table of flags) are no scheme


def precision(model: Model, parameters: Parameters) -> Precision:
    used = {(node.domain, node.op): node for graph in model.all_graphs for node in graph.nodes}
    traits = {trait for node in used.values() for trait in operator_of(node).traits}
    total, groups = parameters.total, parameters.groups
    shares = {dtype: count / total for dtype, count in parameters.by_dtype.items()} if total else {}
    is_weight_only = parameters.packed or any(group.how == "weight-only" for group in groups)
    label, scheme = _scheme(traits, shares, parameters.packed, is_weight_only)
    return Precision(label or _float_label(shares), shares, scheme, groups, _format_float_rest(groups))


def _scheme(
    traits: Set[Trait], shares: dict[str, float], packed: bool, is_weight_only: bool
) -> tuple[str | None, str | None]:
    """Return a label and a sentence on the scheme; None for models that are not quantized."""
    for dtype, share in shares.items():
        if dtype in SUB_BYTE_LABELS and (packed or share > 1 - _MAIN_SHARE):
            return f"{SUB_BYTE_LABELS[dtype]}-weights", f"weights packed in {dtype}, computed in floating point"
    if Trait.DYNAMIC_QUANTIZATION in traits:
        return "int8-dynamic", "int8 weights, activations quantized at run time"
    if Trait.QOPERATOR in traits:
        return "int8-qoperator", "int8 operators on int8 tensors (QLinear…)"
    if Trait.DEQUANTIZES in traits and any(dtype.startswith("float8") for dtype in shares):
        return "fp8-qdq", "float8 weights between QuantizeLinear and DequantizeLinear"
    if Trait.QUANTIZES in traits and Trait.DEQUANTIZES in traits:
        return "int8-qdq", "int8 weights and activations between QuantizeLinear and DequantizeLinear"
    integers = sum(share for dtype, share in shares.items() if is_integer(dtype))
    if (Trait.DEQUANTIZES in traits or is_weight_only) and (integers > _NEGLIGIBLE_SHARE or not shares):
        return "int8-weights", "int8 weights, computed in floating point"
    return None, None


def _float_label(shares: dict[str, float]) -> str | None:
    """Return the type of nearly all weights (fp32, fp16 …), "mixed" if there is none, None without weights."""
    if not shares:
        return None
    dtype, share = next(iter(shares.items()))
    if share < _MAIN_SHARE:
        return "mixed"
    return "fp8" if dtype.startswith("float8") else FLOAT_LABELS.get(dtype, dtype)


def _format_float_rest(groups: Sequence[WeightGroup]) -> str | None:
    """Return a sentence on the weights of a quantized model in floating point; None if it is not quantized."""
    rest = [group for group in groups if group.how == "float"]
    if not rest or len(rest) == len(groups):
        return None
    types = " and ".join(dict.fromkeys(group.dtype for group in rest))
    operators = [_format_group(group) for group in rest[:_MAX_NAMED_OPERATORS]]
    if len(rest) > _MAX_NAMED_OPERATORS:
        others = sum(group.nodes for group in rest[_MAX_NAMED_OPERATORS:])
        operators.append(pluralize(others, "other node"))
    share = sum(group.share for group in rest)
    # Only all is 100%, and only none is 0%.
    percent = "over 99.9%" if share > 0.9995 else "under 0.1%" if share < 0.001 else f"{share * 100:.1f}%"
    return f"kept in {types}: {', '.join(operators)}; {percent} of the weights"


def _format_group(group: WeightGroup) -> str:
    rows = (find(domain, group.op) for domain in ("", "com.microsoft"))
    embeds = any(row is not None and row.index_input is not None for row in rows)
    name = f"{group.op} (embeddings)" if embeds else group.op
    example = f" ({quote_name(group.example)})" if group.nodes == 1 and group.example else ""
    return f"{group.nodes:,} {name}{example}"
