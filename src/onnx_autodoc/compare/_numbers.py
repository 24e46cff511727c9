"""The numbers of a card, by their paths, and how two cards differ in them."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.compare._types import Measure, NumberChange

Number = int | float | None
OTHER_SIZES: Final = "at other sizes"
OTHER_INPUTS: Final = "for other inputs"
LOWER_BOUND: Final = "at least"
_DEVICES: Final = "hardware.devices."
_KEYS: Final = frozenset(
    (
        "parameters.total",
        "parameters.bytes",
        "model.file.bytes",
        "compute.macs",
        "compute.flops",
        "memory.peak_activation_bytes",
        "memory.run_bytes",
        "compute.bytes_moved",
        "memory.kv_cache.bytes_per_token",
        "graph.nodes_total",
    )
)


def measures(card: Card) -> tuple[Measure, ...]:
    """Every number that is compared, in the order in which people ask for them."""
    return tuple(
        Measure(path, label, unit, value, least, sized)
        for make in (_held, _costs, _graph, _coverage, _devices)
        for path, label, unit, value, least, sized in make(card)
    )


Row = tuple[str, str, str, Number, bool, bool]


def _held(card: Card) -> Iterator[Row]:
    held, file = card.parameters, card.model.file
    beside = [item.bytes for item in file.external]
    yield "parameters.total", "Parameters", "parameters", held.total, False, False
    yield "parameters.bytes", "Weights", "bytes", held.bytes, False, False
    yield "model.file.bytes", "File", "bytes", file.bytes, False, False
    known = [size for size in beside if size is not None]
    if beside:
        total = sum(known) if len(known) == len(beside) else None
        yield "model.file.external", "Files beside it", "bytes", total, False, False
    yield "parameters.tensors", "Weight tensors", "", held.tensors, False, False
    yield "parameters.statistics", "Statistics", "", held.statistics, False, False
    yield "parameters.quantization", "Scales and zero points", "", held.quantization, False, False
    yield "parameters.constants", "Other constants", "", held.constants, False, False
    yield "parameters.unread", "Weights that no node reads", "", held.unread, False, False


def _costs(card: Card) -> Iterator[Row]:
    done, used = card.compute, card.memory
    covered, loose = done.coverage, bool(used.unsized)
    gaps, fewer = bool(covered.gaps), any(gap.macs for gap in covered.gaps)
    yield "compute.macs", "MACs", "MACs", done.macs, fewer, True
    yield "compute.flops", "FLOPs", "FLOPs", done.flops, gaps, True
    if done.cheapest is not None:
        yield "compute.cheapest.macs", "MACs, cheapest branches", "MACs", done.cheapest.macs, fewer, True
        yield "compute.cheapest.flops", "FLOPs, cheapest branches", "FLOPs", done.cheapest.flops, gaps, True
    yield "memory.peak_activation_bytes", "Peak activations", "bytes", used.peak_activation_bytes, loose, True
    yield "memory.run_bytes", "Memory for one run", "bytes", used.run_bytes, loose, True
    yield "memory.weights_bytes", "Weights in memory", "bytes", used.weights_bytes, False, False
    yield "compute.bytes_moved", "Bytes moved", "bytes", done.bytes_moved, bool(covered.unmoved), True
    each = done.arithmetic_intensity
    yield "compute.arithmetic_intensity", "Intensity", "FLOPs per byte", each, gaps or bool(covered.unmoved), True
    kept = used.kv_cache
    if kept is not None:
        yield "memory.kv_cache.bytes_per_token", "KV cache per token", "bytes", kept.bytes_per_token, False, False
        yield "memory.kv_cache.bytes", "KV cache", "bytes", kept.bytes, False, True


def _graph(card: Card) -> Iterator[Row]:
    graph = card.graph
    yield "graph.nodes", "Nodes", "", graph.nodes, False, False
    yield "graph.nodes_total", "Nodes in all graphs", "", graph.nodes_total, False, False
    yield "graph.operator_types", "Operator types", "", graph.operator_types, False, False
    yield "graph.initializers", "Initializers", "", graph.initializers, False, False
    yield "graph.depth", "Longest path", "", graph.depth, False, False


def _coverage(card: Card) -> Iterator[Row]:
    covered, shapes = card.compute.coverage, card.graph.shapes
    yield "compute.coverage.nodes", "Nodes that run", "", covered.nodes, False, True
    yield "compute.coverage.counted", "Nodes counted", "", covered.counted, False, True
    yield "compute.coverage.unmoved", "Nodes of unknown traffic", "", covered.unmoved, False, True
    yield "graph.shapes.outputs", "Node outputs", "", shapes.outputs, False, True
    yield "graph.shapes.resolved", "Node outputs resolved", "", shapes.resolved, False, True
    yield "memory.unsized", "Values of unknown size", "", card.memory.unsized, False, True


def _devices(card: Card) -> Iterator[Row]:
    """One time for each device, labelled with what it rests on: only like is compared with like."""
    for row in card.hardware.devices if card.hardware is not None else ():
        kind = "bound" if row.seconds.expected is None else "expected"
        path, label = f"{_DEVICES}{row.device}.seconds.{kind}", f"{row.basis.capitalize()} on {row.device}"
        yield path, label, "seconds", getattr(row.seconds, kind), row.coverage < 1, True


def key_measures(sides: Sequence[Sequence[Measure]]) -> tuple[Measure, ...]:
    """What stands side by side, as the first side that has it calls it; a device only where every side has it."""
    found: dict[str, Measure] = {}
    for measure in (measure for side in sides for measure in side):
        found.setdefault(measure.path, measure)
    told = [{(measure.path, measure.label) for measure in side} for side in sides]
    return tuple(
        measure
        for path, measure in found.items()
        if path in _KEYS or (path.startswith(_DEVICES) and all((path, measure.label) in side for side in told))
    )


def number_changes(was: tuple[Measure, ...], now: tuple[Measure, ...], other: str | None) -> tuple[NumberChange, ...]:
    """`other` says why costs are none of like runs, where they are not."""
    old, new = ({measure.path: measure for measure in side} for side in (was, now))
    paths = dict.fromkeys((*old, *new))
    both = ((old.get(path), new.get(path)) for path in paths)
    return tuple(change for one, two in both if (change := _change(one, two, other)) is not None)


def _change(old: Measure | None, new: Measure | None, other: str | None) -> NumberChange | None:
    shown = old or new
    assert shown is not None
    if shown.path.startswith(_DEVICES) and (old is None or new is None or old.label != new.label):
        return None
    was, now = (side.value if side is not None else None for side in (old, new))
    least = [side is not None and side.least for side in (old, new)]
    if was == now and least[0] == least[1]:
        return None
    note = other if other and shown.sized else LOWER_BOUND if any(least) else None
    change, percent = (None, None) if note else difference(was, now)
    return NumberChange(
        path=shown.path,
        label=shown.label,
        unit=shown.unit,
        was=was,
        now=now,
        change=change,
        percent=percent,
        was_least=least[0],
        is_least=least[1],
        note=note,
    )


def difference(was: Number, now: Number) -> tuple[Number, float | None]:
    """How much more it is, and in percent of what it was; None where one is not known, or it was nothing.

    None too where no float holds it: a stranger's card may have numbers of any size.
    """
    if was is None or now is None:
        return None, None
    try:
        change, percent = now - was, (now - was) / abs(was) * 100 if was else None
    except OverflowError:
        return (now - was if isinstance(was, int) and isinstance(now, int) else None), None
    return (change if isinstance(change, int) or isfinite(change) else None), (
        percent if percent is None or isfinite(percent) else None
    )
