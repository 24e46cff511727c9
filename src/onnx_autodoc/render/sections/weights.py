"""The numbers in the weights, where they were read."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, Numbers
from onnx_autodoc.render._blocks import Block, Column, Figure, Items, Name, Paragraph, Section, Table, Text
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.render.sections._rest import rest
from onnx_autodoc.text import clean, memory, plural

_MOST: Final = 100  # rows
_LISTED: Final = 10
_DIGITS: Final = 12  # of a hash: enough to tell two apart by eye


def weights(card: Card) -> Section | None:
    found = card.weights
    if found is None:
        return None
    said = f"{plural(len(found.tensors), 'tensor')} of the file, {memory(found.bytes_read)} read."
    return Section("weights", "Numbers in the weights", (Paragraph((said,)), *_unread(card), *_table(card)))


def _unread(card: Card) -> Iterator[Block]:
    missing = [each for each in card.weights.tensors if each.unread] if card.weights else []
    if missing:
        yield Paragraph((f"{plural(len(missing), 'tensor')} could not be read:",))
        yield Items(tuple((Name(each.name), f": {clean(each.unread or '', 200)}") for each in missing[:_LISTED]))
        yield from rest(len(missing), _LISTED)


def _table(card: Card) -> Iterator[Block]:
    """The largest first."""
    read = [each for each in card.weights.tensors if not each.unread] if card.weights else []
    if not read:
        return
    titles = ("Tensor", "Type", "Bytes", "Zeros", "Smallest", "Largest", "Not finite", "SHA-256 begins")
    columns = tuple(Column(title, title in ("Bytes", "Zeros", "Smallest", "Largest", "Not finite")) for title in titles)
    rows = tuple(map(_row, sorted(read, key=lambda each: (-(each.bytes or 0), each.name))[:_MOST]))
    yield Table(columns, rows, None, plural(len(read), "tensor") if len(read) > 8 else None)
    yield from rest(len(read), _MOST)


def _row(each: Numbers) -> tuple[Text, ...]:
    dims = " × ".join(map(str, each.dims)) or "scalar"
    strange = None if each.nan is None or each.infinite is None else each.nan + each.infinite
    return (
        (Name(each.name),),
        (f"{each.dtype} {dims}",),
        (figures.number(each.bytes, "bytes"),),
        (figures.number(each.zeros),),
        (_end(each.least),),
        (_end(each.most),),
        (figures.number(strange),),
        (Name((each.sha256 or "")[:_DIGITS]),),
    )


def _end(number: int | float | None) -> Figure:
    return Figure("not known") if number is None else Figure(f"{number:.4g}", number)
