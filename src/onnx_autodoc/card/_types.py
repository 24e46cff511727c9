"""The published document: plain data, the only thing that renderers see.

Its keys are a contract (schema/card-1.json is generated from these types): add to them, rename nothing. Base units:
bytes, counts, shares from 0 to 1. None means not applicable or not known; `gaps` and `assumptions` say which.
"""

from msgspec import Struct

from onnx_autodoc.analysis import Gap, Precision
from onnx_autodoc.architecture import AttentionKind, BlockCount, Box, Dataset, Part, Sample, Task
from onnx_autodoc.card._cost_types import BatchRow, ComputeSection, MemorySection, ParametersSection
from onnx_autodoc.card._weight_types import WeightsSection
from onnx_autodoc.hardware import HardwareSection
from onnx_autodoc.lint import Finding
from onnx_autodoc.runtime import Verified

SCHEMA_VERSION = "1.0"


class Generated(Struct, frozen=True):
    tool: str
    version: str
    at: str


class ExternalFile(Struct, frozen=True):
    path: str
    bytes: int | None
    present: bool
    sha256: str | None = None
    reason: str = ""  # why it was not looked at, in words that follow its path; then nothing is known of it


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
    """An input or an output. `shape` is what the file declares, `bound` what it is under the assumptions.

    `sample` says how to fill an input so that the model runs; None where its size is not known, and of outputs.
    """

    name: str
    dtype: str | None
    shape: tuple[int | str | None, ...] | None
    role: str | None
    kind: str
    bound: tuple[int, ...] | None
    sample: Sample | None


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
    bytes_moved: int | None


class FlowRow(Struct, frozen=True):
    """How often a node of one operator reads what a node of another one made."""

    source: str
    target: str
    count: int


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
    flow: tuple[FlowRow, ...]
    shapes: Resolution


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


class Summary(Struct, frozen=True):
    """The card in words: a line, what it is and costs, a paragraph; and who wrote them."""

    what: str
    tldr: str
    text: str
    by: str


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
    scaling: tuple[BatchRow, ...]
    findings: tuple[Finding, ...]
    summary: Summary
    gaps: tuple[Gap, ...]
    weights: WeightsSection | None = None  # only if asked for
    hardware: HardwareSection | None = None
    measured: Verified | None = None  # only if asked for


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
