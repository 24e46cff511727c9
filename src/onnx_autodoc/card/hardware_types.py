"""The published types of the hardware section and of a measured run.

Base units: seconds, bytes, operations, shares from 0 to 1. None means unknown; a note gives the reason.
"""

from typing import ClassVar, Final

from msgspec import Struct

# The grades of a time, from the weakest to the strongest.
BOUND: Final = "bound"
TYPICAL: Final = "typical"
CALIBRATED: Final = "calibrated"
MEASURED: Final = "measured"


class Seconds(Struct, frozen=True):
    """`bound`: lower bound of the time. The others exist only if they are based on measurements."""

    bound: float | None
    low: float | None = None
    expected: float | None = None
    high: float | None = None


class MemoryNeed(Struct, frozen=True):
    """`activations` includes the KV cache as far as it is an input or output of the run; `overhead` is assumed."""

    weights: int
    activations: int | None
    overhead: int


class OperatorTime(Struct, frozen=True):
    """Kernels named by one op type: their share of the roofline and their bottleneck."""

    op: str
    kernels: int
    seconds: float
    share: float
    bottleneck: str


class DeviceRow(Struct, frozen=True):
    """A model on a device.

    `basis`: the grade of `seconds`: bound, typical, calibrated, or measured. `bottleneck`: compute, memory, or launches
    (many small kernels). `utilisation`: the share of the device's peak rate at the expected time, or else at the bound.
    `roofline`: the sum over kernels, each at its own limit, from published peak rates only.
    """

    device: str
    name: str
    precision: str
    batch: int | None
    memory_bytes: int | None
    capacity_bytes: int | None
    fits: bool | None
    seconds: Seconds
    basis: str
    bottleneck: str | None
    coverage: float
    memory: MemoryNeed
    utilisation: float | None
    roofline: float | None
    per_second: float | None
    best_batch: int | None
    rests_on: str | None
    notes: tuple[str, ...]
    operators: tuple[OperatorTime, ...]
    rate: float | None = None  # peak operations per second at the precision of its arithmetic
    bandwidth: float | None = None  # peak bytes per second


class ScaleRow(Struct, frozen=True):
    """One batch size on one device. `seconds`: the expected time, or the bound if the device has none at any batch.

    If other batches have an expected time and this one has none, `seconds` is None: a table does not mix grades.
    """

    device: str
    precision: str
    batch: int
    seconds: float | None
    per_second: float | None
    memory_bytes: int | None
    fits: bool | None
    basis: str
    bottleneck: str | None
    low: float | None = None
    high: float | None = None
    bound: float | None = None


class TokenRow(Struct, frozen=True):
    """A step of a decoder with `context` tokens in its cache. `phase`: prefill (the prompt) or decode (one token).

    `seconds` as in `ScaleRow`, separately for each phase.
    """

    device: str
    precision: str
    phase: str
    context: int
    seconds: float | None
    tokens_per_second: float | None
    memory_bytes: int | None
    fits: bool | None
    basis: str
    bottleneck: str | None
    low: float | None = None
    high: float | None = None
    bound: float | None = None


class Choice(Struct, frozen=True):
    """A device that meets the requirements, with the reason."""

    device: str
    name: str
    precision: str
    memory_bytes: int | None
    capacity_bytes: int | None
    seconds: float | None
    basis: str
    why: str


class Requirements(Struct, frozen=True):
    """The smallest devices that fit and meet the target, by increasing margin; None if no known device does."""

    minimum: Choice | None
    recommended: Choice | None
    comfortable: Choice | None
    target: str
    notes: tuple[str, ...]


class Price(Struct, frozen=True):
    """Cost of a million samples on a device at its best batch size, from the user's price per hour."""

    device: str
    per_hour: float
    per_million: float | None
    batch: int | None
    basis: str


class HardwareSection(Struct, frozen=True):
    devices: tuple[DeviceRow, ...]
    scaling: tuple[ScaleRow, ...]
    best_batch: int | None
    generation: tuple[TokenRow, ...]
    requirements: Requirements | None
    prices: tuple[Price, ...]


