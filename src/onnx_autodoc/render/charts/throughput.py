"""How many samples a second each device does at each batch, with the best batch marked.

No chart of fewer than three batches that fit, or where no batch does more than another: that is a sentence.
"""

from typing import Final

from onnx_autodoc.card import Card, DeviceRow, HardwareSection, ScaleRow
from onnx_autodoc.render._hardware_words import rate, short_name
from onnx_autodoc.render.charts._chart import WIDTH, Chart, framed
from onnx_autodoc.render.charts._lines import (
    LEGEND,
    MOST,
    Curve,
    Frame,
    Point,
    graded,
    head,
    legend,
    plotted,
    shaded,
    titled,
)
from onnx_autodoc.render.charts._svg import words
from onnx_autodoc.text import count

_LEAST: Final = 3
_RING: Final = "Ring: the smallest batch with 90 % of the best throughput."
_FLAT: Final = 1.02  # of the least: less of a rise is none
_TOP: Final = 34.0 + LEGEND
_BOTTOM: Final = 240.0
_HEIGHT: Final = 276.0


def throughput(card: Card) -> Chart | None:
    found = card.hardware
    shown = found.devices[:MOST] if found is not None else ()
    curves = [_curve(at, device, found) for at, device in enumerate(shown) if found is not None]
    sizes = sorted({row.batch for row in found.scaling}) if found is not None else []
    if found is None or len(sizes) < _LEAST or not any(map(_rises, curves)):
        return None
    drawn = [curve for curve in curves if curve.points]
    pieces = [head("Samples per second against the batch", graded(found.scaling, len(found.devices)))]
    pieces += legend([_name(device, found) for device in shown], 14 + LEGEND)
    pieces += plotted(Frame(0, WIDTH, _TOP, _BOTTOM), drawn, sizes)
    pieces += [words(WIDTH, _BOTTOM + 31, "batch", "small", "end")]
    pieces.append(words(0, _BOTTOM + 31, " ".join(filter(None, (_RING, shaded(drawn)))), "small"))
    return framed("throughput", "Throughput by batch", _alt(found, shown), _HEIGHT, pieces)


def _curve(at: int, device: DeviceRow, found: HardwareSection) -> Curve:
    rows = [row for row in _rows(device, found) if row.per_second]
    return Curve(at, tuple(_point(row, device) for row in rows))


def _rows(device: DeviceRow, found: HardwareSection) -> list[ScaleRow]:
    return [row for row in found.scaling if row.device == device.device]


def _point(row: ScaleRow, device: DeviceRow) -> Point:
    exact = f"{short_name(device.name)}, batch {count(row.batch)}: {rate(row)} samples per second ({row.basis})"
    low, high = (row.batch / each if each else None for each in (row.high, row.low))  # the longest time is the least
    return Point(row.batch, row.per_second or 0.0, exact, row.basis, low, high, row.batch == device.best_batch)


def _rises(curve: Curve) -> bool:
    values = [point.value for point in curve.points]
    return len(values) >= _LEAST and max(values) > min(values) * _FLAT


def _name(device: DeviceRow, found: HardwareSection) -> str:
    """With what does not fit, which has no place on such axes."""
    rows, name = _rows(device, found), titled(device, found.scaling)
    fitting = [row.batch for row in rows if row.fits is not False]
    if len(fitting) == len(rows):
        return name
    return f"{name}, fits up to {count(max(fitting))}" if fitting else f"{name}: does not fit"


def _alt(found: HardwareSection, shown: tuple[DeviceRow, ...]) -> str:
    said = []
    for device in shown:
        rows = {row.batch: row for row in _rows(device, found) if row.per_second}
        best = rows.get(device.best_batch or 0)
        first = next(iter(rows.values()), None)
        if best is not None and first is not None:
            start = f" ({rate(first)} at batch {count(first.batch)})" if first is not best else ""
            said.append(f"{short_name(device.name)}: {rate(best)} per second at batch {count(best.batch)}{start}")
        elif not rows:
            said.append(f"{short_name(device.name)}: no batch fits")
    return "; ".join(said) + "."
