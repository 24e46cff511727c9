"""The relation of one model to another, as far as their cards prove it: a statement with evidence and caveats."""

from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Card, find_uncertainty
from onnx_autodoc.compare.alignment import without_ports
from onnx_autodoc.compare.sections import SIZE_LABELS
from onnx_autodoc.compare.types import BlockChange, Diff, FactChange, Relation
from onnx_autodoc.text import format_count, format_percent, format_short, pluralize, sanitize

_MIN_SIMILARITY: Final = 0.6  # of the diagrams of one architecture
_MIN_SAME_NAMES: Final = 0.5
_NEARLY_ALL_NAMES: Final = 0.97  # some weights are folded into others
_MIN_EXACT_PARAMETERS: Final = 1_000  # fewer may be equal by chance
_MAX_REPEATS: Final = 400
_MAX_ORDERED_BOXES: Final = 1_000
_MAX_LISTED: Final = 4
_UNKNOWN_FAMILY: Final = "unknown"
# Kinds of changes that concern how a block is exported, not what it computes.
_NOTATION: Final = ("spelling", "parameters", "moved", "undescribed")
_NOTATION_BLOCKS: Final = ("linear", "softmax", "conv-norm-act", "batch-norm", "embedding")
_REGROUPED: Final = ("replaced", "added", "gone", "skips", "wiring", "relabeled")
_CLIPPING_PRECISIONS: Final = ("int8-qdq", "int8-qoperator", "fp8-qdq")  # their ranges may replace an activation

_Labels = tuple[str | None, str | None]


class Similarity(Struct, frozen=True):
    """Similarity of two cards: sizes known in both, boxes of the diagram, costs and names of nodes."""

    equal_sizes: tuple[str, ...]
    differing_sizes: tuple[str, ...]
    same_boxes: bool
    ratio: float  # of equal boxes
    near_parameters: bool  # within 1%: folded norms and tied embeddings account for that
    exact_parameters: bool  # equal, and too many to be equal by chance
    same_macs: bool | None  # None: not comparable
    same_names: float  # share of the weights at nodes of equal names

    @property
    def is_same_model(self) -> bool:
        """Equal MACs, and equal parameters or equal node names: stronger evidence than the diagram."""
        named = self.near_parameters and self.same_names >= _NEARLY_ALL_NAMES
        return self.same_macs is True and (self.exact_parameters or named)


def find_relation(was: Card, now: Card, diff: Diff) -> Relation:
    """Return the relation that all other parts of `diff` prove."""
    if diff.empty:
        return _identical(was, now, diff)
    single = _single_difference(diff)
    if single is not None:
        return single
    similar = _measure_similarity(was, now, diff)
    same_design = not similar.differing_sizes and similar.same_boxes and similar.same_macs is not False
    labels = was.model.precision.label, now.model.precision.label
    if similar.is_same_model or same_design:
        return _same_architecture(was, now, diff, similar, labels)
    return _other_architecture(was, now, diff, similar, labels)


def _identical(was: Card, now: Card, diff: Diff) -> Relation:
    if was.model.file.sha256 is not None and was.model.file.sha256 == now.model.file.sha256:
        return _proven("identical", "No difference: the files are byte-identical.", "same SHA-256")
    if diff.weights is not None and diff.weights.same_numbers:
        return _proven("identical", "No difference in the cards or the weights.", diff.weights.text)
    doubt = "weight values were not compared (use --weights)"
    if diff.weights is not None:
        doubt = f"not all weights could be read: {diff.weights.text}"
    return Relation("identical", "No difference between the cards.", ("all compared fields are equal",), (doubt,))


