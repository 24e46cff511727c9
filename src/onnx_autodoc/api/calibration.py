"""Calibration of this machine: measures it once, and estimates times from the stored profile."""

import os
import time
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from onnx_autodoc.analysis import Costs, Facts, binding_at
from onnx_autodoc.api.pipeline import analyze_model
from onnx_autodoc.card import CALIBRATED, Feed
from onnx_autodoc.errors import BadInput
from onnx_autodoc.hardware import LowerBound, NumberFormat, TimeEstimator, TimeRange, Workload
from onnx_autodoc.hardware.devices import THIS_MACHINE, Device
from onnx_autodoc.runtime import (
    MAX_BACKGROUND_LOAD,
    ProgressBar,
    Stage,
    TimingResult,
    background_load,
    check_external_weights,
    cleanup_on_alarm,
    describe_machine,
    make_feeds,
    read_cpu_clock,
    require_onnxruntime,
    time_model,
)
from onnx_autodoc.runtime.calibration import (
    KernelWork,
    Profile,
    TimedGraph,
    build_profile,
    cross_validate,
    load_profile,
    lower_facts,
    lower_model,
    path_exists,
    predict,
    profile_path,
    run_benchmarks,
    sum_work,
)
from onnx_autodoc.sandbox import extend_deadline, raise_on_termination
from onnx_autodoc.shapes import Request, Role, infer_shapes
from onnx_autodoc.text import format_percent, sanitize

SECONDS_PER_BENCHMARK: Final = 0.3  # all sweeps together
QUICK_SECONDS_PER_BENCHMARK: Final = 0.06
_MAX_REESTIMATE_STEPS: Final = 60_000  # shape inference steps at other sizes
_LOAD_SECONDS: Final = 1.0  # for which the load of the machine is measured first
_BENCHMARK_SECONDS: Final = 600.0  # for all benchmarks: about ten times their usual time
_RUN_SECONDS: Final = 630.0  # for one model: its process has a shorter deadline, with a better message


class CalibrationResult(Struct, frozen=True):
    """`ratios`: predicted over measured time of the user's models, each left out of the fit.

    `accessible` is what the system did not deny onnxruntime while it ran these models.
    """

    profile: Profile
    ratios: Mapping[str, float]
    load: float | None  # share of the machine that other processes used
    accessible: tuple[str, ...] = ()


def calibrate(
    models: Sequence[str | PathLike[str]],
    date: str,
    *,
    quick: bool = False,
    threads: int | None = None,
    force: bool = False,
) -> CalibrationResult:
    """Run the benchmarks and the user's models. The profile is returned, not stored."""
    require_onnxruntime()
    cores = os.cpu_count()
    if threads is not None and cores is not None and threads > cores:
        raise BadInput(f"{threads:,} threads: this machine has {cores:,} processors")
    prepared = [_prepare(path) for path in models]  # fails before minutes of benchmarks
    load = measure_load()
    if load is not None and load > MAX_BACKGROUND_LOAD and not force:
        raise BadInput(
            f"the machine is busy: other processes use {format_percent(load)} of it; stop them, wait, or use --force"
        )
    extend_deadline(_BENCHMARK_SECONDS)
    with raise_on_termination(), cleanup_on_alarm(), ProgressBar(1 + len(models)) as bar:
        bar.begin_step()
        graph_seconds = QUICK_SECONDS_PER_BENCHMARK if quick else SECONDS_PER_BENCHMARK
        benchmarks = run_benchmarks(graph_seconds, threads or 0, _BENCHMARK_SECONDS, bar.show)
        results = [_run(model, threads, bar) for model in prepared]
    seconds = (result.timing.median_seconds for result in results)
    runs = [
        TimedGraph(model.path, median, sum_work(model.tasks, benchmarks.cache_bytes))
        for model, median in zip(prepared, seconds)
    ]
    machine = describe_machine()
    profile = build_profile(benchmarks, runs, machine.cpu, date, threads or machine.cores)
    ratios = cross_validate([*benchmarks.graphs, *runs], runs) if runs else {}
    accessible = dict.fromkeys(what for result in results for what in result.accessible)
    return CalibrationResult(profile, ratios, load, tuple(accessible))


class _PreparedModel(NamedTuple):
    """A user's model, ready to run: its facts are not read again after the benchmarks have begun."""

    path: str
    fingerprint: str
    feeds: tuple[Feed, ...]
    tasks: list[KernelWork]


def _prepare(path: str | PathLike[str]) -> _PreparedModel:
    facts, structure = analyze_model(path, Request())
    check_external_weights(facts.model)
    feeds = make_feeds(facts, structure.samples)
    return _PreparedModel(fspath(path), facts.model.fingerprint, feeds, lower_facts(facts))


def measure_load() -> float | None:
    start = read_cpu_clock()
    time.sleep(_LOAD_SECONDS)
    return background_load(start, read_cpu_clock())


def _run(model: _PreparedModel, threads: int | None, bar: ProgressBar) -> TimingResult:
    bar.begin_step()
    bar.show(Stage(f"running {sanitize(Path(model.path).name, 40)}", 0, 0))
    extend_deadline(_RUN_SECONDS)
    return time_model(model.path, model.feeds, threads=threads, fingerprint=model.fingerprint)


class CalibratedTimes:
    """Times on this machine by its profile, at the file's precision; `fallback` estimates all others.

    Other sizes are estimated until a total number of shape inference steps is used up.
    """

    def __init__(self, facts: Facts, profile: Profile, fallback: TimeEstimator) -> None:
        self._facts, self._profile, self._fallback = facts, profile, fallback
        self._steps_left = _MAX_REESTIMATE_STEPS

    def __call__(
        self, workload: Workload, device: Device, number_format: NumberFormat, bound: LowerBound
    ) -> TimeRange | None:
        if device.id != THIS_MACHINE or number_format is not workload.native_format:
            return self._fallback(workload, device, number_format, bound)
        kernels = self._lower(workload.sizes)
        if kernels is None:
            return None
        predicted = predict(kernels, self._profile)
        runtime, date = sanitize(self._profile.runtime, 60), sanitize(self._profile.date[:10])
        coverage = f"{format_percent(predicted.covered_time)} of the time is in benchmarked kernels"
        basis = f"{runtime} on {self._machine_name()}, {date}; {coverage}"
        return TimeRange(predicted.low, predicted.expected, predicted.high, CALIBRATED, basis)

    def _machine_name(self) -> str:
        """Return the machine of the profile: a profile named by the user may be of another machine."""
        if self._profile.machine == describe_machine().cpu:
            return "this machine"
        return f"{sanitize(self._profile.machine, 60)}, not on this machine"

    def _lower(self, sizes: Mapping[Role, int]) -> list[KernelWork] | None:
        if not sizes:
            return lower_facts(self._facts)
        self._steps_left -= self._facts.shapes.work
        if self._steps_left < 0:
            return None
        model = self._facts.model
        shapes = infer_shapes(model, binding_at(self._facts, sizes))
        return None if shapes.contradictions else lower_model(model, shapes, Costs(model, shapes))


def find_profile(path: str | PathLike[str] | None) -> Profile | None:
    """Load the requested profile, or the stored one if it is of this machine."""
    if path is not None:
        return load_profile(Path(path))
    try:
        stored = profile_path()
        if not path_exists(stored):
            return None
    except BadInput:  # there is no folder for it
        return None
    profile = load_profile(stored)
    return profile if profile.machine == describe_machine().cpu else None
