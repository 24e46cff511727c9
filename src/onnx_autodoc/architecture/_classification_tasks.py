"""Tasks of one answer for the whole, or one for each step: classes, numbers, features."""

from typing import Final

from onnx_autodoc.architecture._case import Case, Verdict
from onnx_autodoc.patterns.heads import USUAL, Head

_HEARD: Final = ("audio", "spectrogram")
_BYTES: Final = 300  # a table with fewer rows holds bytes or letters
_FEWEST_SIGNS: Final = 10  # digits and a blank
_FEWEST_SOUNDS: Final = 20
# what goes in -> (task, how sure through a softmax, how sure without); the first that is there
_CLASSIFIED: Final = (
    ("image", "image classification", 0.93, 0.75),  # bare numbers may be the points of a face
    ("audio", "audio classification", 0.88, 0.7),
    ("spectrogram", "audio classification", 0.78, 0.6),  # or how good it sounds
    ("video", "video classification", 0.88, 0.75),
)


def trees(case: Case) -> Verdict | None:
    if found := case.of("trees"):
        name = "text classification" if case.given("text") else "tabular classification"
        return Verdict(name, 0.95, (found[0].evidence,), found[0].classes)
    found = case.of("trees-regression")
    alone = len(found) == len(case.net.outputs) == 1  # with a label beside it, it is something else
    return Verdict("tabular regression", 0.95, (found[0].evidence,)) if alone else None


def steps(case: Case) -> Verdict | None:
    """A class for each token of a text, or each step along a line of text or of speech."""
    found = [head for head in case.of("token-classification") if _is_for_each_token(case, head)]
    if found:
        return Verdict("token classification", 0.9, (found[0].evidence,), found[0].classes)
    found = case.of("ctc")
    if len(found) != 1 or len(case.answers) != 1 or (case.blocks("patch-embedding") and not case.given(*_HEARD)):
        return None
    classes = found[0].classes or 0
    if case.given("image") and classes > _FEWEST_SIGNS:
        return Verdict("text recognition", 0.8, (f"{found[0].evidence} along a picture", case.said("image")))
    if case.given(*_HEARD) and classes > _FEWEST_SOUNDS and _is_slower(case, found[0].places or 0):
        return Verdict("speech recognition", 0.8, (f"{found[0].evidence} along the sound", case.said(*_HEARD)))
    return None


def _is_for_each_token(case: Case, head: Head) -> bool:
    """As many answers as tokens: speech that is made of a text has another length."""
    lengths = {(case.dims(name) or (0,))[-1] for name in case.given("tokens")}
    return head.places in lengths or not lengths


def _is_slower(case: Case, count: int) -> bool:
    """Fewer answers than there are samples: one for each sample is sound again."""
    name = case.given(*_HEARD)[0]
    dims = case.dims(name) or (0,)
    return case.roles[name] != "audio" or max(dims) >= 16 * count


def classes(case: Case) -> Verdict | None:
    found = case.of("classification")
    others = {head.kind for head in case.answers} - {"classification", "embedding", "hidden", "features"}
    if not found or others or len(case.given("image")) > 1:
        return None
    head = next((head for head in found if head.act), found[0])
    said = (head.evidence,)
    if case.given("tokens"):
        text = not case.given("image", *_HEARD)
        return _text(case, said, head.classes, 0.6 if len(found) > 1 else 1.0) if text else None
    if case.given("audio") and case.of("state"):
        return _listening(case, said) if head.classes == 2 else None
    for role, name, picked, bare in _CLASSIFIED:
        if case.given(role):
            sure = min(picked if head.act or head.classes in USUAL else bare, _most(case, found))
            return Verdict(name, sure, (*said, case.said(role)), head.classes, also=("image embedding",))
    if _is_table(case) and head.act in ("softmax", "argmax"):
        return Verdict("tabular classification", 0.8, (*said, case.said("features")), head.classes)
    return None


def _most(case: Case, found: list[Head]) -> float:
    """How sure one can be beside other answers (a box, other digits), or where a state comes in beside a picture."""
    if len(found) > 1 or (case.given("image") and case.given("state")):
        return 0.6
    return 0.7 if case.gray else 1.0


