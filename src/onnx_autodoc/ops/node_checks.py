"""Checks of a node against its operator: one phrase for each fault that the ONNX checker or onnxruntime rejects.

The shape rule of each operator checks the shapes of its inputs.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from onnx_autodoc.decoding import decode_json
from onnx_autodoc.ir import Attribute, AttributeReference, Graph, Node, Tensor, TruncatedList, Type, Value, dtype_name
from onnx_autodoc.ops.call import list_length
from onnx_autodoc.ops.operator import Operator, Trait
from onnx_autodoc.ops.registry import operator_of
from onnx_autodoc.ops.values import ValueInfo
from onnx_autodoc.text import quote_name, repr_name

SCHEMA_FILE: Final = Path(__file__).parents[1] / "data" / "operators.json"
SPECIFIED_DOMAINS: Final = frozenset(("", "ai.onnx.ml"))
_CACHED_SCHEMAS: Final = 4096


class OpSchema(Struct, frozen=True, array_like=True):
    """One version of an operator.

    A slot of `inputs` or `outputs` is a type or a type variable, with `?` if optional and `*` if variadic.
    """

    since: int
    input_count: tuple[int, int | None]  # least, greatest
    output_count: tuple[int, int | None]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    type_variables: Mapping[str, int]  # -> index of a set of types
    attributes: Mapping[str, str]  # -> a letter for its type, + for a list, ! if required


class _SchemaFile(Struct, frozen=True):
    source: str
    types: tuple[str, ...]
    operators: Mapping[str, Mapping[str, tuple[OpSchema, ...]]]


@cache
def _schema_file() -> _SchemaFile:
    return decode_json(SCHEMA_FILE.read_bytes(), _SchemaFile)


def schema_of(domain: str, op: str, version: int | None) -> OpSchema | None:
    """Return the schema that is valid at an opset version; None if the specification has none."""
    schemas = _schema_file().operators.get(domain, {}).get(op, ())
    return _select_schema(domain, op, version) if schemas and version is not None else None


@lru_cache(maxsize=_CACHED_SCHEMAS)
def _select_schema(domain: str, op: str, version: int) -> OpSchema | None:
    if version > newest_opset(domain):
        return None
    schemas = _schema_file().operators[domain][op]
    return next((schema for schema in reversed(schemas) if schema.since <= version), None)


@cache
def allowed_types(index: int) -> frozenset[str]:
    """Return a set of element types that a schema refers to."""
    return frozenset(_schema_file().types[index].split())


def first_opset(domain: str, op: str) -> int | None:
    """Return the opset version that introduced an operator; None if the specification has no such operator."""
    schemas = _schema_file().operators.get(domain, {}).get(op)
    return schemas[0].since if schemas else None


@cache
def newest_opset(domain: str) -> int:
    """Return the newest opset version of a specified domain that changed an operator."""
    return max(schemas[-1].since for schemas in _schema_file().operators[domain].values())


_TYPE_NAMES: Final = {
    "f": "float",
    "i": "integer",
    "s": "string",
    "t": "tensor",
    "g": "graph",
    "p": "sparse tensor",
    "y": "type",
}
_LETTERS: Final = {AttributeReference: "", float: "f", int: "i", str: "s", Tensor: "t", Graph: "g", Type: "y"}
_TOOL_ATTRIBUTE: Final = "__"  # prefix of attributes that tools add
_NO_TENSOR: Final = "other"
_CONTAINERS: Final = frozenset(("sequence", "optional", "map"))
_CACHED_SIGNATURES: Final = 4096
_MAX_CACHED_SIZE: Final = 500  # names and characters of a cached signature, which stays in memory
_MAX_WORD_CHARS: Final = 40
_MAX_LIST_CHARS: Final = 60
_MINIMUMS: Final = {  # of an attribute, or of each number of a list
    **dict.fromkeys(("blocksize", "dilations", "group", "hidden_size", "kernel_shape", "num_groups"), 1),
    **dict.fromkeys(("num_outputs", "num_scan_inputs", "size", "strides"), 1),
    **dict.fromkeys(("block_size", "output_padding"), 0),
}
_TYPE_ATTRIBUTES: Final = {"to": False, "dtype": True, "output_dtype": True, "output_datatype": True}  # is 0 allowed?
_CHECKED_NUMBERS: Final = frozenset((*_MINIMUMS, *_TYPE_ATTRIBUTES, "pads"))
_SOFTMAX_ALONG_AXIS: Final = 13  # before this version a Softmax flattens, and may do so behind the last axis
_SCAN_WITHOUT_BATCH: Final = 9  # the version that removed the batch axis of Scan


def check_node(node: Node, version: int | None, inputs: Sequence[ValueInfo | None] = ()) -> list[str]:
    """Return the problems of a node that its operator does not allow."""
    problems = list(check_signature(node, version, inputs))
    if node.attributes or not node.inputs:
        problems += check_attributes(node, version)
        problems += check_subgraphs(node, version)
        problems += _check_axis(node, version, inputs)
    return problems


# Signature: the number of inputs and outputs, their types, the types of attributes


def check_signature(node: Node, version: int | None, inputs: Sequence[ValueInfo | None] = ()) -> tuple[str, ...]:
    """Compare a node with its schema."""
    # Lists, because generators take half as much again, and this runs for every node.
    attributes = tuple([(name, _attribute_type(item)) for name, item in node.attributes.items()])
    types = tuple([None if info is None else info.dtype if info.kind == "tensor" else info.kind for info in inputs])
    present = tuple(map(bool, node.inputs)), tuple(map(bool, node.outputs))
    size = len(node.domain) + len(node.op) + len(node.inputs) + len(node.outputs) + sum(map(len, node.attributes))
    check = _check_signature if size <= _MAX_CACHED_SIZE else _check_signature.__wrapped__
    return check(node.domain, node.op, version, *present, attributes, types)


@lru_cache(maxsize=_CACHED_SIGNATURES)
def _check_signature(
    domain: str,
    op: str,
    version: int | None,
    inputs: tuple[bool, ...],
    outputs: tuple[bool, ...],
    attributes: tuple[tuple[str, str], ...],
    types: tuple[str | None, ...],
) -> tuple[str, ...]:
    """Check which inputs and outputs are present, attributes as (name, letter), and input types.

    Cached, since most nodes of a model share their signature with others.
    """
    schema = schema_of(domain, op, version)
    if schema is None:
        return ()
    return (
        *_check_count("input", inputs, schema.input_count, schema.inputs),
        *_check_count("output", outputs, schema.output_count, schema.outputs),
        *_check_attribute_types(schema, attributes, extra_allowed=op == "LayerNormalization"),
        *_check_input_types(schema, types),
    )


def _check_count(
    kind: str, present: tuple[bool, ...], span: tuple[int, int | None], slots: Sequence[str]
) -> Iterator[str]:
    least, most = span
    if len(present) < least or (most is not None and len(present) > most):
        expected = str(least) if least == most else f"{least} or more" if most is None else f"{least} to {most}"
        yield f"has {len(present)} {kind}{'s' * (len(present) != 1)}, expected {expected}"
        return
    for at, (is_present, slot) in enumerate(zip(present, slots)):
        if not is_present and not slot.endswith(("?", "*")):
            yield f"required {kind} {at} is missing"


def _attribute_type(item: Attribute) -> str:
    """Return the letter of an attribute's type; empty for a reference to an attribute of the caller."""
    items = item.first if isinstance(item, TruncatedList) else item
    if not isinstance(items, tuple):
        return _LETTERS.get(type(items), "?")
    return "".join(dict.fromkeys(_LETTERS.get(type(element), "?") for element in items)) + "+"


