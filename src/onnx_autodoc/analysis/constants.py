"""The constants of a file: the role of each, and the node that uses it.

A weight that is only reshaped, cast or dequantized belongs to the node that applies it to data, and so do its scales. A
tensor with several readers belongs to the first of them.
"""

from collections import ChainMap, deque
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct, field

from onnx_autodoc.analysis.quantization import Scaling, SideInput, explicit_scaling, scaling
from onnx_autodoc.ir import Graph, Model, Node, Tensor, TruncatedList, is_float, is_integer
from onnx_autodoc.ops import ConstantRole, Operator, PackedWeight, Trait, find, has_trait, operator_of
from onnx_autodoc.shapes import required_inputs
from onnx_autodoc.text import quote_name

_SMALL_INTEGERS: Final = frozenset(("int8", "uint8", "int16", "uint16", "int4", "uint4", "int2", "uint2"))
_ROLE_PRIORITY: Final = (  # if readers use a constant in several roles
    ConstantRole.WEIGHT,
    ConstantRole.STATISTIC,
    ConstantRole.QUANTIZATION,
    ConstantRole.CONSTANT,
)
_MAX_SOURCES: Final = 64  # constants from which one constant value is computed; more belong to no reader

Owner = tuple[object, ...]  # a graph of the file: () is the main one, else the path to it
Place = tuple[Owner, int]  # a node: its graph, and its index there


class Reader(Struct, frozen=True):
    """The node that applies weights to data."""

    place: Place
    name: str
    op: str
    domain: str
    rank: int  # in the order of the file, inner graphs after the outer ones


class StoredConstant(Struct, eq=False):
    """One constant of the file, and its use by its readers."""

    name: str  # by which nodes read it
    tensor: Tensor
    literal: bool  # from a Constant node
    roles: set[ConstantRole] = field(default_factory=set)
    packed: PackedWeight | None = None
    reader: Reader | None = None
    scaling: Scaling | None = None  # where it is quantized
    has_quantized_data: bool = False  # whether its reader's data are dequantized too

    @property
    def elements(self) -> int:
        return self.packed.elements if self.packed else self.tensor.elements

    @property
    def dtype(self) -> str:
        return self.packed.dtype if self.packed else self.tensor.dtype or "unknown"


class Bundle(Struct, frozen=True):
    """Learned numbers in the attributes of a node (trees, linear models)."""

    reader: Reader
    dtype: str
    elements: int
    name: str = ""


Sources = list[StoredConstant] | None  # the constants from which a value is computed; None if data are among its inputs


class Values(ChainMap[str, Sources]):
    """The sources of values by name, those of outer graphs too."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return as ChainMap does, which searches twice: every input of every node is looked up."""
        for values in self.maps:
            if name in values:
                return values[name]
        return default


def find_constants(model: Model) -> tuple[list[StoredConstant], list[Bundle], tuple[str, ...]]:
    """Return every constant once, the bundles in attributes, and why other tensors have no reliable size."""
    search = _ConstantSearch(model)
    return search.constants, search.bundles, tuple(search.doubtful)