def _single_difference(diff: Diff) -> Relation | None:
    """Return the relation of models that differ in assumed sizes, weights or bytes of the file alone."""
    parts = [name for name in ("interface", "precision", "operators", "blocks", "kinds") if getattr(diff, name)]
    parts += [] if diff.findings.empty else ["findings"]
    numbers = [change.path for change in diff.numbers if not change.path.startswith("model.file.")]
    facts = [change.path for change in diff.facts if not change.path.startswith("model.file.")]
    weights = diff.weights if diff.weights is not None and not diff.weights.empty else None
    if diff.sizes is not None and not (parts or facts or weights):
        text = "The same model under different assumptions."
        return _proven("other-assumptions", text, "everything but the costs is equal")
    if parts or numbers or facts or diff.sizes or diff.also:
        return None
    if weights is not None:
        return _proven("other-weights", "The same graph with different weights.", weights.text)
    return _proven("other-bytes", "Only the files differ.", "all fields that describe the model are equal")


def _proven(kind: str, text: str, *evidence: str) -> Relation:
    return Relation(kind, text, evidence, ())


def _same_architecture(was: Card, now: Card, diff: Diff, similar: Similarity, labels: _Labels) -> Relation:
    """Return the relation for equal sizes and boxes. The text marks what is inferred from them."""
    blocks = _real_changes(diff, labels)
    counts = [change for change in diff.kinds if change.name not in _NOTATION_BLOCKS]
    listed_counts = ", ".join(
        f"{change.name} {format_count(change.was)} → {format_count(change.now)}" for change in counts[:_MAX_LISTED]
    )
    proof = tuple(_evidence(was, now, diff, similar))
    doubt = [*_interface_doubt(diff), *_size_doubts(similar)]
    places = pluralize(len(blocks), "place")
    if labels[0] != labels[1] and (similar.is_same_model or not (blocks or counts)):
        if blocks:
            doubt.append(f"the diagrams differ in {places} (see the blocks)")
        if counts:
            doubt.append(f"block counts differ ({listed_counts})")
        certain = "The" if not doubt and similar.same_names >= _MIN_SAME_NAMES else "Looks like the"
        text = f"{certain} same model in another precision: {_format_labels(labels)}."
        return Relation("other-precision", text, proof, tuple(doubt))
    kind = "variant"
    if blocks and all(change.light for change in blocks):
        text = f"Looks like the same architecture except in {places} without weights{_first_of(blocks)}"
    elif blocks and similar.is_same_model and any(change.kind in _REGROUPED for change in blocks):
        # The diagram of a changed activation equals that of an optimizer's fusion.
        first = f": {blocks[0].text}" if len(blocks) == 1 else ""
        text = f"Looks like the same architecture, changed or exported differently in {places}{first}"
    elif blocks:
        text = _describe_variant(blocks)
    elif counts:
        text = f"Looks like a variant of the same architecture; block counts differ: {listed_counts}"
    elif diff.operators:
        kind, text = "other-export", "Looks like the same architecture, exported or optimized differently"
    else:
        same = " and weights" if diff.weights is not None and diff.weights.same_numbers else ""
        parts = ", ".join(_differing_parts(diff)) or f"other fields ({', '.join(diff.also[:_MAX_LISTED])})"
        kind, text = "same-architecture", f"The same architecture{same}; differences: {parts}"
    return Relation(kind, f"{text}{_precision_note(labels)}.", proof, tuple(doubt))


def _real_changes(diff: Diff, labels: _Labels) -> list[BlockChange]:
    """Return the changed blocks except differences of notation."""
    clipped = any(label in _CLIPPING_PRECISIONS for label in labels)
    notation = (*_NOTATION, "relabeled") if clipped else _NOTATION
    return [change for change in diff.blocks if change.kind not in notation]


