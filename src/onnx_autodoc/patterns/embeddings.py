"""Embeddings: tables that are looked up by index, positions that are added, images that are split into patches.

token      Gather(W[rows, features], ids)          the table with the most rows, or as many as the model has logits
type       the same with a handful of rows
position   Gather(W, positions), or Add(x, W[positions, features]) where the exporter folded the lookup
"""

import re
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.ir import is_float
from onnx_autodoc.patterns.attributes import EmbeddingAttributes
from onnx_autodoc.patterns.head import trace_outputs
from onnx_autodoc.patterns.net import Net, Op
from onnx_autodoc.patterns.tracing import ops_behind

_QUANTIZED_DTYPES: Final = frozenset(("int8", "uint8", "int4", "uint4"))
_MAX_TYPES: Final = 4
_POSITION_NAME: Final = re.compile(r"position|(^|_)pos(_|$)", re.I)
_MIN_FEATURES: Final = 8
_MAX_VALUES_BEHIND_INDICES: Final = 60
_MAX_VALUES_BEHIND_POSITIONS: Final = 40
_MAX_VALUES_BEHIND_PATCHES: Final = 30
_BEFORE_POSITIONS: Final = frozenset(
    ("embedding", "patch-embedding", "Add", "Mul", "linear", "conv", "Concat", "layer-norm", "Transpose")
)
_TO_TOKENS: Final = frozenset(("Reshape", "Transpose", "Flatten"))
_IMAGE_PREPROCESSING: Final = frozenset(
    ("Sub", "Div", "Mul", "Add", "Transpose", "Resize", "Pad", "Concat", "Slice", "Gather")
)


def find_embeddings(net: Net) -> None:
    for op in net.of("Gather", "GatherBlockQuantized"):
        _match_lookup(net, op)
    for op in net.of("linear"):
        if op in net and (one_hot := net.producer(op.inputs[0], "Equal", "OneHot")) is not None:
            attributes = EmbeddingAttributes(rows=op.in_features, out_features=op.out_features)
            net.merge("embedding", (one_hot, op), op.outputs, attributes)
    _find_patch_embeddings(net)
    _assign_roles(net)
    first_attention = min((op.position for op in net.of("attention")), default=0)
    for op in net.of("Add"):
        if op.position < first_attention:
            _match_added_positions(net, op)


# Lookups


def _match_lookup(net: Net, op: Op) -> None:
    if len(op.inputs) < 2 or not net.constant[op.inputs[0]] or op.node_attribute("axis") not in (0, None):
        return
    dims, result, dtype = net.shape(op.inputs[0]), net.shape(op.outputs[0]), net.dtype(op.inputs[0])
    is_learned = is_float(dtype) or dtype in _QUANTIZED_DTYPES
    if not dims or len(dims) < 2 or dims[0] < 2 or not is_learned or not result or result[-1] < _MIN_FEATURES:
        return
    kind = "embedding" if len(dims) == 2 or op.kind != "Gather" else "expert-weights"
    net.relabel(op, kind, EmbeddingAttributes(rows=dims[0], out_features=result[-1]))
    op.inputs = (op.inputs[1], op.inputs[0], *op.inputs[2:])  # data first


def _assign_roles(net: Net) -> None:
    """Tables whose indices are counted hold positions. Of the others, the vocabulary decides which hold tokens."""
    tables = [op for op in net.of("embedding") if op.embedding.role is None]
    lookups = [op for op in tables if not _has_counted_indices(net, op)]
    vocabulary = _vocabulary_size(net, lookups)
    for op in tables:
        role = _lookup_role(net, op, vocabulary) if op in lookups else "position"
        op.attributes = replace(op.embedding, role=role)


def _has_counted_indices(net: Net, op: Op) -> bool:
    learned = ("linear", "conv", "attention", "embedding")
    trace = ops_behind(net, op.inputs[0], lambda op: op.kind in learned, _MAX_VALUES_BEHIND_INDICES)
    return any(op.kind in ("CumSum", "Range") for op in trace)


