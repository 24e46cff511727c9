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
    """`bound`: cannot be faster than. The others only where something was measured that they rest on."""

    bound: float | None
    low: float | None = None
    expected: float | None = None
    high: float | None = None


class MemoryNeed(Struct, frozen=True):
    """`activations` has the key-value cache in it, as far as it goes in or out of the run; `overhead` is assumed."""

    weights: int
    activations: int | None
    overhead: int


class OperatorTime(Struct, frozen=True):
    """The kernels that operators of one type give their name: their part of the roofline, and what limits them."""

    op: str
    kernels: int
    seconds: float
    share: float
    bottleneck: str


class DeviceRow(Struct, frozen=True):
    """A model on a device.

    `basis`: what `seconds` rest on: bound, typical, calibrated, or measured. `bottleneck`: compute, memory, or launches
    (many small kernels). `utilisation`: the share of the device's peak rate that the expected time, or else the bound,
    comes to. `roofline`: each kernel at its own limit, one after the other, before anything that was measured.
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
    rate: float | None = None  # operations per second at most, as the precision is computed on it
    bandwidth: float | None = None  # bytes per second at most


class ScaleRow(Struct, frozen=True):
    """One batch on one device. `seconds`: the expected ones, or on a device that has none at any batch, the bound.

    Where other batches have expected ones and this one has not, `seconds` is None: grades are not mixed in one table.
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
    """A step of a decoder with so many tokens in its cache: `phase` is prefill (all at once) or decode (one more).

    `seconds` as in `ScaleRow`, for each phase by itself.
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
    """One input, and how to fill it: the fields of a card's `Sample` (structure/samples.py) beside type and sizes."""

    name: str
    dtype: str
    dims: tuple[int, ...]
    fill: str = "constant"
    low: int | float | None = None
    high: int | float | None = None
    value: bool | int | float | str | None = 0


class Difference(Struct, frozen=True):
    """A node whose run differs from the card."""

    node: str  # with the way to it where it is inside of others
    op: str
    output: str
    ours: str
    theirs: str


class Agreement(Struct, frozen=True):
    """Nodes of the file that ran, each counted once however often it did.

    `unknown_to_us`: the card leaves a size or a type open, or does not have the node, or onnxruntime tells no shape of
    it (of a sequence). `unseen`: nodes that the card says run, and that
    onnxruntime did not run as they stand: constants are weights to it, calls of functions are their bodies, and
    operators that it has no kernel for are written out as others. `widened`: nodes of half precision that it ran in
    float32, for want of a kernel.
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
    """The share of the whole machine's processors that others used, before and during the timing.

    Time that a hypervisor took away (`steal`) is others' too. None: the system does not tell.
    """

    before: float | None
    during: float | None
    steal: float | None

    @property
    def worst(self) -> float | None:
        return max((share for share in (self.before, self.during) if share is not None), default=None)


class Timing(Struct, frozen=True):
    """Latency of one run after warm-up, optimisations on."""

    median_seconds: float
    p95_seconds: float
    min_seconds: float
    mean_seconds: float
    runs: int
    warmups: int
    session_seconds: float  # to load and optimise the model
    rss_peak_bytes: int | None  # of the whole process, weights and runtime included
    threads: int | None  # that work inside of operators, where the system tells
    provider: str
    runtime: str
    load: Load


class Measured(Struct, frozen=True):
    """Memory that a run took above what was there before it: what the card calls peak activations.

    Optimisations off, one thread, every tensor allocated and freed by itself. Inputs are the caller's and were there
    before: the card counts them while they are read. What a file computes from weights alone (turned, dequantized) is
    made anew in such a run; the card counts it as weights. `card_bytes` None: the card knows none. A peak below a MiB
    is more of the system than of the model (`tells`), and has no ratio.
    """

    LEAST: ClassVar[int] = 1 << 20  # systems count a process's pages in batches

    peak_bytes: int
    input_bytes: int | None  # None: of texts a file does not tell
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
    """Whether the card's shapes are what really happened, and what the run took.

    `refused` says why there is no timing. `by_node` has the seconds of nodes by their way in the file; a kernel that
    several nodes were fused into counts for the one whose name it kept. `attributed` is the share of kernel time in
    `by_node`, `fused` the part of that in kernels of another operator than the node's. All of it holds for inputs of
    the sizes in `feeds`.
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
