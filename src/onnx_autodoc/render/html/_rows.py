"""The rows of the nodes, packed: columns instead of records, each word once, names by what the last one has not."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from onnx_autodoc.card import NodeRow
from onnx_autodoc.text import clean

MOST_ROWS: Final = 20_000  # the page stays quick; `--format csv` has them all
_MOST_LETTERS: Final = 200  # of a name
_MOST_LINKED: Final = 4_096  # of a name that leads to its row


class _Words:
    """Distinct words by the order in which they come, and the place of each."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def place(self, word: str) -> int:
        return self.places.setdefault(word, len(self.places))


class Packed(Struct, frozen=True):
    """`columns` is what the page's nodes.js unpacks; `places` tells the row of a node by its name."""

    columns: dict[str, Any]
    places: dict[str, int]
    shown: int
    total: int


def packed(rows: Iterable[NodeRow]) -> Packed:
    rest = iter(rows)
    kept = list(islice(rest, MOST_ROWS))
    words = _Words()
    names = [_path(row) for row in kept]
    columns: dict[str, Any] = {"names": list(_fronts(names)), "ops": [words.place(_operator(row)) for row in kept]}
    columns["blocks"] = [words.place(clean(row.block)) if row.block else None for row in kept]
    columns["gaps"] = {str(at): words.place(clean(row.gap, 400)) for at, row in enumerate(kept) if row.gap}
    columns["outputs"] = [list(_outputs(name, row, words)) for name, row in zip(names, kept)]
    for field in ("params", "macs", "flops", "read_bytes", "written_bytes"):
        columns[field] = [whole(getattr(row, field)) for row in kept]
    columns["words"] = list(words.places)
    return Packed(columns, _places(kept), len(kept), len(kept) + sum(1 for _ in rest))


def whole(number: int | None) -> int | str | None:
    """A script's numbers are exact up to 2^53; larger ones go as text."""
    return number if number is None or abs(number) < 1 << 53 else str(number)


def _path(row: NodeRow) -> str:
    """A name, after the way that leads to its graph; the operator where it has none."""
    name = clean(row.name, _MOST_LETTERS) or f"({clean(row.op, 60)})"
    return f"{clean(row.scope, _MOST_LETTERS)} › {name}" if row.scope else name


def _operator(row: NodeRow) -> str:
    op = clean(row.op, 100)
    return op if row.domain in ("", "ai.onnx") else f"{clean(row.domain, 100)}.{op}"


def _fronts(names: list[str]) -> Iterator[int | str]:
    """How many letters a name shares with the last one, and its rest."""
    last = ""
    for name in names:
        same = _alike(last, name)
        yield from (_units(name[:same]), name[same:])
        last = name


def _alike(one: str, two: str) -> int:
    """How many letters they begin with in common."""
    most = min(len(one), len(two))
    return next((at for at in range(most) if one[at] != two[at]), most)


def _outputs(name: str, row: NodeRow, words: _Words) -> Iterator[int | str]:
    """Each output as four: letters shared with the node's name, the rest, its type, its shape."""
    for output in row.outputs:
        shown = clean(output.name, _MOST_LETTERS)
        same = _alike(name, shown)
        shape = "not known" if output.shape is None else "×".join(map(str, output.shape)) or "scalar"
        yield from (_units(shown[:same]), shown[same:], words.place(output.dtype or "not known"), words.place(shape))


def _units(text: str) -> int:
    """A script counts in units of UTF-16."""
    return len(text.encode("utf-16-le")) // 2


def _places(rows: list[NodeRow]) -> dict[str, int]:
    """Names that stand for one node, those of inner graphs after the way there. What is too long leads nowhere."""
    found: dict[str, int] = {}
    twice = set()
    for at, row in enumerate(rows):
        if len(row.scope) + len(row.name) > _MOST_LINKED:
            continue
        name = f"{row.scope}/{row.name}" if row.scope else row.name
        if row.name and found.setdefault(name, at) != at:
            twice.add(name)
    return {name: at for name, at in found.items() if name not in twice}
