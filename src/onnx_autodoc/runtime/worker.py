"""The worker process that runs onnxruntime: a request on standard input, lines of JSON on standard output.

Output of native code is discarded; whatever native code does to this process, the tool reports it in one line.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from onnx_autodoc.runtime.measurement import measure_latency, measure_memory
from onnx_autodoc.runtime.ort_profile import (
    MAX_EVENTS,
    NodeNames,
    TooManyNodes,
    collect_executions,
    read_events,
    sum_operators,
)
from onnx_autodoc.runtime.protocol import (
    BenchmarksResult,
    Failure,
    Message,
    OperatorsResult,
    Result,
    RunRequest,
    ShapesResult,
    Stage,
)
from onnx_autodoc.runtime.session import ReportStage, RequestError, Session

_PR_SET_PDEATHSIG: Final = 1
_MAX_FILE_BYTES: Final = 4 << 30  # of a profile
_START_SECONDS: Final = 60  # of processor time, in addition to that for the job
_MAX_PROFILED_RUNS: Final = 20
_MAX_PROFILED_SECONDS: Final = 5.0


def main() -> None:
    """Do one job, then exit without cleanup: native cleanup may hang."""
    out = _redirect_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=RunRequest)
    if os.getppid() != request.parent_pid:  # the parent died before prctl
        os._exit(1)
    set_limits(request.memory_bytes, request.seconds)
    request = msgspec.structs.replace(request, path=str(Path(request.path).absolute()))
    os.chdir(request.folder or "/")  # files that native code writes by a relative name are deleted with the folder
    _send(out, run_job(request, lambda stage: _send(out, stage)))
    os._exit(0)


def _redirect_output() -> int:
    """Return a descriptor for messages; send standard output and error to the null device."""
    out = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    return out


def _send(out: int, message: Message) -> None:
    data = memoryview(msgspec.json.encode(message) + b"\n")
    while data:
        data = data[os.write(out, data) :]


def set_limits(memory_bytes: int | None, seconds: float) -> None:
    """Limit this process. Private memory counts, weights mapped from their file do not.

    Replaces the limits of the parent process, which are for reading files.
    """
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_FSIZE, _MAX_FILE_BYTES)
    _set_limit(resource.RLIMIT_CPU, int(seconds * (os.cpu_count() or 1)) + _START_SECONDS)
    _set_limit(resource.RLIMIT_AS, None)
    # macOS does not limit private memory
    _set_limit(resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS, memory_bytes)


def _set_limit(kind: int, limit: int | None) -> None:
    """Set a soft limit; None, or more than the hard limit, sets it to the hard limit."""
    _, hard = resource.getrlimit(kind)
    if limit is None or (hard != resource.RLIM_INFINITY and limit > hard):
        limit = hard
    resource.setrlimit(kind, (limit, hard))


def run_job(request: RunRequest, report: ReportStage) -> Result | Failure:
    """Return the result, or the failure with the activity during which it happened."""
    doing = "starting onnxruntime"
    names: list[NodeNames] = []

    def report_stage(stage: Stage) -> None:
        nonlocal doing
        doing = stage.doing
        report(stage)

    try:
        report_stage(Stage(doing))
        import onnxruntime  # noqa: F401 (fails here, not while loading the model)

        return _JOBS[request.job](request, report_stage, names)
    except RequestError as error:
        return Failure(doing, str(error), "request")
    except TooManyNodes as error:
        return Failure(doing, str(error), "limit")
    except MemoryError:
        return Failure(doing, "out of memory", "memory")
    except Exception as error:  # whatever onnxruntime, onnx or protobuf raises
        text = str(error) or type(error).__name__
        if "bad_alloc" in text or "allocate memory" in text.lower():
            return Failure(doing, text, "memory")
        return Failure(doing, names[0].restore_names(text) if names else text)


def _run_shapes(request: RunRequest, report: ReportStage, renamed: list[NodeNames]) -> ShapesResult:
    session, names = _open_profiled(request, report, renamed, optimized=False)
    report(Stage("running the model"))
    session.run()
    report(Stage("comparing shapes"))
    executions, truncated = collect_executions(read_events(session.end_profiling()), names)
    return ShapesResult(executions, session.runtime, session.provider, truncated)


def _run_operators(request: RunRequest, report: ReportStage, renamed: list[NodeNames]) -> OperatorsResult:
    """Profile several runs of the optimized model, within the number of events that onnxruntime records."""
    session, names = _open_profiled(request, report, renamed, optimized=True)
    recordable = MAX_EVENTS // 4 // max(len(names.paths), 1)
    max_runs = max(1, min(request.runs or _MAX_PROFILED_RUNS, _MAX_PROFILED_RUNS, recordable))
    runs, start = -1, time.monotonic()  # the first one is a warm-up
    while runs < max_runs and (runs < 1 or time.monotonic() - start < _MAX_PROFILED_SECONDS):
        report(Stage("timing operators", runs + 1, max_runs + 1))
        session.run()
        runs += 1
    return sum_operators(read_events(session.end_profiling()), names, runs)


def _run_benchmarks(request: RunRequest, report: ReportStage, _: list[NodeNames]) -> BenchmarksResult:
    from onnx_autodoc.runtime.calibration.benchmarks import time_graphs  # imports the analysis of models

    return time_graphs(request, report)


def _open_profiled(
    request: RunRequest, report: ReportStage, renamed: list[NodeNames], *, optimized: bool
) -> tuple[Session, NodeNames]:
    """Rename the nodes, and open a session that writes a profile into the request's folder."""
    report(Stage("reading the model"))
    names = NodeNames(request.path)
    renamed.append(names)
    settings = {"enable_profiling": True, "profile_file_prefix": str(Path(request.folder) / request.job)}
    return Session(request, report, optimized=optimized, names=names, settings=settings), names


_JOBS: Final[Mapping[str, Callable[[RunRequest, ReportStage, list[NodeNames]], Result]]] = {
    "shapes": _run_shapes,
    "operators": _run_operators,
    "benchmarks": _run_benchmarks,
    "time": lambda request, report, _: measure_latency(request, report),
    "memory": lambda request, report, _: measure_memory(request, report),
}


if __name__ == "__main__":
    main()
