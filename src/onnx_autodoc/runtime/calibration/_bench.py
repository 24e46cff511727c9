"""Asking the machine: benchmark graphs run in a process of their own, and what each was made of."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from onnx_autodoc.analysis import Costs, Facts
from onnx_autodoc.errors import BadInput
from onnx_autodoc.readers import read
from onnx_autodoc.runtime import PRIVATE, given, temporary
from onnx_autodoc.runtime.calibration._fit import Run, totals
from onnx_autodoc.runtime.calibration._tasks import Task, tasks
from onnx_autodoc.sandbox import cleared_up
from onnx_autodoc.shapes import Request, fit

_COMMAND: Final = ("-P", "-m", "onnx_autodoc.runtime.calibration._child")
_CACHE_FOLDER: Final = Path("/sys/devices/system/cpu/cpu0/cache")
_USUAL_CACHE: Final = float(32 << 20)
_UNITS: Final = {"K": 1 << 10, "M": 1 << 20}

Watch = Callable[[str, int], None]  # what was run, and how many that makes


class Answers(Struct, frozen=True):
    runs: tuple[Run, ...]
    bandwidth: float
    cache: float
    runtime: str  # its name and version


def answers(seconds: float, threads: int, watch: Watch) -> Answers:
    """Every benchmark graph for so many seconds each, in several sweeps: its quietest moment counts."""
    cache, first = cache_size(), dict[str, Any]()
    runs: dict[str, Run] = {}
    with given("the benchmarks"), temporary() as folder:
        for answer in _lines(folder, seconds, threads):
            if "bandwidth" in answer:
                first = answer
                continue
            name, seconds, before = answer["name"], float(answer["seconds"]), runs.get(answer["name"])
            inside = before.totals if before else totals(lowered(answer["path"], answer["dims"]), cache)
            runs[name] = Run(name, min(seconds, before.seconds) if before else seconds, inside)
            Path(answer["path"]).unlink()
            watch(name, len(runs))
    return Answers(tuple(runs.values()), float(first["bandwidth"]), cache, first["runtime"])


def _lines(folder: str, seconds: float, threads: int) -> Iterator[dict[str, Any]]:
    command, around = [sys.executable, *_COMMAND, folder, str(seconds), str(threads)], {**os.environ, **PRIVATE}
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with cleared_up(), subprocess.Popen(command, **pipes, text=True, env=around) as child:  # noqa: S603
        assert child.stdout is not None and child.stderr is not None
        try:
            for line in child.stdout:
                yield json.loads(line)
                print(file=child.stdin, flush=True)  # it waits: what is done here would be load on what it times
            last = child.stderr.read().strip().splitlines()[-1:]
        except BaseException:  # also one that stops the whole program: nothing is left running
            child.kill()
            raise
    if child.returncode:
        raise BadInput(f"the benchmarks stopped: {last[0] if last else f'exit code {child.returncode}'}")


def lowered(path: str, dims: dict[str, list[int]]) -> list[Task]:
    """The kernels of a model file at given sizes of its inputs."""
    model = read(path)
    asked = tuple(f"{name}.{axis}={size}" for name, sizes in dims.items() for axis, size in enumerate(sizes))
    _, shapes = fit(model, Request(dims=asked))
    return tasks(model, shapes, Costs(model, shapes))


def lowered_facts(facts: Facts) -> list[Task]:
    return tasks(facts.model, facts.shapes, facts.costs)


def count() -> int:
    """How many benchmarks there are."""
    from onnx_autodoc.runtime.calibration.graphs import graphs

    return len(graphs())


def cache_size() -> float:
    """Bytes of the largest cache of the first processor, where the system tells."""
    sizes = []
    for path in _CACHE_FOLDER.glob("index*/size"):
        text = path.read_text(encoding="ascii").strip()
        if text[:-1].isdigit() and text[-1] in _UNITS:
            sizes.append(float(int(text[:-1]) * _UNITS[text[-1]]))
    return max(sizes, default=_USUAL_CACHE)
