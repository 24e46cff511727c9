"""What a larger batch takes and gives: memory, and FLOPs for each byte moved, which is what makes a device busy.

No chart without an open batch, and no column of fewer than three known sizes.
"""

from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts._bars import HEAD, ROW, Bar, Panel, columns
from onnx_autodoc.render.charts._chart import Chart, framed
from onnx_autodoc.text import count, memory, three

_LEAST: Final = 3
_FINE: Final = 1000  # bars are whole numbers: thousandths of what is shown


def scaling(card: Card) -> Chart | None:
    found = (_memory(card), _intensity(card))
    panels = tuple(panel for panel in found if sum(bar.value is not None for bar in panel.bars) >= _LEAST)
    if not panels:
        return None
    return framed("scaling", "What a larger batch takes", _alt(card), HEAD + ROW * len(card.scaling), columns(panels))


def _name(batch: int) -> str:
    return f"batch {count(batch)}"


def _memory(card: Card) -> Panel:
    weights = card.memory.weights_bytes
    least = "at least " if card.memory.unsized else ""
    note = f"{least}weights (solid) and peak activations" if weights else f"{least}peak activations"
    return Panel("Memory", note, tuple(_taken(row.batch, row.memory_bytes, weights) for row in card.scaling))


def _taken(batch: int, nbytes: int | None, weights: int) -> Bar:
    if nbytes is None:
        return Bar(_name(batch), None, "not known", "")
    exact = f"{_name(batch)}: {count(nbytes)} bytes, {count(weights)} of them weights"
    return Bar(_name(batch), nbytes, memory(nbytes), exact, "pale", first=weights)


def _intensity(card: Card) -> Panel:
    return Panel("FLOPs per byte moved", "", tuple(_busy(row.batch, row.arithmetic_intensity) for row in card.scaling))


def _busy(batch: int, each: float | None) -> Bar:
    if each is None:
        return Bar(_name(batch), None, "not known", "")
    return Bar(_name(batch), round(each * _FINE), three(each), f"{_name(batch)}: {each:.3f} FLOPs per byte")


def _alt(card: Card) -> str:
    """From the first batch to the last, as far as they are known."""
    taken = [(row.batch, memory(row.memory_bytes)) for row in card.scaling if row.memory_bytes is not None]
    busy = [
        (row.batch, three(row.arithmetic_intensity)) for row in card.scaling if row.arithmetic_intensity is not None
    ]
    said = [_grown("Memory", taken), _grown("FLOPs per byte", busy)]
    return "; ".join(filter(None, said)) + "."


def _grown(what: str, found: list[tuple[int, str]]) -> str:
    if len(found) < _LEAST:
        return ""
    (first, low), (last, high) = found[0], found[-1]
    if len({shown for _, shown in found}) == 1:
        return f"{what}: {low} at every batch"
    return f"{what} from {low} at batch {count(first)} to {high} at batch {count(last)}"
