"""The message types of onnx.proto as tables: field numbers, names, and how a value is built.

Fields that the tool does not use are skipped, such as doc strings of nodes, often most of a file. Those that are
messages are listed all the same, since their encoding is checked: protobuf rejects a file with one that is malformed.
"""

from collections.abc import Callable, Mapping
from typing import Final

from onnx_autodoc.ir import Type, Value
from onnx_autodoc.readers.onnx_build import (
    ATTRIBUTE_TYPES,
    build_attribute,
    build_dim,
    build_function,
    build_graph,
    build_model,
    build_node,
    build_tensor_type,
    build_type,
    domain_of,
)
from onnx_autodoc.readers.protobuf import (
    INT32,
    Field,
    Fields,
    Message,
    check_entry,
    read_exact,
    read_float,
    read_floats,
    read_int,
    read_ints,
    read_name,
    read_payload,
    read_strings,
    read_text,
)
from onnx_autodoc.readers.tensors import build_sparse, build_tensor
from onnx_autodoc.readers.wire import I32, I64, LEN, VARINT


def _text(name: str) -> Field:
    return Field(name, read_text)


def _exact(name: str) -> Field:
    return Field(name, read_exact)


def _name(name: str, repeated: bool = False) -> Field:
    return Field(name, read_name, repeated)


def _int(name: str) -> Field:
    return Field(name, read_int)


def _int32(name: str) -> Field:
    return Field(name, read_int, defined=INT32)


def _enum(name: str, values: int) -> Field:
    """An enumeration of the numbers below `values`."""
    return Field(name, read_int, defined=range(values))


def _ints(name: str) -> Field:
    return Field(name, read_ints, repeated=True)


def _payload(name: str, wire: int, defined: range | None = None) -> Field:
    return Field(name, read_payload, repeated=True, wire=wire, defined=defined)


def _one(name: str, message: Message) -> Field:
    return Field(name, None, False, message)


def _many(name: str, message: Message) -> Field:
    return Field(name, None, True, message)


def _container(kind: str, number: int, element: str = "elem_type", key: Mapping[int, Field] | None = None) -> Field:
    """A type that contains another type, in the field `element` with this number."""

    def build(fields: Fields) -> Type:
        inner = fields.get(element)
        return Type(kind, inner.dtype if inner else None, None, inner)

    fields = {**(key or {}), number: _one(element, _TYPE)}
    return _one(f"{kind}_type", Message(f"TypeProto.{kind.capitalize()}", fields, build))


def _unused(name: str, inner: Mapping[int, Field] | None = None) -> Message:
    """A message that nothing uses, with its inner messages."""
    return Message(name, inner or {}, lambda _: None)


def _pair(field: Callable[[str], Field]) -> Message:
    return Message(
        "StringStringEntryProto",
        {1: field("key"), 2: field("value")},
        lambda fields: (fields.get("key", ""), fields.get("value", "")),
    )


def _entries(name: str = "metadata_props") -> Field:
    """Strings that nothing uses, in messages that only have a key and a value."""
    return Field(name, check_entry, repeated=True)


