"""Protobuf's parsers as references for the reader: what they accept, and the model that they see."""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import onnx
from google.protobuf.message import DecodeError
from msgspec import Struct
from onnx import onnx_cpp2py_export

from fuzz._memory_reader import MemorySource, MemoryStorage
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.ir import (
    AttributeReference,
    DataLocation,
    Graph,
    Model,
    Node,
    Payload,
    Tensor,
    TruncatedList,
    Type,
    decode_varints,
    dtype_name,
    to_int64,
)
from onnx_autodoc.readers import encode_onnx
from onnx_autodoc.readers.onnx import read_onnx
from onnx_autodoc.storage import normalize_path

_UNDEFINED: Final = ("its data location is ", " has type ")  # findings that name a value protobuf does not set
_SIBLING_BYTES: Final = 1 << 17
_NOT_ENCODED: Final = ("the weights file", "is malformed")  # reasons of external data
_NOT_RUN: Final = (  # fields that no runtime uses
    *("configuration", "device_configurations", "doc_string", "metadata_props"),
    *("denotation", "quantization_annotation", "segment", "training_info"),
)
_SEMANTIC: Final = (  # reasons to reject what both parsers read: the file is not a model, or exceeds a limit
    "not valid UTF-8",
    "no opset",
    "neither nodes nor outputs",
    "it has no graph",
    "only training graphs",
    "--max-",
    " dimensions",
    "the limit of protobuf",
)


def read(data: bytes) -> Model | str:
    """Return the model, or the line with which the reader rejects the file."""
    try:
        return read_onnx(MemoryStorage(data))
    except AutodocError as error:
        return str(error)


_read_cached: Final = lru_cache(maxsize=2048)(read)


def parse_upb(data: bytes) -> tuple[onnx.ModelProto, bytes] | None:
    """Return the message without unknown fields and its bytes, or None if upb rejects the file."""
    try:
        message = onnx.ModelProto.FromString(data)
    except DecodeError:
        return None
    message.DiscardUnknownFields()
    return message, message.SerializeToString(deterministic=True)


def parse_cpp(data: bytes) -> bytes | None:
    """Return the bytes as the C++ parser understands them, in upb's order; None if it rejects the file.

    The call inlines no function: it parses and writes. It refuses some files after parsing; these have no bytes: b"".
    """
    try:
        written = onnx_cpp2py_export.inliner.inline_selected_functions(data, [], False)
    except Exception as error:  # of types that onnx does not export
        return None if "Unable to parse proto" in str(error) else b""
    parsed = parse_upb(written)
    return parsed[1] if parsed else b"unreadable"


class Verdict(Struct, frozen=True):
    """`rejection`: the reader's line, or "". `differences`: violations of the property, each one line."""

    rejection: str
    differences: list[str]


def check(data: bytes) -> Verdict:
    """Compare the reader with both parsers on one file."""
    reference, cpp = parse_upb(data), parse_cpp(data)
    model = read(data)
    if isinstance(model, str):
        return Verdict(model, list(_rejection_differences(model, reference, cpp)))
    return Verdict("", list(_acceptance_differences(data, model, reference, cpp)))


def _rejection_differences(
    line: str, reference: tuple[onnx.ModelProto, bytes] | None, cpp: bytes | None
) -> Iterator[str]:
    if "\n" in line:
        yield "rejected with more than one line"
    if reference is None or cpp != reference[1]:
        return
    again = _read_cached(reference[1])
    if isinstance(again, str) and not any(reason in again for reason in _SEMANTIC):
        yield f"rejected even if protobuf writes it: {again}"


def _acceptance_differences(
    data: bytes, model: Model, reference: tuple[onnx.ModelProto, bytes] | None, cpp: bytes | None
) -> Iterator[str]:
    if reference is None:
        yield "accepted, but upb rejects it"
    if cpp is None:
        yield "accepted, but C++ rejects it"
    if reference is None or cpp is None:
        return
    message, canonical = reference
    if cpp and cpp != canonical:
        yield "upb and C++ read different models"
    yield from _model_differences(data, model, message)
    yield from _encoding_differences(data, message)
    if canonical != data:
        again = _read_cached(canonical)
        if isinstance(again, str):
            yield f"rejected when protobuf writes it: {again}"
        else:
            yield from _differences(model, again, "")


# -- what a runtime gets, and the file's message


