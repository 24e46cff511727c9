"""The constants of a file: what each of them is, and which node it belongs to.

A weight that is only reshaped, cast or dequantized on its way belongs to the node that puts it to use on data; so do
its scales. A tensor with several readers belongs to the first of them.
"""

from collections import ChainMap, deque
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct, field

from onnx_autodoc.analysis._scaling import Beside, Scaling, scaling, written_out
from onnx_autodoc.ir import (
    Graph,
    Long,
    Model,
    Node,
    Tensor,
    constants_of,
    execution_order,
    is_float,
    is_integer,
    label,
    needed_names,
)
from onnx_autodoc.ops import DEQUANTIZE, Operator, Packed, Part, find, kinds
from onnx_autodoc.shapes import inputs_of
from onnx_autodoc.text import told

_SMALL_INTEGERS: Final = frozenset(("int8", "uint8", "int16", "uint16", "int4", "uint4", "int2", "uint2"))
_RANKED: Final = (Part.WEIGHT, Part.STATISTIC, Part.QUANTIZATION, Part.CONSTANT)  # of what several readers say

_MOST_CARRIED: Final = 64  # constants that go into one constant value: more are nobody's in particular

Owner = tuple[object, ...]  # a graph of the file: () is the main one, else the way there
Place = tuple[Owner, int]  # a node: its graph, and its place in it


class Reader(Struct, frozen=True):
    """The node that puts weights to use."""

    place: Place
    name: str
    op: str
    domain: str
    rank: int  # in the order of the file, inner graphs after the outer ones


class Held(Struct, eq=False):
    """One constant of the file, and what its readers say of it."""

    name: str  # that nodes read it by
    tensor: Tensor
    literal: bool  # from a Constant node
    said: set[Part] = field(default_factory=set)
    packed: Packed | None = None
    reader: Reader | None = None
    scaling: Scaling | None = None  # where it is quantized
    fed: bool = False  # its reader's data come out of a quantization too

    @property
    def elements(self) -> int:
        return self.packed.elements if self.packed else self.tensor.elements


class Bundle(Struct, frozen=True):
    """Learned numbers that a node holds in its attributes."""

    reader: Reader
    dtype: str
    elements: int


def held_by(model: Model) -> tuple[list[Held], list[Bundle], tuple[str, ...]]:
    """Every constant of the file once, the bundles in attributes, and what contradicts itself and is in neither."""
    found = _Survey(model)
    return found.held, found.bundles, tuple(found.doubtful)


Values = ChainMap[str, "list[Held] | None"]  # by name: the constants that went into a value, None if data did