_OPSET = Message(
    "OperatorSetIdProto",
    {1: _name("domain"), 2: _int("version")},
    lambda fields: (domain_of(fields), fields.get("version", 0)),
)
_TENSOR = Message(
    "TensorProto",
    {
        1: _ints("dims"),
        2: _int32("data_type"),
        3: _one("segment", _unused("TensorProto.Segment")),
        4: _payload("float_data", I32),
        5: _payload("int32_data", VARINT, INT32),
        6: _payload("string_data", LEN),
        7: _payload("int64_data", VARINT),
        8: _name("name"),
        9: Field("raw_data", read_payload),
        10: _payload("double_data", I64),
        11: _payload("uint64_data", VARINT),
        13: _many("external_data", _pair(_exact)),
        14: _enum("data_location", 2),
        16: _entries(),
    },
    build_tensor,
    collected=True,
)
_SPARSE = Message(
    "SparseTensorProto",
    {1: _one("values", _TENSOR), 2: _one("indices", _TENSOR), 3: _ints("dims")},
    build_sparse,
)
_DIM = Message("TensorShapeProto.Dimension", {1: _int("dim_value"), 2: _name("dim_param")}, build_dim)
_SHAPE = Message("TensorShapeProto", {1: _many("dim", _DIM)}, lambda fields: tuple(fields.get("dim", ())))
_TENSOR_TYPE = Message("TypeProto.Tensor", {1: _int32("elem_type"), 2: _one("shape", _SHAPE)}, build_tensor_type)
_SPARSE_TYPE = Message(
    "TypeProto.SparseTensor",
    {1: _int32("elem_type"), 2: _one("shape", _SHAPE)},
    lambda fields: build_tensor_type(fields, "sparse"),
)
_TYPE = Message("TypeProto", {}, build_type)
_TYPE.fields = {
    1: _one("tensor_type", _TENSOR_TYPE),
    4: _container("sequence", 1),
    5: _container("map", 2, "value_type", {1: _int32("key_type")}),
    7: _one(
        "opaque_type", Message("TypeProto.Opaque", {1: _name("domain"), 2: _name("name")}, lambda _: Type("opaque"))
    ),
    8: _one("sparse_tensor_type", _SPARSE_TYPE),
    9: _container("optional", 1),
}
_VALUE = Message(
    "ValueInfoProto",
    {1: _name("name"), 2: _one("type", _TYPE), 4: _entries()},
    lambda fields: Value(fields.get("name", ""), fields.get("type")),
)
_GRAPH = Message("GraphProto", {}, build_graph, limit="depth")
_ATTRIBUTE = Message(
    "AttributeProto",
    {
        1: _name("name"),
        2: Field("f", read_float),
        3: _int("i"),
        4: _text("s"),
        5: _one("t", _TENSOR),
        6: _one("g", _GRAPH),
        7: Field("floats", read_floats, repeated=True),
        8: _ints("ints"),
        9: Field("strings", read_strings, repeated=True),
        10: _many("tensors", _TENSOR),
        11: _many("graphs", _GRAPH),
        14: _one("tp", _TYPE),
        15: _many("type_protos", _TYPE),
        20: _enum("type", len(ATTRIBUTE_TYPES)),
        21: _name("ref_attr_name"),
        22: _one("sparse_tensor", _SPARSE),
        23: _many("sparse_tensors", _SPARSE),
    },
    build_attribute,
)
_SHARDED_DIM = _unused("ShardedDimProto", {2: _many("simple_sharding", _unused("SimpleShardedDimProto"))})
_SHARDING = _unused(
    "ShardingSpecProto",
    {
        2: _ints("device"),
        3: _many("index_to_device_group_map", _unused("IntIntListEntryProto", {2: _ints("value")})),
        4: _many("sharded_dim", _SHARDED_DIM),
    },
)
_NODE = Message(
    "NodeProto",
    {
        1: _name("input", repeated=True),
        2: _name("output", repeated=True),
        3: _name("name"),
        4: _name("op_type"),
        5: _many("attribute", _ATTRIBUTE),
        7: _name("domain"),
        8: _name("overload"),
        9: _entries(),
        10: _many(
            "device_configurations", _unused("NodeDeviceConfigurationProto", {2: _many("sharding_spec", _SHARDING)})
        ),
    },
    build_node,
    limit="nodes",
)
_GRAPH.fields = {
    1: _many("node", _NODE),
    2: _name("name"),
    5: _many("initializer", _TENSOR),
    10: _text("doc_string"),
    11: _many("input", _VALUE),
    12: _many("output", _VALUE),
    13: _many("value_info", _VALUE),
    14: _many("quantization_annotation", _unused("TensorAnnotation", {2: _entries("quant_parameter_tensor_names")})),
    15: _many("sparse_initializer", _SPARSE),
    16: _entries(),
}
_FUNCTION = Message(
    "FunctionProto",
    {
        1: _name("name"),
        4: _name("input", repeated=True),
        5: _name("output", repeated=True),
        6: _name("attribute", repeated=True),
        7: _many("node", _NODE),
        9: _many("opset_import", _OPSET),
        10: _name("domain"),
        11: _many("attribute_proto", _ATTRIBUTE),
        12: _many("value_info", _VALUE),
        13: _name("overload"),
        14: _entries(),
    },
    build_function,
)
_TRAINING = Message(
    "TrainingInfoProto",
    {
        1: _one("initialization", _GRAPH),
        2: _one("algorithm", _GRAPH),
        3: _entries("initialization_binding"),
        4: _entries("update_binding"),
    },
    lambda fields: tuple(fields[name] for name in ("initialization", "algorithm") if name in fields),
)
MODEL: Final = Message(
    "ModelProto",
    {
        1: _int("ir_version"),
        2: _text("producer_name"),
        3: _text("producer_version"),
        4: _name("domain"),
        5: _int("model_version"),
        6: _text("doc_string"),
        7: _one("graph", _GRAPH),
        8: _many("opset_import", _OPSET),
        14: _many("metadata_props", _pair(_text)),
        20: _many("training_info", _TRAINING),
        25: _many("functions", _FUNCTION),
        26: _many("configuration", _unused("DeviceConfigurationProto")),
    },
    build_model,
)
