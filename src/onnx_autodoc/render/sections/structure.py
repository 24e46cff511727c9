"""What it is made of: the drawing, sizes, blocks, skips, task and what the file says of its data."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import AttentionKind, Box, Card
from onnx_autodoc.render._blocks import (
    Block,
    Column,
    Diagram,
    Figure,
    Heading,
    Inline,
    Items,
    Name,
    Note,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
)
from onnx_autodoc.render._headline import said_of_data
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.render.sections._rest import rest
from onnx_autodoc.text import clean, count, plural

_SIZES: Final = (
    ("Layers", "layers"),
    ("Width", "hidden"),
    ("Heads", "heads"),
    ("Heads for keys and values", "kv_heads"),
    ("Size of a head", "head_dim"),
    ("Vocabulary", "vocab"),
    ("Context", "context"),
)
_SKIPS: Final = {
    "add": "added (residual)",
    "concat": "concatenated (dense)",
    "gate": "gated (highway)",
    "subtract": "subtracted",
}
_MOST: Final = 60


def architecture(card: Card) -> Section | None:
    tree = card.structure.tree
    if tree is None:
        return None
    folded = "; repeated layers are folded, one of them opened" if any(box.repeats for box in tree.children) else ""
    skips = "; broken lines pass boxes by" if _has_skips(tree) else ""
    return Section("architecture", "Architecture", (Diagram(tree), Note((f"Drawn from the graph{folded}{skips}.",))))


def _has_skips(box: Box) -> bool:
    return any(edge.kind == "skip" for edge in box.edges) or any(map(_has_skips, box.children))


def structure(card: Card) -> Section:
    blocks = (*_what(card), *_blocks(card), *_attention(card), *_skips(card), *_data(card))
    return Section("structure", "Structure", blocks)


def _what(card: Card) -> Iterator[Block]:
    found = card.structure
    rows: list[Text] = [(Strong("Family: "), found.family.replace("-", " "), *_because(found.evidence))]
    task = card.task
    if task.name is not None:
        classes = f", {plural(task.classes, 'class', 'classes')}" if task.classes else ""
        sure = f" (confidence {task.confidence:.2f})"
        rows.append((Strong("Task: "), clean(task.name, 80), classes, sure, *_because(task.evidence)))
    else:
        rows.append((Strong("Task: "), "the graph does not tell", *_because(task.evidence)))
    rows += [(Strong(f"{name}: "), count(size)) for name, size in _sizes(card)]
    if found.patch:
        rows.append((Strong("Patch: "), " × ".join(map(count, found.patch))))
    yield Items(tuple(rows))


def _sizes(card: Card) -> Iterator[tuple[str, int]]:
    found = card.structure
    for name, key in _SIZES:
        size = getattr(found, key)
        if size and not (key == "kv_heads" and size == found.heads):
            yield name, size


def _because(evidence: tuple[str, ...]) -> Iterator[Inline]:
    if evidence:
        yield f"; because: {clean('; '.join(evidence), 400)}"


def _blocks(card: Card) -> Iterator[Block]:
    found = sorted(card.structure.blocks, key=lambda row: (-(row.macs or 0), -row.params, -row.count))
    if not found:
        return
    rows = tuple(
        (
            (row.kind,),
            (figures.number(row.count),),
            (figures.number(row.params, "parameters"),),
            (figures.rounded(row.macs, "MACs"),),
        )
        for row in found[:_MOST]
    )
    yield Heading("Blocks")
    yield Table((Column("Kind"), Column("Count", True), Column("Parameters", True), Column("MACs", True)), rows)
    yield from rest(len(found), _MOST)
    yield Paragraph(("A block within a block counts for both kinds.",))


def _attention(card: Card) -> Iterator[Block]:
    kinds = card.structure.attention
    if kinds:
        yield Heading("Attention")
        yield Items(tuple(_kind(kind) for kind in kinds[:_MOST]))
        yield from rest(len(kinds), _MOST)


def _kind(kind: AttentionKind) -> Text:
    heads = f", {plural(kind.heads, 'head')}" if kind.heads else ""
    heads += f" of {kind.head_dim}" if heads and kind.head_dim else ""
    keys = f", {kind.kv_heads} for keys and values" if kind.kv_heads not in (None, kind.heads) else ""
    told = ("cross", "causal", "rotary", "windowed", "relative_bias")
    words = "".join(f", {name.replace('_', ' ')}" for name in told if getattr(kind, name))
    return (f"{count(kind.count)} × {clean(kind.form, 60)} attention{heads}{keys}{words}",)


def _skips(card: Card) -> Iterator[Block]:
    kinds = {kind: number for kind, number in card.structure.residuals.items() if number}
    if kinds:
        said = ", ".join(f"{count(number)} {_SKIPS.get(kind, kind)}" for kind, number in kinds.items())
        yield Paragraph((Strong("Skip connections: "), said, "."))


def _data(card: Card) -> Iterator[Block]:
    said, names = said_of_data(card), card.dataset.said.names
    if said:
        yield Heading("What the file says of its data")
        yield Paragraph((said,))
    if len(names) > 3:
        rows = tuple(((Figure(count(at), at),), (Name(name),)) for at, name in enumerate(names[:200]))
        more = f", the first {len(rows)}" if len(names) > len(rows) else ""
        yield Table((Column("Class", True), Column("Name")), rows, folded=f"all {count(len(names))} names{more}")
