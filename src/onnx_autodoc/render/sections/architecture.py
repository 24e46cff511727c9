"""The block diagram, and the structure: family, task, sizes, blocks, attention, residual connections, declared data."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import AttentionKind, Box, Card
from onnx_autodoc.render import content as doc
from onnx_autodoc.render import numbers
from onnx_autodoc.render.card_text import describe_declared_data
from onnx_autodoc.text import format_count, pluralize, sanitize

_SIZES: Final = {
    "Layers": "layers",
    "Width": "hidden",
    "Heads": "heads",
    "KV heads": "kv_heads",
    "Head size": "head_dim",
    "Vocabulary": "vocab",
    "Context": "context",
}
_RESIDUAL_WORDS: Final = {
    "add": "additive (residual)",
    "concat": "concatenating (dense)",
    "gate": "gated (highway)",
    "subtract": "subtracting",
}
_ATTENTION_TRAITS: Final = ("cross", "causal", "rotary", "windowed", "relative_bias")
_MAX_ROWS: Final = 60
_MAX_CLASS_NAMES: Final = 200


def diagram(card: Card) -> doc.Section | None:
    tree = card.structure.tree
    if tree is None:
        return None
    folded = (
        "; repeated layers are collapsed, one of them is expanded" if any(box.repeats for box in tree.children) else ""
    )
    skips = "; dotted lines are skip connections" if _has_skips(tree) else ""
    note = doc.Note(f"Derived from the graph{folded}{skips}.")
    return doc.Section("diagram", "Architecture diagram", (doc.Diagram(tree), note))


def _has_skips(box: Box) -> bool:
    return any(edge.kind == "skip" for edge in box.edges) or any(map(_has_skips, box.children))


def architecture(card: Card) -> doc.Section:
    blocks = [doc.Bullets(tuple(_traits(card))), *_block_table(card)]
    kinds = card.structure.attention
    if kinds:
        blocks += [doc.Heading("Attention"), doc.Bullets(tuple(map(_format_attention, kinds[:_MAX_ROWS])))]
        blocks += doc.note_truncation(len(kinds), _MAX_ROWS)
    connections = ", ".join(
        f"{format_count(number)} {_RESIDUAL_WORDS.get(kind, kind)}"
        for kind, number in card.structure.residuals.items()
        if number
    )
    if connections:
        blocks.append(doc.Paragraph((doc.Strong("Skip connections: "), connections, ".")))
    return doc.Section("architecture", "Architecture", (*blocks, *_declared_data(card)))


def _traits(card: Card) -> Iterator[doc.Spans]:
    structure, task = card.structure, card.task
    yield (doc.Strong("Family: "), structure.family.replace("-", " "), _format_evidence(structure.evidence))
    name = doc.UNKNOWN
    if task.name is not None:
        classes = f", {pluralize(task.classes, 'class', 'classes')}" if task.classes else ""
        name = f"{sanitize(task.name, 80)}{classes} (confidence {task.confidence:.2f})"
    yield (doc.Strong("Task: "), name, _format_evidence(task.evidence))
    for label, key in _SIZES.items():
        size = getattr(structure, key)
        if size and not (key == "kv_heads" and size == structure.heads):
            yield (doc.Strong(f"{label}: "), format_count(size))
    if structure.patch:
        yield (doc.Strong("Patch: "), " × ".join(map(format_count, structure.patch)))


def _format_evidence(evidence: tuple[str, ...]) -> str:
    return f"; evidence: {sanitize('; '.join(evidence), 400)}" if evidence else ""


def _block_table(card: Card) -> Iterator[doc.Block]:
    kinds = sorted(card.structure.blocks, key=lambda row: (-(row.macs or 0), -row.params, -row.count))
    if kinds:
        yield doc.Heading("Blocks")
        yield from doc.limited_table(
            doc.columns("Kind", "Count#", "Parameters#", "MACs#"),
            kinds,
            lambda row: (
                *(row.kind, numbers.count(row.count)),
                *(numbers.count(row.params, "parameters"), numbers.short(row.macs, "MACs")),
            ),
            _MAX_ROWS,
        )
        yield doc.Paragraph("A nested block counts for both kinds.")


def _format_attention(kind: AttentionKind) -> str:
    heads = f", {pluralize(kind.heads, 'head')}" if kind.heads else ""
    heads += f" of {kind.head_dim}" if heads and kind.head_dim else ""
    kv_heads = f", {pluralize(kind.kv_heads or 0, 'KV head')}" if kind.kv_heads not in (None, kind.heads) else ""
    traits = "".join(f", {name.replace('_', ' ')}" for name in _ATTENTION_TRAITS if getattr(kind, name))
    return f"{format_count(kind.count)} × {sanitize(kind.form, 60)} attention{heads}{kv_heads}{traits}"


def _declared_data(card: Card) -> Iterator[doc.Block]:
    declared, names = describe_declared_data(card), card.dataset.said.names
    if declared:
        yield doc.Heading("Declared data")
        yield doc.Paragraph(declared)
    if len(names) > 3:
        shown = enumerate(names[:_MAX_CLASS_NAMES])
        rows = tuple((doc.Number(format_count(index), index), doc.Name(name)) for index, name in shown)
        more = f" (first {len(rows)})" if len(names) > len(rows) else ""
        yield doc.Table(doc.columns("Class#", "Name"), rows, summary=f"{format_count(len(names))} class names{more}")
