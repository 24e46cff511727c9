"""Terminal output of a verification: a progress line on standard error, and the summary, verdict first."""

import sys
import textwrap
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Final

from onnx_autodoc.card import Agreement, Difference, Feed, Load, Measured, Verified
from onnx_autodoc.runtime.protocol import Stage
from onnx_autodoc.text import (
    format_count,
    format_memory,
    format_number,
    format_percent,
    format_time,
    pluralize,
    sanitize,
)

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class ProgressBar:
    """One line that disappears at the end. `steps` is the number of workers; `begin_step` starts the next one."""

    def __init__(self, steps: int) -> None:
        self._steps, self._step, self._text = steps, 0, ""
        self._progress: Progress | None = None
        self._line: TaskID | None = None

    def begin_step(self) -> None:
        self._step += 1

    def show(self, stage: Stage) -> None:
        if self._progress is None or self._line is None:
            return
        text = f"{self._step} of {self._steps}: {stage.doing}"
        if text != self._text:  # a new line, since the remaining time of one stage does not hold for the next
            self._progress.remove_task(self._line)
            self._line, self._text = self._progress.add_task(text, total=stage.of or None), text
        self._progress.update(self._line, completed=stage.done)

    def __enter__(self) -> "ProgressBar":
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(20), TimeElapsedColumn(), TimeRemainingColumn())
            # Twice a second: drawing is load on the machine that is being timed.
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=2)
            self._progress.start()
            self._line = self._progress.add_task("starting onnxruntime", total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()


_WIDTH_COLUMNS: Final = 80
_MAX_EXAMPLES: Final = 4
_MAX_INPUTS: Final = 4
_MAX_OPERATORS: Final = 6
_INDENT: Final = " " * 12


def format_verification(found: Verified) -> str:
    """Return about 30 lines of 80 columns. Every string from the file is escaped."""
    figures = (
        *_inputs_lines(found.feeds),
        *_latency_lines(found),
        *_memory_lines(found),
        *_operators_lines(found),
        *_machine_lines(found),
    )
    lines = (*_verdict_lines(found.agreement), "", *figures)
    wrapper = textwrap.TextWrapper(_WIDTH_COLUMNS, subsequent_indent=_INDENT, break_on_hyphens=False)
    return "\n".join(part for line in lines for part in wrapper.wrap(line) or [""]) + "\n"


def _verdict_lines(found: Agreement) -> Iterator[str]:
    nodes = pluralize(found.executed, "node that ran", "nodes that ran")
    if found.differed:
        yield f"{format_count(found.differed)} of {nodes} did otherwise than the card says"
        yield from _difference_lines(found)
    elif not found.executed:
        yield "No node ran as it stands in the file: there is nothing to compare"
    elif found.unknown_to_us:
        yield f"Nothing differs: {format_count(found.agreed)} of {nodes} gave the card's shapes,"
        yield f"and of {format_count(found.unknown_to_us)} the card leaves a size open"
    else:
        yield f"{'All ' if found.executed > 1 else ''}{nodes} gave the shapes that the card says"
    if found.unseen:
        stand = "it stands" if found.unseen == 1 else "they stand"
        yield f"{format_count(found.unseen)} more did not run as {stand}: constants, branches not taken, functions"
    if found.widened:
        yield f"{pluralize(found.widened, 'node')} of half precision ran in float32, for want of a kernel"
    yield from found.notes


def _difference_lines(found: Agreement) -> Iterator[str]:
    shown = found.examples[:_MAX_EXAMPLES]
    yield from (line for difference in shown for line in _example_lines(difference))
    rest = found.differed - len({difference.node for difference in shown})
    if rest > 0:
        yield f"  and {pluralize(rest, 'more node')} (--format json lists up to 20)"


def _example_lines(difference: Difference) -> Iterator[str]:
    output = f", output {sanitize(difference.output, 40)}" if difference.output else ""
    yield f"  {sanitize(difference.node, 60)} ({sanitize(difference.op, 30)}){output}"
    yield f"    card: {sanitize(difference.ours, 64)}"
    yield f"    run:  {sanitize(difference.theirs, 64)}"


def _row(title: str, text: str) -> str:
    return f"{title:<12}{text}"


def _inputs_lines(feeds: Sequence[Feed]) -> Iterator[str]:
    """The inputs; all other figures hold for these sizes only."""
    shown = [
        f"{sanitize(feed.name, 30)} {feed.dtype} [{', '.join(map(str, feed.dims))}]" for feed in feeds[:_MAX_INPUTS]
    ]
    more = [f"{format_count(len(feeds) - _MAX_INPUTS)} more"] if len(feeds) > _MAX_INPUTS else []
    if shown:
        yield _row("Inputs", "; ".join(shown + more))


def _latency_lines(found: Verified) -> Iterator[str]:
    timing = found.timing
    if timing is None:
        yield _row("Latency", f"refused: {found.refused or 'not known why'}")
        return
    spread = f"95 % within {format_time(timing.p95_seconds)}, fastest {format_time(timing.min_seconds)}"
    yield _row("Latency", f"{format_time(timing.median_seconds)} median, {spread}")
    threads = pluralize(timing.threads, "thread") if timing.threads else "default threads"
    warm = f"{pluralize(timing.runs, 'run')} after {pluralize(timing.warmups, 'warm-up')}"
    yield _INDENT + f"{warm}, {threads}; loading took {format_time(timing.session_seconds)}"


def _memory_lines(found: Verified) -> Iterator[str]:
    if found.memory is None:
        yield _row("Memory", f"not measured: {found.memory_refused or 'not known why'}")
    else:
        yield _row("Memory", _peak_text(found.memory))
    if found.timing is not None and found.timing.rss_peak_bytes is not None:
        yield _INDENT + f"{format_memory(found.timing.rss_peak_bytes)} for the whole process, optimisations on"


def _peak_text(measured: Measured) -> str:
    card = "the card knows none" if measured.card_bytes is None else f"card {format_memory(measured.card_bytes)}"
    if not measured.tells:
        return f"under {format_memory(measured.LEAST)} of activations at the peak ({card}), too little to measure"
    ratio = "" if measured.ratio is None else f", {format_number(measured.ratio)} times that"
    return f"{format_memory(measured.peak_bytes)} of activations at the peak ({card}{ratio})"


def _operators_lines(found: Verified) -> Iterator[str]:
    rows = found.by_operator[:_MAX_OPERATORS]
    for at, row in enumerate(rows):
        title = "Time in" if at == 0 else ""
        share, time = format_percent(row.share), format_time(row.seconds)
        text = f"{share:>5}  {time:>8}  {format_count(row.kernels):>6} × {sanitize(row.op, 40)}"
        yield _row(title, text)
    if len(found.by_operator) > len(rows):
        rest = found.by_operator[_MAX_OPERATORS:]
        share = format_percent(sum(row.share for row in rest))
        taken = format_time(sum(row.seconds for row in rest))
        yield _row("", f"{share:>5}  {taken:>8}  {format_count(sum(row.kernels for row in rest)):>6} others")


def _machine_lines(found: Verified) -> Iterator[str]:
    provider = found.provider.removesuffix("ExecutionProvider")
    yield _row("Run by", f"onnxruntime {found.runtime}, {provider}")
    yield _row(
        "Machine",
        f"{sanitize(found.machine.cpu, 40)}, {pluralize(found.machine.cores, 'core')}, {_load_text(found.load)}",
    )


def _load_text(load: Load | None) -> str:
    if load is None or load.worst is None:
        return "load not known"
    return f"{format_percent(load.worst)} used by others"
