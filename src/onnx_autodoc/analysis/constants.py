"""The constants of a file: the role of each, and the node that uses it.

A weight that is only reshaped, cast or dequantized belongs to the node that applies it to data, and so do its scales. A
tensor with several readers belongs to the first of them.
"""

from collections import ChainMap, deque
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct, field

from onnx_autodoc.analysis.quantization import Scaling, SideInput, explicit_scaling, scaling
from onnx_autodoc.ir import Graph, Model, Node, Tensor, TruncatedList, is_float, is_integer
from onnx_autodoc.ops import ConstantRole, Operator, PackedWeight, Trait, find, has_trait, operator_of
from onnx_autodoc.shapes import required_inputs
from onnx_autodoc.text import quote_name

_SMALL_INTEGERS: Final = frozenset(("int8", "uint8", "int16", "uint16", "int4", "uint4", "int2", "uint2"))
_ROLE_PRIORITY: Final = (
    ConstantRole.WEIGHT,
    ConstantRole.STATISTIC,
    ConstantRole.QUANTIZATION,
    ConstantRole.CONSTANT,
)  # of what several readers say

_MAX_CARRIED: Final = 64  # constants that go into one constant value: more are nobody's in particular

Owner = tuple[object, ...]  # a graph of the file: () is the main one, else the way there
Place = tuple[Owner, int]  # a node: its graph, and its place in it


class Reader(Struct, frozen=True):
    """The node that puts weights to use."""

    place: Place
    name: str
    op: str
    domain: str
    rank: int  # in the order of the file, inner graphs after the outer ones


class StoredConstant(Struct, eq=False):
    """One constant of the file, and what its readers say of it."""

    name: str  # that nodes read it by
    tensor: Tensor
    literal: bool  # from a Constant node
    said: set[ConstantRole] = field(default_factory=set)
    packed: PackedWeight | None = None
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


def find_constants(model: Model) -> tuple[list[StoredConstant], list[Bundle], tuple[str, ...]]:
    """Every constant of the file once, the bundles in attributes, and what contradicts itself and is in neither."""
    found = _ConstantSearch(model)
    return found.held, found.bundles, tuple(found.doubtful)


Values = ChainMap[str, "list[StoredConstant] | None"]  # by name: the constants that went into a value, None if data did


