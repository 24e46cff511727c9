"""The names of classes, in whatever form exporters leave them: lists, numbered names, COCO categories, lines of text,
and the labels that classifiers of ai.onnx.ml hold in their attributes.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.architecture.metadata._literal import parsed, whole
from onnx_autodoc.ir import Attribute, Graph, Long, Node, Tensor, constants_of
from onnx_autodoc.ops import kinds, known_tensor

MAX_NAMES: Final = 20_000
_MAX_NAME: Final = 200
_MAX_NUMBER: Final = 10_000_000  # a class number above that is none
_MAX_STEPS: Final = 8
_ML: Final = "ai.onnx.ml"
_HELD: Final = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
_GIVEN: Final = ("values_strings", "classes_strings")  # what an encoder turns numbers into


class Labels(Struct, frozen=True):
    """How many names there are, and the first of them."""

    count: int
    names: tuple[str, ...]
    numbered: int | None = None  # the highest number and one, where names carry numbers and some are left out


def plain(text: object) -> str:
    """A name as it may be shown: of bounded length, and valid text."""
    return str(text)[:_MAX_NAME].encode("utf-8", "replace").decode()


def labels(items: Iterable[object], count: int | None = None) -> Labels | None:
    every = list(items)
    names = tuple(plain(item) for item in every[:MAX_NAMES])
    return Labels(len(every) if count is None else count, names) if names else None


def listed(value: object) -> Labels | None:
    """The names in a metadata value: a list, a mapping between numbers and names, or text with separators."""
    data = parsed(value) if isinstance(value, str) else value
    if isinstance(data, Mapping):
        return _numbered(_pairs(data))
    if isinstance(data, list):
        return _in_list(data)
    return _lines(value) if isinstance(value, str) and data is None else None


def _pairs(data: Mapping[object, object]) -> list[tuple[object, object]]:
    """Number and name, whichever of them is the key; a name may be one of several things said of a class."""
    pairs = [(key, _name(value)) for key, value in data.items()]
    if all(whole(key) is not None for key, _ in pairs):
        return pairs
    return [(value, key) for key, value in pairs]


def _numbered(pairs: list[tuple[object, object]]) -> Labels | None:
    numbers = {whole(number): name for number, name in pairs if name is not None}
    known = sorted(number for number in numbers if number is not None and number < _MAX_NUMBER)
    if not known or len(known) != len(pairs):
        return None
    found = labels(numbers[number] for number in known)
    return Labels(found.count, found.names, known[-1] + 1 if known[-1] >= len(known) else None) if found else None


def _in_list(data: list[object]) -> Labels | None:
    if data and all(isinstance(item, Mapping) for item in data):
        pairs = [(item.get("id"), _name(item)) for item in data if isinstance(item, Mapping)]
        names = [name for _, name in pairs]
        return _numbered(pairs) or (labels(names) if None not in names else None)
    return labels(data) if all(isinstance(item, str | int | float) for item in data) else None


def _name(item: object) -> object:
    if isinstance(item, Mapping):
        return next((item[key] for key in ("name", "label", "display_name") if isinstance(item.get(key), str)), None)
    return item if isinstance(item, str | int | float) else None


def _lines(text: str) -> Labels | None:
    """Names one to a line, or between semicolons or commas; a single one could be anything."""
    separator = next((sign for sign in "\n;," if sign in text.strip()), None)
    if separator is None or text.lstrip()[:1] in ("{", "[", "("):
        return None
    items = [item.strip() for item in text.strip().split(separator)]
    return labels(items) if all(0 < len(item) <= _MAX_NAME for item in items) else None


def held(graph: Graph) -> tuple[Labels, str] | None:
    """The labels that the graph itself gives out, and what holds them."""
    outputs = {value.name for value in graph.outputs}
    found = [(node, key) for node in graph.nodes if node.domain == _ML for key in _HELD if node.attributes.get(key)]
    last = [each for each in found if not outputs.isdisjoint(each[0].outputs)]
    if last or len({str(node.attributes[key]) for node, key in found}) == 1:
        node, key = (last or found)[-1]
        return _of(_from_attribute(node.attributes[key]), f"attribute {key!r}", node)
    return _at_the_end(graph)


def _of(found: Labels | None, place: str, node: Node) -> tuple[Labels, str] | None:
    return (found, f"{place} of {plain(node.op)} {plain(node.name)!r}") if found else None


def _from_attribute(value: Attribute) -> Labels | None:
    if isinstance(value, Long):
        return labels(value.first, value.count)
    return labels(value) if isinstance(value, tuple) else None


def _at_the_end(graph: Graph) -> tuple[Labels, str] | None:
    """What turns a number into a label just before an output: an encoder, or a pick from a constant list."""
    makers = {name: node for node in graph.nodes for name in node.outputs}
    for value in graph.outputs:
        node = _maker(makers, value.name)
        if node is None or node.domain != _ML:
            continue
        given = next((key for key in _GIVEN if node.attributes.get(key)), None)
        if node.op == kinds.ENCODER and given:
            return _of(_distinct(node.attributes[given]), f"attribute {given!r}", node)
        if node.op == kinds.LABEL_PICK and node.inputs:
            tensor = dict(constants_of(graph)).get(node.inputs[0])
            return _of(_from_tensor(tensor), "list", node) if tensor is not None else None
    return None


def _maker(makers: Mapping[str, Node], name: str) -> Node | None:
    node = makers.get(name)
    for _ in range(_MAX_STEPS):
        if node is None or node.op not in kinds.RESHAPED or not node.inputs:
            return node
        node = makers.get(node.inputs[0])
    return node


def _distinct(value: Attribute) -> Labels | None:
    """Several numbers may mean one label; how many labels a cut list has is not known."""
    return labels(dict.fromkeys(value)) if isinstance(value, tuple) else None


def _from_tensor(tensor: Tensor) -> Labels | None:
    payload = tensor.payload
    if tensor.dtype == "string" and payload is not None and isinstance(payload.data, tuple):
        return labels(item.decode("utf-8", "replace") for item in payload.data)
    if tensor.dtype not in ("int64", "int32"):
        return None
    value = known_tensor(tensor).value
    return labels(value.ravel().tolist()) if value is not None else None
