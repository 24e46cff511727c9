"""ONNX's messages as tables for the wire: which field number is what, and what is built of it.

Only what the tool uses is listed; every other field (doc strings of nodes among them, often most of a file) is
stepped over. Field numbers are those of onnx.proto.
"""

from typing import Any, Final

from onnx_autodoc.graph import (
    Attribute,
    Function,
    Graph,
    Long,
    Model,
    Node,
    Reference,
    Tensor,
    Type,
    Value,
    dtype_name,
)
from onnx_autodoc.read._tensors import build_sparse, build_tensor
from onnx_autodoc.read._wire import Field, Found, Kind, Message, Numbers


def _text(name: str, many: bool = False) -> Field:
    return Field(name, Kind.TEXT, many)


def _int(name: str, many: bool = False) -> Field:
    return Field(name, Kind.INT, many)


def _payload(name: str) -> Field:
    return Field(name, Kind.PAYLOAD, many=True)


def _one(name: str, message: Message) -> Field:
    return Field(name, Kind.MESSAGE, False, message)


def _many(name: str, message: Message) -> Field:
    return Field(name, Kind.MESSAGE, True, message)


def _domain(found: Found) -> str:
    """The default domain has two spellings."""
    domain: str = found.get("domain", "")
    return "" if domain == "ai.onnx" else domain


def _pair(found: Found) -> tuple[str, str]:
    return found.get("key", ""), found.get("value", "")


def _dim(found: Found) -> int | str | None:
    if "size" in found:
        return found["size"] if found["size"] >= 0 else None  # -1 is how some exporters write "open"
    return found.get("name") or None


def _tensor_type(found: Found, kind: str = "tensor") -> Type:
    return Type(kind, dtype_name(found.get("dtype", 0)), found.get("shape"))


def _wrapped(kind: str, found: Found) -> Type:
    element = found.get("element")
    return Type(kind, element.dtype if element else None, None, element)


def _first_type(found: Found) -> Type:
    return next((item for item in found.values() if isinstance(item, Type)), Type("opaque"))


# AttributeProto.type -> the field that holds the value and what an absent one means
_ATTRIBUTES: Final[dict[int, tuple[str, Any]]] = {
    1: ("f", 0.0),
    2: ("i", 0),
    3: ("s", ""),
    4: ("t", None),
    5: ("g", None),
    6: ("floats", ()),
    7: ("ints", ()),
    8: ("strings", ()),
    9: ("tensors", ()),
    10: ("graphs", ()),
    11: ("sparse", None),
    12: ("sparses", ()),
    13: ("tp", None),
    14: ("types", ()),
}
_FIELDS: Final = tuple(name for name, _ in _ATTRIBUTES.values())


def _attribute(found: Found) -> tuple[str, Attribute | None]:
    name = found.get("name", "")
    if found.get("reference"):
        return name, Reference(found["reference"])
    held, default = _ATTRIBUTES.get(found.get("type", 0), ("", None))
    if held not in found and not found.get("type"):  # files before IR 2 leave the type out
        held = next((field for field in _FIELDS if field in found), "")
    return name, _plain(found.get(held, default))


def _plain(item: Any) -> Attribute | None:
    if isinstance(item, Numbers):
        first = tuple(item.first)
        return first if item.count == len(first) else Long(item.count, first)
    return tuple(item) if isinstance(item, list) else item


def _attributes(found: Found) -> dict[str, Attribute]:
    return {name: value for name, value in found.get("attributes", ()) if value is not None}


def _node(found: Found) -> Node:
    return Node(
        op=found.get("op", ""),
        inputs=tuple(found.get("inputs", ())),
        outputs=tuple(found.get("outputs", ())),
        name=found.get("name", ""),
        domain=_domain(found),
        attributes=_attributes(found),
        overload=found.get("overload", ""),
    )


def _graph(found: Found) -> Graph:
    tensors = (*found.get("initializers", ()), *found.get("sparse", ()))
    return Graph(
        name=found.get("name", ""),
        nodes=tuple(found.get("nodes", ())),
        inputs=tuple(found.get("inputs", ())),
        outputs=tuple(found.get("outputs", ())),
        initializers=tensors,
        values=tuple(found.get("values", ())),
        doc=found.get("doc", ""),
    )


def _function(found: Found) -> Function:
    return Function(
        name=found.get("name", ""),
        domain=_domain(found),
        overload=found.get("overload", ""),
        inputs=tuple(found.get("inputs", ())),
        outputs=tuple(found.get("outputs", ())),
        nodes=tuple(found.get("nodes", ())),
        defaults=_attributes(found),
        opsets=dict(found.get("opsets", ())),
        values=tuple(found.get("values", ())),
    )


def _model(found: Found) -> Model:
    training = [graph for pair in found.get("training", ()) for graph in pair]
    return Model(
        graph=found.get("graph", Graph()),
        ir_version=found.get("ir_version"),
        opsets=dict(found.get("opsets", ())),
        producer=found.get("producer", ""),
        producer_version=found.get("producer_version", ""),
        domain=found.get("domain", ""),
        version=found.get("version"),
        doc=found.get("doc", ""),
        metadata=dict(found.get("metadata", ())),
        functions=tuple(found.get("functions", ())),
        training=tuple(training),
    )


