"""Attributes and bodies that are of the right kind and cannot be: a stride of 0, a type that there is none of.

What only the shapes of the inputs decide is the business of each operator's own rule; this is read off the node alone.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from onnx_autodoc.ir import Attribute, Graph, Node, Value, dtype_name
from onnx_autodoc.ops._allowed import CHOSEN, disallowed
from onnx_autodoc.ops._known import Known
from onnx_autodoc.ops._op_schema import form_of
from onnx_autodoc.ops._parallel import LISTED, SCAN_WITHOUT_BATCH, uneven

# attribute -> the least number that it can be, itself or each of a list
_LEAST: Final = {
    **dict.fromkeys(("blocksize", "dilations", "group", "hidden_size", "kernel_shape", "num_groups"), 1),
    **dict.fromkeys(("num_outputs", "num_scan_inputs", "size", "strides"), 1),
    **dict.fromkeys(("block_size", "output_padding"), 0),
}
_PADDED: Final = frozenset(("AveragePool", "Conv", "ConvInteger", "ConvTranspose", "LpPool", "MaxPool", "QLinearConv"))
_POOLS: Final = frozenset(("AveragePool", "LpPool", "MaxPool"))
_TYPES: Final = {"to": False, "dtype": True, "output_dtype": True, "output_datatype": True}  # may 0 stand for none?
_NUMBERS: Final = frozenset((*_LEAST, *_TYPES, "pads"))
_ALONG: Final = frozenset(("Hardmax", "LogSoftmax", "LpNormalization", "Softmax"))  # one axis of their input
_AXIS_AFTER_LAST: Final = 13  # before this version a Softmax splits the axes, and may do so behind the last one


def impossible(node: Node, version: int | None) -> Iterator[str]:
    """What no node of its operator can be."""
    form = form_of(node.domain, node.op, version)
    if form is None or version is None:
        return
    given = {name: item for name, item in node.attributes.items() if name in form.attributes}
    if not _NUMBERS.isdisjoint(given):
        yield from _misnumbered(node.op, given)
    if node.op in _POOLS and _is_wide(given):
        yield f"its pads {_text(given['pads'])} are as wide as its kernel {_text(given['kernel_shape'])}"
    if node.op == "Constant" and len(given) != 1:
        yield f"it has {len(given)} values, not 1"
    key = node.domain, node.op
    if key in CHOSEN:
        yield from disallowed(node, version, given)
    if key in LISTED:
        yield from uneven(node, version, given)


def _misnumbered(op: str, given: Mapping[str, Attribute]) -> Iterator[str]:
    for name, item in given.items():
        least = 0 if name == "pads" and op in _PADDED else _LEAST.get(name)
        if least is not None and any(number < least for number in _numbers(item)):
            yield f"its attribute {name} is {_text(item)}"
        if name in _TYPES and isinstance(item, int) and dtype_name(item) is None and not (_TYPES[name] and item == 0):
            yield f"its attribute {name} is {item}, which is no element type"


def _numbers(item: Attribute) -> tuple[int, ...]:
    items = item if isinstance(item, tuple) else (item,)
    return tuple(one for one in items if isinstance(one, int))


def _text(item: Attribute) -> str:
    return str(list(item) if isinstance(item, tuple) else item)[:60]


def _is_wide(given: Mapping[str, Attribute]) -> bool:
    pads, kernel = (_numbers(given.get(name, ())) for name in ("pads", "kernel_shape"))
    return len(pads) == 2 * len(kernel) and any(pad >= size for pad, size in zip(pads, kernel * 2))


def misplaced(node: Node, version: int | None, inputs: "tuple[Known | None, ...]") -> Iterator[str]:
    """An axis that the input does not have, of operators whose rules do not ask for it."""
    axis, first = node.attributes.get("axis"), inputs[0] if inputs else None
    if node.domain or node.op not in _ALONG or not isinstance(axis, int) or first is None or not first.shape:
        return
    rank = len(first.shape)
    if not -rank <= axis < rank + (version is not None and version < _AXIS_AFTER_LAST):
        yield f"axis {axis} does not exist in {rank} dimensions"


def miscarried(node: Node, version: int | None) -> Iterator[str]:
    """What a node and the graphs inside it hand to each other, where one has more than the other takes."""
    if node.domain or not node.nested:
        return
    bodies = list(node.graphs())
    for name, body in bodies:
        for what, here, there in _handed(node, body, version or 1):
            if here != there:
                yield f"it has {here} {what}, its {name} {there}"
    if node.op == "Scan" and version and version >= SCAN_WITHOUT_BATCH:
        yield from _stacked_beyond(node, bodies[0][1])
    if node.op == "If" and len(bodies) == 2:
        yield from _unlike(*(body for _, body in bodies))
    for what, one, other in _carried(node, bodies[0][1], version or 1):
        if one and other and one != other:
            yield f"{what} is {one}, not {other}"


def _carried(node: Node, body: Graph, version: int) -> Iterator[tuple[str, str | None, str | None]]:
    """What a loop's body says of the values that it is given and gives back, and what these must be."""
    ins, outs = list(map(_element, body.inputs)), list(map(_element, body.outputs))
    if node.op == "Loop":
        yield from (("the number of the pass that its body takes", said, "int64") for said in ins[:1])
        yield from (("the condition that its body takes", said, "bool") for said in ins[1:2])
        yield from (("the condition that its body gives", said, "bool") for said in outs[:1])
        ins, outs = ins[2:], outs[1:]
    elif node.op == "Scan" and version >= SCAN_WITHOUT_BATCH:
        ins = ins[: max(len(ins) - sum(_numbers(node.attributes.get("num_scan_inputs", 0))), 0)]
    else:
        return
    for at, (taken, given) in enumerate(zip(ins, outs)):
        yield f"value {at} that its body hands on", given, taken


def _handed(node: Node, body: Graph, version: int) -> Iterator[tuple[str, int, int]]:
    inputs, outputs = len(node.inputs), len(node.outputs)
    if node.op == "If":
        yield "values for its branches", 0, len(body.inputs)
        yield "outputs", outputs, len(body.outputs)
    elif node.op == "Loop":
        yield "inputs", inputs, len(body.inputs)
        yield "outputs after its condition", outputs, max(len(body.outputs) - 1, 0)
    elif node.op == "Scan" and version >= SCAN_WITHOUT_BATCH:
        yield "inputs", inputs, len(body.inputs)
        yield "outputs", outputs, len(body.outputs)


def _stacked_beyond(node: Node, body: Graph) -> Iterator[str]:
    """Axes that results are put together along, and that they would not have."""
    made = _numbers(node.attributes.get("scan_output_axes", ()))
    for axis, value in zip(made, body.outputs[len(body.outputs) - len(made) :]):
        rank = len(value.type.dims) + 1 if value.type is not None and value.type.dims else None  # [] stands for unknown
        if rank is not None and not -rank <= axis < rank:
            yield f"its scan_output_axes name {axis}, of {rank} dimensions"


def _unlike(one: Graph, other: Graph) -> Iterator[str]:
    for at, (left, right) in enumerate(zip(map(_element, one.outputs), map(_element, other.outputs))):
        if left and right and left != right:
            yield f"its branches give {left} and {right} as output {at}"


def _element(value: Value) -> str | None:
    """What a value is declared to be, but for its shape. An optional may turn into what it holds."""
    said = value.type
    if said is None or said.dtype is None or said.kind not in ("tensor", "sequence"):
        return None
    return said.dtype if said.kind == "tensor" else f"{said.kind} of {said.dtype}"
