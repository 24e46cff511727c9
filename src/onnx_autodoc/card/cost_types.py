"""The published types of the sections on parameters, precision, weights, compute and memory."""

from typing import Literal

from msgspec import Struct


class WeightGroup(Struct, frozen=True):
    """Nodes of one operator that keep and use their weights alike. None: does not apply, or the file does not tell.

    how: dynamic (integer product, data quantized while running), qdq (between QuantizeLinear and DequantizeLinear),
    qoperator (an operator on integers), weight-only (turned to floating point for use), float, or integer (numbers
    that no known quantization reads).
    """

    op: str
    dtype: str
    how: Literal["dynamic", "qdq", "qoperator", "weight-only", "float", "integer"]
    bits: int | None
    block_size: int | None  # numbers that share a scale
    per_channel: bool | None
    symmetric: bool | None
    nodes: int
    params: int
    share: float  # of all weights
    example: str


class Precision(Struct, frozen=True):
    label: str | None
    weights: dict[str, float]  # share of the weights' elements by type
    scheme: str | None
    story: tuple[WeightGroup, ...]  # which layers keep their weights how
    stayed: str | None  # what a quantized model still keeps in floating point


class Numbers(Struct, frozen=True):
    """What one tensor holds. None is unknown: it was not read, or the type has no such thing.

    `sha256` is of the elements as `raw_data` would have them (dense, row-major, little-endian, packed), however the
    file writes them; of texts, of each one's length in 8 bytes and the text. `least` and `most` are of what is finite.
    """

    name: str
    dtype: str | None
    dims: tuple[int, ...]
    bytes: int | None
    sha256: str | None = None
    nan: int | None = None
    infinite: int | None = None
    zeros: int | None = None
    least: int | float | None = None
    most: int | float | None = None
    constant: bool | None = None  # all elements are one value
    unread: str | None = None


class WeightsSection(Struct, frozen=True):
    """Every tensor of the file. `unread` is how many could not be read; each of them has its reason.

    `bytes_read` is what was read for it, of all files; the same bytes under two names count once.
    """

    tensors: tuple[Numbers, ...]
    bytes_read: int
    unread: int


class WeightRow(Struct, frozen=True):
    """A node that reads weights. `bytes` includes their scales, zero points and running statistics."""

    node: str
    op: str
    params: int
    bytes: int


class ParametersSection(Struct, frozen=True):
    """Parameter counts. `total` counts weights; `by_layer` lists the nodes with weights, or the largest of them."""

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
    """Nodes whose cost is unknown. `macs`: whether MACs are missing, or only other operations."""

    op: str
    count: int
    reason: str
    macs: bool
    nodes: tuple[str, ...]


class Coverage(Struct, frozen=True):
    """Coverage of costs. Gaps make FLOPs, and MACs they concern, lower bounds; `unmoved` nodes make bytes moved one."""

    counted: int
    nodes: int
    unmoved: int
    gaps: tuple[Uncounted, ...]


class Term(Struct, frozen=True):
    """A monomial: `factor` times each variable raised to its power."""

    factor: int
    powers: tuple[int, ...]


class FormulaSection(Struct, frozen=True):
    """Exact expressions in `variables`; None where there is none. `dims` names the open dimensions of each variable.

    They hold at sizes that are whole `steps` away from those of the card and not below the `least` ones, where the
    model runs; above the `most` ones, where there are such, it does not. `terms` are the same for machines: sums of
    terms, of which the largest one holds where there are several, divided by the quantity's number in `divisors`, which
    leaves no rest at these sizes.
    """

    variables: tuple[str, ...]
    dims: dict[str, tuple[str, ...]]
    steps: dict[str, int]
    least: dict[str, int]
    most: dict[str, int]
    macs: str | None
    flops: str | None
    bytes_moved: str | None
    peak_activation_bytes: str | None
    kv_cache_bytes: str | None
    terms: dict[str, tuple[tuple[Term, ...], ...]]
    divisors: dict[str, int]
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
    """`written_bytes` is a lower bound if the bytes of some nodes are unknown, None if those of all nodes are."""

    op: str
    domain: str
    weight_bytes: int
    written_bytes: int | None


class Moment(Struct, frozen=True):
    """Bytes that are alive while the node at this position of the main graph runs."""

    at: int
    bytes: int


class CacheSize(Struct, frozen=True):
    tokens: int
    bytes: int


class CacheSection(Struct, frozen=True):
    """Of one sequence; `bytes` is all of it after a run at the card's sizes. `tensors` are the outputs that hold it."""

    bytes: int
    bytes_per_token: int
    layers: int | None
    kv_heads: int | None
    head_dim: int | None
    dtype: str
    at: tuple[CacheSize, ...]
    tensors: tuple[str, ...]


class MemorySection(Struct, frozen=True):
    """Where there are `unsized` values, whose size only the data decide, the peak is "at least".

    `run_bytes`: weights and peak activations together.
    """

    weights_bytes: int
    peak_activation_bytes: int | None
    run_bytes: int | None
    unsized: int
    peak_node: str | None
    timeline: tuple[Moment, ...]
    by_op: tuple[MemoryRow, ...]
    kv_cache: CacheSection | None


class BatchRow(Struct, frozen=True):
    """Cost of a run at one batch size. `memory_bytes`: weights plus peak activations."""

    batch: int
    macs: int | None
    flops: int | None
    bytes_moved: int | None
    arithmetic_intensity: float | None
    peak_activation_bytes: int | None
    memory_bytes: int | None
