"""A model run four times over, each time in a process of its own: shapes, latency, operators, memory."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct

from onnx_autodoc.errors import BadInput
from onnx_autodoc.facts import Facts, measure
from onnx_autodoc.read import read
from onnx_autodoc.resolve import Request, fit
from onnx_autodoc.run._agree import Finder, agreement
from onnx_autodoc.run._feeds import feeds_of
from onnx_autodoc.run._machine import machine
from onnx_autodoc.run._messages import Busy, Message, Operators, Peak, Ran, Task, Timed
from onnx_autodoc.run._outside import check_external
from onnx_autodoc.run._process import Deadline, ask, check_extra
from onnx_autodoc.run._progress import Bar
from onnx_autodoc.run._types import CPU, Agreement, Feed, Load, Measured, Options, Timing, Verified
from onnx_autodoc.say import clean, percent
from onnx_autodoc.structure import Sample, describe

BUSIEST: Final = 0.1  # the share of the machine that others may use while a latency is taken
_STEPS: Final = 4
_T = TypeVar("_T", bound=Message)


def verify(path: str | os.PathLike[str], request: Request, options: Options) -> Verified:
    """The model of a file, at sizes that the user chose or the card would."""
    check_extra()
    model = read(path)
    binding, shapes = fit(model, request)
    facts = measure(model, binding, shapes)
    return verify_facts(facts, describe(facts).samples, options)


def verify_facts(facts: Facts, samples: Mapping[str, Sample], options: Options) -> Verified:
    """Whether what the card says is what happens. Shapes are told also where a latency is refused."""
    check_extra()
    check_external(facts.model)
    with tempfile.TemporaryDirectory(prefix="onnx-autodoc-") as folder, Bar(_STEPS) as bar:
        runs = _Runs(facts.model.path, feeds_of(facts, samples), options, folder, bar)
        ran = _shapes(runs, facts)
        agreed = agreement(facts, ran.executions, ran.full)
        timing, refused, load, threads = runs.timing()
        found = runs.ask("operators", Operators) if timing is not None else Operators((), (), 0.0)
        memory, unmeasured = runs.memory(_card_peak(facts))
        return _verified(facts, ran, agreed, _Time(timing, refused, load, threads), found, (memory, unmeasured))


def _shapes(runs: "_Runs", facts: Facts) -> Ran:
    """Where it cannot run and the card has said so, both are told: the card is right, the sizes or the file are not."""
    try:
        return runs.ask("shapes", Ran)
    except BadInput as error:
        expected = facts.shapes.contradictions
        raise BadInput(f"{error}; the card says so too: {clean(expected[0])}" if expected else str(error)) from None


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
    found = ask(task, Deadline(timeout), lambda _: None)
    assert isinstance(found, Timed)
    return found.timing


class _Time(Struct, frozen=True):
    timing: Timing | None
    refused: str | None
    load: Load | None
    threads: int | None


class _Runs:
    """The processes of one verification: the same model and inputs, one deadline."""

    def __init__(self, path: str, feeds: tuple[Feed, ...], options: Options, folder: str, bar: Bar) -> None:
        self._path, self._feeds, self._options, self._bar = path, feeds, options, bar
        self._folder, self._deadline = folder, Deadline(options.timeout)

    def ask(self, what: str, kind: type[_T], threads: int | None = None) -> _T:
        found = self._ask(what, threads)
        assert isinstance(found, kind)
        return found

    def _ask(self, what: str, threads: int | None = None) -> Message:
        options = self._options
        self._bar.begin()
        task = Task(
            what,  # type: ignore[arg-type]
            self._path,
            self._feeds,
            options.provider,
            threads or options.threads,
            options.runs,
            self._folder,
            None if options.force else BUSIEST,
        )
        try:
            return ask(task, self._deadline, self._bar)
        finally:
            for left in Path(self._folder).iterdir():
                left.unlink()  # a profile can be large

    def timing(self) -> tuple[Timing | None, str | None, Load | None, int | None]:
        """Not from a busy machine: such a number would be of the others as much as of the model."""
        try:
            found = self._ask("time")
        except BadInput as error:  # optimised it may fail where it did not as it stands; its shapes are known by now
            return None, self._reason(error), None, None
        if isinstance(found, Busy):
            return None, _busy(found.share), Load(found.share, None, found.steal), found.threads
        assert isinstance(found, Timed)
        timing, worst = found.timing, found.timing.load.worst
        if not self._options.force and worst is not None and worst > BUSIEST:
            return None, _busy(worst), timing.load, timing.threads
        return timing, None, timing.load, timing.threads

    def _reason(self, error: BadInput) -> str:
        return str(error).removeprefix(f"{self._path}: ")

    def memory(self, card: int | None) -> tuple[Measured | None, str | None]:
        """What fails here alone costs the figure, not the verdict."""
        if self._options.provider.lower().removesuffix("executionprovider") != "cpu":
            return None, "measured on the CPU alone"
        try:
            peak = self.ask("memory", Peak, threads=1)
        except BadInput as error:
            return None, self._reason(error)
        ratio = peak.peak_bytes / card if card else None
        return Measured(peak.peak_bytes, peak.input_bytes, card, ratio, peak.how), None


def _card_peak(facts: Facts) -> int | None:
    return facts.memory.peak.nbytes if facts.memory.peak is not None else None


def _busy(share: float) -> str:
    used = f"{percent(share)} of it is used by others"
    return f"the machine is busy: {used}; close them, wait, or take it anyway with verify --force"


def _verified(
    facts: Facts,
    ran: Ran,
    agreed: Agreement,
    time: _Time,
    found: Operators,
    memory: tuple[Measured | None, str | None],
) -> Verified:
    by_node, attributed, fused = _by_node(facts, found)
    return Verified(
        agreement=agreed,
        timing=time.timing,
        refused=time.refused,
        memory=memory[0],
        memory_refused=memory[1],
        by_operator=found.rows,
        by_node=by_node,
        attributed=attributed,
        fused=fused,
        runtime=ran.runtime,
        provider=ran.provider,
        threads=time.threads,
        load=time.load,
        machine=machine(),
    )


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
