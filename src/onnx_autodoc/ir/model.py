"""What a model file declares, as immutable values.

A weight is a header: its type, its dims and the location of its bytes. The bytes stay in the file; only payloads small
enough to determine shapes (the target of a Reshape, the bounds of a Slice) are kept with the header.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import force_setattr

from onnx_autodoc.ir.dtypes import stored_bytes
from onnx_autodoc.ir.graph_index import GraphIndex


class DataLocation(Struct, frozen=True):
    """The location of a tensor's bytes: in the model file (path None) or in an external file."""

    path: str | None
    offset: int
    length: int | None  # None: to the end of the external file
    is_valid: bool = True  # False: the file declares an offset or a length that is not a number


class Payload(Struct, frozen=True):
    """How a tensor's elements are encoded, and the bytes themselves where they are few."""

    encoding: str  # raw, floats, doubles, varints, strings
    nbytes: int
    data: bytes | tuple[bytes, ...] | None = None
    fields: int = 1  # consecutive protobuf fields that hold the elements; the location is that of the first
    is_canonical: bool = True  # in the field that the specification has for the element type, and in no other


class Tensor(Struct, frozen=True):
    name: str
    dtype: str | None
    dims: tuple[int, ...]
    location: DataLocation | None = None
    payload: Payload | None = None
    stored_elements: int | None = None  # of a sparse tensor
    defects: tuple[str, ...] = ()  # contradictions in what the file declares of it, as sentences
    is_sized: bool = True  # whether dims and type are possible, and the data have that many elements

    @property
    def elements(self) -> int:
        return math.prod(self.dims)

    @property
    def nbytes(self) -> int | None:
        """Bytes of the elements by type and dims (dense, packed), whatever the file holds."""
        return stored_bytes(self.dtype, self.elements) if self.dtype else None


class Type(Struct, frozen=True):
    """A declared type. A dim is a size, the name of a dynamic size, or None where nothing is declared."""

    kind: str  # tensor, sparse, sequence, optional, map, opaque
    dtype: str | None = None
    dims: tuple[int | str | None, ...] | None = None
    element: "Type | None" = None


class Value(Struct, frozen=True):
    name: str
    type: Type | None = None


class AttributeReference(Struct, frozen=True):
    """An attribute in a function's body whose value is an attribute of the call."""

    name: str


class TruncatedList(Struct, frozen=True):
    """A list attribute that is data rather than structure (the nodes of a tree ensemble): its length and its start."""

    count: int
    first: "tuple[int, ...] | tuple[float, ...] | tuple[str, ...]"


class Node(Struct, frozen=True):
    op: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    name: str = ""
    domain: str = ""
    attributes: "Mapping[str, Attribute]" = {}
    overload: str = ""
    has_subgraphs: bool = False  # derived; a field because every walk tests it for every node
    defects: tuple[str, ...] = ()  # attributes that `attributes` cannot hold: repeated names, values of another kind

    def __post_init__(self) -> None:
        if self.attributes and next(self.subgraphs(), None) is not None:
            force_setattr(self, "has_subgraphs", True)

    def is_op(self, op_type: str, domain: str = "") -> bool:
        """Whether this node is of an operator; both its op type and its domain count."""
        return self.op == op_type and self.domain == domain

    def subgraphs(self) -> Iterator[tuple[str, "Graph"]]:
        """Yield the subgraphs of this node, each with the attribute that holds it."""
        for key, value in self.attributes.items():
            if isinstance(value, Graph):
                yield key, value
            elif isinstance(value, tuple):
                for at, item in enumerate(value):
                    if isinstance(item, Graph):
                        yield f"{key}[{at}]", item

    @property
    def all_inputs(self) -> Sequence[str]:
        """The names of all values that the node reads: its inputs and the captures of its subgraphs."""
        if self.has_subgraphs:
            return (*self.inputs, *(name for _, graph in self.subgraphs() for name in graph.captures))
        return self.inputs

    @property
    def function_key(self) -> "FunctionKey":
        """The key of the local function that the node calls, if the model has one of that key."""
        return (self.domain, self.op, self.overload)

    def label(self, at: int) -> str:
        """Return the node's name, or its operator and position where it has none."""
        return self.name or f"{self.op}_{at}"


