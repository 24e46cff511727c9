"""The compared figures: a table of paths into the card, and the changes of their values."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Final, NamedTuple

from onnx_autodoc.card import Card, figure_at, find_uncertainty
from onnx_autodoc.compare.types import Measure, NumberChange

Number = int | float | None
OTHER_SIZES: Final = "at other sizes"
OTHER_INPUTS: Final = "for other inputs"
_LOWER_BOUND: Final = "at least"
_DEVICES: Final = "hardware.devices."
_GRADES: Final = {"bound": "Lower bound"}  # the name of a grade, where it is not the value
_EXTERNAL_FILES: Final = "model.file.external"


class ComparedFigure(NamedTuple):
    """A number of the card. `sized`: it holds for the dimensions that the card assumes. `key`: a key figure."""

    path: str
    label: str
    unit: str = ""
    sized: bool = False
    key: bool = False


FIGURES: Final = (
    ComparedFigure("parameters.total", "Parameters", "parameters", key=True),
    ComparedFigure("parameters.bytes", "Weights", "bytes", key=True),
    ComparedFigure("model.file.bytes", "File", "bytes", key=True),
    ComparedFigure("model.file.external", "External files", "bytes"),
    ComparedFigure("parameters.tensors", "Weight tensors"),
    ComparedFigure("parameters.statistics", "BatchNorm statistics"),
    ComparedFigure("parameters.quantization", "Scales and zero points"),
    ComparedFigure("parameters.constants", "Non-learned constants"),
    ComparedFigure("parameters.unread", "Unused weights"),
    ComparedFigure("compute.macs", "MACs", "MACs", sized=True, key=True),
    ComparedFigure("compute.flops", "FLOPs", "FLOPs", sized=True, key=True),
    ComparedFigure("compute.cheapest.macs", "MACs, least expensive branches", "MACs", sized=True),
    ComparedFigure("compute.cheapest.flops", "FLOPs, least expensive branches", "FLOPs", sized=True),
    ComparedFigure("memory.peak_activation_bytes", "Peak activations", "bytes", sized=True, key=True),
    ComparedFigure("memory.run_bytes", "Memory for one run", "bytes", sized=True, key=True),
    ComparedFigure("memory.weights_bytes", "Weights in memory", "bytes"),
    ComparedFigure("compute.bytes_moved", "Bytes moved", "bytes", sized=True, key=True),
    ComparedFigure("compute.arithmetic_intensity", "Arithmetic intensity", "FLOPs per byte", sized=True),
    ComparedFigure("memory.kv_cache.bytes_per_token", "KV cache per token", "bytes", key=True),
    ComparedFigure("memory.kv_cache.bytes", "KV cache", "bytes", sized=True),
    ComparedFigure("graph.nodes", "Nodes"),
    ComparedFigure("graph.nodes_total", "Nodes in all graphs", key=True),
    ComparedFigure("graph.operator_types", "Operator types"),
    ComparedFigure("graph.initializers", "Initializers"),
    ComparedFigure("graph.depth", "Longest path"),
    ComparedFigure("compute.coverage.nodes", "Executed nodes", sized=True),
    ComparedFigure("compute.coverage.counted", "Nodes with known cost", sized=True),
    ComparedFigure("compute.coverage.unmoved", "Nodes with unknown memory traffic", sized=True),
    ComparedFigure("graph.shapes.outputs", "Node outputs", sized=True),
    ComparedFigure("graph.shapes.resolved", "Node outputs with inferred shapes", sized=True),
    ComparedFigure("memory.unsized", "Values of unknown size", sized=True),
)


def list_measures(card: Card) -> Iterator[Measure]:
    """Yield every figure that is compared, in the order of the table, then the time on each device."""
    for path, label, unit, sized, _ in FIGURES:
        if figure_at(card, path.rpartition(".")[0]) is None:
            continue  # an optional section: no branches, no cache
        value = figure_at(card, path)
        if path == _EXTERNAL_FILES:
            sizes = [file.bytes for file in value]
            if not sizes:
                continue
            value = None if None in sizes else sum(sizes)
        yield Measure(path, label, unit, value, sized and find_uncertainty(card, path) is not None, sized)
    for row in card.hardware.devices if card.hardware is not None else ():
        # The label has the grade: only times of one grade are compared.
        kind = "bound" if row.seconds.expected is None else "expected"
        path, grade = f"{_DEVICES}{row.device}.seconds.{kind}", _GRADES.get(row.basis, row.basis.capitalize())
        yield Measure(path, f"{grade} on {row.device}", "seconds", getattr(row.seconds, kind), row.coverage < 1, True)


def key_measures(sides: Sequence[Sequence[Measure]]) -> tuple[Measure, ...]:
    """Return the key figures of all sides, labelled as on the first side; a device only where every side has it."""
    keys = {figure.path for figure in FIGURES if figure.key}
    first: dict[str, Measure] = {}
    for measure in (measure for side in sides for measure in side):
        first.setdefault(measure.path, measure)
    labels = [{(measure.path, measure.label) for measure in side} for side in sides]
    return tuple(
        measure
        for path, measure in first.items()
        if path in keys or (path.startswith(_DEVICES) and all((path, measure.label) in side for side in labels))
    )


def number_changes(
    first: Sequence[Measure], second: Sequence[Measure], incomparable: str | None
) -> Iterator[NumberChange]:
    """Yield the figures that differ. `incomparable` is the reason why costs cannot be compared, if any."""
    olds, news = ({measure.path: measure for measure in side} for side in (first, second))
    for path in olds | news:
        old, new = olds.get(path), news.get(path)
        shown = old or news[path]
        if path.startswith(_DEVICES) and (old is None or new is None or old.label != new.label):
            continue
        was, was_least = (old.value, old.least) if old is not None else (None, False)
        now, is_least = (new.value, new.least) if new is not None else (None, False)
        if was == now and was_least == is_least:
            continue
        note = incomparable if incomparable and shown.sized else _LOWER_BOUND if was_least or is_least else None
        change, percent = (None, None) if note else difference(was, now)
        yield NumberChange(path, shown.label, shown.unit, was, now, change, percent, was_least, is_least, note)


def difference(was: Number, now: Number) -> tuple[Number, float | None]:
    """Return the increase, absolute and in percent; None where a side is unknown, or where no float can hold it.

    An untrusted card may have numbers of any size.
    """
    if was is None or now is None:
        return None, None
    try:
        change, percent = now - was, (now - was) / abs(was) * 100 if was else None
    except OverflowError:
        return (now - was if isinstance(was, int) and isinstance(now, int) else None), None
    finite = isinstance(change, int) or isfinite(change)
    return change if finite else None, percent if percent is None or isfinite(percent) else None
