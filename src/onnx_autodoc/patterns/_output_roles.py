"""What one output is for: its head, beside what came in and what else goes out."""

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from onnx_autodoc.patterns._head import Head
from onnx_autodoc.patterns._net import Net

_OUTPUTS: Final = {
    "state": "present state",
    "weights": "attention weights",
    "lm": "token logits",
    "boxes": "boxes",
    "scores": "class scores",
    "detection": "detections",
    "prototypes": "mask prototypes",
    "hidden": "hidden states",
    "score": "score",
    "probability": "probability",
    "probability-per-place": "probabilities",
    "features": "feature map",
    "picture": "image",
    "trees-regression": "score",
    "pose": "detections",
    "oriented": "detections",
    "raw-detection": "raw detections",
    "text-map": "masks",
    "matching": "similarity",
}
_BY_ACT: Final = {
    "softmax": "probabilities",
    "sigmoid": "probabilities",
    "argmax": "labels",
    "log-softmax": "log probabilities",
}
# numbers of such things are scores of classes; those made of a table may be any
_SENSED: Final = frozenset(("tokens", "image", "audio", "spectrogram", "video", "text"))
_CHOSEN: Final = {"boxes": "boxes", "scores": "class scores", "argmax": "labels", "picked": "chosen boxes"}
_CLASSES: Final = {"classification": "logits", "token-classification": "tags", "ctc": "logits", "trees": "logits"}


class Company(Struct, frozen=True):
    """`senses` are what comes in, `lengths` how long texts are, `picked` the answers that went through a softmax."""

    senses: frozenset[str]
    lengths: frozenset[int]
    spans: tuple[str, ...]
    picked: frozenset[tuple[str, int | None]]


def company(net: Net, found: dict[str, str | None], ends: tuple[Head, ...]) -> Company:
    texts = [net.shape(value) or (0,) for name, value in net.inputs.items() if found[name] == "tokens"]
    return Company(
        senses=frozenset(role.split(" ")[0] for role in found.values() if role),
        lengths=frozenset(dims[-1] for dims in texts),
        spans=tuple(head.output for head in ends if head.kind == "span"),
        picked=frozenset((head.kind, head.classes) for head in ends if head.act),
    )


def exit_role(head: Head, beside: Company) -> str | None:
    if head.kind in _BESIDE:
        return _BESIDE[head.kind](head, beside)
    if head.kind == "lm" and head.act == "argmax":
        return "tokens"
    if head.kind == "detection" and head.act in _CHOSEN:
        return _CHOSEN[head.act]
    return _OUTPUTS.get(head.kind)


def _of_classes(head: Head, beside: Company) -> str | None:
    """Beside classes that went through a softmax, other bare numbers are none: a box, the points of a face."""
    bare = _CLASSES[head.kind] if _SENSED & beside.senses and not _is_beside_classes(head, beside) else None
    return _BY_ACT.get(head.act or "", bare)


def _is_beside_classes(head: Head, beside: Company) -> bool:
    """Whether another output of its kind, as wide as it is not, went through a softmax, and it did not."""
    others = any(kind == head.kind and classes != head.classes for kind, classes in beside.picked)
    return others and head.act is None


def _of_places(head: Head, beside: Company) -> str | None:
    return "token scores" if head.places in beside.lengths else None


def _of_whole(head: Head, beside: Company) -> str | None:
    return "sentence embedding" if "tokens" in beside.senses and "image" not in beside.senses else "embedding"


def _of_pixels(head: Head, beside: Company) -> str | None:
    """Without a picture, cells are times and pitches or the like."""
    if head.act == "argmax":
        return "labels"
    if "image" not in beside.senses:
        return "probabilities" if head.act in ("sigmoid", "softmax") else None
    if head.kind == "segmentation" and _is_beside_classes(head, beside):
        return None
    return "masks" if head.kind == "segmentation" or head.act == "sigmoid" else "map"


def _span(head: Head, beside: Company) -> str:
    """Which of the two is the start is not in the graph: exporters put it first, unless a name says otherwise."""
    names = beside.spans
    turned = bool(re.search(r"end", names[0], re.I)) and not re.search(r"start", names[0], re.I)
    first = (names.index(head.output) == 0) != turned
    return "start logits" if first else "end logits"


_BESIDE: Final[dict[str, Callable[[Head, Company], str | None]]] = {
    **dict.fromkeys(_CLASSES, _of_classes),
    "span": _span,
    "score-per-place": _of_places,
    "embedding": _of_whole,
    "segmentation": _of_pixels,
    "map": _of_pixels,
}