def _check_attribute_types(
    schema: OpSchema, attributes: Sequence[tuple[str, str]], extra_allowed: bool
) -> Iterator[str]:
    for name, letter in attributes:
        expected = schema.attributes.get(name)
        if expected is not None and not _matches_type(letter, expected.rstrip("!")):
            yield f"attribute {quote_name(name)} has type {_describe_type(letter)}, expected {_describe_type(expected)}"
        elif expected is None and not extra_allowed and not name.startswith(_TOOL_ATTRIBUTE):
            yield f"attribute {repr_name(name)} is not defined for this operator"
    names = {name for name, _ in attributes}
    required = (name for name, expected in schema.attributes.items() if expected.endswith("!"))
    yield from (f"required attribute {name} is missing" for name in required if name not in names)


def _matches_type(letter: str, expected: str) -> bool:
    return letter in ("", expected, expected.replace("p", "t")) or (letter == "+" and expected.endswith("+"))


def _describe_type(letter: str) -> str:
    prefix = "list of " if "+" in letter else ""
    return prefix + _TYPE_NAMES.get(letter.rstrip("!+"), "unknown type")


def _check_input_types(schema: OpSchema, types: Sequence[str | None]) -> Iterator[str]:
    bound = dict[str, str]()
    for at, dtype in enumerate(types if schema.inputs else ()):
        slot = schema.inputs[min(at, len(schema.inputs) - 1)]
        variable = slot.rstrip("?*")
        allowed = allowed_types(schema.type_variables[variable])
        if dtype is None or (dtype in _CONTAINERS and _NO_TENSOR in allowed):
            continue
        if dtype not in allowed:
            yield f"input {at} does not accept {dtype}{' tensors' * (allowed == {_NO_TENSOR})}"
        elif bound.setdefault(variable, dtype) != dtype and not slot.endswith("**"):
            yield f"inputs of types {bound[variable]} and {dtype} must have the same type"


