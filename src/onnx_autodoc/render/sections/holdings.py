"""Precision, parameters and operators: what the file holds."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, OperatorRow, WeightGroup
from onnx_autodoc.render._blocks import Block, Column, Items, Name, Paragraph, Picture, Section, Strong, Table, Text
from onnx_autodoc.render._headline import is_partly_counted
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.render.sections._rest import rest
from onnx_autodoc.text import clean, plural

_MOST: Final = 200
_LAYERS: Final = 100
_FEW: Final = 15
_HOW: Final = {
    "dynamic": "quantized, activations while running",
    "qdq": "quantized, in pairs of quantize and dequantize",
    "qoperator": "quantized operator",
    "weight-only": "packed, computed in floating point",
    "float": "floating point",
    "integer": "integers, read by no known quantization",
}


def precision(card: Card) -> Section | None:
    found = card.model.precision
    if found.label is None:
        return None
    said = (f": {found.scheme}",) if found.scheme else ()
    blocks: list[Block] = [Paragraph((Name(found.label), *said, "."))]
    if found.story:
        columns = ("Operator", "Type", "How", "Scales")
        rows = tuple(_story(row) for row in found.story[:_MOST])
        titles = tuple(Column(name) for name in columns)
        blocks.append(Table((*titles, Column("Nodes", True), Column("Parameters", True), Column("Share", True)), rows))
        blocks += rest(len(found.story), _MOST)
    if found.stayed:
        blocks.append(Paragraph((_sentence(clean(found.stayed, 400)),)))
    return Section("precision", "Precision", tuple(blocks))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _story(row: WeightGroup) -> tuple[Text, ...]:
    return (
        (Name(row.op),),
        (Name(row.dtype),),
        (_HOW.get(row.how, row.how),),
        (_scales(row),),
        (figures.number(row.nodes),),
        (figures.number(row.params, "parameters"),),
        (figures.share(row.share),),
    )


def _scales(row: WeightGroup) -> str:
    """How many numbers share a scale, and whether zero is the middle of the range; a dash where that is not told."""
    parts = [f"one for {row.block_size}"] if row.block_size else []
    parts += [] if row.per_channel is None else ["one per channel" if row.per_channel else "one per tensor"]
    parts += [] if row.symmetric is None else ["symmetric" if row.symmetric else "asymmetric"]
    return ", ".join(parts) or "—"


def _held(card: Card) -> Text:
    held = card.parameters
    told = f" in {plural(held.tensors, 'tensor')}"
    if is_partly_counted(card):
        return (figures.parameters(card), told if held.total else "")
    return (figures.number(held.total, "parameters"), told)


def parameters(card: Card) -> Section:
    held = card.parameters
    rows: list[Text] = [(Strong("Weights: "), *_held(card))]
    apart = (
        ("BatchNorm statistics", held.statistics),
        ("Scales and zero points", held.quantization),
        ("Constants (shapes, indices, tables)", held.constants),
        ("Weights that no node uses", held.unread),
    )
    rows += [(Strong(f"{name}: "), figures.number(number)) for name, number in apart if number]
    tell = "A file does not tell which of its weights were trained and which were frozen."
    blocks = (Items(tuple(rows)), *_by_type(card), Picture("parameters"), *_by_layer(card), Paragraph((tell,)))
    return Section("parameters", "Parameters", blocks)


def _by_type(card: Card) -> Iterator[Block]:
    held = card.parameters
    if len(held.by_dtype) > 1:
        rows = tuple(((Name(dtype),), (figures.number(number),)) for dtype, number in held.by_dtype.items())
        yield Table((Column("Type"), Column("Parameters", True)), rows, (("All",), (figures.number(held.total),)))


def _by_layer(card: Card) -> Iterator[Block]:
    rows = card.parameters.by_layer
    if not rows:
        return
    largest = sorted(rows, key=lambda row: -row.bytes)[:_LAYERS] if len(rows) > _LAYERS else rows
    shown = tuple(
        ((Name(row.node),), (Name(row.op),), (figures.number(row.params, "parameters"),), (figures.stored(row.bytes),))
        for row in largest
    )
    columns = (Column("Node"), Column("Operator"), Column("Parameters", True), Column("Stored", True))
    some = f"the {len(shown):,} largest of {plural(len(rows), 'node')} with weights; all are in the JSON card"
    all_ = f"{plural(len(rows), 'node')} with weights"
    total = (
        ("All",),
        ("",),
        (figures.number(sum(row.params for row in rows), "parameters"),),
        (figures.stored(sum(row.bytes for row in rows)),),
    )
    whole = len(shown) == len(rows)
    yield Table(columns, shown, total if whole else None, all_ if whole else some)


def operators(card: Card) -> Section:
    rows = card.graph.operators
    shown = tuple(_operator(row, card) for row in rows[:_MOST])
    names = ("Count", "Share", "Parameters", "MACs", "FLOPs")
    columns = (Column("Operator"), Column("Domain"), *(Column(name, True) for name in names))
    total = _total(card) if len(rows) <= _MOST else None
    said = f"{plural(card.graph.nodes_total, 'node')} of {plural(len(rows), 'operator type')}."
    all_ = f"all {plural(len(rows), 'operator type')}" if len(shown) == len(rows) else f"the first {_MOST} of them"
    table = Table(columns, shown, total, all_ if len(rows) > _FEW else None)
    blocks = (Paragraph((said,)), Picture("operators"), table, *rest(len(rows), _MOST))
    return Section("operators", "Operators", blocks)


def _operator(row: OperatorRow, card: Card) -> tuple[Text, ...]:
    gaps = [gap for gap in card.compute.coverage.gaps if gap.op == row.op]
    return (
        (Name(row.op),),
        (Name(row.domain),),
        (figures.number(row.count),),
        (figures.share(row.share),),
        (figures.number(row.params, "parameters"),),
        (figures.rounded(row.macs, "MACs", any(gap.macs for gap in gaps)),),
        (figures.rounded(row.flops, "FLOPs", bool(gaps)),),
    )


def _total(card: Card) -> tuple[Text, ...]:
    """The model's own totals: what the rows sum to, as tests hold."""
    used = card.parameters.total - card.parameters.unread
    return (
        ("All",),
        ("",),
        (figures.number(card.graph.nodes_total),),
        ("",),
        (figures.number(used, "parameters"),),
        (figures.macs(card),),
        (figures.flops(card),),
    )
