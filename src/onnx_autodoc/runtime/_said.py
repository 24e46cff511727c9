"""What running a model showed, in a few lines for a terminal: the verdict first."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from onnx_autodoc.runtime._types import Agreement, Difference, Feed, Load, Measured, Verified
from onnx_autodoc.text import clean, count, duration, memory, percent, plural, three

_WIDTH: Final = 80
_EXAMPLES: Final = 4
_INPUTS: Final = 4
_OPERATORS: Final = 6
_INDENT: Final = " " * 12


def said(found: Verified) -> str:
    """Some 30 lines of 80 columns; every word of the file is made safe to print."""
    figures = (*_inputs(found.feeds), *_latency(found), *_memory(found), *_operators(found), *_machine(found))
    lines = (*_verdict(found.agreement), "", *figures)
    return "\n".join(part for line in lines for part in _wrapped(line)) + "\n"


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, _WIDTH, subsequent_indent=_INDENT, break_on_hyphens=False) or [""]


def _verdict(found: Agreement) -> Iterator[str]:
    nodes = plural(found.executed, "node that ran", "nodes that ran")
    if found.differed:
        yield f"{count(found.differed)} of {nodes} did otherwise than the card says"
        yield from _differences(found)
    elif not found.executed:
        yield "No node ran as it stands in the file: there is nothing to compare"
    elif found.unknown_to_us:
        yield f"Nothing differs: {count(found.agreed)} of {nodes} gave the card's shapes,"
        yield f"and of {count(found.unknown_to_us)} the card leaves a size open"
    else:
        yield f"{'All ' if found.executed > 1 else ''}{nodes} gave the shapes that the card says"
    if found.unseen:
        stand = "it stands" if found.unseen == 1 else "they stand"
        yield f"{count(found.unseen)} more did not run as {stand}: constants, branches not taken, functions"
    if found.widened:
        yield f"{plural(found.widened, 'node')} of half precision ran in float32, for want of a kernel"
    yield from found.notes


def _differences(found: Agreement) -> Iterator[str]:
    shown = found.examples[:_EXAMPLES]
    yield from (line for each in shown for line in _example(each))
    rest = found.differed - len({each.node for each in shown})
    if rest > 0:
        yield f"  and {plural(rest, 'more node')} (--format json lists up to 20)"


def _example(each: Difference) -> Iterator[str]:
    output = f", output {clean(each.output, 40)}" if each.output else ""
    yield f"  {clean(each.node, 60)} ({clean(each.op, 30)}){output}"
    yield f"    card: {clean(each.ours, 64)}"
    yield f"    run:  {clean(each.theirs, 64)}"


def _row(title: str, text: str) -> str:
    return f"{title:<12}{text}"


def _inputs(feeds: Sequence[Feed]) -> Iterator[str]:
    """What it ran with: every figure below holds for these sizes alone."""
    shown = [f"{clean(feed.name, 30)} {feed.dtype} [{', '.join(map(str, feed.dims))}]" for feed in feeds[:_INPUTS]]
    more = [f"{count(len(feeds) - _INPUTS)} more"] if len(feeds) > _INPUTS else []
    if shown:
        yield _row("Inputs", "; ".join(shown + more))


def _latency(found: Verified) -> Iterator[str]:
    timing = found.timing
    if timing is None:
        yield _row("Latency", f"refused: {found.refused or 'not known why'}")
        return
    spread = f"95 % within {duration(timing.p95_seconds)}, fastest {duration(timing.min_seconds)}"
    yield _row("Latency", f"{duration(timing.median_seconds)} median, {spread}")
    threads = plural(timing.threads, "thread") if timing.threads else "default threads"
    warm = f"{plural(timing.runs, 'run')} after {plural(timing.warmups, 'warm-up')}"
    yield _INDENT + f"{warm}, {threads}; loading took {duration(timing.session_seconds)}"


def _memory(found: Verified) -> Iterator[str]:
    if found.memory is None:
        yield _row("Memory", f"not measured: {found.memory_refused or 'not known why'}")
    else:
        yield _row("Memory", _peak(found.memory))
    if found.timing is not None and found.timing.rss_peak_bytes is not None:
        yield _INDENT + f"{memory(found.timing.rss_peak_bytes)} for the whole process, optimisations on"


def _peak(measured: Measured) -> str:
    card = "the card knows none" if measured.card_bytes is None else f"card {memory(measured.card_bytes)}"
    if not measured.tells:
        return f"under {memory(measured.LEAST)} of activations at the peak ({card}), too little to measure"
    ratio = "" if measured.ratio is None else f", {three(measured.ratio)} times that"
    return f"{memory(measured.peak_bytes)} of activations at the peak ({card}{ratio})"


def _operators(found: Verified) -> Iterator[str]:
    rows = found.by_operator[:_OPERATORS]
    for at, row in enumerate(rows):
        title = "Time in" if at == 0 else ""
        text = f"{percent(row.share):>5}  {duration(row.seconds):>8}  {count(row.kernels):>6} × {clean(row.op, 40)}"
        yield _row(title, text)
    if len(found.by_operator) > len(rows):
        rest = found.by_operator[_OPERATORS:]
        share = percent(sum(row.share for row in rest))
        taken = duration(sum(row.seconds for row in rest))
        yield _row("", f"{share:>5}  {taken:>8}  {count(sum(row.kernels for row in rest)):>6} others")


def _machine(found: Verified) -> Iterator[str]:
    provider = found.provider.removesuffix("ExecutionProvider")
    yield _row("Run by", f"onnxruntime {found.runtime}, {provider}")
    yield _row("Machine", f"{clean(found.machine.cpu, 40)}, {plural(found.machine.cores, 'core')}, {_load(found.load)}")


def _load(load: Load | None) -> str:
    if load is None or load.worst is None:
        return "load not known"
    return f"{percent(load.worst)} used by others"
