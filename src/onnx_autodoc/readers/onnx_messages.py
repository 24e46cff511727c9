"""The message types of onnx.proto as tables: field numbers, names, and how a value is built.

Fields that the tool does not use are not listed and are skipped, such as doc strings of nodes, often most of a file.
"""

from typing import Final

from onnx_autodoc.ir import Type, Value
from onnx_autodoc.readers.onnx_build import (
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
    Field,
    Fields,
    Message,
    read_float,
    read_floats,
    read_int,
    read_ints,
    read_name,
    read_payload,
    read_string,
    read_strings,
)
from onnx_autodoc.readers.tensors import build_sparse, build_tensor


def _string(name: str, repeated: bool = False) -> Field:
    return Field(name, read_string, repeated)


def _name(name: str, repeated: bool = False) -> Field:
    return Field(name, read_name, repeated)


def _int(name: str) -> Field:
    return Field(name, read_int)


def _ints(name: str) -> Field:
    return Field(name, read_ints, repeated=True)


def _payload(name: str) -> Field:
    return Field(name, read_payload, repeated=True)


def _one(name: str, message: Message) -> Field:
    return Field(name, None, False, message)


def _many(name: str, message: Message) -> Field:
    return Field(name, None, True, message)


def _container(kind: str, number: int) -> Field:
    """A type that contains another type, in the field `number`."""

    def build(fields: Fields) -> Type:
        element = fields.get("element")
        return Type(kind, element.dtype if element else None, None, element)

    return _one(kind, Message(f"TypeProto.{kind.capitalize()}", {number: _one("element", _TYPE)}, build))


_PAIR = Message(
    "StringStringEntryProto",
    {1: _string("key"), 2: _string("value")},
    lambda fields: (fields.get("key", ""), fields.get("value", "")),
)
_OPSET = Message(
    "OperatorSetIdProto",
    {1: _name("domain"), 2: _int("version")},
    lambda fields: (domain_of(fields), fields.get("version", 0)),
)
_TENSOR = Message(
    "TensorProto",
    {
        1: _ints("dims"),
        2: _int("dtype"),
        4: _payload("floats"),
        5: _payload("varints32"),
        6: _payload("strings"),
        7: _payload("varints"),
        8: _name("name"),
        9: _payload("raw"),
        10: _payload("doubles"),
        11: _payload("varints64"),
        13: _many("external", _PAIR),
        14: _int("location"),
    },
    build_tensor,
    collected=True,
)
_SPARSE = Message(
    "SparseTensorProto",
    {1: _one("values", _TENSOR), 2: _one("indices", _TENSOR), 3: _ints("dims")},
    build_sparse,
)
_DIM = Message("Dimension", {1: _int("size"), 2: _name("name")}, build_dim)
_SHAPE = Message("TensorShapeProto", {1: _many("dims", _DIM)}, lambda fields: tuple(fields.get("dims", ())))
_TENSOR_TYPE = Message("TypeProto.Tensor", {1: _int("dtype"), 2: _one("shape", _SHAPE)}, build_tensor_type)
_SPARSE_TYPE = Message(
    "TypeProto.SparseTensor",
    {1: _int("dtype"), 2: _one("shape", _SHAPE)},
    lambda fields: build_tensor_type(fields, "sparse"),
)
_TYPE = Message("TypeProto", {}, build_type)
_TYPE.fields = {
    1: _one("tensor", _TENSOR_TYPE),
    4: _container("sequence", 1),
    5: _container("map", 2),
    8: _one("sparse", _SPARSE_TYPE),
    9: _container("optional", 1),
}
_VALUE = Message(
    "ValueInfoProto",
    {1: _name("name"), 2: _one("type", _TYPE)},
    lambda fields: Value(fields.get("name", ""), fields.get("type")),
)
_GRAPH = Message("GraphProto", {}, build_graph, limit="depth")
_ATTRIBUTE = Message(
    "AttributeProto",
    {
        1: _name("name"),
        2: Field("f", read_float),
        3: _int("i"),
        4: _string("s"),
        5: _one("t", _TENSOR),
        6: _one("g", _GRAPH),
        7: Field("floats", read_floats, repeated=True),
        8: _ints("ints"),
        9: Field("strings", read_strings, repeated=True),
        10: _many("tensors", _TENSOR),
        11: _many("graphs", _GRAPH),
        14: _one("tp", _TYPE),
        15: _many("types", _TYPE),
        20: _int("type"),
        21: _name("reference"),
        22: _one("sparse", _SPARSE),
        23: _many("sparses", _SPARSE),
    },
    build_attribute,
)
_NODE = Message(
    "NodeProto",
    {
        1: _name("inputs", repeated=True),
        2: _name("outputs", repeated=True),
        3: _name("name"),
        4: _name("op"),
        5: _many("attributes", _ATTRIBUTE),
        7: _name("domain"),
        8: _name("overload"),
    },
    build_node,
    limit="nodes",
)
_GRAPH.fields = {
    1: _many("nodes", _NODE),
    2: _name("name"),
    5: _many("initializers", _TENSOR),
    10: _string("doc"),
    11: _many("inputs", _VALUE),
    12: _many("outputs", _VALUE),
    13: _many("values", _VALUE),
    15: _many("sparse", _SPARSE),
}
_FUNCTION = Message(
    "FunctionProto",
    {
        1: _name("name"),
        4: _name("inputs", repeated=True),
        5: _name("outputs", repeated=True),
        6: _name("parameters", repeated=True),
        7: _many("nodes", _NODE),
        9: _many("opsets", _OPSET),
        10: _name("domain"),
        11: _many("attributes", _ATTRIBUTE),
        12: _many("values", _VALUE),
        13: _name("overload"),
    },
    build_function,
)
_TRAINING = Message(
    "TrainingInfoProto",
    {1: _one("initialization", _GRAPH), 2: _one("algorithm", _GRAPH)},
    lambda fields: tuple(fields.values()),
)
MODEL: Final = Message(
    "ModelProto",
    {
        1: _int("ir_version"),
        2: _string("producer"),
        3: _string("producer_version"),
        4: _name("domain"),
        5: _int("version"),
        6: _string("doc"),
        7: _one("graph", _GRAPH),
        8: _many("opsets", _OPSET),
        14: _many("metadata", _PAIR),
        20: _many("training", _TRAINING),
        25: _many("functions", _FUNCTION),
    },
    build_model,
)