def _encoding_differences(data: bytes, message: onnx.ModelProto) -> Iterator[str]:
    """Compare without the data of external tensors; their files have zeros."""
    try:
        encoded = encode_onnx(_StorageWithFiles(data)).data
    except AutodocError as error:
        if not any(reason in str(error) for reason in _NOT_ENCODED):
            yield f"accepted, but not encoded: {error}"
        return
    ours, theirs = onnx.ModelProto.FromString(encoded), onnx.ModelProto()
    theirs.CopyFrom(message)
    for parsed in (ours, theirs):
        strip_message(parsed)
    for one, other in zip(_tensors(ours), _tensors(theirs)):
        if other.data_location == onnx.TensorProto.EXTERNAL:
            for tensor in (one, other):
                for field in ("external_data", "data_location", *_DATA_FIELDS):
                    tensor.ClearField(field)
    if ours.SerializeToString(deterministic=True) != theirs.SerializeToString(deterministic=True):
        yield f"encoded as another model: {ours!s:.200} != {theirs!s:.200}"


class _StorageWithFiles(MemoryStorage):
    """A model file in a folder with every other file, of zeros."""

    def sibling(self, name: str) -> MemorySource:
        return MemorySource(name, bytes(_SIBLING_BYTES))


def strip_message(message: Any) -> None:
    """Remove what no runtime uses from a message and the messages inside."""
    message.DiscardUnknownFields()
    for name in _NOT_RUN:
        if name in message.DESCRIPTOR.fields_by_name:
            message.ClearField(name)
    for inner in _inner_messages(message):
        strip_message(inner)


def _tensors(message: Any) -> Iterator[onnx.TensorProto]:
    for inner in _inner_messages(message):
        if isinstance(inner, onnx.TensorProto):
            yield inner
        else:
            yield from _tensors(inner)


def _inner_messages(message: Any) -> Iterator[Any]:
    for field, content in message.ListFields():
        if field.message_type is not None:
            yield from content if hasattr(content, "__len__") else (content,)


# -- two models from the reader


def _differences(first: Any, second: Any, path: str) -> Iterator[str]:
    """Yield where two values differ, except in what depends on the encoding alone."""
    if first is second or (type(first) is type(second) and first == second):
        return
    if type(first) is not type(second):
        yield f"{path}: {first!r:.200} != {second!r:.200}"
    elif isinstance(first, Struct):
        for field in first.__struct_fields__:
            if not _is_encoding(first, field):
                yield from _differences(_comparable(first, field), _comparable(second, field), f"{path}.{field}")
    elif isinstance(first, Mapping | tuple) and len(first) == len(second):
        for at, (one, other) in enumerate(zip(_items(first), _items(second), strict=True)):
            yield from _differences(one, other, f"{path}[{at}]")
    elif not isinstance(first, float) or repr(first) != repr(second):  # NaN is different from itself
        yield f"{path}: {first!r:.200} != {second!r:.200}"


def _items(items: Any) -> tuple[Any, ...]:
    return tuple(items.items()) if isinstance(items, Mapping) else items


def _is_encoding(item: Struct, field: str) -> bool:
    """Whether a field depends on the encoding, not on the model."""
    if isinstance(item, Model):
        return field in ("path", "nbytes", "repeated_fields")
    if isinstance(item, DataLocation):
        return item.path is None and field in ("offset", "length")
    if field == "defects":
        return any(word in flaw for flaw in item.defects for word in _UNDEFINED)  # type: ignore[attr-defined]
    return isinstance(item, Payload) and (field == "fields" or (field == "nbytes" and item.encoding == "varints"))


def _comparable(item: Struct, field: str) -> Any:
    if isinstance(item, Payload) and field == "data":
        return _elements(item)
    if isinstance(item, Model) and field == "external":  # in the order of their tensors in the file
        return tuple(sorted(item.external, key=lambda file: file.path))
    return getattr(item, field)


def _elements(payload: Payload) -> object:
    """Return the elements: integers as signed numbers, others as they are stored."""
    if payload.encoding == "varints" and isinstance(payload.data, bytes):
        return [to_int64(item) for item in decode_varints(payload.data, len(payload.data))]
    return payload.data


