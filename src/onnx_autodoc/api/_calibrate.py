"""Measuring this machine once, and reading what was found."""

import os
import time
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from onnx_autodoc.analysis import Costs, Facts, binding_at
from onnx_autodoc.api._making import Making
from onnx_autodoc.errors import BadInput
from onnx_autodoc.hardware import CALIBRATED, Demand, Floor, Format, Grade, Range
from onnx_autodoc.hardware.devices import HERE, Device
from onnx_autodoc.runtime import (
    BUSIEST,
    Bar,
    Feed,
    Stage,
    check_external,
    check_extra,
    cleared_when_late,
    clock,
    feeds_of,
    machine,
    others,
    timed,
)
from onnx_autodoc.runtime.calibration import (
    Profile,
    Run,
    Task,
    answers,
    count,
    is_there,
    left_out,
    load,
    lowered_facts,
    place,
    predict,
    profile,
    tasks,
    totals,
)
from onnx_autodoc.sandbox import allow, cleared_up
from onnx_autodoc.shapes import Request, Role, resolve
from onnx_autodoc.text import clean, percent

SECONDS: Final = 0.3  # for each benchmark, all sweeps together
QUICK: Final = 0.06
_MOST_WORK: Final = 60_000  # rules applied at other sizes
_WATCHED: Final = 1.0  # seconds, before anything is run
_BENCHMARKS: Final = 600.0  # seconds that all of them may take: some ten times what they take
_EACH_RUN: Final = 630.0  # seconds: it has a deadline of its own, which says what was not done


class Calibrated(Struct, frozen=True):
    """`ratios`: of the user's own models, predicted over measured where each was left out of the fit."""

    profile: Profile
    ratios: Mapping[str, float]
    load: float | None  # the share of the machine that others used before


def calibrate(
    models: Sequence[str | PathLike[str]],
    date: str,
    *,
    quick: bool = False,
    threads: int | None = None,
    force: bool = False,
) -> Calibrated:
    """Benchmarks, and the models that the user gives; the profile is not stored here."""
    check_extra()
    _check_threads(threads)
    read = [_read(path) for path in models]  # what would fail after minutes of benchmarks fails now
    share = _load()
    if share is not None and share > BUSIEST and not force:
        raise BadInput(
            f"the machine is busy: {percent(share)} of it is used by others; close them, wait, or use --force"
        )
    allow(_BENCHMARKS)
    with cleared_up(), cleared_when_late(), Bar(1 + len(models)) as bar:
        bar.begin()
        total = count()
        found = answers(
            QUICK if quick else SECONDS, threads or 0, lambda name, done: bar(Stage(f"benchmark {name}", done, total))
        )
        runs = [_run(each, found.cache, threads, bar) for each in read]
    here = machine()
    made = profile(found, runs, here.cpu, date, threads or here.cores)
    ratios = left_out([*found.runs, *runs], runs) if runs else {}
    return Calibrated(made, ratios, share)


def _check_threads(threads: int | None) -> None:
    most = os.cpu_count()
    if threads is not None and most is not None and threads > most:
        raise BadInput(f"{threads:,} threads: this machine runs {most:,} at once")


class _Read(NamedTuple):
    """A model of the user's, ready to be run: nothing of it is read once the benchmarks have begun."""

    path: str
    feeds: tuple[Feed, ...]
    tasks: list[Task]


def _read(path: str | PathLike[str]) -> _Read:
    making = Making(path, Request())
    check_external(making.model)
    return _Read(fspath(path), feeds_of(making.facts, making.structure.samples), lowered_facts(making.facts))


def _load() -> float | None:
    start = clock()
    time.sleep(_WATCHED)
    return others(start, clock())


def _run(model: _Read, cache: float, threads: int | None, bar: Bar) -> Run:
    bar.begin()
    bar(Stage(f"running {clean(Path(model.path).name, 40)}", 0, 0))
    allow(_EACH_RUN)
    taken = timed(model.path, model.feeds, threads=threads)
    return Run(model.path, taken.median_seconds, totals(model.tasks, cache))


class Here:
    """Times on this machine by its profile, at the file's own precision; of anything else, what others say.

    Other sizes are worked out anew, as long as that does not take long.
    """

    def __init__(self, facts: Facts, profile: Profile, others: Grade) -> None:
        self._facts, self._profile, self._others = facts, profile, others
        self._left = _MOST_WORK

    def __call__(self, demand: Demand, device: Device, wanted: Format, floor: Floor) -> Range | None:
        if device.id != HERE or wanted is not demand.own:
            return self._others(demand, device, wanted, floor)
        found = self._tasks(demand.sizes)
        if found is None:
            return None
        made = predict(found, self._profile)
        known = f"{percent(made.covered_time)} of the time is in kernels that were timed"
        rests_on = f"{clean(self._profile.runtime, 60)} on {self._where()}, {clean(self._profile.date[:10])}; {known}"
        return Range(made.low, made.expected, made.high, CALIBRATED, rests_on)

    def _where(self) -> str:
        """A profile that the user names may be of another machine."""
        here = self._profile.machine == machine().cpu
        return "this machine" if here else f"{clean(self._profile.machine, 60)}, not on this machine"

    def _tasks(self, sizes: Mapping[Role, int]) -> list[Task] | None:
        if not sizes:
            return lowered_facts(self._facts)
        self._left -= self._facts.shapes.work
        if self._left < 0:
            return None
        model = self._facts.model
        shapes = resolve(model, binding_at(self._facts, sizes))
        return None if shapes.contradictions else tasks(model, shapes, Costs(model, shapes))


def profile_here(path: str | PathLike[str] | None) -> Profile | None:
    """What is known of this machine: in the file that is named, or in the usual place if it is of this machine."""
    if path is not None:
        return load(Path(path))
    try:
        usual = place()
        if not is_there(usual):
            return None
    except BadInput:  # who has no folder, or none to look into, has kept nothing there
        return None
    found = load(usual)
    return found if found.machine == machine().cpu else None
