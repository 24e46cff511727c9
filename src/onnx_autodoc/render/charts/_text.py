"""How wide a text will be, without a font at hand: by classes of letters, as the widest common font sets them."""

import unicodedata
from typing import Final

from onnx_autodoc.text import clean

SIZE: Final = 12.0  # of text, in units of a picture 720 wide
SMALL: Final = 11.0
BOLD: Final = 1.13  # how much wider heads are
_MOST: Final = 4_000  # letters that are looked at
# In parts of the size: DejaVu Sans, which is wider than what browsers use.
_WIDTHS: Final[dict[str, float]] = {
    **dict.fromkeys("'ijlIJ", 0.3),
    **dict.fromkeys(" \u00a0,.·/:;\\|f-", 0.36),
    **dict.fromkeys("()[]tr!", 0.42),
    **dict.fromkeys('"*_`–szc?', 0.55),
    **dict.fromkeys("LFkvxyPTYaoeé", 0.62),
    **dict.fromkeys("wm#+<=>^~×→≥≤÷MOQ&", 0.88),
    **dict.fromkeys("m%W@…—", 1.0),
}
_SMALL_LETTER: Final = 0.645  # digits too
_CAPITAL: Final = 0.78
_OTHER: Final = 1.05


def width(text: str, size: float = SIZE) -> float:
    return size * sum(map(_letter, text))


def _letter(char: str) -> float:
    known = _WIDTHS.get(char)
    if known is not None:
        return known
    if not char.isascii():
        return 0.0 if unicodedata.combining(char) else _OTHER
    return _CAPITAL if char.isupper() else _SMALL_LETTER


def fit(text: str, room: float, size: float = SIZE, end: bool = False) -> str:
    """Printable, and not wider than `room`: the middle of a path says least, so it goes first, or else the `end`."""
    text = clean(text, _MOST)
    if width(text, size) <= room:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if width(_cut(text, middle, end), size) <= room else (low, middle - 1)
    return _cut(text, low, end)


def _cut(text: str, kept: int, end: bool) -> str:
    """The first third and the last two of what is kept, or all of it from the start."""
    head = kept if end else kept // 3
    tail = kept - head
    return f"{text[:head]}…{text[len(text) - tail :] if tail else ''}"
