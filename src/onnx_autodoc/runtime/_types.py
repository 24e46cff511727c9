"""What running a model tells: plain data in base units (seconds, bytes, shares of 1)."""

from typing import ClassVar, Final

from msgspec import Struct

CPU: Final = "CPUExecutionProvider"


class Feed(Struct, frozen=True):
    """One input, and how to fill it: the fields of a card's `Sample` (structure/samples.py) beside type and sizes."""

    name: str
    dtype: str
    dims: tuple[int, ...]
    fill: str = "constant"
    low: int | float | None = None
    high: int | float | None = None
    value: bool | int | float | str | None = 0


class Options(Struct, frozen=True):
    """How to run. `runs` None: at least 10, for about two seconds. `threads` None: onnxruntime decides."""

    threads: int | None = None
    runs: int | None = None
    provider: str = CPU
    timeout: float = 600
    force: bool = False  # a latency also from a busy machine


class Difference(Struct, frozen=True):
    """A node that did otherwise than the card says."""

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
    """Kernels of one type, as onnxruntime calls them after its optimisations; times are of one run."""

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
