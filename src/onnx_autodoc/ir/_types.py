"""What a model file says, as frozen values.

A weight is a header: its type, its dims and where its bytes are. The bytes themselves stay in the file; only payloads
small enough to steer shapes (a Reshape's target, a Slice's bounds) are kept beside the header.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import force_setattr

from onnx_autodoc.ir._dtypes import stored_bytes


class Place(Struct, frozen=True):
    """Where a tensor's bytes are: in the model's own file (path None) or in an external one."""

    path: str | None
    offset: int
    length: int | None  # None: to the end of the external file
    clear: bool = True  # False: the file gives an offset or a length that is no number


class Payload(Struct, frozen=True):
    """How a tensor's elements are written, and the bytes themselves where they are few."""

    encoding: str  # raw, floats, doubles, varints, strings
    nbytes: int
    data: bytes | tuple[bytes, ...] | None = None
    pieces: int = 1  # fields of the file that they stand in, one after the other; a place has the first one's offset
    usual: bool = True  # in the field that the specification has for their type, and in no other


class Tensor(Struct, frozen=True):
    name: str
    dtype: str | None
    dims: tuple[int, ...]
    place: Place | None = None
    payload: Payload | None = None
    stored: int | None = None  # elements really stored, where the tensor is sparse
    flaws: tuple[str, ...] = ()  # how the file contradicts itself about it, in words
    is_sized: bool = True  # whether its dims and type are possible, and what data it has are as many

    @property
    def elements(self) -> int:
        return math.prod(self.dims)

    @property
    def nbytes(self) -> int | None:
        """Bytes its elements take by type and dims (dense, packed), whatever the file holds."""
        return stored_bytes(self.dtype, self.elements) if self.dtype else None


class Type(Struct, frozen=True):
    """A declared type. Of a dim, an int is a size, a str is a name for one, None says nothing."""

    kind: str  # tensor, sparse, sequence, optional, map, opaque
    dtype: str | None = None
    dims: tuple[int | str | None, ...] | None = None
    element: "Type | None" = None


class Value(Struct, frozen=True):
    name: str
    type: Type | None = None


class Reference(Struct, frozen=True):
    """An attribute inside a function's body that takes its value from the call."""

    name: str


class Long(Struct, frozen=True):
    """A list attribute too long to be structure (the nodes of a tree ensemble): its length and its beginning."""

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
    nested: bool = False  # whether it holds subgraphs: asked of every node, and true of few
    flaws: tuple[str, ...] = ()  # what its attributes above cannot hold: two of one name, a value of another kind

    def __post_init__(self) -> None:
        if self.attributes and next(self.graphs(), None) is not None:
            force_setattr(self, "nested", True)

    def graphs(self) -> Iterator[tuple[str, "Graph"]]:
        """The subgraphs that this node runs, each with the attribute that holds it."""
        for key, value in self.attributes.items():
            if isinstance(value, Graph):
                yield key, value
            elif isinstance(value, tuple):
                for at, item in enumerate(value):
                    if isinstance(item, Graph):
                        yield f"{key}[{at}]", item


class Graph(Struct, frozen=True):
    name: str = ""
    nodes: tuple[Node, ...] = ()
    inputs: tuple[Value, ...] = ()
    outputs: tuple[Value, ...] = ()
    initializers: tuple[Tensor, ...] = ()
    values: tuple[Value, ...] = ()  # value_info: what the file claims of inner values
    doc: str = ""
    outer: frozenset[str] = frozenset()  # names that it, with all graphs inside it, takes from around it


Attribute = (
    int
    | float
    | str
    | Tensor
    | Type
    | Reference
    | Long
    | Graph
    | tuple[int, ...]
    | tuple[float, ...]
    | tuple[str, ...]
    | tuple[Tensor, ...]
    | tuple[Graph, ...]
    | tuple[Type, ...]
)


class Function(Struct, frozen=True):
    name: str
    domain: str = ""
    overload: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    defaults: Mapping[str, Attribute] = {}
    opsets: Mapping[str, int] = {}
    values: tuple[Value, ...] = ()
    flaws: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.domain, self.name, self.overload)


class External(Struct, frozen=True):
    """A file beside the model that holds weights. `nbytes` is None where there is no such file below its folder.

    `reason` says why a file was not looked at, in words that follow its name; "" where it was, or is not there.
    """

    path: str
    nbytes: int | None
    needed: int  # bytes up to the end of the last tensor in it
    reason: str = ""


class Model(Struct, frozen=True):
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
    external: tuple[External, ...] = ()
    flaws: tuple[str, ...] = ()  # what the fields above cannot hold: two versions of one domain


def label(node: Node, at: int) -> str:
    """What to call a node: its name, else its operator and its place in the graph."""
    return node.name or f"{node.op}_{at}"


def inner_graphs(nodes: Sequence[Node]) -> Iterator[Graph]:
    """Every subgraph that nodes hold, at any depth."""
    waiting = [graph for node in nodes if node.nested for _, graph in node.graphs()]
    while waiting:
        graph = waiting.pop()
        yield graph
        waiting.extend(inner for node in graph.nodes if node.nested for _, inner in node.graphs())


def count_nodes(model: Model) -> int:
    return sum(len(graph.nodes) for graph in all_graphs(model))


def all_graphs(model: Model) -> Iterator[Graph]:
    """The main graph, every subgraph, and every function's body as a graph: each once, however often it runs."""
    yield model.graph
    yield from inner_graphs(model.graph.nodes)
    for function in model.functions:
        yield Graph(function.name, function.nodes)
        yield from inner_graphs(function.nodes)


def constants_of(graph: Graph) -> Iterator[tuple[str, Tensor]]:
    """The values that one graph holds, by the name its nodes read them by: initializers and Constant nodes."""
    yield from ((tensor.name, tensor) for tensor in graph.initializers)
    for node in graph.nodes:
        if node.op == "Constant" and not node.domain and node.outputs:
            yield from ((node.outputs[0], _literal(item)) for item in node.attributes.values())


def _literal(item: Attribute) -> Tensor:
    """What a Constant node holds, as a tensor; it may be given as plain numbers too."""
    if isinstance(item, Tensor):
        return item
    count = item.count if isinstance(item, Long) else len(item) if isinstance(item, tuple) else None
    first = item.first[:1] if isinstance(item, Long) else item[:1] if isinstance(item, tuple) else (item,)
    kind = {float: "float32", int: "int64"}.get(type(first[0]), "string") if first else "float32"
    return Tensor("", kind, () if count is None else (count,))


def tensors_of(graph: Graph) -> Iterator[Tensor]:
    """The tensors that one graph itself holds: initializers, and those in its nodes' attributes."""
    yield from graph.initializers
    for node in graph.nodes:
        for item in node.attributes.values():
            if isinstance(item, Tensor):
                yield item
            elif isinstance(item, tuple):
                yield from (one for one in item if isinstance(one, Tensor))