class _Survey:
    """A look at every graph of the file, outer ones first."""

    def __init__(self, model: Model) -> None:
        self.held: list[Held] = []
        self.bundles: list[Bundle] = []
        self.doubtful: dict[str, None] = {}  # tensors of which nobody can tell how large they are, and why
        self._visited = 0
        self._picked: dict[str, Held] = {}  # values that are rows of a quantized table
        self._dequantized: set[str] = set()  # data that were integers just before
        self._stored: dict[object, Held] = {}  # tensors of external files, by place: two names may share one
        waiting: deque[tuple[Owner, str, Graph, Values]] = deque()
        waiting.append(((), "", model.graph, Values({value.name: None for value in inputs_of(model)})))
        for function in model.functions:
            graph = Graph(function.name, function.nodes)
            waiting.append(((function.key,), f"{function.name}/", graph, Values(dict.fromkeys(function.inputs))))
        while waiting:
            waiting.extend(self._graph(*waiting.popleft()))

    def _graph(
        self, owner: Owner, path: str, graph: Graph, values: Values
    ) -> Iterator[tuple[Owner, str, Graph, Values]]:
        literals = {name for node in graph.nodes if node.op == kinds.CONSTANT for name in node.outputs}
        for name, tensor in constants_of(graph):
            values[name] = [self._holding(name, tensor, name in literals)] if tensor.is_sized else []
            if not tensor.is_sized:
                self.doubtful[f"{told(path + name)}: {tensor.flaws[0]}"] = None
        scales = {node.outputs[1] for node in graph.nodes if node.op == kinds.DYNAMIC_SCALE and len(node.outputs) > 1}
        for at in execution_order(graph.nodes):
            node, name_here = graph.nodes[at], path + label(graph.nodes[at], at)
            self._visited += 1
            self._node(Reader((owner, at), name_here, node.op, node.domain, self._visited), node, values, scales)
            for name, inner in node.graphs():
                given = Values(dict.fromkeys(value.name for value in inner.inputs), *values.maps)
                yield (*owner, at, name), f"{name_here}/{name}/", inner, given

    def _holding(self, name: str, tensor: Tensor, literal: bool) -> Held:
        place = tensor.place
        key = (place.path, place.offset, place.length) if place is not None and place.path is not None else id(tensor)
        if key not in self._stored:
            self._stored[key] = Held(name, tensor, literal)
            self.held.append(self._stored[key])
        return self._stored[key]

    def _node(self, reader: Reader, node: Node, values: Values, scales: set[str]) -> None:
        if node.op == kinds.CONSTANT and not node.domain:
            return
        entry = find(node.domain, node.op)
        carried = [values.get(name) if name else [] for name in node.inputs]
        self._said(node, entry, carried, rescaled=node.op == kinds.SCALE and not scales.isdisjoint(node.inputs))
        self._scaled(node, carried)
        self.bundles.extend(_bundles(reader, node, entry))
        fixed = all(values.get(name) is not None for name in needed_names(node) if name) and bool(node.inputs)
        made: list[Held] | None = None
        if node.op in kinds.MADE_ANEW and not node.domain:
            made = []
        elif fixed:
            made = list(dict.fromkeys(held for each in carried if each for held in each))[:_MOST_CARRIED]
        else:
            _claim(reader, carried, fed=not self._dequantized.isdisjoint(node.inputs))
            self._made_of_data(node, carried)
        values.update(dict.fromkeys(filter(None, node.outputs), made))

    def _said(self, node: Node, entry: Operator | None, carried: list[list[Held] | None], rescaled: bool) -> None:
        """What an operator says of the constants that it reads as they are, or moved: of several in one, nothing."""
        for at, each in enumerate(carried):
            if each is None or len(each) != 1:
                continue
            if rescaled:
                each[0].said |= {Part.QUANTIZATION}
            if entry is not None and at in entry.parts:
                each[0].said |= {entry.parts[at]}
            if entry is not None and at in entry.packs and each[0].packed is None:
                each[0].packed = entry.packs[at](node, each[0].tensor)

    def _scaled(self, node: Node, carried: list[list[Held] | None]) -> None:
        """How this node turns quantized weights into numbers, or the rows that were picked from one."""
        for at, scale, zero in kinds.SCALED.get(node.op, ()):
            if at < len(carried):
                held = _largest(carried[at]) or self._picked.get(node.inputs[at])
                if held is not None and held.scaling is None:
                    beside = _beside(node, carried, scale), _beside(node, carried, zero)
                    held.scaling = scaling(node, held.tensor, *beside)
        if node.op == kinds.SCALE and len(carried) == 2:
            self._multiplied(node, carried)

    def _multiplied(self, node: Node, carried: list[list[Held] | None]) -> None:
        """A dequantization that is written out: small integers, cast, times fewer constants (as many: a mask)."""
        for at, other in ((0, 1), (1, 0)):
            held = _largest(carried[at]) or self._picked.get(node.inputs[at])
            scale = carried[other]
            if held is None or held.scaling is not None or held.tensor.dtype not in _SMALL_INTEGERS:
                continue
            if scale is None or len(scale) != 1 or not is_float(scale[0].tensor.dtype):
                continue
            if scale[0].tensor.elements < held.tensor.elements:
                held.scaling = written_out(held.tensor, scale[0].tensor)
                scale[0].said.add(Part.QUANTIZATION)

    def _made_of_data(self, node: Node, carried: list[list[Held] | None]) -> None:
        if node.op == DEQUANTIZE:
            self._dequantized.update(node.outputs)
        if node.op in kinds.RESHAPED and node.inputs and node.inputs[0] in self._picked and node.outputs:
            self._picked[node.outputs[0]] = self._picked[node.inputs[0]]
        if node.op in kinds.PICKERS and node.outputs:
            table = next(filter(None, map(_largest, carried)), None)
            if table is not None and is_integer(table.tensor.dtype):
                self._picked[node.outputs[0]] = table


def _largest(carried: list[Held] | None) -> Held | None:
    """Of what went into a constant value, the weight: beside it are only sizes, scales and zero points."""
    return max(carried, key=lambda held: held.tensor.elements) if carried else None


def _beside(node: Node, carried: list[list[Held] | None], at: int) -> Beside:
    if not 0 <= at < len(carried) or not node.inputs[at]:
        return Beside(given=False)
    each = carried[at]
    return Beside(given=True, tensor=each[0].tensor if each is not None and len(each) == 1 else None)


def _claim(reader: Reader, carried: Iterable[list[Held] | None], fed: bool) -> None:
    for each in carried:
        for held in each or ():
            if held.reader is None:
                held.reader, held.fed = reader, fed


def _bundles(reader: Reader, node: Node, entry: Operator | None) -> Iterator[Bundle]:
    for name in entry.held if entry is not None else ():
        found = node.attributes.get(name)
        if isinstance(found, Tensor) and found.is_sized:
            yield Bundle(reader, found.dtype or "float32", found.elements)
        elif isinstance(found, Long):
            yield Bundle(reader, "float32", found.count)
        elif isinstance(found, tuple):
            yield Bundle(reader, "float32", len(found))


def part_of(held: Held, literals_count: bool) -> Part:
    """What its readers say; else numbers of floating point or few bits are weights, if there is more than one.

    A literal in the code of a file that keeps its weights elsewhere (anchors, a window) is none.
    """
    said = next((part for part in _RANKED if part in held.said), None)
    if said is not None:
        return said
    tensor = held.tensor
    numbers = is_float(tensor.dtype) or tensor.dtype in _SMALL_INTEGERS
    counts = numbers and tensor.elements > 1 and (literals_count or not held.literal)
    return Part.WEIGHT if counts else Part.CONSTANT
