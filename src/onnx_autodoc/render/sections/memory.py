"""Memory: weights, activations over the course of a run, by operator, and the key-value cache where there is one."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.render._blocks import (
    Block,
    Column,
    Figure,
    Inline,
    Items,
    Name,
    Paragraph,
    Picture,
    Section,
    Strong,
    Table,
)
from onnx_autodoc.render._headline import cache_of
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.render.sections._rest import rest
from onnx_autodoc.text import memory, plural, three

_MOST: Final = 200
_MADE: Final = "exact: counted in the graph"


def memory_of(card: Card) -> Section:
    return Section("memory", "Memory", (*_totals(card), Picture("memory"), *_by_operator(card)))


def _totals(card: Card) -> Iterator[Block]:
    used, absent = card.memory, cache_of(card)
    node: tuple[Inline, ...] = (", while ", Name(used.peak_node), " runs") if used.peak_node else ()
    rows: list[tuple[Inline, ...]] = [
        (Strong("Weights: "), figures.weights(card), ", as the file stores them"),
        (Strong("Activations at the peak: "), figures.peak(card), *node),
        (Strong("Together: "), figures.together(card), ", before what a runtime adds"),
    ]
    if used.kv_cache is None and absent is not None:
        rows.append((Strong("KV cache: "), absent))
    yield Items(tuple(rows))
    if used.unsized:
        yield Paragraph(
            (f"The size of {plural(used.unsized, 'value')} is only known at run time; these are left out.",)
        )


def _by_operator(card: Card) -> Iterator[Block]:
    rows = sorted(card.memory.by_op, key=lambda row: -(row.weight_bytes + (row.written_bytes or 0)))
    if not rows:
        return
    shown = tuple(
        (
            (Name(row.op),),
            (figures.stored(row.weight_bytes) if row.weight_bytes else Figure("none", 0, "bytes"),),
            (Figure("none", 0, "bytes") if row.written_bytes == 0 else figures.stored(row.written_bytes, _MADE),),
        )
        for row in rows
    )
    held = figures.stored(sum(row.weight_bytes for row in rows))
    made = _written(card, sum(row.written_bytes or 0 for row in rows))
    columns = (Column("Operator"), Column("Weights", True), Column("Written in a run", True))
    yield Table(columns, shown[:_MOST], (("All",), (held,), (made,)) if len(rows) <= _MOST else None, "by operator")
    yield from rest(len(rows), _MOST)


def _written(card: Card, nbytes: int) -> Figure:
    """Of all operators; what is not known is not in it."""
    least = "at least " if card.compute.coverage.unmoved else ""
    return Figure(least + memory(nbytes), nbytes, "bytes", basis=_MADE)


def kv_cache(card: Card) -> Section | None:
    kept = card.memory.kv_cache
    if kept is None:
        return None
    parts = [plural(kept.layers, "layer")] if kept.layers else []
    parts += [plural(kept.kv_heads, "key and value head") + f" of {kept.head_dim}"] if kept.kv_heads else []
    formula = card.compute.formula.kv_cache_bytes
    each = Figure(memory(kept.bytes_per_token), kept.bytes_per_token, "bytes", basis=_MADE)
    rows = tuple(((figures.number(size.tokens, "tokens"),), (figures.stored(size.bytes, _MADE),)) for size in kept.at)
    now: tuple[Block, ...] = ()
    if formula:
        now = (Paragraph(("Bytes of the cache: ", Name(formula), ".")),)
    said = f" for each token of a sequence: {', '.join([*parts, kept.dtype])}."
    held = f"Of one sequence; {plural(len(kept.tensors), 'output')} hold{'s' * (len(kept.tensors) == 1)} it."
    return Section(
        "kv-cache",
        "KV cache",
        (
            Paragraph((each, said)),
            Table((Column("Tokens", True), Column("Cache", True)), rows),
            Picture("cache"),
            *now,
            Paragraph((held,)),
        ),
    )


def _ratio(found: float | None) -> Figure:
    return Figure("not known") if found is None else Figure(three(found), found, "FLOPs per byte")


def batch_scaling(card: Card) -> Section | None:
    rows = card.scaling
    if not rows:
        return None
    columns = ("Batch", "MACs", "Memory", "Bytes moved", "FLOPs per byte")
    shown = tuple(
        (
            (figures.number(row.batch),),
            (figures.rounded(row.macs, "MACs"),),
            (figures.stored(row.memory_bytes, _MADE),),
            (figures.stored(row.bytes_moved, _MADE),),
            (_ratio(row.arithmetic_intensity),),
        )
        for row in rows
    )
    said = "Memory is weights and peak activations. Weights are read once for all of a batch."
    return Section(
        "batch-scaling",
        "Batch scaling",
        (
            Paragraph(("With every other size as it is on this card. ", said)),
            Table(tuple(Column(name, True) for name in columns), shown),
            Picture("scaling"),
        ),
    )
