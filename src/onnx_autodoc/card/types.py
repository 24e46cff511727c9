"""The published document: plain data, the only thing that renderers see.

Its keys are a contract (schema/card-1.json is generated from these types): add to them, rename nothing. Base units:
bytes, counts, shares from 0 to 1. None means not applicable or unknown, as listed in `gaps` and `assumptions`.
"""

from enum import StrEnum

from msgspec import Struct, field

from onnx_autodoc.card.cost_types import (
    BatchRow,
    ComputeSection,
    MemorySection,
    ParametersSection,
    Precision,
    WeightsSection,
)
from onnx_autodoc.card.hardware_types import HardwareSection, Verified

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
    reason: str = ""  # why it was not read, as words that follow its path; its other fields are then unknown


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


class Sample(Struct, frozen=True):
    """How to fill an input.

    `normal`: around 0, scaled by `high`; `uniform` and `integers`: from `low` to below `high`; `constant`: `value` in
    every element; `range`: `low`, `low` + 1, … along the last axis; `text`: the string `value` in every element.
    """

    fill: str
    low: int | float | None = None
    high: int | float | None = None
    value: bool | int | float | str | None = None


class Port(Struct, frozen=True):
    """An input or an output. `shape` is declared in the file, `bound` is the concrete shape under the assumptions.

    `sample` describes how to fill an input so that the model runs; None for unknown sizes and for outputs.
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
    """Number of edges from nodes of one operator to nodes of another."""

    source: str
    target: str
    count: int


class Resolution(Struct, frozen=True):
    """Number of executed node outputs whose concrete shape is known."""

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


class BlockCount(Struct, frozen=True):
    """Blocks of one kind with their total parameters and cost. A nested block counts for both kinds."""

    kind: str
    count: int
    params: int
    macs: int | None
    dtypes: dict[str, int]  # parameters by storage type


class AttentionKind(Struct, frozen=True):
    """`form`: plain (decomposed), additive, linear, or the fused operator. None: unknown."""

    count: int
    form: str
    heads: int | None
    kv_heads: int | None
    head_dim: int | None
    cross: bool
    causal: bool
    rotary: bool
    windowed: bool
    relative_bias: bool


class Part(Struct, frozen=True):
    part: str
    macs: int
    share: float


class Edge(Struct, frozen=True):
    """Values that one box passes to another. `kind` is "data", or "skip" for a residual connection."""

    source: str
    target: str
    shape: tuple[int, ...] | None
    dtype: str | None
    kind: str


class Box(Struct, frozen=True):
    """A part of the model. `count` identical consecutive boxes are collapsed into one.

    `params`, `macs`, `share` (of the model's MACs), `nodes` and `weight_bytes` are totals over all `count`, so that the
    boxes of a level sum to their parent. If `repeats`, the children and their figures describe one of the `count`
    repetitions. `label` may contain text of the model file, and `edges` connect children by their `id`.
    """

    id: str
    kind: str
    label: str
    detail: str | None
    count: int
    params: int
    macs: int | None
    share: float | None
    nodes: int
    repeats: bool
    children: tuple["Box", ...]
    edges: tuple[Edge, ...]
    weight_bytes: int = 0  # stored size of its weights, including scales, zero points and BatchNorm running statistics
    seconds: float | None = None  # of one measured run


class StructureSection(Struct, frozen=True):
    """The architecture of the graph. Sizes are None where unknown. `tree` is its diagram."""

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


class Task(Struct, frozen=True):
    """The task of the model. `name` is None if the graph has no evidence of one."""

    name: str | None
    confidence: float
    classes: int | None
    evidence: tuple[str, ...]
    claimed: bool = False  # declared in the metadata, without evidence in the graph


class Dataset(Struct, frozen=True):
    """None and empty: not declared in the file. Lists end after 20,000 items; the counts are exact."""

    task: str | None = None  # as named by the exporter
    classes: int | None = None
    names: tuple[str, ...] = ()
    numbered: int | None = None  # the highest class index plus one, if indices are missing
    characters: int | None = None  # that a recognizer can read, without its blank and end tokens
    alphabet: tuple[str, ...] = ()
    vocabulary: int | None = None
    image_size: tuple[int, int] | None = None  # height, width
    channels: int | None = None
    stride: int | None = None
    batch: int | None = None
    keypoints: tuple[int, int] | None = None  # points, values per point
    end_to_end: bool | None = None  # boxes are output after selection, not raw
    sample_rate: int | None = None
    languages: tuple[str, ...] = ()
    speakers: int | None = None
    features: int | None = None  # columns of a table
    feature_names: tuple[str, ...] = ()
    pixel_format: str | None = None
    color_gamma: str | None = None
    pixel_range: str | None = None
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    extras: dict[str, str] = {}
    sources: dict[str, str] = {}  # field -> its place in the file
    problems: tuple[str, ...] = ()  # invalid metadata


class DatasetSection(Struct, frozen=True):
    """The data that the metadata of the file declares, and contradictions with the graph."""

    said: Dataset
    contradictions: tuple[str, ...]


class Severity(StrEnum):
    """`info`: good to know, `note`: worth changing, `warning`: will cost or surprise, `error`: will not work."""

    INFO = "info"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


class Confidence(StrEnum):
    """Confidence that the finding applies to this model; `high`: read from the file."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Finding(Struct, frozen=True):
    """`about` is the subject of a finding of a rule with several subjects, for example a runtime.

    `evidence` names places in the file: nodes with their scope, as in the node rows, inputs, tensors, files. `count` is
    the number of places, of which the first ones are listed.
    """

    rule: str
    severity: Severity
    confidence: Confidence
    message: str
    recommendation: str
    evidence: tuple[str, ...]
    count: int
    about: str | None = None


class Gap(Struct, frozen=True):
    """A part of the card that is unknown, with the reason."""

    section: str
    reason: str


class Summary(Struct, frozen=True):
    """The summary in prose: a headline, key figures, a paragraph, and their author."""

    what: str
    tldr: str
    text: str
    by: str


class UncertaintyKind(StrEnum):
    LOWER_BOUND = "lower bound"
    UNKNOWN = "unknown"


class Uncertainty(Struct, frozen=True):
    """Why a figure is not exact. An `unknown` figure is null, or its value covers only what was counted.

    `code` names the cause; `parameters` count what is missing.
    """

    kind: UncertaintyKind
    code: str
    parameters: dict[str, int]


class Card(Struct, frozen=True):
    """The document of one model.

    `uncertain` lists by path the figures that are lower bounds or unknown; all others are exact under `assumptions`.
    """

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
    weights: WeightsSection | None = None  # only if requested
    hardware: HardwareSection | None = None
    measured: Verified | None = None  # only if requested
    uncertain: dict[str, Uncertainty] = field(default_factory=dict)


class OutputCell(Struct, frozen=True):
    name: str
    dtype: str | None
    shape: tuple[int, ...] | None


class NodeRow(Struct, frozen=True):
    """One node of the file. Its figures are totals of a run; None where unknown."""

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