def _differing_parts(diff: Diff) -> Iterator[str]:
    """Yield the parts of the comparison that differ, the most important first."""
    breaking = sum(change.breaking for change in diff.interface)
    if diff.interface:
        yield f"the interface ({pluralize(breaking, 'breaking change') if breaking else 'no breaking change'})"
    if diff.weights is not None and not diff.weights.empty:
        yield "tensor names" if diff.weights.same_numbers else "tensors"
    if diff.precision is not None:
        yield "weight types"
    if diff.blocks or diff.kinds:
        yield "the diagram"
    labels = list(dict.fromkeys(map(_fact_label, diff.facts)))
    yield from labels[:_MAX_LISTED]
    if len(labels) > _MAX_LISTED:
        yield pluralize(len(labels) - _MAX_LISTED, "more field")
    if not diff.findings.empty:
        yield "findings"
    if not diff.facts and any(not change.path.startswith("model.file.") for change in diff.numbers):
        yield "some metrics"


def _fact_label(change: FactChange) -> str:
    """Return the label within a sentence: "opset of ai.onnx", but "KV cache". Metadata has one label for all keys."""
    if change.path.startswith("model.metadata."):
        return "metadata"
    if change.path.startswith("model.opsets.") and None in (change.was, change.now):
        return "imported opsets"
    return _lowercase_first(sanitize(change.label, 60))


def _lowercase_first(label: str) -> str:
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]


def _other_architecture(was: Card, now: Card, diff: Diff, similar: Similarity, labels: _Labels) -> Relation:
    proof, doubt = tuple(_evidence(was, now, diff, similar)), tuple(_interface_doubt(diff))
    families = [sanitize(card.structure.family, 40) for card in (was, now)]
    # An optimizer may hide what a diagram shows: then names of nodes or MACs decide.
    related = similar.near_parameters and (similar.same_names >= _MIN_SAME_NAMES or similar.same_macs is True)
    if families[0] != families[1] and not related:
        names = ["unknown family" if family == _UNKNOWN_FAMILY else family for family in families]
        return _proven("other-model", f"A different model: {names[0]} → {names[1]}.")
    if similar.ratio < _MIN_SIMILARITY and not related:
        same = "" if families[0] == _UNKNOWN_FAMILY else f" of the same family ({families[0]})"
        evidence = f"{similar.ratio * 100:.0f}% of the boxes match"
        return _proven("other-model", f"A different model{same}.", evidence)
    if similar.differing_sizes and not (related and similar.same_macs is True):
        same = "The same kinds of blocks" if families[0] == _UNKNOWN_FAMILY else "The same family"
        text = f"{same} with different sizes: {', '.join(similar.differing_sizes)}{_precision_note(labels)}."
        return Relation("other-sizes", text, proof, doubt)
    text = _describe_variant(_real_changes(diff, labels))
    return Relation("variant", f"{text}{_precision_note(labels)}.", proof, doubt)


def _describe_variant(blocks: list[BlockChange]) -> str:
    if not blocks:
        return "The same boxes, but MACs or parameters differ"
    if len(blocks) == 1:
        return f"A variant of the same architecture: {blocks[0].text}"
    return f"A variant of the same architecture that differs in {pluralize(len(blocks), 'place')}"


def _first_of(blocks: list[BlockChange]) -> str:
    return f": {blocks[0].text}" if len(blocks) == 1 else f", first: {blocks[0].text}"


def _format_labels(labels: _Labels) -> str:
    return f"{labels[0] or 'no weights'} → {labels[1] or 'no weights'}"


def _precision_note(labels: _Labels) -> str:
    return f", and in another precision: {_format_labels(labels)}" if labels[0] != labels[1] else ""


