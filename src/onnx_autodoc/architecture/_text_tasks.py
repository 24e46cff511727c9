"""Tasks of text: answers in a text, words that follow or are missing, a text and a picture that belong together."""

from typing import Final

from onnx_autodoc.architecture._case import Case, Verdict

_WHISPER: Final = (51_864, 51_865, 51_866)  # rows of its tables of tokens
_HEARD: Final = ("audio", "spectrogram")
_CELLS: Final = ("lstm", "gru", "rnn", "state-space")


def spans(case: Case) -> Verdict | None:
    found = case.of("span")
    return Verdict("question answering", 0.95, (found[0].evidence,)) if found else None


def language(case: Case) -> Verdict | None:
    """A number for each token of the vocabulary: which ones follow, or which one is missing."""
    found = case.of("lm")
    if not found:
        return None
    said = (found[0].evidence,)
    if len(found) > 1 and case.family == "transformer-encoder":
        return None
    crossed = [term for term in case.blocks("attention") if term.facts.get("cross")]
    writing = crossed or case.blocks(*_CELLS) or case.family != "transformer-encoder"
    if len(case.given("tokens")) > 1 and len(found) == 1 and writing:
        return Verdict("text-to-text generation", 0.92, (*said, "one text goes in, another one is written"))
    if case.given("encoder") or (crossed and case.family != "transformer-encoder"):
        return _conditioned(case, said)
    if case.given(*_HEARD):
        return Verdict("speech recognition", 0.75, (*said, case.said(*_HEARD)))
    if case.given("image"):
        return Verdict("image-to-text", 0.75, (*said, case.said("image")))
    return _alone(case, said)


def _conditioned(case: Case, said: tuple[str, ...]) -> Verdict:
    """Written after something that cross attention reads."""
    for roles, name in ((_HEARD, "speech recognition"), (("image",), "image-to-text")):
        if case.given(*roles):
            return Verdict(name, 0.85, (*said, case.said(*roles), "cross attention reads it"))
    if _hears(case):
        more = (case.said("features"), "convolutions along time read it, and cross attention what they make")
        return Verdict("speech recognition", 0.6, (*said, *more), also=("text generation",))
    rows = {term.facts.get("rows") for term in case.blocks("embedding")}
    if rows & set(_WHISPER):
        return Verdict("speech recognition", 0.7, (*said, "the vocabulary is as large as that of Whisper"))
    said = (*said, "cross attention reads what an encoder made; of what is not in this file")
    near = ("text-to-text generation", "speech recognition", "image-to-text")
    return Verdict("text generation", 0.6, said, also=near)


def _hears(case: Case) -> bool:
    """Features of frames that convolutions along time read: speech, with as many bands as nobody else has."""
    framed = [name for name in case.given("features") if len(case.dims(name) or ()) == 3]
    convs = case.blocks("conv", "conv-norm-act", "linear", "mlp")
    return bool(framed) and any(len(term.facts.get("kernel") or ()) == 1 for term in convs)


def _alone(case: Case, said: tuple[str, ...]) -> Verdict:
    seeing = case.blocks("attention")
    if any(term.facts.get("causal") for term in seeing):
        kept = ("keys and values are kept for the next token",) if case.cached or case.of("state") else ()
        return Verdict("text generation", 0.95 if kept else 0.92, (*said, "attention looks back only", *kept))
    if case.given("past"):
        return Verdict("text generation", 0.9, (*said, "keys and values of tokens before come in"))
    if seeing and (case.cached or case.of("state")):
        return Verdict("text generation", 0.8, (*said, "keys and values are kept for the next token"))
    if seeing:
        return Verdict("fill mask", 0.85, (*said, "attention looks both ways"), also=("text generation",))
    cells = case.blocks(*_CELLS)
    both = any(term.facts.get("bidirectional") for term in cells)
    name = "fill mask" if both else "text generation"
    return Verdict(
        name, 0.8 if cells else 0.6, (*said, "a recurrent net reads it" if cells else "no attention looks ahead")
    )


def matching(case: Case) -> Verdict | None:
    found = case.of("matching")
    if not found or not case.given("tokens") or not case.given("image"):
        return None
    return Verdict("image-text matching", 0.92, (found[0].evidence, case.said("tokens"), case.said("image")))