class _ConstantSearch:
    """A look at every graph of the file, outer ones first."""

    def __init__(self, model: Model) -> None:
        self.held: list[StoredConstant] = []
        self.bundles: list[Bundle] = []
        self.doubtful: dict[str, None] = {}  # tensors of which nobody can tell how large they are, and why
        self._visited = 0
        self._picked: dict[str, StoredConstant] = {}  # values that are rows of a quantized table
        self._dequantized: set[str] = set()  # data that were integers just before
        self._stored: dict[object, StoredConstant] = {}  # tensors of external files, by place: two names may share one
        waiting: deque[tuple[Owner, str, Graph, Values]] = deque()
        waiting.append(((), "", model.graph, Values({value.name: None for value in required_inputs(model)})))
        for function in model.functions:
            values = Values(dict.fromkeys(function.inputs))
            waiting.append(((function.key,), f"{function.name}/", function.body, values))
        while waiting:
            waiting.extend(self._graph(*waiting.popleft()))

    def _graph(
        self, owner: Owner, path: str, graph: Graph, values: Values
    ) -> Iterator[tuple[Owner, str, Graph, Values]]:
        literals = {name for node in graph.nodes if node.is_op("Constant") for name in node.outputs}
        for name, tensor in graph.constants():
            values[name] = [self._holding(name, tensor, name in literals)] if tensor.is_sized else []
            if not tensor.is_sized:
                self.doubtful[f"{quote_name(path + name)}: {tensor.defects[0]}"] = None
        scales = {
            node.outputs[1] for node in graph.nodes if node.is_op("DynamicQuantizeLinear") and len(node.outputs) > 1
        }
        for at in graph.index.order:
            node, name_here = graph.nodes[at], path + graph.nodes[at].label(at)
            self._visited += 1
            self._node(Reader((owner, at), name_here, node.op, node.domain, self._visited), node, values, scales)
            for name, inner in node.subgraphs():
                given = Values(dict.fromkeys(value.name for value in inner.inputs), *values.maps)
                yield (*owner, at, name), f"{name_here}/{name}/", inner, given

    def _holding(self, name: str, tensor: Tensor, literal: bool) -> StoredConstant:
        place = tensor.location
        key = (place.path, place.offset, place.length) if place is not None and place.path is not None else id(tensor)
        if key not in self._stored:
            self._stored[key] = StoredConstant(name, tensor, literal)
            self.held.append(self._stored[key])
        return self._stored[key]

    def _node(self, reader: Reader, node: Node, values: Values, scales: set[str]) -> None:
        if node.is_op("Constant"):
            return
        entry = find(node.domain, node.op)
        carried = [values.get(name) if name else [] for name in node.inputs]
        self._record_roles(node, entry, carried, rescaled=node.is_op("Mul") and not scales.isdisjoint(node.inputs))
        self._record_scaling(node, carried)
        self.bundles.extend(_bundles(reader, node, entry))
        fixed = all(values.get(name) is not None for name in node.all_inputs if name) and bool(node.inputs)
        made: list[StoredConstant] | None = None
        if has_trait(node, Trait.GENERATES):
            made = []
        elif fixed:
            made = list(dict.fromkeys(held for each in carried if each for held in each))[:_MAX_CARRIED]
        else:
            _claim(reader, carried, fed=not self._dequantized.isdisjoint(node.inputs))
            self._record_outputs(node, carried)
        values.update(dict.fromkeys(filter(None, node.outputs), made))

    def _record_roles(
        self, node: Node, entry: Operator | None, carried: list[list[StoredConstant] | None], rescaled: bool
    ) -> None:
        """What an operator says of the constants that it reads as they are, or moved: of several in one, nothing."""
        for at, each in enumerate(carried):
            if each is None or len(each) != 1:
                continue
            if rescaled:
                each[0].said |= {ConstantRole.QUANTIZATION}
            if entry is not None and at in entry.roles:
                each[0].said |= {entry.roles[at]}
            if entry is not None and at in entry.packed and each[0].packed is None:
                each[0].packed = entry.packed[at](node, each[0].tensor)

    def _record_scaling(self, node: Node, carried: list[list[StoredConstant] | None]) -> None:
        """How this node turns quantized weights into numbers, or the rows that were picked from one."""
        for quantized in operator_of(node).quantized:
            at, scale, zero = quantized.weight, quantized.scale, quantized.zero_point
            if at < len(carried):
                held = _largest(carried[at]) or self._picked.get(node.inputs[at])
                if held is not None and held.scaling is None:
                    beside = _beside(node, carried, scale), _beside(node, carried, zero)
                    held.scaling = scaling(node, held.tensor, *beside)
        if node.is_op("Mul") and len(carried) == 2:
            self._record_explicit_scaling(node, carried)

    def _record_explicit_scaling(self, node: Node, carried: list[list[StoredConstant] | None]) -> None:
        """A dequantization that is written out: small integers, cast, times fewer constants (as many: a mask)."""
        for at, other in ((0, 1), (1, 0)):
            held = _largest(carried[at]) or self._picked.get(node.inputs[at])
            scale = carried[other]
            if held is None or held.scaling is not None or held.tensor.dtype not in _SMALL_INTEGERS:
                continue
            if scale is None or len(scale) != 1 or not is_float(scale[0].tensor.dtype):
                continue
            if scale[0].tensor.elements < held.tensor.elements:
                held.scaling = explicit_scaling(held.tensor, scale[0].tensor)
                scale[0].said.add(ConstantRole.QUANTIZATION)

    def _record_outputs(self, node: Node, carried: list[list[StoredConstant] | None]) -> None:
        if has_trait(node, Trait.DEQUANTIZES):
            self._dequantized.update(node.outputs)
        if has_trait(node, Trait.KEEPS_SCALAR) and node.inputs and node.inputs[0] in self._picked and node.outputs:
            self._picked[node.outputs[0]] = self._picked[node.inputs[0]]
        if operator_of(node).index_input is not None and node.outputs:
            table = next(filter(None, map(_largest, carried)), None)
            if table is not None and is_integer(table.tensor.dtype):
                self._picked[node.outputs[0]] = table


def _largest(carried: list[StoredConstant] | None) -> StoredConstant | None:
    """Of what went into a constant value, the weight: beside it are only sizes, scales and zero points."""
    return max(carried, key=lambda held: held.tensor.elements) if carried else None


def _beside(node: Node, carried: list[list[StoredConstant] | None], at: int) -> SideInput:
    if not 0 <= at < len(carried) or not node.inputs[at]:
        return SideInput(given=False)
    each = carried[at]
    return SideInput(given=True, tensor=each[0].tensor if each is not None and len(each) == 1 else None)


def _claim(reader: Reader, carried: Iterable[list[StoredConstant] | None], fed: bool) -> None:
    for each in carried:
        for held in each or ():
            if held.reader is None:
                held.reader, held.fed = reader, fed


def _bundles(reader: Reader, node: Node, entry: Operator | None) -> Iterator[Bundle]:
    for name in entry.learned_attributes if entry is not None else ():
        found = node.attributes.get(name)
        if isinstance(found, Tensor) and found.is_sized:
            yield Bundle(reader, found.dtype or "float32", found.elements)
        elif isinstance(found, TruncatedList):
            yield Bundle(reader, "float32", found.count)
        elif isinstance(found, tuple):
            yield Bundle(reader, "float32", len(found))


def role_of_constant(held: StoredConstant, literals_count: bool) -> ConstantRole:
    """What its readers say; else numbers of floating point or few bits are weights, if there is more than one.

    A literal in the code of a file that keeps its weights elsewhere (anchors, a window) is none.
    """
    said = next((part for part in _ROLE_PRIORITY if part in held.said), None)
    if said is not None:
        return said
    tensor = held.tensor
    numbers = is_float(tensor.dtype) or tensor.dtype in _SMALL_INTEGERS
    counts = numbers and tensor.elements > 1 and (literals_count or not held.literal)
    return ConstantRole.WEIGHT if counts else ConstantRole.CONSTANT
