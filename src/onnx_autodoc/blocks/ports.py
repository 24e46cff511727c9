"""What inputs and outputs are for, as far as the graph proves it: by what is done with them, not by their names.

A name only breaks a tie between two things that the graph allows: a picture of one channel may be a spectrogram, a
signal may be sound (`_signals`), and of the two ends of a span either may be the start.
"""

import re
from collections import Counter
from typing import Final

from onnx_autodoc.blocks._entries import entry_role
from onnx_autodoc.blocks._net import Net
from onnx_autodoc.blocks._steering import aside
from onnx_autodoc.blocks._tails import size
from onnx_autodoc.blocks.heads import Head, heads
from onnx_autodoc.graph import Model

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


def roles(net: Net, model: Model) -> dict[str, str]:
    """The role of each input and output that has one."""
    ends, beside = heads(net), aside(net, model)
    found: dict[str, str | None] = {}
    for name, value in net.inputs.items():
        found[name] = beside.get(name) or entry_role(net, name, value)
    _in_company(net, found, ends)
    _handed_back(net, found, ends)
    for head in ends:
        found[head.output] = _cleaned(net, head, found) or _output(net, head, found, ends)
    return {name: role for name, role in found.items() if role}


# -- what an input is beside others


def _in_company(net: Net, found: dict[str, str | None], ends: tuple[Head, ...]) -> None:
    """A picture beside a time is noise on its way; a small one that a larger one is made of is a latent."""
    pictures = [name for name, role in found.items() if role and _is_picture(net, name, role)]
    timed = "timestep" in found.values()
    for name, role in found.items():
        if role == "category" and pictures and _same_size(net, pictures[0]):
            found[name] = "timestep"  # a table with a row for each step
            timed = True
    for name in pictures:
        if (timed or any(head.kind == "picture" for head in ends)) and _channels(net, name, found[name] or "") not in (
            1,
            3,
        ):
            found[name] = "latent"
    if any(head.kind == "picture" for head in ends) and not pictures:
        for name, role in found.items():
            found[name] = "latent" if role == "features" else role


def _handed_back(net: Net, found: dict[str, str | None], ends: tuple[Head, ...]) -> None:
    """Numbers as large as a state that is handed on are the one of the run before, where no other input is it."""
    known = Counter(net.shape(net.inputs[name]) for name, role in found.items() if role in ("state", "past state"))
    made = Counter(net.shape(net.outputs[head.output]) for head in ends if head.kind == "state")
    free = {dims: count - known[dims] for dims, count in made.items() if dims is not None and dims not in known}
    for dims, count in free.items():
        alike = [name for name, value in net.inputs.items() if found[name] == "features" and net.shape(value) == dims]
        if 0 < len(alike) <= count:
            found |= dict.fromkeys(alike, "state")


def _is_picture(net: Net, name: str, role: str) -> bool:
    """Also one with more channels than colours."""
    return role.startswith("image") or (role == "features" and net.rank(net.inputs[name]) == 4)


def _same_size(net: Net, name: str) -> bool:
    dims = net.shape(net.inputs[name])
    return any(net.shape(value) == dims for value in net.outputs.values())


def _channels(net: Net, name: str, role: str) -> int | None:
    return size(net, net.inputs[name], 3 if role.endswith("NHWC") else 1)


# -- outputs


def _output(net: Net, head: Head, found: dict[str, str | None], ends: tuple[Head, ...]) -> str | None:
    if head.kind == "span":
        return _span(head, [each.output for each in ends if each.kind == "span"])
    if head.kind in _CLASSES:
        return _BY_ACT.get(head.act or "") or _of_classes(head, found, ends)
    if head.kind == "score-per-place":
        return "token scores" if head.places in _lengths(net, found) else None
    if head.kind == "lm" and head.act == "argmax":
        return "tokens"
    if head.kind == "embedding":
        given = {role.split(" ")[0] for role in found.values() if role}
        return "sentence embedding" if "tokens" in given and "image" not in given else "embedding"
    if head.kind in ("segmentation", "map"):
        return _of_pixels(head, found)
    if head.kind == "detection" and head.act in _CHOSEN:
        return _CHOSEN[head.act]
    return _OUTPUTS.get(head.kind)


def _of_classes(head: Head, found: dict[str, str | None], ends: tuple[Head, ...]) -> str | None:
    """Beside classes that went through a softmax, other bare numbers are none: a box, the points of a face."""
    others = [each for each in ends if each.kind == head.kind and each.act and each.classes != head.classes]
    sensed = _SENSED & {(role or "").split(" ")[0] for role in found.values()}
    return _CLASSES[head.kind] if sensed and not others else None


def _lengths(net: Net, found: dict[str, str | None]) -> set[int | None]:
    """How long the texts are that come in."""
    return {(net.shape(value) or (0,))[-1] for name, value in net.inputs.items() if found[name] == "tokens"}


def _of_pixels(head: Head, found: dict[str, str | None]) -> str | None:
    """Without a picture, cells are times and pitches or the like."""
    if head.act == "argmax":
        return "labels"
    if not any(role and role.startswith("image") for role in found.values()):
        return "probabilities" if head.act in ("sigmoid", "softmax") else None
    return "masks" if head.kind == "segmentation" or head.act == "sigmoid" else "map"


def _cleaned(net: Net, head: Head, found: dict[str, str | None]) -> str | None:
    """Beside a time step, what is as large as the noisy input is what noise or a clean one is: of the same kind."""
    if "timestep" not in found.values():
        return None
    dims = net.shape(net.outputs[head.output])
    noisy = [name for name in net.inputs if net.shape(net.inputs[name]) == dims and found.get(name)]
    return found[noisy[0]] if noisy and len(dims or ()) > 2 else None


def _span(head: Head, names: list[str]) -> str:
    """Which of the two is the start is not in the graph: exporters put it first, unless a name says otherwise."""
    turned = bool(re.search(r"end", names[0], re.I)) and not re.search(r"start", names[0], re.I)
    first = (names.index(head.output) == 0) != turned
    return "start logits" if first else "end logits"