def _model_differences(data: bytes, model: Model, message: onnx.ModelProto) -> Iterator[str]:
    """Compare what a gate relies on directly, without the tables of the reader."""
    opsets = {_domain(item.domain): item.version for item in message.opset_import}
    yield from _unequal("opsets", dict(model.opsets), opsets)
    keys = [(_domain(item.domain), item.name, item.overload) for item in message.functions]
    yield from _unequal("functions", [item.key for item in model.functions], keys)
    for function, theirs in zip(model.functions, message.functions):
        ports = (list(theirs.input), list(theirs.output))
        yield from _unequal("ports", (list(function.inputs), list(function.outputs)), ports)
        versions = {_domain(item.domain): item.version for item in theirs.opset_import}
        yield from _unequal("opsets of a function", dict(function.opsets), versions)
        yield from _node_differences(data, function.nodes, theirs.node)
    yield from _graph_differences(data, model.graph, message.graph)
    training = [
        getattr(item, name)
        for item in message.training_info
        for name in ("initialization", "algorithm")
        if item.HasField(name)
    ]
    yield from _unequal("training graphs", len(model.training), len(training))
    for graph, theirs_graph in zip(model.training, training):
        yield from _graph_differences(data, graph, theirs_graph)


def _unequal(what: str, ours: object, theirs: object) -> Iterator[str]:
    if ours != theirs:
        yield f"{what}: {ours!r:.200}, protobuf has {theirs!r:.200}"


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _graph_differences(data: bytes, graph: Graph, theirs: onnx.GraphProto) -> Iterator[str]:
    yield from _node_differences(data, graph.nodes, theirs.node)
    tensors = [*theirs.initializer]
    yield from _unequal("initializers", len(graph.initializers), len(tensors) + len(theirs.sparse_initializer))
    for tensor, theirs_tensor in zip(graph.initializers, tensors):
        yield from _tensor_differences(data, tensor, theirs_tensor)
    for what, ours, values in (
        ("inputs", graph.inputs, theirs.input),
        ("outputs", graph.outputs, theirs.output),
        ("value_info", graph.value_info, theirs.value_info),
    ):
        yield from _unequal(f"names of {what}", [item.name for item in ours], [item.name for item in values])
        for one, other in zip(ours, values):
            expected = _type(other.type) if other.HasField("type") else None
            yield from _unequal(f"type of {one.name!r}", one.type, expected)


def _type(theirs: onnx.TypeProto) -> Type:
    kind = theirs.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        declared = getattr(theirs, kind)
        dims = tuple(map(_dim, declared.shape.dim)) if declared.HasField("shape") else None
        return Type("tensor" if kind == "tensor_type" else "sparse", dtype_name(declared.elem_type), dims)
    if kind in ("sequence_type", "optional_type", "map_type"):
        declared = getattr(theirs, kind)
        field = "value_type" if kind == "map_type" else "elem_type"
        element = _type(getattr(declared, field)) if declared.HasField(field) else None
        return Type(kind.removesuffix("_type"), element.dtype if element else None, None, element)
    return Type("opaque")


def _dim(theirs: Any) -> int | str | None:
    if theirs.WhichOneof("value") == "dim_value":
        return theirs.dim_value if theirs.dim_value >= 0 else None
    return theirs.dim_param or None


def _node_differences(data: bytes, nodes: tuple[Node, ...], theirs: Iterable[onnx.NodeProto]) -> Iterator[str]:
    expected = list(theirs)
    yield from _unequal("nodes", len(nodes), len(expected))
    for node, other in zip(nodes, expected):
        ours = (node.op, node.domain, node.name, node.overload, list(node.inputs), list(node.outputs))
        same = (other.op_type, _domain(other.domain), other.name, other.overload, [*other.input], [*other.output])
        yield from _unequal("node", ours, same)
        names = [attribute.name for attribute in other.attribute]
        for attribute in other.attribute:
            if names.count(attribute.name) == 1:  # the others are findings
                yield from _attribute_differences(data, attribute.name, node.attributes.get(attribute.name), attribute)


_SINGLE_AND_LISTS: Final = ("f", "i", "s", "t", "g", "floats", "ints", "strings", "tensors", "graphs")
_LATER_FIELDS: Final = ("sparse_tensor", "sparse_tensors", "tp", "type_protos")
_VALUE_FIELDS: Final = dict(enumerate((*_SINGLE_AND_LISTS, *_LATER_FIELDS), 1))  # by AttributeProto.type
_MESSAGES: Final = {4: 4, 5: 5, 11: 11, 13: 13, 9: 4, 10: 5, 12: 11, 14: 13}  # type -> type of one item


def _declared_type(theirs: onnx.AttributeProto) -> int:
    """Return the type. Files before IR 2 leave it out; then it is the first one with a value."""
    filled = {field.name for field, _ in theirs.ListFields()}
    kinds = (kind for kind, field in _VALUE_FIELDS.items() if field in filled)
    return theirs.type or next(kinds, 0)


