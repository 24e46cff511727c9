"""In which number formats a model keeps its weights, and how it was quantized if it was."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from onnx_autodoc.graph import Graph, Model, Node, Tensor, all_graphs, constants_of, is_float
from onnx_autodoc.ops import DEQUANTIZE, DYNAMIC, PACKED, QOPERATOR, QUANTIZE

_SHORT: Final = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64"}
_SMALL_INTEGERS: Final = frozenset(("int8", "uint8", "int16", "uint16", "int4", "uint4", "int2", "uint2"))
_MOSTLY: Final = 0.9  # from this share on, the rest (a norm kept in fp32) does not make a model "mixed"


class Precision(Struct, frozen=True):
    label: str | None
    weights: dict[str, float]  # share of the weights' elements by type
    scheme: str | None


def precision(model: Model) -> Precision:
    counts = Counter[str]()
    nodes: list[Node] = []
    for graph in all_graphs(model):
        nodes.extend(graph.nodes)
        counts.update(dict(_elements(graph)))
    total = sum(counts.values())
    shares = {dtype: count / total for dtype, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))}
    label, scheme = _scheme(nodes, shares)
    return Precision(label or _plain(shares), shares, scheme)


def _elements(graph: Graph) -> Counter[str]:
    """Weights by type. Integers of 32 and 64 bits, booleans and texts are indices, shapes and flags, not weights."""
    packed = dict(_packed(graph))
    counts = Counter[str]()
    for name, tensor in _weights(graph):
        bits = packed.get(name)
        if bits and tensor.dtype in ("uint8", "int8"):
            counts[f"int{bits}"] += tensor.elements * 8 // bits
        elif tensor.dtype is not None:
            counts[tensor.dtype] += tensor.elements
    return counts


def _weights(graph: Graph) -> Iterator[tuple[str, Tensor]]:
    """Tensors of the file that are weights by their type and size, with the name that nodes read them by."""
    for name, tensor in constants_of(graph):
        few = len(tensor.dims) == 0 or tensor.elements <= 1
        if not few and (is_float(tensor.dtype) or tensor.dtype in _SMALL_INTEGERS):
            yield name, tensor


def _packed(graph: Graph) -> Iterator[tuple[str, int]]:
    """Weights that hold several numbers in one byte, and how many bits each number has."""
    for node in graph.nodes:
        at, attribute, default = PACKED.get(node.op, (0, "", 0))
        bits = node.attributes.get(attribute, default)
        if attribute and at < len(node.inputs) and isinstance(bits, int) and 0 < bits < 8:
            yield node.inputs[at], bits


def _scheme(nodes: list[Node], shares: dict[str, float]) -> tuple[str | None, str | None]:
    """A label for quantized models and a sentence on how; nothing for plain ones."""
    ops = Counter(node.op for node in nodes)
    packed = bool(ops.keys() & PACKED.keys())
    for dtype, share in shares.items():
        if dtype in ("int4", "uint4", "int2", "uint2") and (packed or share > 1 - _MOSTLY):
            return f"{dtype.removeprefix('u')}-weights", f"weights packed in {dtype}, computed in floating point"
    if ops.keys() & DYNAMIC:
        return "int8-dynamic", "int8 weights, activations quantized while the model runs"
    if ops.keys() & QOPERATOR:
        return "int8-qoperator", "int8 operators on int8 tensors (QLinear…)"
    if ops[DEQUANTIZE] and any(dtype.startswith("float8") for dtype in shares):
        return "fp8-qdq", "float8 weights between QuantizeLinear and DequantizeLinear"
    if ops[QUANTIZE] and ops[DEQUANTIZE]:
        return "int8-qdq", "int8 weights and activations between QuantizeLinear and DequantizeLinear"
    if ops[DEQUANTIZE] or packed:
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
