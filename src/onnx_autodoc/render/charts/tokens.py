"""How many tokens a second a decoder reads and writes on each device, by the tokens that are in its cache.

No chart of fewer than two contexts that fit.
"""

from typing import Final

from onnx_autodoc.card import Card, DeviceRow, HardwareSection, TokenRow
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
from onnx_autodoc.text import count, plural

_LEAST: Final = 2
_BETWEEN: Final = 24.0
_TOP: Final = 50.0 + LEGEND
_BOTTOM: Final = 250.0
_HEIGHT: Final = 286.0
_NOTE: Final = 16.0  # more, where there are bands to explain
_PHASES: Final = {"decode": "Decode: one more token", "prefill": "Prefill: the whole prompt"}


def tokens(card: Card) -> Chart | None:
    found = card.hardware
    if found is None or not found.generation:
        return None
    shown = found.devices[:MOST]
    curves = {phase: [_curve(at, device, found, phase) for at, device in enumerate(shown)] for phase in _PHASES}
    told = {phase: [curve for curve in found if curve.points] for phase, found in curves.items()}
    told = {phase: found for phase, found in told.items() if any(len(curve.points) >= _LEAST for curve in found)}
    if not told or len({row.context for row in found.generation}) < _LEAST:
        return None
    pieces = [head("Tokens per second against the context", graded(found.generation, len(found.devices)))]
    pieces += legend([titled(device, found.generation) for device in shown], 14 + LEGEND)
    pieces += [piece for at, phase in enumerate(told) for piece in _panel(at, len(told), phase, told[phase], found)]
    note = shaded([curve for each in told.values() for curve in each])
    pieces += [words(0, _HEIGHT + 10, note, "small")] if note else []
    high = _HEIGHT + (_NOTE if note else 0.0)
    return framed("tokens", "Tokens per second by context", _alt(found, shown), high, pieces)


def _panel(at: int, panels: int, phase: str, curves: list[Curve], found: HardwareSection) -> list[str]:
    wide = (WIDTH - _BETWEEN * (panels - 1)) / panels
    left = (wide + _BETWEEN) * at
    sizes = sorted({row.context for row in found.generation})
    name = words(left, _TOP - 14, _PHASES[phase], "small")
    foot = words(left + wide, _BOTTOM + 31, "tokens of context", "small", "end")
    return [name, *plotted(Frame(left, left + wide, _TOP, _BOTTOM), curves, sizes), foot]


def _rows(device: DeviceRow, found: HardwareSection, phase: str) -> list[TokenRow]:
    rows = (row for row in found.generation if row.device == device.device and row.phase == phase)
    return [row for row in rows if row.tokens_per_second]


def _curve(at: int, device: DeviceRow, found: HardwareSection, phase: str) -> Curve:
    return Curve(at, tuple(_point(row, device) for row in _rows(device, found, phase)))


def _point(row: TokenRow, device: DeviceRow) -> Point:
    exact = f"{short_name(device.name)}, {row.phase}, {count(row.context)} tokens: {rate(row)} per second ({row.basis})"
    speed, seconds = row.tokens_per_second or 0.0, row.seconds or 0.0
    low, high = (speed * seconds / each if each else None for each in (row.high, row.low))
    return Point(row.context, speed, exact, row.basis, low, high)


def _alt(found: HardwareSection, shown: tuple[DeviceRow, ...]) -> str:
    said = []
    for device in shown:
        rows = _rows(device, found, "decode")
        if rows:
            ends = dict.fromkeys((rows[0], rows[-1]))
            told = ", ".join(f"{rate(row)} with {plural(row.context, 'token')}" for row in ends)
            said.append(f"{short_name(device.name)} decodes {told}")
    return "Per second: " + "; ".join(said) + "." if said else f"No decoding fits, of {plural(len(shown), 'device')}."
