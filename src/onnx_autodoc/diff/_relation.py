"""What one model is to another, as far as the cards prove it: each claim with what speaks for it and against it."""

from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct

from onnx_autodoc.diff._facts import SIZES
from onnx_autodoc.diff._types import BlockChange, CountChange, Diff, Relation
from onnx_autodoc.diff._units import parts
from onnx_autodoc.document import Card
from onnx_autodoc.say import clean, count, percent, plural, short

_NEARLY: Final = 0.01  # of the parameters: folded norms and tied tables move that much
_ALIKE: Final = 0.6  # of the boxes, from which on two drawings are of one design
_MOST_UNITS: Final = 400
_SPELLED: Final = ("spelling", "parameters", "moved", "untold")  # how a box is written, not what it does
_SPELLED_KINDS: Final = (
    "linear",
    "softmax",
    "conv-norm-act",
    "batch-norm",
    "embedding",
)  # which exporters join, fold or part
_LOOSE: Final = "context"  # the longest of several tables: which ones are seen is the exporter's matter
_REDRAWN: Final = ("replaced", "added", "gone", "skips", "wiring", "retold")  # borders of blocks, not what is in them
_HALF: Final = 0.5
_ALL: Final = 0.97  # of the weights: some are folded into others
_FEW: Final = 4
_RANGES: Final = ("int8-qdq", "int8-qoperator", "fp8-qdq")  # whose ranges do what a clipping activation did
_WORDS: Final = {"family": "family", "hidden": "width", "kv_heads": "heads for keys and values"} | {
    "head_dim": "head width",
    "vocab": "vocabulary",
    "patch": "patch size",
}


class _Likeness(Struct, frozen=True):
    """What two cards share: sizes known in both that are equal, those that differ, and the design of the drawing."""

    equal: tuple[str, ...]
    other: tuple[str, ...]
    boxes: bool
    likeness: float
    near: bool  # parameters
    macs: bool | None  # None: not to be compared
    names: float  # share of the weights at nodes that have a namesake

    @property
    def pinned(self) -> bool:
        """As much weight at the same nodes, and as much work: stronger than sizes and boxes, which are inferred."""
        return self.names >= _ALL and self.near and self.macs is True


def relation(was: Card, now: Card, diff: Diff) -> Relation:
    """`diff` is whole but for this."""
    if diff.empty:
        return _identical(was, now, diff)
    only = _only(diff)
    if only is not None:
        return only
    like = _likeness(was, now, diff)
    if like.pinned or (not like.other and like.boxes and like.macs is not False):
        return _same_design(was, now, diff, like)
    return _other_design(was, now, diff, like)


def _identical(was: Card, now: Card, diff: Diff) -> Relation:
    if was.model.file.sha256 is not None and was.model.file.sha256 == now.model.file.sha256:
        return _relation("identical", "No difference: the same file, byte for byte.", ("the same SHA-256",))
    if diff.weights is not None:
        return _relation("identical", "No difference, in the weights neither.", (diff.weights.text,))
    evidence = ("all that the cards hold",)
    against = ("whether the numbers in the weights are the same was not looked at: --weights does",)
    return Relation("identical", "No difference in what the cards hold.", evidence, against)


def _only(diff: Diff) -> Relation | None:
    """Where all but one thing is the same."""
    rest = [name for name in ("interface", "precision", "operators", "blocks", "kinds") if getattr(diff, name)]
    rest += [] if diff.findings.empty else ["findings"]
    numbers = [change.path for change in diff.numbers if not change.path.startswith("model.file.")]
    facts = [change.path for change in diff.facts if not change.path.startswith("model.file.")]
    moved = diff.weights is not None and not diff.weights.empty
    if diff.sizes is not None and not (rest or facts or moved):
        return _relation("other-assumptions", "The same model; the cards hold for other sizes.", ("all but the costs",))
    if rest or numbers or facts or diff.sizes or diff.also:
        return None
    if moved and diff.weights is not None:
        return _relation("other-weights", "The same graph with other weights.", (diff.weights.text,))
    return _relation("other-bytes", "Nothing differs but the file itself.", ("all that the cards hold of the model",))


def _relation(kind: str, text: str, evidence: tuple[str, ...]) -> Relation:
    return Relation(kind, text, evidence, ())