def _attribute_differences(data: bytes, name: str, ours: Any, theirs: onnx.AttributeProto) -> Iterator[str]:
    what, kind = f"attribute {name!r}", _declared_type(theirs)
    if theirs.ref_attr_name:
        yield from _unequal(what, ours, AttributeReference(theirs.ref_attr_name))
    elif not kind:
        yield from _unequal(what, ours, None)
    elif kind not in _MESSAGES:
        value = getattr(theirs, _VALUE_FIELDS[kind])
        if isinstance(ours, TruncatedList):
            yield from _unequal(f"length of {what}", ours.count, len(value))
            ours, value = ours.first, value[: len(ours.first)]
        if kind in (6, 7, 8):
            value = tuple(map(_text, value))
        yield from _unequal(what, repr(ours), repr(_text(value)))
    elif _MESSAGES[kind] == kind:
        expected = getattr(theirs, _VALUE_FIELDS[kind]) if theirs.HasField(_VALUE_FIELDS[kind]) else None
        yield from _item_differences(data, what, ours, expected, kind)
    else:
        items = list(getattr(theirs, _VALUE_FIELDS[kind]))
        yield from _unequal(f"length of {what}", len(ours), len(items))
        for one, other in zip(ours, items):
            yield from _item_differences(data, what, one, other, _MESSAGES[kind])


def _item_differences(data: bytes, what: str, ours: Any, theirs: Any, kind: int) -> Iterator[str]:
    if theirs is None or ours is None:
        yield from _unequal(what, ours, theirs)
    elif kind == 4:
        yield from _tensor_differences(data, ours, theirs)
    elif kind == 5:
        yield from _graph_differences(data, ours, theirs)
    elif kind == 11:
        yield from _unequal(f"dims of {what}", list(ours.dims), list(theirs.dims))
    else:
        yield from _unequal(f"type of {what}", ours, _type(theirs))


def _text(value: Any) -> Any:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value


def _tensor_differences(data: bytes, tensor: Tensor, theirs: onnx.TensorProto) -> Iterator[str]:
    ours = (tensor.name, list(tensor.dims), tensor.dtype)
    yield from _unequal("tensor", ours, (theirs.name, list(theirs.dims), dtype_name(theirs.data_type)))
    place, payload = tensor.location, tensor.payload
    if theirs.data_location == onnx.TensorProto.EXTERNAL:
        yield from _location_differences(place, {item.key: item.value for item in theirs.external_data})
        return
    fields = [field.name for field, _ in theirs.ListFields() if field.name in _DATA_FIELDS]
    if place is None or place.path is not None or payload is None:
        yield from _unequal(f"data of {tensor.name!r}", [], fields)
    elif "raw_data" in fields or len(fields) == 1:  # data in several other fields are a finding
        if "raw_data" in fields and place.length is not None:
            yield from _unequal("raw_data", data[place.offset : place.offset + place.length], theirs.raw_data)
        expected = theirs.raw_data if "raw_data" in fields else _DATA_FIELDS[fields[0]](getattr(theirs, fields[0]))
        if payload.data is not None:
            yield from _unequal(f"data of {tensor.name!r}", _quieted(payload), expected)


def _quieted(payload: Payload) -> object:
    """Return the elements with NaN as Python converts it to 64 bits and back."""
    if payload.encoding == "floats" and isinstance(payload.data, bytes):
        floats = f"<{len(payload.data) // 4}f"
        return struct.pack(floats, *struct.unpack(floats, payload.data))
    return _elements(payload)


def _location_differences(place: DataLocation | None, entries: dict[str, str]) -> Iterator[str]:
    yield from _unequal("location", place and place.path, normalize_path(entries.get("location", "")))
    for key, figure in (("offset", place and place.offset), ("length", place and place.length)):
        if entries.get(key, "").isdecimal() and entries[key].isascii():
            yield from _unequal(key, figure, int(entries[key]))


_DATA_FIELDS: Final[dict[str, Callable[[Any], object]]] = {  # the elements as `_elements` returns them
    "raw_data": bytes,
    "float_data": lambda items: struct.pack(f"<{len(items)}f", *items),
    "double_data": lambda items: struct.pack(f"<{len(items)}d", *items),
    "int32_data": list,
    "int64_data": list,
    "uint64_data": lambda items: list(map(to_int64, items)),
    "string_data": tuple,
}