# Attributes: values that no node of the operator can have


def check_attributes(node: Node, version: int | None) -> Iterator[str]:
    """Check the values of attributes that the schema declares."""
    schema = schema_of(node.domain, node.op, version)
    if schema is None or version is None:
        return
    attributes = {name: item for name, item in node.attributes.items() if name in schema.attributes}
    row = operator_of(node)
    if not _CHECKED_NUMBERS.isdisjoint(attributes):
        yield from _check_numbers(row, attributes)
    if node.is_op("Constant") and len(attributes) != 1:
        yield f"has {len(attributes)} values, expected 1"
    if row.choices:
        yield from _check_choices(row, version, attributes)
    yield from _check_lengths(row, attributes)
    for name, count, expected in _list_lengths(node, row, version, attributes):
        if count not in (0, *expected):
            yield f"attribute {name} has length {count:,}, expected {expected[0]:,}"


def _check_numbers(row: Operator, attributes: Mapping[str, Attribute]) -> Iterator[str]:
    for name, item in attributes.items():
        least = 0 if name == "pads" and Trait.NO_NEGATIVE_PADS in row.traits else _MINIMUMS.get(name)
        if least is not None and any(number < least for number in _integers(item)):
            yield f"attribute {name} is {_format(item)}, below the minimum of {least}"
        zero_allowed = _TYPE_ATTRIBUTES.get(name)
        if zero_allowed is None or not isinstance(item, int) or (zero_allowed and item == 0):
            continue
        if dtype_name(item) is None:
            yield f"attribute {name} is {item}, which is not an element type"
    if Trait.PADS_BELOW_KERNEL in row.traits:
        pads, kernel = (_integers(attributes.get(name, ())) for name in ("pads", "kernel_shape"))
        if len(pads) == 2 * len(kernel) and any(pad >= size for pad, size in zip(pads, kernel * 2)):
            text, kernel_text = _format(attributes["pads"]), _format(attributes["kernel_shape"])
            yield f"pads {text} are not smaller than the kernel {kernel_text}"


def _integers(item: Attribute) -> tuple[int, ...]:
    return tuple(number for number in (item if isinstance(item, tuple) else (item,)) if isinstance(number, int))


def _format(item: Attribute) -> str:
    return str(list(item) if isinstance(item, tuple) else item)[:_MAX_LIST_CHARS]


def _check_choices(row: Operator, version: int, attributes: Mapping[str, Attribute]) -> Iterator[str]:
    until, old_choices = row.old_choices
    choices = {**row.choices, **old_choices} if version < until else row.choices
    ignores_case = Trait.IGNORES_CASE in row.traits
    for name, allowed in choices.items():
        attribute = attributes.get(name, ())
        if name == "nearest_mode" and attributes.get("mode", "nearest") != "nearest":
            continue  # Resize reads nearest_mode in the mode nearest alone
        items = attribute.first if isinstance(attribute, TruncatedList) else attribute  # the beginning of a long list
        for item in items if isinstance(items, tuple) else (items,):
            if not isinstance(item, int | float | str):
                continue
            if (item.lower() if isinstance(item, str) and ignores_case else item) not in allowed:
                text = quote_name(item, _MAX_WORD_CHARS) if isinstance(item, str) else item
                listed = ", ".join(sorted(filter(None, map(str, allowed))))
                yield f"attribute {name} is {text}, expected one of {listed}"
                break


def _check_lengths(row: Operator, attributes: Mapping[str, Attribute]) -> Iterator[str]:
    """Check parallel lists, and alternatives of which a node has one. A list that is absent or empty counts as 0."""
    for names in row.equal_lengths:
        counts = {name: count for name in names if (count := _length(attributes.get(name)))}
        if len(set(counts.values())) > 1:
            (first_name, first), *rest = counts.items()
            name, count = next(item for item in rest if item[1] != first)
            yield f"attributes {first_name} and {name} differ in length: {first:,} and {count:,}"
    if "classes_strings" in attributes:
        return  # the first version of LabelEncoder
    for names in row.alternatives:
        count = sum(_length(attributes.get(name)) > 0 for name in names)
        if count > 1 or attributes.keys().isdisjoint(names):
            yield f"requires exactly one of the attributes {', '.join(names)}"