def _same_design(was: Card, now: Card, diff: Diff, like: _Likeness) -> Relation:
    """The same sizes and the same boxes. That no more was changed than shows is inference, and is said so."""
    labels = was.model.precision.label, now.model.precision.label
    told = [change for change in diff.blocks if change.kind not in _told(labels)]
    counts = [change for change in diff.kinds if change.name not in _SPELLED_KINDS]
    evidence = tuple(_evidence(was, now, diff, like))
    against = (*_against(diff), *_unlike(like), *(f"told otherwise: {size}" for size in like.other))
    if labels[0] != labels[1] and (like.pinned or not (told or counts)):
        return _reprecised(labels, like, evidence, (*against, *_drawn(told, counts)))
    if told and all(change.light for change in told):
        places = f"{plural(len(told), 'place')} without weights: {told[0].text}"
        text = f"Looks like the same architecture but for {places}{_also(labels)}."
        return Relation("variant", text, evidence, against)
    if told and not (like.pinned and all(change.kind in _REDRAWN for change in told)):
        return _variant(diff, labels, evidence, against)
    if counts and not told:
        text = f"Looks like a variant of the same architecture, by the blocks counted: {_few(counts)}{_also(labels)}."
        return Relation("variant", text, evidence, against)
    return _rewritten(diff, evidence, (*against, *_drawn(told, [])))


def _reprecised(
    labels: tuple[str | None, str | None], like: _Likeness, evidence: tuple[str, ...], against: tuple[str, ...]
) -> Relation:
    looks = "The" if not against and like.names >= _HALF else "Looks like the"
    text = f"{looks} same model in another precision: {_named(labels[0])} → {_named(labels[1])}."
    return Relation("other-precision", text, evidence, against)


def _rewritten(diff: Diff, evidence: tuple[str, ...], against: tuple[str, ...]) -> Relation:
    if diff.operators:
        text = "Looks like the same architecture, exported or optimized differently."
        return Relation("other-export", text, evidence, against)
    return Relation("same-architecture", "The same architecture; what differs is listed.", evidence, against)


def _drawn(told: list[BlockChange], counts: list[CountChange]) -> Iterator[str]:
    """What of the drawing does not fit, where the weights say that it is one model."""
    if told:
        yield f"{plural(len(told), 'place is', 'places are')} drawn otherwise (see the blocks)"
    if counts:
        yield f"blocks are counted otherwise ({_few(counts)})"


def _few(counts: list[CountChange]) -> str:
    return ", ".join(f"{change.name} {count(change.was)} → {count(change.now)}" for change in counts[:_FEW])


def _told(labels: tuple[str | None, str | None]) -> tuple[str, ...]:
    """Differences of drawing that say nothing: a clipping activation may be a range of quantized numbers."""
    return (*_SPELLED, "retold") if any(label in _RANGES for label in labels) else _SPELLED


def _named(label: str | None) -> str:
    return label or "no weights"


def _other_design(was: Card, now: Card, diff: Diff, like: _Likeness) -> Relation:
    labels = was.model.precision.label, now.model.precision.label
    evidence, against = tuple(_evidence(was, now, diff, like)), tuple(_against(diff))
    families = [clean(card.structure.family, 40) for card in (was, now)]
    if families[0] != families[1]:
        return _relation("other-model", f"Another model: {families[0]} → {families[1]}.", ())
    if like.likeness < _ALIKE:
        alike = f"{like.likeness * 100:.0f} % of the boxes have like ones"
        return _relation("other-model", f"Another model of the same family ({families[0]}).", (alike,))
    if like.other:
        text = f"The same family with other sizes: {', '.join(like.other)}{_also(labels)}."
        return Relation("other-sizes", text, evidence, against)
    return _variant(diff, labels, evidence, against)


def _variant(
    diff: Diff, labels: tuple[str | None, str | None], evidence: tuple[str, ...], against: tuple[str, ...]
) -> Relation:
    told = [change for change in diff.blocks if change.kind not in _told(labels)]
    if not told:
        text = f"The same boxes, but not the same work: MACs or parameters differ{_also(labels)}."
    elif len(told) == 1:
        text = f"A variant of the same architecture: {told[0].text}{_also(labels)}."
    else:
        text = f"A variant of the same architecture: it differs in {plural(len(told), 'place')}{_also(labels)}."
    return Relation("variant", text, evidence, against)


