"""Values of the graph room from what the wire found: one function per message."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from onnx_autodoc.ir import (
    Attribute,
    Function,
    Graph,
    Long,
    Model,
    Node,
    Reference,
    Type,
    Value,
    dtype_name,
    needed_names,
)
from onnx_autodoc.readers._wire import Found, Items


def domain_of(found: Found) -> str:
    """The default domain has two spellings."""
    domain: str = found.get("domain", "")
    return "" if domain == "ai.onnx" else domain


def build_pair(found: Found) -> tuple[str, str]:
    return found.get("key", ""), found.get("value", "")


def build_dim(found: Found) -> int | str | None:
    if "size" in found:
        return found["size"] if found["size"] >= 0 else None  # -1 is how some exporters write "open"
    return found.get("name") or None


def build_tensor_type(found: Found, kind: str = "tensor") -> Type:
    return Type(kind, dtype_name(found.get("dtype", 0)), found.get("shape"))


def build_wrapped(kind: str, found: Found) -> Type:
    element = found.get("element")
    return Type(kind, element.dtype if element else None, None, element)


def build_type(found: Found) -> Type:
    """Of several, the last holds: they are one field of which each kind is a way to write it."""
    return next((item for item in reversed(found.values()) if isinstance(item, Type)), Type("opaque"))


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
_VERSION: Final = "the version of"
_LONGEST: Final = 60  # characters of one of them
_METADATA: Final = "the metadata"


def build_attribute(found: Found) -> tuple[str, Attribute | None, str]:
    """Its name, its value, and what is wrong with it."""
    name = found.get("name", "")
    if found.get("reference"):
        return name, Reference(found["reference"]), ""
    kind, filled = found.get("type", 0), [field for field in _FIELDS if field in found]
    held, default = _ATTRIBUTES.get(kind, ("", None))
    if held not in found and not kind:  # files before IR 2 leave the type out
        held = filled[0] if filled else ""
    value = _plain(found.get(held, default))
    return name, value, _attribute_flaw(name, kind, held, filled, value)


def _attribute_flaw(name: str, kind: int, held: str, filled: list[str], value: object) -> str:
    if not name:
        return "it has an attribute without a name"
    name = name[:_LONGEST]
    if kind and kind not in _ATTRIBUTES:
        return f"its attribute {name} is of type {kind}, which ONNX does not define"
    if any(field != held for field in filled):
        return f"its attribute {name} holds a value of another kind than it says"
    if value is None:
        return f"its attribute {name} has no value"
    return "" if kind else f"its attribute {name} does not say of which type it is"  # as it may before IR 2


def _plain(item: Any) -> Attribute | None:
    if isinstance(item, Items):
        first = tuple(item.first)
        return first if item.count == len(first) else Long(item.count, first)
    return tuple(item) if isinstance(item, list) else item


def _attributes(found: Found) -> dict[str, Attribute]:
    return {name: value for name, value, _ in found.get("attributes", ()) if value is not None}


def _flaws(found: Found) -> tuple[str, ...]:
    """What the attributes cannot say any more, once they are a mapping."""
    given = found.get("attributes", ())
    if not given and "parameters" not in found:
        return ()
    times = Counter([*(name for name, _, _ in given), *found.get("parameters", ())])
    twice = (f"it has {count} attributes {name[:_LONGEST]}" for name, count in times.items() if count > 1)
    return (*(flaw for _, _, flaw in given if flaw), *twice)


def _repeated(what: str, pairs: Sequence[tuple[str, object]]) -> Iterator[str]:
    """Keys that are given twice, with two values."""
    values: dict[str, list[object]] = {}
    for key, value in dict.fromkeys(pairs):
        values.setdefault(key, []).append(value)
    for key, said in values.items():
        if len(said) > 1:
            both = " and ".join(str(one)[:_LONGEST] for one in said[:2])
            yield f"{what} {(key or 'ai.onnx')[:_LONGEST]} is said to be {both}"


def build_node(found: Found) -> Node:
    return Node(
        op=found.get("op", ""),
        inputs=tuple(found.get("inputs", ())),
        outputs=tuple(found.get("outputs", ())),
        name=found.get("name", ""),
        domain=domain_of(found),
        attributes=_attributes(found),
        overload=found.get("overload", ""),
        flaws=_flaws(found),
    )


def build_graph(found: Found) -> Graph:
    tensors = (*found.get("initializers", ()), *found.get("sparse", ()))
    graph = Graph(
        name=found.get("name", ""),
        nodes=tuple(found.get("nodes", ())),
        inputs=tuple(found.get("inputs", ())),
        outputs=tuple(found.get("outputs", ())),
        initializers=tensors,
        values=tuple(found.get("values", ())),
        doc=found.get("doc", ""),
    )
    return msgspec.structs.replace(graph, outer=_outer(graph))


def _outer(graph: Graph) -> frozenset[str]:
    """What a graph reads and does not make. The graphs inside it are built already, and know theirs."""
    made = {value.name for value in graph.inputs} | {tensor.name for tensor in graph.initializers} | {""}
    read = {value.name for value in graph.outputs}
    for node in graph.nodes:
        made.update(node.outputs)
        read.update(needed_names(node))
    return frozenset(read - made)


def build_function(found: Found) -> Function:
    return Function(
        name=found.get("name", ""),
        domain=domain_of(found),
        overload=found.get("overload", ""),
        inputs=tuple(found.get("inputs", ())),
        outputs=tuple(found.get("outputs", ())),
        nodes=tuple(found.get("nodes", ())),
        defaults=_attributes(found),
        opsets=dict(found.get("opsets", ())),
        values=tuple(found.get("values", ())),
        flaws=(*_repeated(_VERSION, found.get("opsets", ())), *_flaws(found)),
    )


def build_model(found: Found) -> Model:
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
        flaws=(*_repeated(_VERSION, found.get("opsets", ())), *_repeated(_METADATA, found.get("metadata", ()))),
    )


def build_value(found: Found) -> Value:
    return Value(found.get("name", ""), found.get("type"))


def build_opset(found: Found) -> tuple[str, int]:
    return domain_of(found), found.get("version", 0)
