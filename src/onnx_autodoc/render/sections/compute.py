"""Complexity: MACs, FLOPs and bytes, as numbers, as formulas, and where they are."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.render._blocks import (
    Block,
    Column,
    Figure,
    Heading,
    Items,
    Name,
    Note,
    Paragraph,
    Picture,
    Section,
    Strong,
    Table,
)
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.render.sections._rest import rest
from onnx_autodoc.text import clean, count, named, plural, short

_LONGEST: Final = 600  # letters of a formula
_MOST: Final = 50  # gaps
_FORMULAS: Final = (
    ("MACs", "macs"),
    ("FLOPs", "flops"),
    ("Bytes moved", "bytes_moved"),
    ("Peak activations, bytes", "peak_activation_bytes"),
    ("KV cache, bytes", "kv_cache_bytes"),
)


def complexity(card: Card) -> Section:
    blocks = (*_totals(card), *_formulas(card), *_parts(card), *_top(card), *_gaps(card))
    return Section("complexity", "Complexity", blocks)


def _totals(card: Card) -> Iterator[Block]:
    done = card.compute
    rows = [
        (Strong("Multiply-adds: "), figures.macs(card)),
        (Strong("FLOPs: "), figures.flops(card), ", two for each multiply-add and all other arithmetic"),
        (Strong("Bytes moved: "), figures.moved(card), ", if nothing stays in a cache between nodes"),
        (Strong("Arithmetic intensity: "), figures.intensity(card)),
    ]
    yield Paragraph(("One run at ", figures.sizes(card), ":"))
    yield Items(tuple(rows))
    if done.cheapest is not None:
        least = short(done.cheapest.macs, "MACs")
        yield Note((f"The data decide which branches run: these are the dearest; the cheapest take {least}.",))


def _formulas(card: Card) -> Iterator[Block]:
    found = card.compute.formula
    rows = [(name, text) for name, key in _FORMULAS if (text := getattr(found, key))]
    if not rows:
        return
    yield Heading("As formulas")
    yield Table(
        (Column("Quantity"), Column("In the open sizes")),
        tuple(((name,), (Name(clean(text, _LONGEST)),)) for name, text in rows),
    )
    yield Paragraph((_checked(card),))


def _checked(card: Card) -> str:
    found = card.compute.formula
    points = "; ".join(
        ", ".join(f"{named(name, 40)} {count(size)}" for name, size in point.items()) for point in found.checked_at
    )
    steps = {name: step for name, step in found.steps.items() if step > 1}
    apart = ", ".join(f"{named(name, 40)} in steps of {step}" for name, step in steps.items())
    return f"Exact{' for ' + apart if apart else ''}; checked by resolving the model anew at {points}."


def _parts(card: Card) -> Iterator[Block]:
    parts = card.structure.work
    if not parts or not card.compute.macs:
        return
    yield Heading("Where the work is")
    if len(parts) == 1 and parts[0].part == "other":
        yield Paragraph(("No block that is known holds any multiply-adds.",))
        yield Picture("work")
        return
    if len(parts) == 1:
        counted = " that were counted" if any(gap.macs for gap in card.compute.coverage.gaps) else ""
        yield Paragraph((f"All multiply-adds{counted} are in {parts[0].part}.",))
        yield Picture("work")
        return
    rows = tuple(((part.part,), (figures.rounded(part.macs, "MACs"),), (figures.share(part.share),)) for part in parts)
    total = (("All",), (figures.rounded(sum(part.macs for part in parts), "MACs"),), ("",))
    yield Table((Column("Part"), Column("MACs", True), Column("Share", True)), rows, total)
    yield Picture("work")


def _top(card: Card) -> Iterator[Block]:
    rows = tuple(
        ((Name(row.node),), (Name(row.op),), (figures.rounded(row.macs, "MACs"),), (figures.share(row.share),))
        for row in card.compute.top
    )
    if len(rows) > 1:
        columns = (Column("Node"), Column("Operator"), Column("MACs", True), Column("Share", True))
        yield Table(columns, rows, folded=f"the {plural(len(rows), 'node')} with the most multiply-adds")


def _gaps(card: Card) -> Iterator[Block]:
    covered = card.compute.coverage
    yield Heading("Not counted")
    if not covered.gaps:
        yield Paragraph((f"Nothing: the cost of all {plural(covered.nodes, 'node')} is known.",))
        return
    rows = tuple(
        ((Name(gap.op),), (figures.number(gap.count),), (clean(gap.reason, 300),), tuple(_nodes(gap.nodes)))
        for gap in covered.gaps[:_MOST]
    )
    yield Table((Column("Operator"), Column("Nodes", True), Column("Why"), Column("For example")), rows)
    yield from rest(len(covered.gaps), _MOST)


def _nodes(names: tuple[str, ...]) -> Iterator[Name | str | Figure]:
    for at, name in enumerate(names[:3]):
        yield from ((", ",) if at else ())
        yield Name(name)
