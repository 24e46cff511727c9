"""The published document: plain data, the only thing that renderers see.

Its keys are a contract (schema/card-1.json is generated from these types): add to them, rename nothing. Base units:
bytes, counts, shares from 0 to 1. None means not applicable or not known; `gaps` and `assumptions` say which.
"""

from msgspec import Struct

from onnx_autodoc.facts import Gap, Precision
from onnx_autodoc.structure import AttentionKind, BlockCount, Box, Dataset, Part, Task

SCHEMA_VERSION = "1.0"


class Generated(Struct, frozen=True):
    tool: str
    version: str
    at: str


class ExternalFile(Struct, frozen=True):
    path: str
    bytes: int | None
    present: bool


class File(Struct, frozen=True):
    bytes: int
    sha256: str | None
    external: tuple[ExternalFile, ...]


class Producer(Struct, frozen=True):
    name: str | None
    version: str | None


class ModelSection(Struct, frozen=True):
    name: str
    format: str
    file: File
    ir_version: int | None
    opsets: dict[str, int]
    producer: Producer
    domain: str | None
    version: int | None
    doc: str | None
    metadata: dict[str, str]
    precision: Precision


class Port(Struct, frozen=True):
    """An input or an output. `shape` is what the file declares, `bound` what it is under the assumptions."""

    name: str
    dtype: str | None
    shape: tuple[int | str | None, ...] | None
    role: str | None
    kind: str
    bound: tuple[int, ...] | None


class Interface(Struct, frozen=True):
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


class Assumptions(Struct, frozen=True):
    dims: dict[str, int]
    values: dict[str, bool | int | float]
    notes: tuple[str, ...]


class OperatorRow(Struct, frozen=True):
    op: str
    domain: str
    count: int
    share: float
    params: int
    weight_bytes: int
    macs: int | None
    flops: int | None


class Resolution(Struct, frozen=True):
    """Of how many node outputs that run the concrete shape is known."""

    resolved: int
    outputs: int


class GraphSection(Struct, frozen=True):
    nodes: int
    nodes_total: int
    initializers: int
    depth: int
    operator_types: int
    operators: tuple[OperatorRow, ...]
    shapes: Resolution


class WeightRow(Struct, frozen=True):
    """A node that puts weights to use. `bytes` counts their scales, zero points and statistics in."""

    node: str
    op: str
    params: int
    bytes: int


class ParametersSection(Struct, frozen=True):
    """`total` counts weights; `by_layer` lists the nodes with weights, the largest ones where there are very many."""

    total: int
    bytes: int
    tensors: int
    by_dtype: dict[str, int]
    statistics: int
    quantization: int
    constants: int
    unread: int
    by_layer: tuple[WeightRow, ...]


class Uncounted(Struct, frozen=True):
    """Nodes whose cost is not known. `macs`: whether multiply-adds are among what is missing, or other work alone."""

    op: str
    count: int
    reason: str
    macs: bool
    nodes: tuple[str, ...]


class Coverage(Struct, frozen=True):
    """With `gaps`, FLOPs are "at least", and MACs where a gap says so; bytes moved are with `unmoved` nodes."""

    counted: int
    nodes: int
    unmoved: int
    gaps: tuple[Uncounted, ...]


class FormulaSection(Struct, frozen=True):
    """Exact expressions in `variables`; None where there is none. `dims` names the open dimensions of each variable."""

    variables: tuple[str, ...]
    dims: dict[str, tuple[str, ...]]
    macs: str | None
    flops: str | None
    bytes_moved: str | None
    peak_activation_bytes: str | None
    kv_cache_bytes: str | None
    checked_at: tuple[dict[str, int], ...]


class TopNode(Struct, frozen=True):
    node: str
    op: str
    macs: int
    share: float


class Work(Struct, frozen=True):
    macs: int
    flops: int


class ComputeSection(Struct, frozen=True):
    """`cheapest`: what a run takes where the data pick the cheapest branches; None where they have no choice.

    With gaps the numbers are lower bounds, and None where nothing at all is known.
    """

    macs: int | None
    flops: int | None
    cheapest: Work | None
    bytes_moved: int | None
    arithmetic_intensity: float | None
    coverage: Coverage
    formula: FormulaSection
    top: tuple[TopNode, ...]


class MemoryRow(Struct, frozen=True):
    op: str
    domain: str
    weight_bytes: int
    written_bytes: int


class Moment(Struct, frozen=True):
    """How much is alive while the node at this place of the main graph runs."""

    at: int
    bytes: int


class CacheSize(Struct, frozen=True):
    tokens: int
    bytes: int


class CacheSection(Struct, frozen=True):
    """Of one sequence. `tensors` are the outputs that hold the cache."""

    bytes_per_token: int
    layers: int | None
    kv_heads: int | None
    head_dim: int | None
    dtype: str
    at: tuple[CacheSize, ...]
    tensors: tuple[str, ...]


class MemorySection(Struct, frozen=True):
    """Where there are `unsized` values, whose size only the data decide, the peak is "at least"."""

    weights_bytes: int
    peak_activation_bytes: int | None
    unsized: int
    peak_node: str | None
    timeline: tuple[Moment, ...]
    by_op: tuple[MemoryRow, ...]
    kv_cache: CacheSection | None


class StructureSection(Struct, frozen=True):
    """What the graph is made of. Sizes are None where it does not tell. `tree` is the drawing of it."""

    family: str
    layers: int | None
    hidden: int | None
    heads: int | None
    kv_heads: int | None
    head_dim: int | None
    vocab: int | None
    context: int | None
    patch: tuple[int, ...] | None
    blocks: tuple[BlockCount, ...]
    attention: tuple[AttentionKind, ...]
    in_float: tuple[str, ...]
    residuals: dict[str, int]
    work: tuple[Part, ...]
    tree: Box | None
    evidence: tuple[str, ...]


class DatasetSection(Struct, frozen=True):
    """What the file's metadata says of its data, and where the graph contradicts it."""

    said: Dataset
    contradictions: tuple[str, ...]


class Card(Struct, frozen=True):
    schema_version: str
    generated: Generated
    model: ModelSection
    interface: Interface
    assumptions: Assumptions
    graph: GraphSection
    parameters: ParametersSection
    compute: ComputeSection
    memory: MemorySection
    structure: StructureSection
    task: Task
    dataset: DatasetSection
    gaps: tuple[Gap, ...]


class OutputCell(Struct, frozen=True):
    name: str
    dtype: str | None
    shape: tuple[int, ...] | None


class NodeRow(Struct, frozen=True):
    """One node of the file. Its numbers are those of the whole run; None where they are not known."""

    scope: str
    name: str
    op: str
    domain: str
    outputs: tuple[OutputCell, ...]
    params: int
    macs: int | None
    flops: int | None
    read_bytes: int | None
    written_bytes: int | None
    block: str | None = None
    gap: str | None = None