_PAIR = Message("StringStringEntryProto", {1: _text("key"), 2: _text("value")}, _pair)
_OPSET = Message(
    "OperatorSetIdProto", {1: _text("domain"), 2: _int("version")}, lambda found: (_domain(found), found.get("version", 0))
)
_TENSOR = Message(
    "TensorProto",
    {
        1: _int("dims", many=True),
        2: _int("dtype"),
        4: _payload("floats"),
        5: _payload("varints32"),
        6: _payload("strings"),
        7: _payload("varints"),
        8: _text("name"),
        9: _payload("raw"),
        10: _payload("doubles"),
        11: _payload("varints64"),
        13: _many("external", _PAIR),
        14: _int("location"),
    },
    build_tensor,
)
_SPARSE = Message(
    "SparseTensorProto",
    {1: _one("values", _TENSOR), 2: _one("indices", _TENSOR), 3: _int("dims", many=True)},
    build_sparse,
)
_DIM = Message("Dimension", {1: _int("size"), 2: _text("name")}, _dim)
_SHAPE = Message("TensorShapeProto", {1: _many("dims", _DIM)}, lambda found: tuple(found.get("dims", ())))
_TENSOR_TYPE = Message("TypeProto.Tensor", {1: _int("dtype"), 2: _one("shape", _SHAPE)}, _tensor_type)
_SPARSE_TYPE = Message(
    "TypeProto.SparseTensor",
    {1: _int("dtype"), 2: _one("shape", _SHAPE)},
    lambda found: _tensor_type(found, "sparse"),
)
_TYPE = Message("TypeProto", {}, _first_type)
_TYPE.fields = {
    1: _one("tensor", _TENSOR_TYPE),
    4: _one("sequence", Message("TypeProto.Sequence", {1: _one("element", _TYPE)}, lambda f: _wrapped("sequence", f))),
    5: _one("map", Message("TypeProto.Map", {2: _one("element", _TYPE)}, lambda f: _wrapped("map", f))),
    8: _one("sparse", _SPARSE_TYPE),
    9: _one("optional", Message("TypeProto.Optional", {1: _one("element", _TYPE)}, lambda f: _wrapped("optional", f))),
}
_VALUE = Message(
    "ValueInfoProto", {1: _text("name"), 2: _one("type", _TYPE)}, lambda f: Value(f.get("name", ""), f.get("type"))
)
_GRAPH = Message("GraphProto", {}, _graph)
_ATTRIBUTE = Message(
    "AttributeProto",
    {
        1: _text("name"),
        2: Field("f", Kind.FLOAT),
        3: _int("i"),
        4: _text("s"),
        5: _one("t", _TENSOR),
        6: _one("g", _GRAPH),
        7: Field("floats", Kind.FLOAT, many=True),
        8: _int("ints", many=True),
        9: _text("strings", many=True),
        10: _many("tensors", _TENSOR),
        11: _many("graphs", _GRAPH),
        14: _one("tp", _TYPE),
        15: _many("types", _TYPE),
        20: _int("type"),
        21: _text("reference"),
        22: _one("sparse", _SPARSE),
        23: _many("sparses", _SPARSE),
    },
    _attribute,
)
_NODE = Message(
    "NodeProto",
    {
        1: _text("inputs", many=True),
        2: _text("outputs", many=True),
        3: _text("name"),
        4: _text("op"),
        5: _many("attributes", _ATTRIBUTE),
        7: _text("domain"),
        8: _text("overload"),
    },
    _node,
)
_GRAPH.fields = {
    1: _many("nodes", _NODE),
    2: _text("name"),
    5: _many("initializers", _TENSOR),
    10: _text("doc"),
    11: _many("inputs", _VALUE),
    12: _many("outputs", _VALUE),
    13: _many("values", _VALUE),
    15: _many("sparse", _SPARSE),
}
_FUNCTION = Message(
    "FunctionProto",
    {
        1: _text("name"),
        4: _text("inputs", many=True),
        5: _text("outputs", many=True),
        7: _many("nodes", _NODE),
        9: _many("opsets", _OPSET),
        10: _text("domain"),
        11: _many("attributes", _ATTRIBUTE),
        12: _many("values", _VALUE),
        13: _text("overload"),
    },
    _function,
)
_TRAINING = Message(
    "TrainingInfoProto",
    {1: _one("initialization", _GRAPH), 2: _one("algorithm", _GRAPH)},
    lambda found: tuple(found.values()),
)
MODEL: Final = Message(
    "ModelProto",
    {
        1: _int("ir_version"),
        2: _text("producer"),
        3: _text("producer_version"),
        4: _text("domain"),
        5: _int("version"),
        6: _text("doc"),
        7: _one("graph", _GRAPH),
        8: _many("opsets", _OPSET),
        14: _many("metadata", _PAIR),
        20: _many("training", _TRAINING),
        25: _many("functions", _FUNCTION),
    },
    _model,
)