def _also(labels: tuple[str | None, str | None]) -> str:
    return f"; and in another precision: {_named(labels[0])} → {_named(labels[1])}" if labels[0] != labels[1] else ""


def _likeness(was: Card, now: Card, diff: Diff) -> _Likeness:
    equal: list[str] = []
    other: list[str] = []
    for name in (name for name in SIZES if name != _LOOSE):
        old, new = getattr(was.structure, name), getattr(now.structure, name)
        if old is None or new is None or (name == "kv_heads" and _ungrouped(was, now)):
            continue
        (equal if old == new else other).append(f"{_WORDS.get(name, name)} {_size(old)}" + _became(old, new))
    macs = was.compute.macs, now.compute.macs
    exact = not any(gap.macs for card in (was, now) for gap in card.compute.coverage.gaps) and None not in macs
    row = _labels(was), _labels(now)
    return _Likeness(
        equal=tuple(equal),
        other=tuple(other),
        boxes=Counter(row[0]) == Counter(row[1]),
        likeness=SequenceMatcher(None, *row, autojunk=False).ratio(),
        near=_near(was.parameters.total, now.parameters.total),
        macs=macs[0] == macs[1] if exact and diff.sizes is None else None,
        names=_namesakes(was, now),
    )


def _namesakes(was: Card, now: Card) -> float:
    """The share of the weights at nodes that the other model has by the same name; of either model, the smaller one.

    Tools that quantize keep names, or add an ending to them.
    """
    old, new = ({row.node: row.params for row in card.parameters.by_layer} for card in (was, now))
    return min(_known(old, new), _known(new, old))


def _known(rows: dict[str, int], others: dict[str, int]) -> float:
    stems = {name.rpartition("_")[0] for name in others}
    kept = (size for name, size in rows.items() if name in others or name in stems or name.rpartition("_")[0] in others)
    return sum(kept) / max(sum(rows.values()), 1)


def _ungrouped(was: Card, now: Card) -> bool:
    return all(card.structure.heads == card.structure.kv_heads for card in (was, now))


def _size(value: object) -> str:
    return (
        count(value)
        if isinstance(value, int)
        else "×".join(map(str, value))
        if isinstance(value, tuple)
        else str(value)
    )


def _became(old: object, new: object) -> str:
    return "" if old == new else f" → {_size(new)}"


def _near(was: int, now: int) -> bool:
    return abs(was - now) <= _NEARLY * max(was, now)


def _labels(card: Card) -> list[str]:
    """What the boxes with weights or work are called: the same however an exporter wrote them."""
    boxes = parts(card.structure.tree.children) if card.structure.tree is not None else []
    boxes = [box for box in boxes if box.params or box.macs] or boxes
    return [box.label for box in boxes for _ in range(min(box.count, _MOST_UNITS))][: _MOST_UNITS * 10]


def _evidence(was: Card, now: Card, diff: Diff, like: _Likeness) -> Iterator[str]:
    if not diff.interface:
        yield "the same inputs and outputs"
    elif not diff.breaking:
        yield "an interface that breaks no caller"
    if like.equal:
        yield ", ".join(like.equal)
    if like.boxes and was.structure.tree is not None:
        yield f"the same {plural(len(_labels(was)), 'box', 'boxes')} with weights or work"
    if like.names:
        yield f"{percent(like.names)} of the weights are at nodes of the same names"
    if was.parameters.total == now.parameters.total:
        yield f"{count(was.parameters.total)} parameters in both"
    elif like.near:
        yield f"nearly as many parameters ({count(was.parameters.total)} and {count(now.parameters.total)})"
    if like.macs and was.compute.macs is not None:
        yield f"{short(was.compute.macs, 'MACs')} in both, to the last one"


def _against(diff: Diff) -> Iterator[str]:
    breaking = sum(change.breaking for change in diff.interface)
    if breaking:
        yield f"{plural(breaking, 'breaking change')} of the interface"


def _unlike(like: _Likeness) -> Iterator[str]:
    if not like.near:
        yield "another number of parameters"
    if like.macs is False:
        yield "another number of MACs at the same sizes"
