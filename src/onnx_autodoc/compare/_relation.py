"""What one model is to another, as far as the cards prove it: each claim with what speaks for it and against it."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.compare._similarity import UNKNOWN, Likeness, against, evidence, likeness, unlike
from onnx_autodoc.compare._types import BlockChange, CountChange, Diff, FactChange, Relation
from onnx_autodoc.text import clean, count, plural

_ALIKE: Final = 0.6  # of the boxes, from which on two drawings are of one design
_SPELLED: Final = ("spelling", "parameters", "moved", "untold")  # how a box is written, not what it does
_SPELLED_KINDS: Final = (
    "linear",
    "softmax",
    "conv-norm-act",
    "batch-norm",
    "embedding",
)  # which exporters join, fold or part
_REDRAWN: Final = ("replaced", "added", "gone", "skips", "wiring", "retold")  # borders of blocks, not what is in them
_HALF: Final = 0.5
_FEW: Final = 4
_RANGES: Final = ("int8-qdq", "int8-qoperator", "fp8-qdq")  # whose ranges do what a clipping activation did


def relation(was: Card, now: Card, diff: Diff) -> Relation:
    """`diff` is whole but for this."""
    if diff.empty:
        return _identical(was, now, diff)
    only = _only(diff)
    if only is not None:
        return only
    like = likeness(was, now, diff)
    if like.pinned or (not like.other and like.boxes and like.macs is not False):
        return _same_design(was, now, diff, like)
    return _other_design(was, now, diff, like)


def _identical(was: Card, now: Card, diff: Diff) -> Relation:
    if was.model.file.sha256 is not None and was.model.file.sha256 == now.model.file.sha256:
        return _relation("identical", "No difference: the same file, byte for byte.", ("the same SHA-256",))
    if diff.weights is not None and diff.weights.same_numbers:
        return _relation("identical", "No difference, neither in the cards nor in the weights.", (diff.weights.text,))
    doubt = ("whether the numbers in the weights are the same was not looked at: --weights does",)
    if diff.weights is not None:
        doubt = (f"not all weights could be read: {diff.weights.text}",)
    return Relation("identical", "No difference in what the cards hold.", ("all that the cards hold",), doubt)


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


def _same_design(was: Card, now: Card, diff: Diff, like: Likeness) -> Relation:
    """The same sizes and the same boxes. That no more was changed than shows is inference, and is said so."""
    labels = was.model.precision.label, now.model.precision.label
    told = [change for change in diff.blocks if change.kind not in _told(labels)]
    counts = [change for change in diff.kinds if change.name not in _SPELLED_KINDS]
    proof = tuple(evidence(was, now, diff, like))
    doubt = (*against(diff), *unlike(like), *(f"the cards tell {size}" for size in like.other))
    if labels[0] != labels[1] and (like.pinned or not (told or counts)):
        return _reprecised(labels, like, proof, (*doubt, *_drawn(told, counts)))
    if told and all(change.light for change in told):
        places = f"{plural(len(told), 'place')} without weights: {told[0].text}"
        return Relation("variant", f"Looks like the same architecture but for {places}{_also(labels)}.", proof, doubt)
    if told:
        redrawn = like.pinned and any(change.kind in _REDRAWN for change in told)
        return _redrawn(told, proof, doubt) if redrawn else _variant(diff, labels, proof, doubt)
    if counts:
        text = f"Looks like a variant of the same architecture, by the blocks counted: {_few(counts)}{_also(labels)}."
        return Relation("variant", text, proof, doubt)
    return _rewritten(diff, proof, doubt)


def _reprecised(
    labels: tuple[str | None, str | None], like: Likeness, proof: tuple[str, ...], doubt: tuple[str, ...]
) -> Relation:
    looks = "The" if not doubt and like.names >= _HALF else "Looks like the"
    text = f"{looks} same model in another precision: {_named(labels[0])} → {_named(labels[1])}."
    return Relation("other-precision", text, proof, doubt)


def _redrawn(told: list[BlockChange], proof: tuple[str, ...], doubt: tuple[str, ...]) -> Relation:
    """A changed activation and an optimizer's fusion look alike from here."""
    first = f": {told[0].text}" if len(told) == 1 else ""
    text = f"Looks like the same architecture, changed or written otherwise in {plural(len(told), 'place')}{first}."
    return Relation("variant", text, proof, doubt)


