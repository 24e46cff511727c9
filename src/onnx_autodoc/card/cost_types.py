"""The published types of the sections on parameters, precision, weights, compute and memory."""

from typing import Literal

from msgspec import Struct


class WeightGroup(Struct, frozen=True):
    """Nodes of one op type whose weights have the same storage and use. None: not applicable or unknown.

    how: dynamic (integer product, activations quantized at run time), qdq (QuantizeLinear/DequantizeLinear pairs),
    qoperator (integer operators), weight-only (dequantized for use), float, or integer (no known quantization).
    """

    op: str
    dtype: str
    how: Literal["dynamic", "qdq", "qoperator", "weight-only", "float", "integer"]
    bits: int | None
    block_size: int | None  # elements per scale
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
    story: tuple[WeightGroup, ...]  # storage of the weights by group of nodes
    stayed: str | None  # the parts of a quantized model that stayed in floating point


class Numbers(Struct, frozen=True):
    """Statistics of the values of one tensor. None: unknown, because it was not read or the type does not have it.

    `sha256` covers the elements in `raw_data` layout (dense, row-major, little-endian, packed), in every storage form;
    for strings, each length in 8 bytes and the text. `least` and `most` are the finite minimum and maximum.
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
    constant: bool | None = None  # all elements are equal
    unread: str | None = None


class WeightsSection(Struct, frozen=True):
    """Every tensor of the file. `unread` is the number of tensors that could not be read, each with its reason.

    `bytes_read` covers all files; bytes that several tensors share count once.
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
    """Exact expressions in `variables`; None if there is none. `dims` maps each variable to its dynamic dimensions.

    They hold at sizes that differ from the card's by multiples of `steps` and are at least `least`, if the model runs
    there; it does not run above `most`, if given. `terms` is the machine-readable form: a sum of terms, or the maximum
    of several, divided without remainder by the quantity's number in `divisors`.
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
    """`cheapest`: cost of the least expensive data-dependent branches; None if no branch is data-dependent.

    With gaps the figures are lower bounds, and None if nothing is known.
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
    """Bytes that are live while the node at this position of the main graph runs."""

    at: int
    bytes: int


class CacheSize(Struct, frozen=True):
    tokens: int
    bytes: int


class CacheSection(Struct, frozen=True):
    """KV cache of one sequence; `bytes` is its size after a run at the card's sizes. `tensors`: the outputs with it."""

    bytes: int
    bytes_per_token: int
    layers: int | None
    kv_heads: int | None
    head_dim: int | None
    dtype: str
    at: tuple[CacheSize, ...]
    tensors: tuple[str, ...]


class MemorySection(Struct, frozen=True):
    """The peak is a lower bound if there are `unsized` values, whose size is data-dependent.

    `run_bytes`: weights plus peak activations.
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
