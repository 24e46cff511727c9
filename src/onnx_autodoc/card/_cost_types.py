"""The types of the card's sections on what a model holds and costs."""

from msgspec import Struct


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


class Term(Struct, frozen=True):
    """`factor` times each variable to its power."""

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
    """`written_bytes` is the least where the bytes of some nodes are not known, and None where those of none are."""

    op: str
    domain: str
    weight_bytes: int
    written_bytes: int | None


class Moment(Struct, frozen=True):
    """How much is alive while the node at this place of the main graph runs."""

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
    """What a run takes at one size of the batch. `memory_bytes`: weights and peak activations together."""

    batch: int
    macs: int | None
    flops: int | None
    bytes_moved: int | None
    arithmetic_intensity: float | None
    peak_activation_bytes: int | None
    memory_bytes: int | None