def _list_lengths(
    node: Node, row: Operator, version: int, attributes: Mapping[str, Attribute]
) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Yield the name and length of lists whose length the operator decides, and the lengths that it allows."""
    if row.activations:
        count = row.activations * (2 if attributes.get("direction") == "bidirectional" else 1)
        # The default of an RNN is that of both directions, and valid for one.
        yield "activations", _length(attributes.get("activations")), (count, max(count, 2))
    scanned = attributes.get("num_scan_inputs")
    if node.is_op("Scan") and version >= _SCAN_WITHOUT_BATCH and isinstance(scanned, int):
        outputs = len(node.outputs) - (len(node.inputs) - scanned)
        for side, count in (("input", scanned), ("output", outputs)):
            for name in (f"scan_{side}_axes", f"scan_{side}_directions"):
                yield name, _length(attributes.get(name)), (count,)


def _length(attribute: Attribute | None) -> int:
    return attribute.elements if isinstance(attribute, Tensor) else list_length(attribute)


def _check_axis(node: Node, version: int | None, inputs: Sequence[ValueInfo | None]) -> Iterator[str]:
    """Check the axis of operators whose shape rules do not use it."""
    axis, first = node.attributes.get("axis"), inputs[0] if inputs else None
    if not isinstance(axis, int) or first is None or not first.shape:
        return
    rank = len(first.shape)
    if Trait.AXIS_ATTRIBUTE in operator_of(node).traits and not (
        -rank <= axis < rank + (version is not None and version < _SOFTMAX_ALONG_AXIS)
    ):
        yield f"axis {axis} is out of range for rank {rank}"


# Subgraphs: what a node and its bodies pass to each other


def check_subgraphs(node: Node, version: int | None) -> Iterator[str]:
    """Check the inputs and outputs that a node and its bodies pass to each other."""
    if node.domain or not node.has_subgraphs:
        return
    bodies = list(node.subgraphs())
    has_scan = node.op == "Scan" and (version or 1) >= _SCAN_WITHOUT_BATCH
    for name, body in bodies:
        for kind, count, body_count in _signature_counts(node, body, has_scan):
            if count != body_count:
                yield f"number of {kind}: {count} on the node, {body_count} in {name}"
    if has_scan:
        yield from _check_scan_axes(node, bodies[0][1])
    if node.op == "If" and len(bodies) == 2:
        yield from _check_branch_types(*(body.outputs for _, body in bodies))
    for label, dtype, expected in _carried_types(node, bodies[0][1], has_scan):
        if dtype and expected and dtype != expected:
            yield f"{label} is {dtype}, expected {expected}"


def _check_scan_axes(node: Node, body: Graph) -> Iterator[str]:
    axes = _integers(node.attributes.get("scan_output_axes", ()))
    for axis, value in zip(axes, body.outputs[len(body.outputs) - len(axes) :]):
        rank = len(value.type.dims) + 1 if value.type is not None and value.type.dims else None  # []: unknown
        if rank is not None and not -rank <= axis < rank:
            yield f"scan_output_axes has axis {axis}, out of range for rank {rank}"


def _check_branch_types(left_outputs: Sequence[Value], right_outputs: Sequence[Value]) -> Iterator[str]:
    for at, (left, right) in enumerate(zip(map(_declared_type, left_outputs), map(_declared_type, right_outputs))):
        if left and right and left != right:
            yield f"the branches have different types for output {at}: {left} and {right}"


def _signature_counts(node: Node, body: Graph, has_scan: bool) -> Iterator[tuple[str, int, int]]:
    inputs, outputs = len(node.inputs), len(node.outputs)
    if node.op == "If":
        yield "branch inputs", 0, len(body.inputs)
        yield "outputs", outputs, len(body.outputs)
    elif node.op == "Loop":
        yield "inputs", inputs, len(body.inputs)
        yield "outputs after the condition", outputs, max(len(body.outputs) - 1, 0)
    elif has_scan:
        yield "inputs", inputs, len(body.inputs)
        yield "outputs", outputs, len(body.outputs)


def _carried_types(node: Node, body: Graph, has_scan: bool) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield the types that the body of a loop declares for the values that it carries, and the required ones."""
    inputs, outputs = list(map(_declared_type, body.inputs)), list(map(_declared_type, body.outputs))
    if node.op == "Loop":
        yield from (("the iteration number input of the body", dtype, "int64") for dtype in inputs[:1])
        yield from (("the condition input of the body", dtype, "bool") for dtype in inputs[1:2])
        yield from (("the condition output of the body", dtype, "bool") for dtype in outputs[:1])
        inputs, outputs = inputs[2:], outputs[1:]
    elif has_scan:
        inputs = inputs[: max(len(inputs) - sum(_integers(node.attributes.get("num_scan_inputs", 0))), 0)]
    else:
        return
    for at, (before, after) in enumerate(zip(inputs, outputs)):
        yield f"carried output {at} of the body", after, before


def _declared_type(value: Value) -> str | None:
    """Return the declared type without its shape. An optional may become its element, so it has none."""
    declared = value.type
    if declared is None or declared.dtype is None or declared.kind not in ("tensor", "sequence"):
        return None
    return declared.dtype if declared.kind == "tensor" else f"{declared.kind} of {declared.dtype}"
