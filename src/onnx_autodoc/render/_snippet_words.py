"""Words of a program: strings and names that a file cannot break out of, and sizes by their names."""

import keyword
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from onnx_autodoc.card import Card, Port

_RESERVED: Final = frozenset(
    (
        *("np", "ort", "ml_dtypes", "rng", "options", "session", "inputs", "values", "outputs", "output", "value"),
        *("name", "i", "bool", "object", "print", "range", "zip", "str"),
    )
)
_LONGEST: Final = 40


def literal(text: str) -> str:
    """A Python string in printable ASCII, without what could end a fence of Markdown or a tag of HTML."""
    quoted = ascii(text)
    if quoted[0] == "'" and '"' not in text:
        quoted = '"' + quoted[1:-1] + '"'
    return quoted.replace("`", "\\x60").replace("<", "\\x3c")


def filled_in(before: str, after: str) -> str:
    """An f-string with a number between two pieces of text."""
    pieces = [literal(text.replace("{", "{{").replace("}", "}}")) for text in (before, after)]
    if pieces[0][0] == pieces[1][0]:
        return f"f{pieces[0][:-1]}{{i}}{pieces[1][1:]}"
    return f"f{pieces[0][:-1]}{{i}}{pieces[0][-1]} {pieces[1].replace('{{', '{').replace('}}', '}')}"


class Sizes:
    """The open dimensions of a model as variables of the program. What has no name is a number."""

    def __init__(self, card: Card) -> None:
        self.sizes: dict[str, int] = {}  # by variable
        self.guessed: list[str] = []  # variables that nothing is known of
        self._words: dict[str, str] = {}  # by the name of the dimension
        self._alike = Counter[str]()  # how often a word was taken already when it was wanted
        self._known = card.assumptions.dims
        found = _named(card.interface.inputs, self._known)
        for name, sizes in found.items():
            if len(sizes) == 1 and not self._sum(name):
                self._add(name, next(iter(sizes)))

    def of(self, port: Port) -> str:
        """A shape, as text."""
        if port.shape is None and port.bound is None:
            return "(1,)"
        count = len(port.bound if port.bound is not None else port.shape or ())
        items = [self._dim(port, axis) for axis in range(count)]
        return f"({items[0]},)" if count == 1 else f"({', '.join(items)})"

    def last(self, port: Port) -> str:
        return self._dim(port, len(port.bound or ()) - 1)

    def measured(self, length: int) -> str:
        """A length by the name of the size that it is, or is one less than."""
        for less in (0, 1):
            words = [word for word, size in self.sizes.items() if size > 1 and size - less == length]
            if words:
                return f"{words[0]} - 1" if less else words[0]
        return str(length)

    def _dim(self, port: Port, axis: int) -> str:
        declared = port.shape[axis] if port.shape is not None and axis < len(port.shape) else None
        size = port.bound[axis] if port.bound is not None else declared if isinstance(declared, int) else None
        if declared == 0:
            return "0"  # some exporters mean that it is open; onnxruntime takes them at their word
        if not isinstance(declared, str):
            return str(self._known.get(f"{port.name}.{axis}", 1) if size is None else size)
        word = self._words.get(declared) or self._sum(declared)
        if word and (size is None or self._value(word) == size):
            return word
        return str(size) if size is not None else self._guess(declared)

    def _value(self, word: str) -> int:
        return sum(int(part) if part.isdigit() else self.sizes[part] for part in word.split(" + "))

    def _sum(self, name: str) -> str:
        """A dimension that is called the sum of others."""
        parts = [part.strip() for part in name.split("+")] if "+" in name else []
        words = [part if part.isdigit() and part.isascii() else self._words.get(part, "") for part in parts]
        return " + ".join(words) if words and all(words) else ""

    def _guess(self, name: str) -> str:
        word = self._add(name, 1)
        self.guessed.append(word)
        return word

    def _add(self, name: str, size: int) -> str:
        word = re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_")[:_LONGEST]
        word = f"size_{word}" if not word or word[0].isdigit() else word
        if keyword.iskeyword(word) or word in _RESERVED:
            word += "_size"
        word = self._unlike(word)
        self.sizes[word] = size
        self._words[name] = word
        return word

    def _unlike(self, word: str) -> str:
        """A word that is not taken yet; the next one of a kind is not looked for from the beginning."""
        while word in self.sizes:
            self._alike[word] += 1
            word = f"{word}_{self._alike[word] + 1}"
        return word


def _named(ports: Iterable[Port], known: dict[str, int]) -> dict[str, set[int]]:
    """The sizes that each named dimension has; sums of others come last, when those are there."""
    found: dict[str, set[int]] = {}
    for port in ports:
        for declared, size in zip(port.shape or (), port.bound or ()):
            if isinstance(declared, str) and declared in known:
                found.setdefault(declared, set()).add(size)
    return dict(sorted(found.items(), key=lambda item: "+" in item[0]))