def _lookup_role(net: Net, op: Op, vocabulary: int) -> str:
    """A second table holds positions if it is added to the first; else another language or alphabet."""
    rows = op.embedding.rows or 0
    if rows <= _MAX_TYPES < vocabulary:
        return "type"
    is_added = any(consumer.kind == "Add" for consumer in net.consumers[op.outputs[0]])
    return "position" if rows != vocabulary and is_added else "token"


def _vocabulary_size(net: Net, tables: list[Op]) -> int:
    """Return the rows of the token table: as many as there are logits per position, else the most.

    Of several candidates, a table whose input is named after positions is not the token table.
    """
    rows = {op.embedding.rows or 0 for op in tables}
    candidates = {count for count in rows if count > _MAX_TYPES}
    if len(candidates) < 2:
        return max(rows, default=0)
    names = {value: name for name, value in net.inputs.items()}
    positions = {op.embedding.rows for op in tables if _POSITION_NAME.search(names.get(op.inputs[0], ""))}
    return max(candidates & _logit_counts(net) or candidates - positions or candidates)


def _logit_counts(net: Net) -> set[int]:
    """Return the number of values per position of each output that linear layers compute."""
    traces = [trace for trace in trace_outputs(net) if any(op.kind == "linear" for op in trace.sources)]
    shapes = [net.shape(trace.value) or () for trace in traces]
    return {dims[-1] for dims in shapes if len(dims) == 3}


# Added positions


def _match_added_positions(net: Net, op: Op) -> None:
    """Match a table added to tokens: [positions, features], or rows of one that are selected by sizes."""
    constants, data = [value for value in op.inputs if net.constant[value]], net.data_inputs(op)
    if len(constants) != 1 or len(data) != 1:
        return
    dims, producer = net.shape(constants[0]), net.producer(data[0])
    if not dims or dims[-1] < _MIN_FEATURES or producer is None or producer.kind not in _BEFORE_POSITIONS:
        return
    rows = _table_rows(net, constants[0])
    if rows is None and (len(dims) < 2 or dims[-2] < 2 or any(dim != 1 for dim in dims[:-2])):
        return
    read = [net.producer(value, "embedding") for value in net.data_inputs(producer)]
    if producer.kind in ("Add", "Mul") and not any(read):
        return
    role = "type" if rows is not None and rows <= _MAX_TYPES else "position"
    net.relabel(op, "embedding", EmbeddingAttributes(rows=rows or dims[-2], out_features=dims[-1], role=role))
    op.inputs = (data[0], constants[0])


def _table_rows(net: Net, value: int) -> int | None:
    """Return the number of rows of the table that positions are taken from."""
    for op in ops_behind(net, value, lambda op: op.kind in ("Shape", "Size"), _MAX_VALUES_BEHIND_POSITIONS):
        if op.kind in ("Gather", "Slice") and op.inputs and net.producer(op.inputs[0]) is None:
            dims, dtype = net.shape(op.inputs[0]), net.dtype(op.inputs[0])
            if dims and len(dims) >= 2 and (is_float(dtype) or dtype in _QUANTIZED_DTYPES):
                return dims[-2]
    return None


# Patches


def _find_patch_embeddings(net: Net) -> None:
    """Find convolutions of the image whose stride is their kernel size, and whose result becomes tokens."""
    if not net.of("attention"):
        return
    for conv in net.of("conv"):
        kernel = conv.conv.kernel
        if len(kernel) < 2 or kernel != conv.conv.strides or max(kernel) < 2:
            continue
        before = ops_behind(net, conv.inputs[0], lambda _: False, _MAX_VALUES_BEHIND_PATCHES)
        if not all(op.kind in _IMAGE_PREPROCESSING for op in before if op in net):
            continue
        members, value = [conv], conv.outputs[0]
        while (consumer := net.only_consumer(value)) is not None and consumer.kind in _TO_TOKENS:
            members.append(consumer)
            value = consumer.outputs[0]
        if len(members) > 1:
            attributes = EmbeddingAttributes(patch=kernel, out_features=conv.out_features)
            net.merge("patch-embedding", members, (value,), attributes)
