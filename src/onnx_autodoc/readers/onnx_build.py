"""Build values of `ir` from decoded fields: one function per message type."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import (
    Attribute,
    AttributeReference,
    Function,
    Graph,
    Model,
    Node,
    TruncatedList,
    Type,
    dtype_name,
)
from onnx_autodoc.readers.protobuf import Fields, RepeatedField


def domain_of(fields: Fields) -> str:
    """Return the domain; the default domain has two names."""
    domain: str = fields.get("domain", "")
    return "" if domain == "ai.onnx" else domain


def build_dim(fields: Fields) -> int | str | None:
    if "dim_value" in fields and "dim_param" in fields:
        raise BadInput("not a valid ONNX model: a dimension has both a size and a name")
    if "dim_value" in fields:
        return (
            fields["dim_value"] if fields["dim_value"] >= 0 else None
        )  # some exporters write -1 for a dynamic dimension
    return fields.get("dim_param") or None


def build_tensor_type(fields: Fields, kind: str = "tensor") -> Type:
    return Type(kind, dtype_name(fields.get("elem_type", 0)), fields.get("shape"))


def build_type(fields: Fields) -> Type:
    """Build a type, which has one kind."""
    if len(fields) > 1:
        raise BadInput(f"not a valid ONNX model: a type is declared as both {' and '.join(fields)}")
    return next(iter(fields.values()), Type("opaque"))


# AttributeProto.type -> the field of the value, and the default if it is absent
ATTRIBUTE_TYPES: Final[dict[int, tuple[str, Any]]] = {
    0: ("", None),
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
    11: ("sparse_tensor", None),
    12: ("sparse_tensors", ()),
    13: ("tp", None),
    14: ("type_protos", ()),
}
_VALUE_FIELDS: Final = {name: order for order, (name, _) in ATTRIBUTE_TYPES.items() if order}
_MAX_QUOTED_CHARS: Final = 60


def build_attribute(fields: Fields) -> tuple[str, Attribute | None, str]:
    """Return the name, the value, and a flaw or ""."""
    name = fields.get("name", "")
    if fields.get("ref_attr_name"):
        return name, AttributeReference(fields["ref_attr_name"]), ""
    kind: int = fields.get("type", 0)
    filled = [field for field in fields if field in _VALUE_FIELDS]
    if len(filled) > 1:
        filled.sort(key=_VALUE_FIELDS.__getitem__)
    value_field, default = ATTRIBUTE_TYPES[kind]
    if not kind and filled:  # files before IR 2 leave the type out
        value_field = filled[0]
    value = fields.get(value_field, default)
    if isinstance(value, RepeatedField):
        first = tuple(value.first)
        value = first if value.count == len(first) else TruncatedList(value.count, first)
    elif isinstance(value, list):
        value = tuple(value)
    return name, value, _attribute_flaw(name, fields.get("undefined type") or kind, value_field, filled, value)


def _attribute_flaw(name: str, kind: int, value_field: str, filled: list[str], value: object) -> str:
    if not name:
        return "it has an attribute without a name"
    name = name[:_MAX_QUOTED_CHARS]
    if kind not in ATTRIBUTE_TYPES:
        return f"its attribute {name} has type {kind}, which ONNX does not define"
    if any(field != value_field for field in filled):
        return f"its attribute {name} stores a value of another type than it declares"
    if value is None:
        return f"its attribute {name} has no value"
    return "" if kind else f"its attribute {name} does not declare its type"  # as it may before IR 2


_Attributes = Sequence[tuple[str, Attribute | None, str]]  # of `build_attribute`


def _values(attributes: _Attributes) -> dict[str, Attribute]:
    return {name: value for name, value, _ in attributes if value is not None}


def _flaws(attributes: _Attributes, parameters: Sequence[str] = ()) -> tuple[str, ...]:
    """Return flaws of the attributes, which a mapping of them could not express."""
    if not attributes and not parameters:
        return ()
    names = [*(name for name, _, _ in attributes), *parameters]
    repeated = {name: count for name, count in Counter(names).items() if count > 1} if len(names) > 1 else {}
    twice = (f"it has {count} attributes named {name[:_MAX_QUOTED_CHARS]}" for name, count in repeated.items())
    return (*(flaw for _, _, flaw in attributes if flaw), *twice)


def _ambiguous_keys(fields: Fields, field: str, what: str) -> Iterator[str]:
    """Yield a flaw for every key that has two values."""
    pairs: Sequence[tuple[str, object]] = fields.get(field, ())
    values: dict[str, list[object]] = {}
    for key, value in dict.fromkeys(pairs):
        values.setdefault(key, []).append(value)
    for key, distinct in values.items():
        if len(distinct) > 1:
            both = " and ".join(str(value)[:_MAX_QUOTED_CHARS] for value in distinct[:2])
            yield f"{what} {(key or 'ai.onnx')[:_MAX_QUOTED_CHARS]} is declared as both {both}"


def build_node(fields: Fields) -> Node:
    attributes: _Attributes = fields.get("attribute", ())
    return Node(
        op=fields.get("op_type", ""),
        inputs=tuple(fields.get("input", ())),
        outputs=tuple(fields.get("output", ())),
        name=fields.get("name", ""),
        domain=domain_of(fields),
        attributes=_values(attributes),
        overload=fields.get("overload", ""),
        defects=_flaws(attributes),
    )


def build_graph(fields: Fields) -> Graph:
    tensors = (*fields.get("initializer", ()), *fields.get("sparse_initializer", ()))
    nodes, inputs, outputs = (tuple(fields.get(name, ())) for name in ("node", "input", "output"))
    # The captures are the names from outer scopes. The subgraphs are built already and know theirs.
    defined = {"", *(value.name for value in inputs), *(tensor.name for tensor in tensors)}
    used = {value.name for value in outputs}
    for node in nodes:
        defined.update(node.outputs)
        used.update(node.all_inputs)
    return Graph(
        name=fields.get("name", ""),
        nodes=nodes,
        inputs=inputs,
        outputs=outputs,
        initializers=tensors,
        value_info=tuple(fields.get("value_info", ())),
        doc=fields.get("doc_string", ""),
        captures=frozenset(used - defined),
    )


def build_function(fields: Fields) -> Function:
    attributes: _Attributes = fields.get("attribute_proto", ())
    return Function(
        name=fields.get("name", ""),
        domain=domain_of(fields),
        overload=fields.get("overload", ""),
        inputs=tuple(fields.get("input", ())),
        outputs=tuple(fields.get("output", ())),
        nodes=tuple(fields.get("node", ())),
        defaults=_values(attributes),
        opsets=dict(fields.get("opset_import", ())),
        value_info=tuple(fields.get("value_info", ())),
        defects=(
            *_ambiguous_keys(fields, "opset_import", "the version of"),
            *_flaws(attributes, fields.get("attribute", ())),
        ),
    )


def build_model(fields: Fields) -> Model:
    return Model(
        graph=fields.get("graph", Graph()),
        ir_version=fields.get("ir_version"),
        opsets=dict(fields.get("opset_import", ())),
        producer=fields.get("producer_name", ""),
        producer_version=fields.get("producer_version", ""),
        domain=fields.get("domain", ""),
        version=fields.get("model_version"),
        doc=fields.get("doc_string", ""),
        metadata=dict(fields.get("metadata_props", ())),
        functions=tuple(fields.get("functions", ())),
        training=tuple(graph for pair in fields.get("training_info", ()) for graph in pair),
        defects=(
            *_ambiguous_keys(fields, "opset_import", "the version of"),
            *_ambiguous_keys(fields, "metadata_props", "the metadata key"),
        ),
    )
