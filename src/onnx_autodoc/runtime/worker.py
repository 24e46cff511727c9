"""The worker process that runs onnxruntime: a request on standard input, lines of JSON on standard output.

The model is read and encoded again before onnxruntime gets it, and the process gives up access to other files. Output
of native code is discarded; whatever native code does to this process, the tool reports it in one line.
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
from msgspec import Struct

from onnx_autodoc.decoding import decode_json
from onnx_autodoc.errors import AutodocError, LimitReached
from onnx_autodoc.limits import within
from onnx_autodoc.runtime.confinement import confine
from onnx_autodoc.runtime.measurement import measure_latency, measure_memory
from onnx_autodoc.runtime.model_loading import LoadedModel, load_model
from onnx_autodoc.runtime.ort_profile import (
    MAX_EVENTS,
    NodeNames,
    ShadowedOperator,
    TooManyNodes,
    collect_executions,
    read_events,
    sum_operators,
)
from onnx_autodoc.runtime.protocol import (
    BenchmarksResult,
    BusyResult,
    Failure,
    Message,
    OperatorsResult,
    Result,
    RunRequest,
    ShapesResult,
    Stage,
    TimingResult,
    is_cpu_provider,
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
    request = decode_json(sys.stdin.buffer.read(), RunRequest)
    if os.getppid() != request.parent_pid:  # the parent died before prctl
        os._exit(1)
    set_limits(request.memory_bytes, request.seconds)
    request = msgspec.structs.replace(request, encoded_path=os.fsencode(Path(request.path).absolute()))
    os.chdir(request.folder or "/")  # files that native code writes by a relative name are deleted with the folder
    _send(out, run_confined(request, lambda stage: _send(out, stage)))
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


class Job(Struct):
    """A request, its model (empty for benchmarks), and the names that its nodes have for onnxruntime."""

    request: RunRequest
    report: ReportStage
    model: LoadedModel
    accessible: tuple[str, ...]  # what the system cannot deny this process
    names: NodeNames | None = None


def run_confined(request: RunRequest, report: ReportStage) -> Result | Failure:
    """Run a job, and restrict this process before onnxruntime gets the model."""
    with_drivers = not is_cpu_provider(request.provider)
    return run_job(request, report, lambda: confine(request.folder, with_drivers=with_drivers))


def run_job(
    request: RunRequest, report: ReportStage, confine_process: Callable[[], tuple[str, ...]]
) -> Result | Failure:
    """Return the result, or the failure with the activity during which it happened."""
    doing = "reading the model"
    job: Job | None = None

    def report_stage(stage: Stage) -> None:
        nonlocal doing
        doing = stage.doing
        report(stage)

    try:
        report_stage(Stage(doing))
        with within(request.limits):
            is_benchmark = request.job == "benchmarks"
            model = LoadedModel(b"", {}) if is_benchmark else load_model(request.path, request.fingerprint)
        job = Job(request, report_stage, model, confine_process())  # before onnxruntime starts threads
        report_stage(Stage("starting onnxruntime"))
        import onnxruntime  # noqa: F401 (fails here, not while loading the model)

        return _JOBS[request.job](job)
    except AutodocError as error:  # of reading
        text = str(error).removeprefix(f"{request.path}: ")
        return Failure(doing, text, "limit" if isinstance(error, LimitReached) else "request")
    except (RequestError, ShadowedOperator) as error:
        return Failure(doing, str(error), "request")
    except TooManyNodes as error:
        return Failure(doing, str(error), "limit")
    except MemoryError:
        return Failure(doing, "out of memory", "memory")
    except Exception as error:  # whatever onnxruntime, onnx or protobuf raises
        text = str(error) or type(error).__name__
        if "bad_alloc" in text or "allocate memory" in text.lower():
            return Failure(doing, text, "memory")
        return Failure(doing, job.names.restore_names(text) if job is not None and job.names is not None else text)


def _run_shapes(job: Job) -> ShapesResult:
    session, names = _open_profiled(job, optimized=False)
    job.report(Stage("running the model"))
    session.run()
    job.report(Stage("comparing shapes"))
    executions, truncated = collect_executions(read_events(session.end_profiling()), names)
    return ShapesResult(executions, session.runtime, session.provider, truncated, job.accessible)


def _run_timing(job: Job) -> TimingResult | BusyResult:
    result = measure_latency(job.request, job.model, job.report)
    return msgspec.structs.replace(result, accessible=job.accessible) if isinstance(result, TimingResult) else result


def _run_operators(job: Job) -> OperatorsResult:
    """Profile several runs of the optimized model, within the number of events that onnxruntime records."""
    session, names = _open_profiled(job, optimized=True)
    recordable = MAX_EVENTS // 4 // max(len(names.paths), 1)
    max_runs = max(1, min(job.request.runs or _MAX_PROFILED_RUNS, _MAX_PROFILED_RUNS, recordable))
    runs, start = -1, time.monotonic()  # the first one is a warm-up
    while runs < max_runs and (runs < 1 or time.monotonic() - start < _MAX_PROFILED_SECONDS):
        job.report(Stage("timing operators", runs + 1, max_runs + 1))
        session.run()
        runs += 1
    return sum_operators(read_events(session.end_profiling()), names, runs)


def _run_benchmarks(job: Job) -> BenchmarksResult:
    from onnx_autodoc.runtime.calibration.benchmarks import time_graphs  # imports the analysis of models

    return time_graphs(job.request, job.report)


def _open_profiled(job: Job, *, optimized: bool) -> tuple[Session, NodeNames]:
    """Rename the nodes, and open a session that writes a profile into the request's folder."""
    names = job.names = NodeNames(job.model.data)
    profile = str(Path(job.request.folder) / job.request.job)
    settings = {"enable_profiling": True, "profile_file_prefix": profile}
    renamed = job.model._replace(data=names.data)
    return Session(job.request, renamed, job.report, optimized=optimized, settings=settings), names


_JOBS: Final[Mapping[str, Callable[[Job], Result]]] = {
    "shapes": _run_shapes,
    "operators": _run_operators,
    "benchmarks": _run_benchmarks,
    "time": _run_timing,
    "memory": lambda job: measure_memory(job.request, job.model, job.report),
}
