"""Options of a run, and the messages between the tool and its worker process: one request in, lines of JSON out."""

import os
from typing import Final, Literal

from msgspec import Struct

from onnx_autodoc.card import Feed, MeasuredOperatorTime, Timing
from onnx_autodoc.limits import Limits

CPU: Final = "CPUExecutionProvider"
_PROVIDER_SUFFIX: Final = "executionprovider"

# Types of inputs that can be generated. Values: TensorProto.DataType, and the name in ml_dtypes.
NUMPY_TYPES: Final = frozenset(
    (
        *("float16", "float32", "float64", "complex64", "complex128", "bool"),
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)
FLOAT8_TYPES: Final = {
    "float8e4m3fn": (17, "float8_e4m3fn"),
    "float8e4m3fnuz": (18, "float8_e4m3fnuz"),
    "float8e5m2": (19, "float8_e5m2"),
    "float8e5m2fnuz": (20, "float8_e5m2fnuz"),
}
PACKED_4BIT_TYPES: Final = {"uint4": 21, "int4": 22, "float4e2m1": 23}
FILLABLE_TYPES: Final = frozenset((*NUMPY_TYPES, *FLOAT8_TYPES, *PACKED_4BIT_TYPES, "bfloat16", "string"))


def short_provider_name(name: str) -> str:
    """Return the name of an execution provider in lower case, without its suffix."""
    return name.lower().removesuffix(_PROVIDER_SUFFIX)


def is_cpu_provider(name: str) -> bool:
    return short_provider_name(name) == short_provider_name(CPU)


NodePath = tuple[int | str, ...]  # node index, or node index, subgraph name, node index, …
Job = Literal["shapes", "time", "operators", "memory", "benchmarks"]
TensorType = tuple[str, tuple[int, ...]]  # dtype and dims of one output, as onnxruntime reports them


class Options(Struct, frozen=True):
    """How to run a model. `runs` None: at least 10, for about two seconds. `threads` None: onnxruntime's default."""

    threads: int | None = None
    runs: int | None = None
    provider: str = CPU
    timeout: float = 600
    force: bool = False  # measure latency even on a busy machine


class RunRequest(Struct, frozen=True):
    """One job for one worker process. `encoded_path` is a model, except for benchmarks.

    `fingerprint` is that of the model when it was read for the card; empty if any model may run.
    `max_background_load` is the share of the machine that other processes may use before timing is refused (None: any).
    `graph_seconds` is the time for each benchmark graph.
    """

    job: Job
    encoded_path: bytes  # as the file system encodes it: JSON has no text for some paths
    feeds: tuple[Feed, ...] = ()
    provider: str = CPU
    threads: int | None = None
    runs: int | None = None
    folder: str = ""  # for files that onnxruntime writes
    max_background_load: float | None = None
    graph_seconds: float = 0.0
    parent_pid: int = 0
    memory_bytes: int | None = None  # limit of the worker
    seconds: float = 600  # limit of the worker
    limits: Limits = Limits()  # of reading the model
    fingerprint: str = ""

    @property
    def path(self) -> str:
        return os.fsdecode(self.encoded_path)


class Stage(Struct, frozen=True, tag="stage"):
    """Progress: the current activity; `of` is 0 where the total is unknown."""

    doing: str
    done: int = 0
    of: int = 0


class Failure(Struct, frozen=True, tag="failed"):
    """The activity that failed, and why: rejected by onnxruntime, a wrong request, or a limit."""

    doing: str
    text: str
    kind: Literal["rejected", "request", "memory", "limit"] = "rejected"


class NodeExecution(Struct, frozen=True):
    """A node that ran `times` times, with each distinct combination of output types."""

    path: NodePath
    op: str
    outputs: tuple[tuple[TensorType, ...], ...]
    times: int


class ShapesResult(Struct, frozen=True, tag="ran"):
    executions: tuple[NodeExecution, ...]
    runtime: str
    provider: str
    truncated: bool = False  # onnxruntime dropped profile events
    accessible: tuple[str, ...] = ()  # what the system did not deny onnxruntime


class TimingResult(Struct, frozen=True, tag="timed"):
    timing: Timing
    accessible: tuple[str, ...] = ()


class BusyResult(Struct, frozen=True, tag="busy"):
    """No timing: other processes used too much of the machine."""

    load: float
    steal: float | None
    threads: int | None


class OperatorsResult(Struct, frozen=True, tag="operators"):
    """`nodes` has seconds by node, and whether they are of a kernel for another operator."""

    rows: tuple[MeasuredOperatorTime, ...] = ()
    nodes: tuple[tuple[NodePath, float, bool], ...] = ()
    seconds: float = 0.0


class MemoryResult(Struct, frozen=True, tag="peak"):
    peak_bytes: int
    input_bytes: int | None
    how: str


class BenchmarkTime(Struct, frozen=True):
    """Fastest median of one benchmark graph, and its work: (kernel class, quantity, amount)."""

    name: str
    seconds: float
    work: tuple[tuple[str, str, float], ...]


class BenchmarksResult(Struct, frozen=True, tag="benchmarks"):
    times: tuple[BenchmarkTime, ...]
    bandwidth: float  # bytes per second
    cache: float  # bytes
    runtime: str


Result = ShapesResult | TimingResult | BusyResult | OperatorsResult | MemoryResult | BenchmarksResult
Message = Stage | Failure | Result
