"""Outputs that make sense only beside others: two ends of a span, boxes and their scores, masks for boxes."""

from typing import Final

from msgspec.structs import replace

from onnx_autodoc.patterns._grids import BOX
from onnx_autodoc.patterns._head import Head, has_tokens
from onnx_autodoc.patterns._net import Net
from onnx_autodoc.patterns._output_trace import Tail

_LISTED: Final = ("ctc", "numbers", "boxes", "scores", "detection")


def paired(net: Net, made: list[Head], found: list[Tail]) -> list[Head]:
    for pair in (_spans, _queries, _masks):
        made = pair(net, made, found)
    return made


def _spans(net: Net, made: list[Head], found: list[Tail]) -> list[Head]:
    each = [head for head in made if head.kind == "score-per-place"]
    if len(each) != 2 or each[0].places != each[1].places or not has_tokens(net) or not _is_one(each, found):
        return made
    names = " and ".join(head.output for head in each)
    said = f"outputs {names} are one number per token each: a span head"
    return [replace(head, kind="span", evidence=said) if head in each else head for head in made]


def _is_one(pair: list[Head], found: list[Tail]) -> bool:
    """Of one map, or of two that read the same: other numbers of tokens (how long, how high) have nets of their own."""
    outputs = {head.output for head in pair}
    sources = {term for tail in found if tail.output in outputs for term in tail.sources}
    return len(sources) == 1 or len({term.inputs[0] for term in sources if term.op == "linear"} | {None}) == 2


def _queries(net: Net, made: list[Head], found: list[Tail]) -> list[Head]:
    """Boxes and scores of as many things each. What a loop writes one after another is a sequence, no set."""
    looped = {tail.output for tail in found if any(term.loop for term in (*tail.terms, *tail.sources))}
    lists = [head for head in made if head.kind in _LISTED and head.output not in looped]
    box = next((head for head in lists if head.places and (head.kind == "boxes" or head.classes == BOX)), None)
    score = next((head for head in lists if box is not None and head is not box and head.places == box.places), None)
    if box is None or score is None:
        return made
    wide = score.wide or score.classes
    said = f"{box.output} is 4 numbers for each of {box.places:,} things, {score.output} {wide}"
    boxes = replace(box, kind="boxes", classes=None, evidence=said)
    scores = replace(score, kind="scores", classes=wide, evidence=said)
    return [boxes if head is box else scores if head is score else head for head in made]


def _masks(net: Net, made: list[Head], found: list[Tail]) -> list[Head]:
    """Prototypes of masks beside a list of boxes, each with as many numbers to mix them by."""
    lists = [head for head in made if head.kind == "detection"]
    maps = [head for head in made if head.kind in ("segmentation", "features")]
    if len(lists) != 1 or len(maps) != 1 or not maps[0].classes:
        return made
    said = f"{maps[0].output} has {maps[0].classes} masks to be mixed for each box"
    mixed = replace(maps[0], kind="prototypes", classes=None, evidence=said)
    return [mixed if head is maps[0] else head for head in made]