def _rewritten(diff: Diff, proof: tuple[str, ...], doubt: tuple[str, ...]) -> Relation:
    if diff.operators:
        text = "Looks like the same architecture, exported or optimized differently."
        return Relation("other-export", text, proof, doubt)
    same = " and weights" if diff.weights is not None and diff.weights.same_numbers else ""
    what = ", ".join(_differing(diff)) or f"details ({', '.join(diff.also[:_FEW])})"
    return Relation("same-architecture", f"The same architecture{same}; what differs: {what}.", proof, doubt)


def _differing(diff: Diff) -> Iterator[str]:
    """Parts of the comparison with something in them, the ones that matter first."""
    breaking = sum(change.breaking for change in diff.interface)
    if diff.interface:
        yield f"the interface ({plural(breaking, 'breaking change') if breaking else 'no caller breaks'})"
    if diff.weights is not None and not diff.weights.empty:
        yield "names of tensors" if diff.weights.same_numbers else "tensors"
    if diff.precision is not None:
        yield "types of some weights"
    if diff.blocks or diff.kinds:
        yield "how blocks are drawn"
    labels = list(dict.fromkeys(map(_subject, diff.facts)))
    yield from labels[:_FEW]
    if len(labels) > _FEW:
        yield plural(len(labels) - _FEW, "more statement")
    if not diff.findings.empty:
        yield "findings"
    if not diff.facts and any(not change.path.startswith("model.file.") for change in diff.numbers):
        yield "some numbers"


def _subject(change: FactChange) -> str:
    """ "opset of ai.onnx"; "KV cache" stays. What tools leave in files is named once, by its sort."""
    if change.path.startswith("model.metadata."):
        return "metadata"
    if change.path.startswith("model.opsets.") and None in (change.was, change.now):
        return "imported opsets"
    label = clean(change.label, 60)
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]


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


def _other_design(was: Card, now: Card, diff: Diff, like: Likeness) -> Relation:
    labels = was.model.precision.label, now.model.precision.label
    proof, doubt = tuple(evidence(was, now, diff, like)), tuple(against(diff))
    families = [clean(card.structure.family, 40) for card in (was, now)]
    kin = like.near and (like.names >= _HALF or like.macs is True)  # an optimizer may hide what a drawing shows
    if families[0] != families[1] and not kin:
        named = ["no known family" if family == UNKNOWN else family for family in families]
        return _relation("other-model", f"Another model: {named[0]} → {named[1]}.", ())
    if like.likeness < _ALIKE and not kin:
        alike = f"{like.likeness * 100:.0f} % of the boxes have like ones"
        same = "" if families[0] == UNKNOWN else f" of the same family ({families[0]})"
        return _relation("other-model", f"Another model{same}.", (alike,))
    if like.other and not (kin and like.macs is True):
        same = "Boxes of the same kinds" if families[0] == UNKNOWN else "The same family"
        text = f"{same} with other sizes: {', '.join(like.other)}{_also(labels)}."
        return Relation("other-sizes", text, proof, doubt)
    return _variant(diff, labels, proof, doubt)


def _variant(
    diff: Diff, labels: tuple[str | None, str | None], proof: tuple[str, ...], doubt: tuple[str, ...]
) -> Relation:
    told = [change for change in diff.blocks if change.kind not in _told(labels)]
    if not told:
        text = f"The same boxes, but not the same work: MACs or parameters differ{_also(labels)}."
    elif len(told) == 1:
        text = f"A variant of the same architecture: {told[0].text}{_also(labels)}."
    else:
        text = f"A variant of the same architecture: it differs in {plural(len(told), 'place')}{_also(labels)}."
    return Relation("variant", text, proof, doubt)


def _also(labels: tuple[str | None, str | None]) -> str:
    return f"; and in another precision: {_named(labels[0])} → {_named(labels[1])}" if labels[0] != labels[1] else ""
