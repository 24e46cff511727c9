"""The process that runs the benchmark graphs: a line of JSON for each. Started by `_bench`, with a folder and seconds.

A graph is written into the folder, where the parent reads it as it reads any model; its inputs are random numbers.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np

from onnx_autodoc.runtime._bounds import bound
from onnx_autodoc.runtime.calibration.graphs import graphs

OPEN_SIZES: Final = {"encoder 768": 128, "tiny encoder": 16}  # of the graphs with a dimension that is not fixed
SWEEPS: Final = 3  # over all graphs, so that what disturbs one moment does not disturb a graph's every run
_SHORT: Final = 0.1  # seconds for a graph: once is enough for who is in a hurry
_OPEN: Final = 4
_LONGEST: Final = 3600  # seconds
_DTYPES: Final = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
_LEAST: Final = 5  # runs
_COPIED: Final = 256 << 20  # bytes
_PASSES: Final = 4


def main(folder: str, seconds: float, threads: int) -> None:
    """Within limits of its own: those of who started it are for reading files."""
    bound(None, _LONGEST)
    import onnxruntime

    cores = threads or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    _say({"bandwidth": bandwidth(cores), "runtime": f"onnxruntime {onnxruntime.__version__}"})
    sweeps = 1 if seconds < _SHORT else SWEEPS
    for _ in range(sweeps):
        for at, (name, make) in enumerate(graphs().items()):
            path = Path(folder) / f"{at}.onnx"
            path.write_bytes(make().SerializeToString())
            _say({"name": name, "path": str(path), **_timed(name, path, seconds / sweeps, threads)})


def _say(answer: dict[str, Any]) -> None:
    """And wait until it was heard; where nobody is left to hear it, there is nothing more to do."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    if not sys.stdin.readline():
        sys.exit(1)


def _timed(name: str, path: Path, seconds: float, threads: int) -> dict[str, Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    feeds = {each.name: _array(each, OPEN_SIZES.get(name, _OPEN)) for each in session.get_inputs()}
    run: Callable[[], Any] = lambda: session.run(None, feeds)  # noqa: E731
    return {"seconds": median_time(run, seconds), "dims": {key: list(value.shape) for key, value in feeds.items()}}


def _array(wanted: Any, size: int) -> "np.ndarray[Any, Any]":
    dims = [dim if isinstance(dim, int) else size for dim in wanted.shape]
    return np.random.default_rng(0).random(dims).astype(_DTYPES[wanted.type])


def median_time(run: Callable[[], Any], seconds: float) -> float:
    """After two runs to warm up."""
    run()
    run()
    each: list[float] = []
    end = time.perf_counter() + seconds
    while len(each) < _LEAST or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        each.append(time.perf_counter() - start)
    return float(np.median(each))


def bandwidth(threads: int) -> float:
    """Bytes a second, read and written, when each thread copies a piece of what no cache can hold."""
    source = np.ones(_COPIED // 8)
    target = np.zeros_like(source)
    pieces = list(zip(np.array_split(source, threads), np.array_split(target, threads)))
    best = 0.0
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(_PASSES):
            start = time.perf_counter()
            list(pool.map(lambda pair: np.copyto(pair[1], pair[0]), pieces))
            best = max(best, 2 * source.nbytes / (time.perf_counter() - start))
    return best


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
