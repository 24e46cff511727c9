"""What goes between this process and the one that runs the model: a task in, lines of JSON out."""

from typing import Literal

from msgspec import Struct

from onnx_autodoc.runtime._types import Feed, MeasuredOperatorTime, Timing

Way = tuple[int | str, ...]  # to a node: its place in the graph, or place, body, place, …
Job = Literal["shapes", "time", "operators", "memory"]
Cell = tuple[str, tuple[int, ...]]  # the type and dims of one output, as onnxruntime says them


class Task(Struct, frozen=True):
    """`busiest`: the share of the machine that others may use before there is no timing; None: any."""

    what: Job
    path: str
    feeds: tuple[Feed, ...]
    provider: str
    threads: int | None = None
    runs: int | None = None
    folder: str = ""  # for the profile, which onnxruntime writes to a file
    busiest: float | None = None
    runtime: str = "onnxruntime"
    parent: int = 0  # the process that asks
    memory: int | None = None  # bytes that it may take
    seconds: float = 600  # that are left


class Stage(Struct, frozen=True, tag="stage"):
    """What is being done; `of` 0: nobody knows how much there is."""

    doing: str
    done: int = 0
    of: int = 0


class Failed(Struct, frozen=True, tag="failed"):
    """What was being done, and what went wrong: onnxruntime refused (bad), or the request is wrong, or a limit."""

    doing: str
    text: str
    kind: Literal["bad", "request", "memory", "limit"] = "bad"


class Execution(Struct, frozen=True):
    """A node that ran: its outputs in each run that differed from the others, and how often it ran."""

    way: Way
    op: str
    outputs: tuple[tuple[Cell, ...], ...]
    times: int


class Ran(Struct, frozen=True, tag="ran"):
    executions: tuple[Execution, ...]
    runtime: str
    provider: str
    full: bool = False  # the profile holds no more events than it has


class Timed(Struct, frozen=True, tag="timed"):
    timing: Timing


class Busy(Struct, frozen=True, tag="busy"):
    share: float
    steal: float | None
    runtime: str
    threads: int | None


class Operators(Struct, frozen=True, tag="operators"):
    rows: tuple[MeasuredOperatorTime, ...]
    nodes: tuple[tuple[Way, float, bool], ...]  # seconds, and whether in a kernel of another operator
    seconds: float


class Peak(Struct, frozen=True, tag="peak"):
    peak_bytes: int
    input_bytes: int | None
    how: str


Message = Stage | Failed | Ran | Timed | Busy | Operators | Peak
