"""The summary of a verification for the terminal, verdict first; on a card, the same run is the section `measured`."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from onnx_autodoc.card import Agreement, Difference, Feed, Verified
from onnx_autodoc.render.sections.measured import NO_REASON, count_threads
from onnx_autodoc.text import (
    format_bytes,
    format_count,
    format_number,
    format_percent,
    format_time,
    pluralize,
    sanitize,
)

_WIDTH_COLUMNS: Final = 80
_MAX_EXAMPLES: Final = 4
_MAX_INPUTS: Final = 4
_MAX_OPERATORS: Final = 6
_INDENT: Final = " " * 12


def format_verification(run: Verified) -> str:
    """Return about 30 lines of 80 columns. Every string from the file is escaped."""
    lines = (
        *_verdict_lines(run.agreement),
        "",
        *_input_lines(run.feeds),
        *_latency_lines(run),
        *_memory_lines(run),
        *_operator_lines(run),
        *_machine_lines(run),
    )
    wrapper = textwrap.TextWrapper(_WIDTH_COLUMNS, subsequent_indent=_INDENT, break_on_hyphens=False)
    return "\n".join(part for line in lines for part in wrapper.wrap(line) or [""]) + "\n"


def _verdict_lines(shapes: Agreement) -> Iterator[str]:
    nodes = pluralize(shapes.executed, "node that ran", "nodes that ran")
    if shapes.differed:
        yield f"{format_count(shapes.differed)} of {nodes} differ{'s' * (shapes.differed == 1)} from the card"
        shown = shapes.examples[:_MAX_EXAMPLES]
        yield from (line for difference in shown for line in _difference_lines(difference))
        left = shapes.differed - len({difference.node for difference in shown})
        if left > 0:
            yield f"  and {pluralize(left, 'more node')} (--format json lists up to 20)"
    elif not shapes.executed:
        yield "No node of the file ran unchanged: nothing to compare"
    elif shapes.unknown_to_us:
        yield f"No differences: {format_count(shapes.agreed)} of {nodes} match the card's shapes,"
        yield f"{format_count(shapes.unknown_to_us)} cannot be compared"
    else:
        matches = "match" if shapes.executed > 1 else "matches"
        yield f"{'All ' if shapes.executed > 1 else ''}{nodes} {matches} the card's shapes"
    if shapes.unseen:
        yield f"{format_count(shapes.unseen)} not compared: constants, branches not taken, functions"
    if shapes.widened:
        yield f"{pluralize(shapes.widened, 'half-precision node')} ran in float32 (no kernel)"
    yield from shapes.notes


def _difference_lines(difference: Difference) -> Iterator[str]:
    output = f", output {sanitize(difference.output, 40)}" if difference.output else ""
    yield f"  {sanitize(difference.node, 60)} ({sanitize(difference.op, 30)}){output}"
    yield f"    card: {sanitize(difference.ours, 64)}"
    yield f"    run:  {sanitize(difference.theirs, 64)}"


def _row(title: str, text: str) -> str:
    return f"{title:<12}{text}"


def _input_lines(feeds: Sequence[Feed]) -> Iterator[str]:
    """Yield the inputs; all other figures hold for these sizes only."""
    texts = [f"{sanitize(feed.name, 30)} {feed.dtype} [{', '.join(map(str, feed.dims))}]" for feed in feeds]
    left = len(texts) - _MAX_INPUTS
    more = [f"{format_count(left)} more"] if left > 0 else []
    if texts:
        yield _row("Inputs", "; ".join(texts[:_MAX_INPUTS] + more))


def _latency_lines(run: Verified) -> Iterator[str]:
    timing = run.timing
    if timing is None:
        yield _row("Latency", f"not measured: {run.refused or NO_REASON}")
        return
    spread = f"p95 {format_time(timing.p95_seconds)}, minimum {format_time(timing.min_seconds)}"
    yield _row("Latency", f"median {format_time(timing.median_seconds)}, {spread}")
    warm = f"{pluralize(timing.runs, 'run')} after {pluralize(timing.warmups, 'warm-up')}"
    yield _INDENT + f"{warm}, {count_threads(timing)}; load time {format_time(timing.session_seconds)}"


def _memory_lines(run: Verified) -> Iterator[str]:
    peak = run.memory
    if peak is None:
        text = f"not measured: {run.memory_refused or NO_REASON}"
    else:
        card = "card: unknown" if peak.card_bytes is None else f"card: {format_bytes(peak.card_bytes)}"
        ratio = "" if peak.ratio is None else f", ratio {format_number(peak.ratio)}"
        text = f"{format_bytes(peak.peak_bytes)} peak activations ({card}{ratio})"
        if not peak.tells:
            text = f"peak activations below {format_bytes(peak.LEAST)} ({card}), too small to measure"
    yield _row("Memory", text)
    if run.timing is not None and run.timing.rss_peak_bytes is not None:
        yield _INDENT + f"{format_bytes(run.timing.rss_peak_bytes)} for the whole process, optimizations on"


def _operator_lines(run: Verified) -> Iterator[str]:
    shown, others = run.by_operator[:_MAX_OPERATORS], run.by_operator[_MAX_OPERATORS:]
    rows = [(row.share, row.seconds, row.kernels, f"× {sanitize(row.op, 40)}") for row in shown]
    if others:
        share, seconds = sum(row.share for row in others), sum(row.seconds for row in others)
        rows.append((share, seconds, sum(row.kernels for row in others), "others"))
    for index, (share, seconds, kernels, op) in enumerate(rows):
        text = f"{format_percent(share):>5}  {format_time(seconds):>8}  {format_count(kernels):>6} {op}"
        yield _row("" if index else "Time by op", text)


def _machine_lines(run: Verified) -> Iterator[str]:
    machine, load = run.machine, run.load.worst if run.load is not None else None
    busy = "load unknown" if load is None else f"{format_percent(load)} used by other processes"
    yield _row("Runtime", f"onnxruntime {run.runtime}, {run.provider.removesuffix('ExecutionProvider')}")
    yield _row("Machine", f"{sanitize(machine.cpu, 40)}, {pluralize(machine.cores, 'core')}, {busy}")
