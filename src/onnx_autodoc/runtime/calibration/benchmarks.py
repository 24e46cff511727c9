"""Benchmark graphs timed in a worker process, with the work of each."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.runtime.calibration.fit import TimedGraph, sum_work
from onnx_autodoc.runtime.calibration.graphs import DYNAMIC_SIZES, all_graphs
from onnx_autodoc.runtime.calibration.lowering import lower_file
from onnx_autodoc.runtime.machine import cache_size
from onnx_autodoc.runtime.process import Deadline, report_os_errors, run_worker, temporary_folder
from onnx_autodoc.runtime.protocol import BenchmarksResult, BenchmarkTime, RunRequest, Stage
from onnx_autodoc.sandbox import raise_on_termination

_SWEEPS: Final = 3  # over all graphs, so that a disturbance does not affect every run of one graph
_SINGLE_SWEEP_SECONDS: Final = 0.1  # below this time for each graph there is one sweep
_DEFAULT_DYNAMIC_SIZE: Final = 4
_DTYPES: Final = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
_MIN_RUNS: Final = 5
_COPIED_BYTES: Final = 256 << 20  # more than any cache holds
_COPY_PASSES: Final = 4


class Benchmarks(Struct, frozen=True):
    graphs: tuple[TimedGraph, ...]
    bandwidth: float  # bytes per second, read and written
    cache_bytes: float
    runtime: str  # name and version


def run_benchmarks(
    graph_seconds: float, threads: int, max_seconds: float, report: Callable[[Stage], None]
) -> Benchmarks:
    """Time every benchmark graph; of several sweeps the fastest counts. `threads` 0: onnxruntime's default."""
    subject = "the benchmarks"
    request = RunRequest("benchmarks", subject.encode(), threads=threads, graph_seconds=graph_seconds)
    with report_os_errors(subject), raise_on_termination(), temporary_folder() as folder:
        result = run_worker(replace(request, folder=folder), Deadline(max_seconds), report)
    assert isinstance(result, BenchmarksResult)
    graphs = (
        TimedGraph(graph.name, graph.seconds, {(kind, name): amount for kind, name, amount in graph.work})
        for graph in result.times
    )
    return Benchmarks(tuple(graphs), result.bandwidth, result.cache, result.runtime)


def time_graphs(request: RunRequest, report: Callable[[Stage], None]) -> BenchmarksResult:
    """Time all graphs, one after the other; in the worker process."""
    import onnxruntime

    threads, cache_bytes = request.threads or 0, cache_size()
    affinity = getattr(os, "sched_getaffinity", None)
    cores = threads or (len(affinity(0)) if affinity else os.cpu_count() or 1)
    bandwidth = measure_bandwidth(cores)
    sweeps = 1 if request.graph_seconds < _SINGLE_SWEEP_SECONDS else _SWEEPS
    graphs, timed, path = all_graphs(), dict[str, TimedGraph](), Path(request.folder) / "graph.onnx"
    for _ in range(sweeps):
        for name, make in graphs.items():
            report(Stage(f"benchmark {name}", len(timed), len(graphs)))
            path.write_bytes(make().SerializeToString())
            dims, seconds = _time_graph(name, path, request.graph_seconds / sweeps, threads)
            before = timed.get(name)
            work = before.work if before else sum_work(lower_file(path, dims), cache_bytes)
            timed[name] = TimedGraph(name, min(seconds, before.seconds) if before else seconds, work)
    times = (
        BenchmarkTime(graph.name, graph.seconds, tuple((*key, amount) for key, amount in graph.work.items()))
        for graph in timed.values()
    )
    return BenchmarksResult(tuple(times), bandwidth, cache_bytes, f"onnxruntime {onnxruntime.__version__}")


def _time_graph(name: str, path: Path, seconds: float, threads: int) -> tuple[dict[str, tuple[int, ...]], float]:
    """Return the dims of the inputs and the median time of a run."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    default = DYNAMIC_SIZES.get(name, _DEFAULT_DYNAMIC_SIZE)
    dims = {
        value.name: tuple(dim if isinstance(dim, int) else default for dim in value.shape)
        for value in session.get_inputs()
    }
    feeds = {
        value.name: np.random.default_rng(0).random(dims[value.name]).astype(_DTYPES[value.type])
        for value in session.get_inputs()
    }
    return dims, median_seconds(lambda: session.run(None, feeds), seconds)


def median_seconds(run: Callable[[], object], seconds: float) -> float:
    """Time runs for this long, after two warm-up runs."""
    run()
    run()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < _MIN_RUNS or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def measure_bandwidth(threads: int) -> float:
    """Return the bytes per second, read and written, of one memory copy by all threads."""
    source = np.ones(_COPIED_BYTES // 8)
    target = np.zeros_like(source)
    pieces = list(zip(np.array_split(source, threads), np.array_split(target, threads)))
    best = 0.0
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(_COPY_PASSES):
            start = time.perf_counter()
            list(pool.map(lambda pair: np.copyto(pair[1], pair[0]), pieces))
            best = max(best, 2 * source.nbytes / (time.perf_counter() - start))
    return best
