"""SVG elements of charts, the frame around them, axis scales, and the width of text without a font.

Text of a model file enters a chart only through `escape_text`. Elements have no id, since many charts share a page, and
no color: a kind is a CSS class (style.py). Coordinates have one decimal, so that equal cards give equal bytes.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final
from xml.sax.saxutils import escape

from msgspec import Struct

from onnx_autodoc.card import Card
from onnx_autodoc.text import format_count, format_short, sanitize

WIDTH: Final = 720.0
MARGIN: Final = 8.0
FONT_SIZE: Final = 12.0
SMALL_FONT_SIZE: Final = 11.0
BOLD_WIDTH_FACTOR: Final = 1.13
_NO_BREAK_SPACE: Final = "\u00a0"  # renderers drop an ordinary space before a tspan
_MAX_TEXT_LENGTH: Final = 400
_MAX_MEASURED_LENGTH: Final = 4_000
_MAX_BINDINGS: Final = 3
# Widths in parts of the font size: DejaVu Sans, which is wider than what browsers use.
_CHARACTER_WIDTHS: Final[dict[str, float]] = {
    **dict.fromkeys("'ijlIJ", 0.3),
    **dict.fromkeys(" \u00a0,.·/:;\\|f-", 0.36),
    **dict.fromkeys("()[]tr!", 0.42),
    **dict.fromkeys('"*_`–szc?', 0.55),
    **dict.fromkeys("LFkvxyPTYaoeé", 0.62),
    **dict.fromkeys("wm#+<=>^~×→≥≤÷MOQ&", 0.88),
    **dict.fromkeys("m%W@…—", 1.0),
}
_LOWERCASE_WIDTH: Final = 0.645  # digits too
_UPPERCASE_WIDTH: Final = 0.78
_OTHER_WIDTH: Final = 1.05

Point = tuple[float, float]
_ROUND_STEPS: Final = (1, 2, 5, 10)
_BINARY: Final = 1024
_LOG_PADDING: Final = 2.0  # factor at both ends
_MAX_TICKS: Final = 6


class Chart(Struct, frozen=True):
    """A drawn chart. `alt` states its main numbers as plain text: alternative text and caption."""

    name: str
    title: str
    alt: str
    svg: str


def frame_chart(name: str, title: str, alt: str, height: float, elements: Sequence[str]) -> Chart:
    """Wrap elements into an SVG as wide as the page; screen readers read the title and `alt`."""
    head = f'<svg class="chart" role="img" viewBox="0 0 {coordinate(WIDTH)} {coordinate(height)}">'
    described = f"<title>{escape_text(title)}</title><desc>{escape_text(alt)}</desc>"
    return Chart(name, title, sanitize(alt, 1000), "\n".join((head, described, *elements, "</svg>")))


def format_bindings(card: Card) -> str:
    """Format the sizes that costs are valid for: "at batch 1, sequence 128"; "" if the file fixes all dimensions."""
    dims = list(card.assumptions.dims.items())
    shown = ", ".join(f"{sanitize(name, 24)} {format_count(size)}" for name, size in dims[:_MAX_BINDINGS])
    more = f", {len(dims) - _MAX_BINDINGS} more" if len(dims) > _MAX_BINDINGS else ""
    return f"at {shown}{more}" if dims else ""


def escape_text(text: str) -> str:
    return escape(sanitize(text, _MAX_TEXT_LENGTH))


def coordinate(value: float) -> str:
    return f"{value:.1f}"


def text(x: float, y: float, content: str, kind: str = "", anchor: str = "start", soft: str = "") -> str:
    """Return one line of text; `soft` follows in a lighter color."""
    side = f' text-anchor="{anchor}"' if anchor != "start" else ""
    more = f'<tspan class="soft">{_NO_BREAK_SPACE}{escape_text(soft)}</tspan>' if soft else ""
    return f'<text x="{coordinate(x)}" y="{coordinate(y)}"{side}{_class(kind)}>{escape_text(content)}{more}</text>'


def heading(content: str, note: str, x: float = 0, y: float = 14, right: float = WIDTH) -> str:
    """Return the head line of a chart or panel; `note` is cut at `right`."""
    note_width = right - x - text_width(content) * BOLD_WIDTH_FACTOR - MARGIN
    return text(x, y, content, "head", soft=fit_text(note, note_width, cut_end=True))


def rect(x: float, y: float, width: float, height: float, kind: str, tooltip: str = "") -> str:
    size = f'width="{coordinate(width)}" height="{coordinate(height)}"'
    return f'<rect x="{coordinate(x)}" y="{coordinate(y)}" {size}{_class(kind)}>{_title(tooltip)}</rect>'


def circle(x: float, y: float, radius: float, kind: str, tooltip: str = "") -> str:
    center = f'cx="{coordinate(x)}" cy="{coordinate(y)}"'
    return f'<circle {center} r="{coordinate(radius)}"{_class(kind)}>{_title(tooltip)}</circle>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    start, end = f'x1="{coordinate(x1)}" y1="{coordinate(y1)}"', f'x2="{coordinate(x2)}" y2="{coordinate(y2)}"'
    return f"<line {start} {end}{_class(kind)}/>"


def path(points: list[Point], kind: str, closed: bool = False) -> str:
    steps = "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in points)
    return f'<path d="M{steps}{"Z" if closed else ""}"{_class(kind)}/>'


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _title(tooltip: str) -> str:
    return f"<title>{escape_text(tooltip)}</title>" if tooltip else ""


def text_width(content: str, size: float = FONT_SIZE) -> float:
    return size * math.fsum(map(_character_width, content))  # sum() rounds in another way since Python 3.12


def _character_width(char: str) -> float:
    width = _CHARACTER_WIDTHS.get(char)
    if width is not None:
        return width
    if not char.isascii():
        return 0.0 if unicodedata.combining(char) else _OTHER_WIDTH
    return _UPPERCASE_WIDTH if char.isupper() else _LOWERCASE_WIDTH


def fit_text(content: str, max_width: float, size: float = FONT_SIZE, cut_end: bool = False) -> str:
    """Cut text to `max_width` in its middle, since the ends of a path are the most specific, or at its end."""
    content = sanitize(content, _MAX_MEASURED_LENGTH)
    if text_width(content, size) <= max_width:
        return content
    low, high = 0, len(content)
    while low < high:
        middle = (low + high + 1) // 2
        fits = text_width(_cut(content, middle, cut_end), size) <= max_width
        low, high = (middle, high) if fits else (low, middle - 1)
    return _cut(content, low, cut_end)


def _cut(content: str, length: int, cut_end: bool) -> str:
    """Return `length` characters: a third from the start and two thirds from the end, or all from the start."""
    head = length if cut_end else length // 3
    tail = length - head
    return f"{content[:head]}…{content[len(content) - tail :] if tail else ''}"


class Scale(Struct, frozen=True):
    """A mapping from values in [low, high] to coordinates in [start, end]."""

    low: float
    high: float
    start: float
    end: float
    log: bool
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        low, high, at = (math.log10(number) if self.log else number for number in (self.low, self.high, value))
        return self.start + (at - low) / (high - low) * (self.end - self.start)


def memory_scale(max_bytes: int, start: float, end: float) -> Scale:
    """Return a scale from zero to the next tick after `max_bytes`; ticks are round in the unit that is printed."""
    unit = 1.0
    while max_bytes >= unit * _BINARY * 0.9995:
        unit *= _BINARY
    step = max(1.0, _round_step(max_bytes / unit / 4) * unit)
    count = max(1, math.ceil(max_bytes / step - 1e-9))
    return Scale(0.0, step * count, start, end, False, tuple(step * tick for tick in range(count + 1)))


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in _ROUND_STEPS if step * power >= rough * 0.999)


def log_scale(low: float, high: float, start: float, end: float) -> Scale:
    """Return a padded logarithmic scale with ticks at powers of ten, or at round numbers where those are few."""
    low, high = low / _LOG_PADDING, high * _LOG_PADDING
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    tens = [10.0**power for power in powers if low <= 10.0**power <= high]
    fine = [step * 10.0**power for power in powers for step in _ROUND_STEPS[:3] if low <= step * 10.0**power <= high]
    ticks = tens[:: -(-len(tens) // _MAX_TICKS)] if len(tens) > 1 else fine
    return Scale(low, high, start, end, True, tuple(ticks))


def strip_zeros(label: str) -> str:
    """Remove trailing zeros behind a decimal point: "2.50 MiB" becomes "2.5 MiB"."""
    return re.sub(r"\.(\d*?)0+(?!\d)", lambda match: "." + match[1] if match[1] else "", label)


def format_tick(value: float) -> str:
    return strip_zeros(format_short(round(value))) if value >= 1 else f"{value:.9f}".rstrip("0")


def horizontal_grid(up: Scale, left: float, right: float, label: Callable[[float], str] = format_tick) -> list[str]:
    """Return grid lines at the ticks of the vertical scale, labelled on the left."""
    elements: list[str] = []
    for tick in up.ticks:
        y = up.at(tick)
        elements += [line(left, y, right, y, "grid"), text(left - 6, y + 4, label(tick), "small", "end")]
    return elements


def vertical_grid(across: Scale, top: float, bottom: float) -> list[str]:
    """Return grid lines at the ticks of the horizontal scale, labelled below."""
    elements: list[str] = []
    for tick in across.ticks:
        x, label = across.at(tick), format_tick(tick)
        inside = min(x, WIDTH - text_width(label, SMALL_FONT_SIZE) / 2)
        elements += [line(x, top, x, bottom, "grid"), text(inside, bottom + 15, label, "small", "middle")]
    return elements


def tick_width(up: Scale, label: Callable[[float], str] = format_tick) -> float:
    return max(text_width(label(tick), SMALL_FONT_SIZE) for tick in up.ticks)
