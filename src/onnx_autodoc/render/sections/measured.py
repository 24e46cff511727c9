"""What happened when the model was run, where that was asked for."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, Verified
from onnx_autodoc.render._blocks import (
    Block,
    Column,
    Figure,
    Inline,
    Items,
    Name,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
)
from onnx_autodoc.render.sections._rest import rest
from onnx_autodoc.text import clean, count, duration, memory, percent, plural

_LISTED: Final = 20
_LONGEST: Final = 600  # letters of what onnxruntime said
_BASIS: Final = "measured: a run of this model on this machine"


def measured(card: Card) -> Section | None:
    found = card.measured
    if found is None:
        return None
    rows = tuple(_rows(found))
    return Section("measured", "What really happened", (Items(rows), *_differences(found), *_operators(found)))


def _rows(found: Verified) -> Iterator[Text]:
    shapes = found.agreement
    unknown = f", of {count(shapes.unknown_to_us)} the card leaves a size open" if shapes.unknown_to_us else ""
    said = f"{count(shapes.agreed)} of {plural(shapes.executed, 'node')} that ran gave what the card says{unknown}, "
    yield (Strong("Shapes: "), said, f"{count(shapes.differed)} differed" if shapes.differed else "none differed")
    yield from ((clean(note, _LONGEST),) for note in shapes.notes)
    if found.feeds:
        yield (Strong("Inputs: "), *_inputs(found))
    yield (Strong("Latency: "), *_latency(found))
    yield (Strong("Memory: "), *_memory(found))
    provider = found.provider.removesuffix("ExecutionProvider")
    machine, load = found.machine, found.load.worst if found.load is not None else None
    busy = f"; {percent(load)} of it used by others" if load is not None else ""
    where = f"{clean(machine.cpu, 60)}, {plural(machine.cores, 'core')}, {clean(machine.system, 40)}{busy}"
    yield (Strong("Run by: "), f"onnxruntime {clean(found.runtime, 20)}, {clean(provider, 40)}, on {where}")


def _inputs(found: Verified) -> Iterator[Inline]:
    """The sizes that all of this holds for."""
    for at, feed in enumerate(found.feeds[:_LISTED]):
        yield "; " if at else ""
        yield Name(feed.name)
        yield f" {feed.dtype} [{', '.join(map(count, feed.dims))}]"
    if len(found.feeds) > _LISTED:
        yield f"; {count(len(found.feeds) - _LISTED)} more"


def _latency(found: Verified) -> Text:
    taken = found.timing
    if taken is None:
        return (f"not taken: {clean(found.refused or 'not known why', _LONGEST)}",)
    threads = plural(taken.threads, "thread") if taken.threads else "default threads"
    return (
        Figure(duration(taken.median_seconds), taken.median_seconds, "seconds", basis=_BASIS),
        f" in the median of {plural(taken.runs, 'run')}, {threads}; 95 % within ",
        Figure(duration(taken.p95_seconds), taken.p95_seconds, "seconds", basis=_BASIS),
    )


def _memory(found: Verified) -> Text:
    peak = found.memory
    if peak is None:
        return (f"not measured: {clean(found.memory_refused or 'not known why', _LONGEST)}",)
    card = f"; the card says {memory(peak.card_bytes)}" if peak.card_bytes is not None else ""
    if not peak.tells:
        return (f"too little to measure, under {memory(peak.LEAST)} of activations at the peak{card}",)
    shown = Figure(memory(peak.peak_bytes), peak.peak_bytes, "bytes", basis=_BASIS)
    return (shown, f" of activations at the peak, optimisations off{card}")


def _differences(found: Verified) -> Iterator[Block]:
    examples = found.agreement.examples[:_LISTED]
    if examples:
        yield Paragraph(("Not as the card says:",))
        yield Items(tuple((Name(each.node), f": card {each.ours}, run {each.theirs}") for each in examples))
    unlisted = found.agreement.differed - len({each.node for each in examples})
    if unlisted > 0:
        yield Paragraph((f"{plural(unlisted, 'more node')} differed.",))


def _operators(found: Verified) -> Iterator[Block]:
    """By type, as onnxruntime calls them after its optimisations."""
    if not found.by_operator:
        return
    columns = (Column("Kernels of"), Column("Count", True), Column("Time", True), Column("Share", True))
    rows = tuple(
        (
            (Name(each.op),),
            (Figure(count(each.kernels), each.kernels),),
            (Figure(duration(each.seconds), each.seconds, "seconds", basis=_BASIS),),
            (Figure(percent(each.share), each.share),),
        )
        for each in found.by_operator[:_LISTED]
    )
    yield Table(columns, rows)
    yield from rest(len(found.by_operator), _LISTED)