class _ConstantSearch:
    """Visits every graph of the file, outer ones first."""

    def __init__(self, model: Model) -> None:
        self.constants: list[StoredConstant] = []
        self.bundles: list[Bundle] = []
        self.doubtful: dict[str, None] = {}  # tensors of contradictory size, and why
        self._visited = 0
        self._tables: dict[str, StoredConstant] = {}  # values that are rows of a quantized table
        self._dequantized: set[str] = set()  # outputs of dequantization
        self._stored: dict[object, StoredConstant] = {}  # tensors of external files, by place: two names may share one
        waiting: deque[tuple[Owner, str, Graph, Values]] = deque()
        waiting.append(((), "", model.graph, Values({value.name: None for value in required_inputs(model)})))
        for function in model.functions:
            values = Values(dict.fromkeys(function.inputs))
            waiting.append(((function.key,), f"{function.name}/", function.body, values))
        while waiting:
            waiting.extend(self._visit_graph(*waiting.popleft()))

    def _visit_graph(
        self, owner: Owner, path: str, graph: Graph, values: Values
    ) -> Iterator[tuple[Owner, str, Graph, Values]]:
        literals = {name for node in graph.nodes if node.is_op("Constant") for name in node.outputs}
        for name, tensor in graph.constants():
            values[name] = [self._store(name, tensor, name in literals)] if tensor.is_sized else []
            if not tensor.is_sized:
                self.doubtful[f"{quote_name(path + name)}: {tensor.defects[0]}"] = None
        scales = {name for node in graph.nodes if node.is_op("DynamicQuantizeLinear") for name in node.outputs[1:2]}
        for at in graph.index.order:
            node, label = graph.nodes[at], path + graph.nodes[at].label(at)
            self._visited += 1
            if not node.is_op("Constant"):
                reader = Reader((owner, at), label, node.op, node.domain, self._visited)
                self._visit_node(reader, node, values, scales)
            for name, inner in node.subgraphs():
                arguments = Values(dict.fromkeys(value.name for value in inner.inputs), *values.maps)
                yield (*owner, at, name), f"{label}/{name}/", inner, arguments

    def _store(self, name: str, tensor: Tensor, literal: bool) -> StoredConstant:
        place = tensor.location
        key = (place.path, place.offset, place.length) if place is not None and place.path is not None else id(tensor)
        if key not in self._stored:
            self._stored[key] = StoredConstant(name, tensor, literal)
            self.constants.append(self._stored[key])
        return self._stored[key]

    def _visit_node(self, reader: Reader, node: Node, values: Values, scales: set[str]) -> None:
        entry = find(node.domain, node.op)
        inputs = [values.get(name) if name else [] for name in node.inputs]
        _record_roles(node, entry, inputs, is_rescaling=node.is_op("Mul") and not scales.isdisjoint(node.inputs))
        self._record_scaling(node, inputs)
        self.bundles.extend(_bundles(reader, node, entry))
        constant = all(values.get(name) is not None for name in node.all_inputs if name) and bool(node.inputs)
        output: Sources = None
        if has_trait(node, Trait.GENERATES):
            output = []
        elif constant:
            output = list(dict.fromkeys(source for sources in inputs for source in sources or ()))[:_MAX_SOURCES]
        else:
            has_quantized_data = not self._dequantized.isdisjoint(node.inputs)
            for source in (source for sources in inputs for source in sources or ()):
                if source.reader is None:
                    source.reader, source.has_quantized_data = reader, has_quantized_data
            self._record_outputs(node, inputs)
        values.update(dict.fromkeys(filter(None, node.outputs), output))

    def _record_scaling(self, node: Node, inputs: list[Sources]) -> None:
        """Record how this node dequantizes a weight, or the rows of one."""
        for quantized in operator_of(node).quantized:
            at = quantized.weight
            weight = self._quantized_weight(node, inputs, at) if at < len(inputs) else None
            if weight is not None and weight.scaling is None:
                scale, zero = (_side_input(node, inputs, side) for side in (quantized.scale, quantized.zero_point))
                weight.scaling = scaling(node, weight.tensor, scale, zero)
        if not node.is_op("Mul") or len(inputs) != 2:
            return
        # A dequantization that is written out: small integers, cast, times fewer constants (as many: a mask).
        for at in (0, 1):
            weight, scales = self._quantized_weight(node, inputs, at), inputs[1 - at]
            if weight is None or weight.scaling is not None or weight.tensor.dtype not in _SMALL_INTEGERS:
                continue
            if scales is None or len(scales) != 1 or not is_float(scales[0].tensor.dtype):
                continue
            if scales[0].tensor.elements < weight.tensor.elements:
                weight.scaling = explicit_scaling(weight.tensor, scales[0].tensor)
                scales[0].roles.add(ConstantRole.QUANTIZATION)

    def _quantized_weight(self, node: Node, inputs: list[Sources], at: int) -> StoredConstant | None:
        return _largest(inputs[at]) or self._tables.get(node.inputs[at])

    def _record_outputs(self, node: Node, inputs: list[Sources]) -> None:
        if has_trait(node, Trait.DEQUANTIZES):
            self._dequantized.update(node.outputs)
        if has_trait(node, Trait.KEEPS_SCALAR) and node.inputs and node.inputs[0] in self._tables and node.outputs:
            self._tables[node.outputs[0]] = self._tables[node.inputs[0]]
        if operator_of(node).index_input is not None and node.outputs:
            table = next(filter(None, map(_largest, inputs)), None)
            if table is not None and is_integer(table.tensor.dtype):
                self._tables[node.outputs[0]] = table


def _record_roles(node: Node, entry: Operator | None, inputs: list[Sources], is_rescaling: bool) -> None:
    """Record the operator's use of each input that is one constant, as stored or moved."""
    for at, sources in enumerate(inputs):
        if sources is None or len(sources) != 1:
            continue
        if is_rescaling:
            sources[0].roles.add(ConstantRole.QUANTIZATION)
        if entry is not None and at in entry.roles:
            sources[0].roles.add(entry.roles[at])
        if entry is not None and at in entry.packed and sources[0].packed is None:
            sources[0].packed = entry.packed[at](node, sources[0].tensor)


def _largest(sources: Sources) -> StoredConstant | None:
    """Return the weight from which a constant is computed: the others are sizes, scales and zero points."""
    return max(sources, key=lambda source: source.tensor.elements) if sources else None


def _side_input(node: Node, inputs: list[Sources], at: int) -> SideInput:
    if not 0 <= at < len(inputs) or not node.inputs[at]:
        return SideInput(given=False)
    sources = inputs[at]
    return SideInput(given=True, tensor=sources[0].tensor if sources is not None and len(sources) == 1 else None)


def _bundles(reader: Reader, node: Node, entry: Operator | None) -> Iterator[Bundle]:
    for name in entry.learned_attributes if entry is not None else ():
        match node.attributes.get(name):
            case Tensor() as tensor if tensor.is_sized:
                yield Bundle(reader, tensor.dtype or "float32", tensor.elements)
            case TruncatedList(count=count):
                yield Bundle(reader, "float32", count)
            case tuple() as numbers:
                yield Bundle(reader, "float32", len(numbers))


def role_of_constant(constant: StoredConstant, has_literal_weights: bool) -> ConstantRole:
    """Return its readers' role; else floats and small integers are weights, if there is more than one element.

    A literal in the code of a file that stores its weights elsewhere (anchors, a window) is none.
    """
    role = next((role for role in _ROLE_PRIORITY if role in constant.roles), None)
    if role is not None:
        return role
    tensor = constant.tensor
    is_number = is_float(tensor.dtype) or tensor.dtype in _SMALL_INTEGERS
    is_weight = is_number and tensor.elements > 1 and (has_literal_weights or not constant.literal)
    return ConstantRole.WEIGHT if is_weight else ConstantRole.CONSTANT