def _text(case: Case, said: tuple[str, ...], count: int | None, most: float = 1.0) -> Verdict:
    rows = max((term.facts.get("rows") or 0 for term in case.blocks("embedding")), default=0)
    sure = min(most, 0.9 if rows > _BYTES or case.blocks("attention") else 0.6)
    return Verdict("text classification", sure, (*said, case.said("tokens")), count)


def _is_table(case: Case) -> bool:
    """Columns and nothing else: no sequence, no picture."""
    given = case.given("features")
    flat = all(len(case.dims(name) or ()) == 2 for name in case.net.inputs)
    return (
        bool(given)
        and len(given) == len(case.net.inputs)
        and flat
        and case.family in ("mlp", "tree-ensemble", "unknown")
    )


def one_number(case: Case) -> Verdict | None:
    """One number for the whole, or for each token."""
    if len(case.answers) != 1 or not case.whole:
        return None
    head = case.answers[0]
    said, likely = (head.evidence,), head.kind == "probability"
    if head.kind.endswith("-per-place") and case.given("tokens") and _is_for_each_token(case, head):
        return Verdict("token classification", 0.55, said, 2)
    if head.kind not in ("probability", "score"):
        return None
    if case.given("tokens"):
        return _text(case, said, 2) if likely else Verdict("text scoring", 0.6, said, also=("text classification",))
    return _of_numbers(case, said, likely)


def _of_numbers(case: Case, said: tuple[str, ...], likely: bool) -> Verdict | None:
    if case.given("audio") and likely:
        if case.of("state"):
            return _listening(case, said)
        return Verdict("audio classification", 0.6, (*said, case.said("audio")))
    if len(case.given("image")) == 1 and likely:
        return Verdict("image classification", 0.7, (*said, case.said("image")), 2)
    if _is_table(case):
        name = "tabular classification" if likely else "tabular regression"
        return Verdict(name, 0.75 if likely else 0.7, (*said, case.said("features")), 2 if likely else None)
    return None


def _listening(case: Case, said: tuple[str, ...]) -> Verdict:
    more = (case.said("audio"), "a state is handed on: it listens piece by piece")
    return Verdict("voice activity detection", 0.7, (*said, *more), also=("audio classification",))


def features(case: Case) -> Verdict | None:
    """No answer but features: of each place, or of the whole."""
    found = [head for head in case.answers if head.kind in ("hidden", "embedding", "features")]
    if not found or len(found) != len(case.answers) or not case.whole or case.given("timestep"):
        return None
    pooled = [head for head in found if head.kind == "embedding"]
    if case.given("tokens"):
        if case.given("features"):
            return None  # speech that is made of a text, after what was said before
        if case.given("image"):
            said = tuple(head.evidence for head in pooled[:2])
            return Verdict("image-text matching", 0.7, said) if len(pooled) > 1 else None
        return _of_text(case, (pooled or found)[0], len(pooled) == len(found))
    said = ((pooled or found)[0].evidence,)
    return _of_senses(case, said, bool(pooled))


def _of_text(case: Case, head: Head, only: bool) -> Verdict:
    said = (head.evidence, case.said("tokens"))
    if head.kind == "embedding" and (only or head.act in ("mean", "normalised", "projected")):
        return Verdict("sentence embedding", 0.9 if head.act else 0.75, said, also=("feature extraction",))
    sure = 0.85 if case.blocks("attention") else 0.6
    return Verdict("feature extraction", sure, said, also=("sentence embedding",))


def _of_senses(case: Case, said: tuple[str, ...], pooled: bool) -> Verdict | None:
    if case.given("image"):
        if case.gray:
            return None  # may be a spectrogram
        name = "image embedding" if pooled else "feature extraction"
        also = ("feature extraction", "image embedding")
        return Verdict(name, 0.8 if pooled else 0.7, (*said, case.said("image")), also=also)
    if case.given(*_HEARD):
        name = "audio embedding" if pooled else "feature extraction"
        return Verdict(name, 0.7, (*said, case.said(*_HEARD)), also=("speech recognition", "feature extraction"))
    return None