class Graph(Struct, frozen=True, dict=True):
    name: str = ""
    nodes: tuple[Node, ...] = ()
    inputs: tuple[Value, ...] = ()
    outputs: tuple[Value, ...] = ()
    initializers: tuple[Tensor, ...] = ()
    value_info: tuple[Value, ...] = ()  # declarations of inner values
    doc: str = ""
    captures: frozenset[str] = frozenset()  # names that it and its subgraphs read from the graphs around it

    @cached_property
    def index(self) -> GraphIndex:
        return GraphIndex(self)

    @property
    def port_count(self) -> int:
        """The number of inputs and outputs, which every evaluation at other sizes reads."""
        return len(self.inputs) + len(self.outputs)

    def constants(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the constants of this graph by name: initializers and values of Constant nodes."""
        yield from ((tensor.name, tensor) for tensor in self.initializers)
        for node in self.nodes:
            if node.is_op("Constant") and node.outputs:
                yield from ((node.outputs[0], _literal_tensor(item)) for item in node.attributes.values())

    def tensors(self) -> Iterator[Tensor]:
        """Yield the tensors that this graph holds: initializers and tensor attributes of its nodes."""
        yield from self.initializers
        for node in self.nodes:
            for item in node.attributes.values():
                if isinstance(item, Tensor):
                    yield item
                elif isinstance(item, tuple):
                    yield from (element for element in item if isinstance(element, Tensor))


Attribute = (
    int
    | float
    | str
    | Tensor
    | Type
    | AttributeReference
    | TruncatedList
    | Graph
    | tuple[int, ...]
    | tuple[float, ...]
    | tuple[str, ...]
    | tuple[Tensor, ...]
    | tuple[Graph, ...]
    | tuple[Type, ...]
)
FunctionKey = tuple[str, str, str]  # domain, name, overload


def _literal_tensor(item: Attribute) -> Tensor:
    """Return the header of a Constant node's value, which may be declared as plain numbers too."""
    if isinstance(item, Tensor):
        return item
    count = item.count if isinstance(item, TruncatedList) else len(item) if isinstance(item, tuple) else None
    first = item.first[:1] if isinstance(item, TruncatedList) else item[:1] if isinstance(item, tuple) else (item,)
    kind = {float: "float32", int: "int64"}.get(type(first[0]), "string") if first else "float32"
    return Tensor("", kind, () if count is None else (count,))


class Function(Struct, frozen=True, dict=True):
    """A local function of the model."""

    name: str
    domain: str = ""
    overload: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    defaults: Mapping[str, Attribute] = {}
    opsets: Mapping[str, int] = {}
    value_info: tuple[Value, ...] = ()
    defects: tuple[str, ...] = ()

    @property
    def key(self) -> FunctionKey:
        return (self.domain, self.name, self.overload)

    @cached_property
    def body(self) -> Graph:
        """The function as a graph, without its value_info."""
        return Graph(self.name, self.nodes, tuple(map(Value, self.inputs)), tuple(map(Value, self.outputs)))


class ExternalData(Struct, frozen=True):
    """A file with weights next to the model. `nbytes` is None where its folder has no such file.

    `reason` states why the file was not opened, as the continuation of its name; "" if it was opened or does not exist.
    """

    path: str
    nbytes: int | None
    required_bytes: int  # up to the end of the last tensor in it
    reason: str = ""


class Model(Struct, frozen=True, dict=True):
    graph: Graph
    ir_version: int | None = None
    opsets: Mapping[str, int] = {}
    producer: str = ""
    producer_version: str = ""
    domain: str = ""
    version: int | None = None
    doc: str = ""
    metadata: Mapping[str, str] = {}
    functions: tuple[Function, ...] = ()
    training: tuple[Graph, ...] = ()
    path: str = ""
    nbytes: int = 0
    fingerprint: str = ""  # of the file's content, as `Source` has it
    external: tuple[ExternalData, ...] = ()
    defects: tuple[str, ...] = ()  # declarations that the fields above cannot hold: two versions of one domain
    repeated_fields: Mapping[str, int] = {}  # encoded again though they have one value: the last one holds

    @cached_property
    def functions_by_key(self) -> Mapping[FunctionKey, Function]:
        return {function.key: function for function in self.functions}

    @cached_property
    def all_graphs(self) -> tuple[Graph, ...]:
        """The main graph and the bodies of functions, each followed by its subgraphs at any depth."""
        graphs = [self.graph, *iter_subgraphs(self.graph.nodes)]
        for function in self.functions:
            graphs += (function.body, *iter_subgraphs(function.nodes))
        return tuple(graphs)

    @cached_property
    def node_count(self) -> int:
        return sum(len(graph.nodes) for graph in self.all_graphs)


def iter_subgraphs(nodes: Sequence[Node]) -> Iterator[Graph]:
    """Yield every subgraph of `nodes`, at any depth."""
    pending = [graph for node in nodes if node.has_subgraphs for _, graph in node.subgraphs()]
    while pending:
        graph = pending.pop()
        yield graph
        pending.extend(inner for node in graph.nodes if node.has_subgraphs for _, inner in node.subgraphs())