class Feed(Struct, frozen=True):
    """One input of a run: type, sizes, and how to fill it, with the fields of a card's `Sample`."""

    name: str
    dtype: str
    dims: tuple[int, ...]
    fill: str = "constant"
    low: int | float | None = None
    high: int | float | None = None
    value: bool | int | float | str | None = 0


class Difference(Struct, frozen=True):
    """A node whose run differs from the card."""

    node: str  # with its scope if it is in a subgraph or function
    op: str
    output: str
    ours: str
    theirs: str


class Agreement(Struct, frozen=True):
    """Nodes of the file that ran, each counted once.

    `unknown_to_us`: a size or type is unknown on the card, the card does not have the node, or onnxruntime reports no
    shape (sequences). `unseen`: nodes that run according to the card and that onnxruntime did not run unchanged: it
    treats constants as weights, inlines functions, and decomposes operators without a kernel. `widened`: half-precision
    nodes that ran in float32 because there is no kernel.
    """

    executed: int
    agreed: int
    unknown_to_us: int
    differed: int
    unseen: int
    widened: int
    examples: tuple[Difference, ...]
    notes: tuple[str, ...] = ()


class Load(Struct, frozen=True):
    """The share of the machine's processors used by other processes, before and during the timing.

    It includes time that the hypervisor withheld (`steal`). None: unknown on this system.
    """

    before: float | None
    during: float | None
    steal: float | None

    @property
    def worst(self) -> float | None:
        return max((share for share in (self.before, self.during) if share is not None), default=None)


class Timing(Struct, frozen=True):
    """Latency of one run after warm-up, with optimizations on."""

    median_seconds: float
    p95_seconds: float
    min_seconds: float
    mean_seconds: float
    runs: int
    warmups: int
    session_seconds: float  # to load and optimize the model
    rss_peak_bytes: int | None  # of the whole process, weights and runtime included
    threads: int | None  # of the intra-op thread pool, if known
    provider: str
    runtime: str
    load: Load


class Measured(Struct, frozen=True):
    """Growth of resident memory during a run, comparable to the card's peak activations.

    Optimizations off, one thread, every tensor allocated and freed separately. Inputs exist before the run, while the
    card counts them as long as they are live. Values computed from weights alone (transposed, dequantized) are
    recomputed in such a run, while the card counts them as weights. `card_bytes` None: unknown on the card. A peak
    below 1 MiB is dominated by the operating system (`tells`) and has no ratio.
    """

    LEAST: ClassVar[int] = 1 << 20  # systems count a process's pages in batches

    peak_bytes: int
    input_bytes: int | None  # None: unknown, for strings
    card_bytes: int | None
    ratio: float | None  # measured to the card's
    how: str

    @property
    def tells(self) -> bool:
        return self.peak_bytes >= self.LEAST


class MeasuredOperatorTime(Struct, frozen=True):
    """Kernels of one type, as onnxruntime names them after optimization; times are per run."""

    op: str
    kernels: int
    seconds: float
    share: float


class Machine(Struct, frozen=True):
    cpu: str
    cores: int
    memory_bytes: int | None
    system: str


class Verified(Struct, frozen=True):
    """Comparison of the card's shapes with a run, and the cost of the run.

    `refused` is the reason why there is no timing. `by_node` maps nodes with their scope to seconds; a fused kernel
    counts for the node whose name it kept. `attributed` is the share of kernel time in `by_node`, `fused` the part of
    that in kernels of another op type than the node's. All figures hold for inputs of the sizes in `feeds`.
    """

    agreement: Agreement
    timing: Timing | None
    refused: str | None
    memory: Measured | None
    memory_refused: str | None
    by_operator: tuple[MeasuredOperatorTime, ...]
    by_node: dict[str, float]
    attributed: float | None
    fused: float | None
    runtime: str
    provider: str
    threads: int | None
    load: Load | None
    machine: Machine
    feeds: tuple[Feed, ...] = ()

    @property
    def agrees(self) -> bool:
        return self.agreement.differed == 0
