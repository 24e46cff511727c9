"""The result of a verified run: agreement of shapes, latency, memory, time by kernel."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, Timing, Verified
from onnx_autodoc.render import content as doc
from onnx_autodoc.render import numbers
from onnx_autodoc.text import format_bytes, format_count, format_percent, format_time, pluralize, sanitize

_MAX_ROWS: Final = 20
_MAX_TEXT_LENGTH: Final = 600
NO_REASON: Final = "reason unknown"
_BASIS: Final = "measured: a run of this model on this machine"


def measured(card: Card) -> doc.Section | None:
    run = card.measured
    if run is None:
        return None
    blocks = (doc.Bullets(tuple(_results(run))), *_differences(run), *(_kernels(run) if run.by_operator else ()))
    return doc.Section("measured", "Verification", blocks)


def _results(run: Verified) -> Iterator[doc.Spans]:
    shapes = run.agreement
    unknown = f", {format_count(shapes.unknown_to_us)} not comparable" if shapes.unknown_to_us else ""
    nodes = pluralize(shapes.executed, "node")
    agreed = f"{format_count(shapes.agreed)} of {nodes} that ran match the card{unknown}, "
    yield (doc.Strong("Shapes: "), agreed + count_differences(run))
    yield from (sanitize(note, _MAX_TEXT_LENGTH) for note in shapes.notes)
    if run.feeds:
        yield (doc.Strong("Inputs: "), *_inputs(run))
    yield (doc.Strong("Latency: "), *_latency(run))
    yield (doc.Strong("Memory: "), *_memory(run))
    provider, machine = run.provider.removesuffix("ExecutionProvider"), run.machine
    load = run.load.worst if run.load is not None else None
    busy = f"; {format_percent(load)} used by other processes" if load is not None else ""
    where = f"{sanitize(machine.cpu, 60)}, {pluralize(machine.cores, 'core')}, {sanitize(machine.system, 40)}{busy}"
    yield (doc.Strong("Runtime: "), f"onnxruntime {sanitize(run.runtime, 20)}, {sanitize(provider, 40)}, on {where}")


def count_differences(run: Verified) -> str:
    differed = run.agreement.differed
    return f"{format_count(differed)} differ{'s' * (differed == 1)}" if differed else "none differ"


def count_threads(timing: Timing) -> str:
    return pluralize(timing.threads, "thread") if timing.threads else "default threads"


def _inputs(run: Verified) -> Iterator[doc.Span]:
    for index, feed in enumerate(run.feeds[:_MAX_ROWS]):
        yield "; " if index else ""
        yield doc.Name(feed.name)
        yield f" {feed.dtype} [{', '.join(map(format_count, feed.dims))}]"
    if len(run.feeds) > _MAX_ROWS:
        yield f"; {format_count(len(run.feeds) - _MAX_ROWS)} more"


def _seconds(seconds: float) -> doc.Number:
    return numbers.number(seconds, format_time, "seconds", _BASIS)


def _latency(run: Verified) -> tuple[doc.Span, ...]:
    timing = run.timing
    if timing is None:
        return (f"not measured: {sanitize(run.refused or NO_REASON, _MAX_TEXT_LENGTH)}",)
    runs = f" median of {pluralize(timing.runs, 'run')}, {count_threads(timing)}; p95 "
    return (_seconds(timing.median_seconds), runs, _seconds(timing.p95_seconds))


def _memory(run: Verified) -> tuple[doc.Span, ...]:
    peak = run.memory
    if peak is None:
        return (f"not measured: {sanitize(run.memory_refused or NO_REASON, _MAX_TEXT_LENGTH)}",)
    card = f"; on the card {format_bytes(peak.card_bytes)}" if peak.card_bytes is not None else ""
    if not peak.tells:
        return (f"peak activations below {format_bytes(peak.LEAST)}, too small to measure{card}",)
    return (numbers.memory(peak.peak_bytes, _BASIS), f" peak activations, optimizations off{card}")


def _differences(run: Verified) -> Iterator[doc.Block]:
    examples = run.agreement.examples[:_MAX_ROWS]
    if examples:
        yield doc.Paragraph("Differences from the card:")
        yield doc.Bullets(tuple((doc.Name(row.node), f": card {row.ours}, run {row.theirs}") for row in examples))
    unlisted = run.agreement.differed - len({example.node for example in examples})
    if unlisted > 0:
        yield doc.Paragraph(f"{pluralize(unlisted, 'more node')} differ{'s' * (unlisted == 1)}.")


def _kernels(run: Verified) -> tuple[doc.Block, ...]:
    """Distribute the time over kernels, as onnxruntime names them after its optimizations."""
    return doc.limited_table(
        doc.columns("Kernel type", "Count#", "Time#", "Share#"),
        run.by_operator,
        lambda row: (
            *(doc.Name(row.op), numbers.count(row.kernels, basis="")),
            *(_seconds(row.seconds), numbers.share(row.share)),
        ),
        _MAX_ROWS,
    )