def _measure_similarity(was: Card, now: Card, diff: Diff) -> Similarity:
    equal: list[str] = []
    differing: list[str] = []
    ungrouped = all(card.structure.heads == card.structure.kv_heads for card in (was, now))
    for name, label in SIZE_LABELS.items():
        old, new = getattr(was.structure, name), getattr(now.structure, name)
        # The context is that of the longest position table, and exporters differ in which ones they keep.
        if name == "context" or {None, _UNKNOWN_FAMILY} & {old, new} or (name == "kv_heads" and ungrouped):
            continue
        size = f"{_lowercase_first(label)} {_format_size(old)}"
        if old == new:
            equal.append(size)
        else:
            differing.append(f"{size} → {_format_size(new)}")
    macs = was.compute.macs, now.compute.macs
    exact = None not in macs and not any(find_uncertainty(card, "compute.macs") for card in (was, now))
    params = was.parameters.total, now.parameters.total
    labels = _box_labels(was), _box_labels(now)
    return Similarity(
        equal_sizes=tuple(equal),
        differing_sizes=tuple(differing),
        same_boxes=Counter(labels[0]) == Counter(labels[1]),
        ratio=similarity_ratio(*labels),
        near_parameters=abs(params[0] - params[1]) * 100 <= max(params),
        exact_parameters=_MIN_EXACT_PARAMETERS < params[0] == params[1],
        same_macs=macs[0] == macs[1] if exact and diff.sizes is None else None,
        same_names=_share_same_names(was, now),
    )


def similarity_ratio(was: list[str], now: list[str]) -> float:
    """Return the share of equal labels in the same order; for long lists, in any order, as that takes linear time."""
    if max(len(was), len(now)) <= _MAX_ORDERED_BOXES:
        return SequenceMatcher(None, was, now, autojunk=False).ratio()
    return 2 * (Counter(was) & Counter(now)).total() / (len(was) + len(now))


def _share_same_names(was: Card, now: Card) -> float:
    """Return the share of the weights at nodes that the other model has under the same name; of both, the smaller."""
    old, new = ({row.node: row.params for row in card.parameters.by_layer} for card in (was, now))
    return min(_share_named(old, new), _share_named(new, old))


def _share_named(rows: dict[str, int], others: dict[str, int]) -> float:
    """Return the share of weights at nodes with an equal name, or one with a suffix, as quantization tools append."""
    names = others.keys() | {name.rpartition("_")[0] for name in others}
    shared = sum(size for name, size in rows.items() if name in names or name.rpartition("_")[0] in others)
    return shared / max(sum(rows.values()), 1)


def _format_size(value: object) -> str:
    if isinstance(value, int):
        return format_count(value)
    return "×".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _box_labels(card: Card) -> list[str]:
    """Return the labels of boxes with weights or MACs, which do not depend on the exporter."""
    boxes = without_ports(card.structure.tree.children) if card.structure.tree is not None else []
    boxes = [box for box in boxes if box.params or box.macs] or boxes
    return [box.label for box in boxes for _ in range(min(box.count, _MAX_REPEATS))][: _MAX_REPEATS * 10]


def _evidence(was: Card, now: Card, diff: Diff, similar: Similarity) -> Iterator[str]:
    if not diff.interface:
        yield "same inputs and outputs"
    elif not diff.breaking:
        yield "no breaking change of the interface"
    if similar.equal_sizes:
        yield ", ".join(similar.equal_sizes)
    if similar.same_boxes and was.structure.tree is not None:
        yield f"same {pluralize(len(_box_labels(was)), 'box', 'boxes')} with weights or MACs"
    if similar.same_names:
        yield f"{format_percent(similar.same_names)} of the weights belong to nodes of the same name"
    if was.parameters.total == now.parameters.total:
        yield f"{format_count(was.parameters.total)} parameters in both"
    elif similar.near_parameters:
        before, after = format_count(was.parameters.total), format_count(now.parameters.total)
        yield f"nearly equal parameter counts ({before} and {after})"
    if similar.same_macs and was.compute.macs is not None:
        yield f"exactly equal MACs ({format_short(was.compute.macs, 'MACs')})"


def _interface_doubt(diff: Diff) -> Iterator[str]:
    breaking = sum(change.breaking for change in diff.interface)
    if breaking:
        yield f"{pluralize(breaking, 'breaking change')} of the interface"


def _size_doubts(similar: Similarity) -> Iterator[str]:
    if not similar.near_parameters:
        yield "different parameter count"
    if similar.same_macs is False:
        yield "different number of MACs at the same sizes"
    yield from (f"detected {size}" for size in similar.differing_sizes)
