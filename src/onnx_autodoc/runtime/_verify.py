"""A model run four times over, each time in a process of its own: shapes, latency, operators, memory."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.analysis import Facts, measure
from onnx_autodoc.architecture import Sample, describe
from onnx_autodoc.errors import AutodocError, BadInput
from onnx_autodoc.ir import count_nodes
from onnx_autodoc.readers import read
from onnx_autodoc.runtime._agree import Finder, agreement
from onnx_autodoc.runtime._feeds import feeds_of
from onnx_autodoc.runtime._given import given, temporary
from onnx_autodoc.runtime._late import cleared_when_late
from onnx_autodoc.runtime._machine import machine
from onnx_autodoc.runtime._messages import Busy, Job, Message, Operators, Peak, Ran, Task, Timed
from onnx_autodoc.runtime._outside import check_external
from onnx_autodoc.runtime._process import Deadline, ask, check_extra
from onnx_autodoc.runtime._progress import Bar
from onnx_autodoc.runtime._types import CPU, Agreement, Feed, Load, Measured, Options, Timing, Verified
from onnx_autodoc.sandbox import allow, allow_model, cleared_up, left
from onnx_autodoc.shapes import Request, fit
from onnx_autodoc.text import clean, percent

BUSIEST: Final = 0.1  # the share of the machine that others may use while a latency is taken
_AFTER: Final = 30.0  # seconds, for clearing up
_STEPS: Final = 4
_PART: Final = 0.8  # of the time that is left
_NO_OPERATORS: Final = Operators((), (), 0.0)


def verify(path: str | os.PathLike[str], request: Request, options: Options) -> Verified:
    """The model of a file, at sizes that the user chose or the card would."""
    check_extra()  # before anything that takes time
    model = read(path)
    allow_model(count_nodes(model))
    binding, shapes = fit(model, request)
    facts = measure(model, binding, shapes)
    return verify_facts(facts, describe(facts).samples, options)


def verify_facts(facts: Facts, samples: Mapping[str, Sample], options: Options) -> Verified:
    """Whether what the card says is what happens. Once shapes are known, what else fails costs its own figure."""
    check_extra()
    options = _in_time(options)
    allow(options.timeout + _AFTER)  # it has a deadline of its own, which says what was not done
    check_external(facts.model)
    feeds = feeds_of(facts, samples)
    with given(facts.model.path), cleared_up(), cleared_when_late(), temporary() as folder, Bar(_STEPS) as bar:
        runs = _Runs(facts.model.path, feeds, options, folder, bar)
        ran = _shapes(runs, facts)
        time = runs.timing()
        operators = runs.operators() if time.timing is not None else (_NO_OPERATORS, None)
        memory = runs.memory(_card_peak(facts))
    return _verified(facts, feeds, ran, time, operators, memory)


def _in_time(options: Options) -> Options:
    """Less than is left of the time for everything: what a run costs is its own figures, not the card."""
    seconds = left()
    return options if seconds is None else replace(options, timeout=min(options.timeout, _PART * seconds))


def _verified(
    facts: Facts,
    feeds: tuple[Feed, ...],
    ran: Ran,
    time: "_Time",
    operators: tuple[Operators, str | None],
    memory: tuple[Measured | None, str | None],
) -> Verified:
    by_node, attributed, fused = _by_node(facts, operators[0])
    return Verified(
        agreement=_agreed(facts, ran, operators[1]),
        timing=time.timing,
        refused=time.refused,
        memory=memory[0],
        memory_refused=memory[1],
        by_operator=operators[0].rows,
        by_node=by_node,
        attributed=attributed,
        fused=fused,
        runtime=ran.runtime,
        provider=ran.provider,
        threads=time.threads,
        load=time.load,
        machine=machine(),
        feeds=feeds,
    )


def _agreed(facts: Facts, ran: Ran, unknown: str | None) -> Agreement:
    found = agreement(facts, ran.executions, ran.full)
    notes = (f"the time of operators is not known: {unknown}",) if unknown is not None else ()
    return replace(found, notes=found.notes + notes)


def _shapes(runs: "_Runs", facts: Facts) -> Ran:
    """Where it cannot run and the card has said so, both are told: the card is right, the sizes or the file are not."""
    try:
        found = runs.ask("shapes")
    except BadInput as error:
        expected = facts.shapes.contradictions
        raise BadInput(f"{error}; the card says so too: {clean(expected[0])}" if expected else str(error)) from None
    assert isinstance(found, Ran)
    return found


def timed(
    path: str | os.PathLike[str],
    feeds: Sequence[Feed],
    *,
    threads: int | None = None,
    runs: int | None = None,
    provider: str = CPU,
    timeout: float = 600,
) -> Timing:
    """The latency of a model with given inputs, however busy the machine is: `load` tells. For scripts."""
    check_extra()
    task = Task("time", os.fspath(path), tuple(feeds), provider, threads, runs)
    with given(task.path), cleared_up():
        found = ask(task, Deadline(timeout), lambda _: None)
    assert isinstance(found, Timed)
    return found.timing


class _Time(Struct, frozen=True):
    timing: Timing | None = None
    refused: str | None = None
    load: Load | None = None
    threads: int | None = None


class _Runs:
    """The processes of one verification: the same model and inputs, one deadline."""

    def __init__(self, path: str, feeds: tuple[Feed, ...], options: Options, folder: str, bar: Bar) -> None:
        busiest = None if options.force else BUSIEST
        self._task = Task("shapes", path, feeds, options.provider, options.threads, options.runs, folder, busiest)
        self._bar, self._deadline = bar, Deadline(options.timeout)

    def ask(self, what: Job, threads: int | None = None) -> Message:
        self._bar.begin()
        task = replace(self._task, what=what, threads=threads or self._task.threads)
        try:
            return ask(task, self._deadline, self._bar)
        finally:
            for left in Path(task.folder).iterdir():
                left.unlink()  # a profile can be large

    def timing(self) -> _Time:
        """Not from a busy machine: such a number would be of the others as much as of the model."""
        try:
            found = self.ask("time")
        except AutodocError as error:  # optimised it may fail where it did not as it stands
            return _Time(refused=self._reason(error))
        if isinstance(found, Busy):
            return _Time(None, _busy(found.share), Load(found.share, None, found.steal), found.threads)
        assert isinstance(found, Timed)
        timing, worst = found.timing, found.timing.load.worst
        busiest = self._task.busiest
        refused = _busy(worst) if busiest is not None and worst is not None and worst > busiest else None
        return _Time(timing if refused is None else None, refused, timing.load, timing.threads)

    def operators(self) -> tuple[Operators, str | None]:
        try:
            found = self.ask("operators")
        except AutodocError as error:
            return _NO_OPERATORS, self._reason(error)
        assert isinstance(found, Operators)
        return found, None

    def memory(self, card: int | None) -> tuple[Measured | None, str | None]:
        if self._task.provider.lower().removesuffix("executionprovider") != "cpu":
            return None, "measured on the CPU alone"
        try:
            peak = self.ask("memory", threads=1)
        except AutodocError as error:
            return None, self._reason(error)
        assert isinstance(peak, Peak)
        ratio = peak.peak_bytes / card if card and peak.peak_bytes >= Measured.LEAST else None
        return Measured(peak.peak_bytes, peak.input_bytes, card, ratio, peak.how), None

    def _reason(self, error: AutodocError) -> str:
        return str(error).removeprefix(f"{self._task.path}: ")


def _card_peak(facts: Facts) -> int | None:
    return facts.memory.peak.nbytes if facts.memory.peak is not None else None


def _busy(share: float) -> str:
    used = f"{percent(share)} of it is used by others"
    return f"the machine is busy: {used}; wait until it is quiet, or take it anyway with verify --force"


def _by_node(facts: Facts, found: Operators) -> tuple[dict[str, float], float | None, float | None]:
    """Seconds by the way to a node; nodes of one name in one place are one entry."""
    finder, made = Finder(facts.shapes.steps), dict[str, float]()
    fused = 0.0
    for way, seconds, other in found.nodes:
        place = finder.at(way)
        if place is not None:
            made[place.name] = made.get(place.name, 0.0) + seconds
            fused += seconds if other else 0.0
    if not found.seconds:
        return made, None, None
    return made, sum(made.values()) / found.seconds, fused / found.seconds
