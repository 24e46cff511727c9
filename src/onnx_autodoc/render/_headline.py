"""What a model is, in a line or two: its family, its sizes, its task, and the way through its blocks."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Box, Card
from onnx_autodoc.text import clean, count, named, plural, three

_LONGEST: Final = 130  # letters of the way through the blocks, before the rest is only counted


def cache_of(card: Card) -> str | None:
    """Why there is no cache, where one could ask for it."""
    if card.structure.family in ("transformer-encoder", "vision-transformer"):
        return "none: an encoder"
    if card.structure.family in ("transformer-decoder", "encoder-decoder"):
        return "none: every run computes the whole sequence anew"
    return None


def is_partly_counted(card: Card) -> bool:
    """Tensors are left out of the count, as the file contradicts itself about them."""
    return any(gap.section == "parameters" for gap in card.gaps)


def without_precision(card: Card) -> str:
    """What stands for a precision where no weight has one: only what is known to be absent is called so."""
    return "not known: the file contradicts itself" if is_partly_counted(card) else "no weights"


def intensity_of(card: Card) -> str | None:
    """FLOPs for each byte moved. What is missing above the line makes it a lower bound, below it an upper one."""
    found, covered = card.compute.arithmetic_intensity, card.compute.coverage
    if found is None:
        return None
    bound = ("at most " if covered.unmoved else "at least ") if bool(covered.unmoved) != bool(covered.gaps) else ""
    counted = ", of what was counted" if covered.unmoved and covered.gaps else ""
    return f"{bound}{three(found)} FLOPs per byte{counted}"


def way(card: Card) -> str | None:
    """The way through the blocks, the repeated layer opened: "Embedding → 6 × [Attention → Add → …] → Linear"."""
    tree = card.structure.tree
    if tree is None:
        return None
    boxes = [box for box in tree.children if box.kind not in ("input", "output")]
    if not boxes:
        return None
    steps: list[str] = []
    for box in boxes:
        if steps and len(" → ".join(steps)) + len(box.label) > _LONGEST:
            break
        steps.append(clean(_step(box, boxes), _LONGEST))
    rest = f" → … {count(len(boxes) - len(steps))} more, see --format mermaid" if len(boxes) > len(steps) else ""
    return " → ".join(steps) + rest


def _step(box: Box, boxes: list[Box]) -> str:
    largest = max((each for each in boxes if each.repeats and _is_rich(each)), key=_weight, default=None)
    times = f"{box.count} × " if box.count > 1 else ""
    if box is largest:
        return f"{times}[{' → '.join(_inner(box))}]"
    return times + box.label


def _is_rich(box: Box) -> bool:
    """Whether it is worth being opened: several things are inside."""
    return sum(part.kind not in ("input", "add") for part in box.children) > 1


def _inner(box: Box) -> Iterator[str]:
    for part in box.children:
        if part.kind != "input":
            yield part.label + (f" {part.detail}" if part.detail and part.kind in _DETAILED else "")


_DETAILED: Final = ("attention", "attention-block", "mlp", "mlp-block", "gated-mlp", "moe")


def _weight(box: Box) -> tuple[float, int]:
    return box.share or 0.0, box.params


def said_of_data(card: Card) -> str | None:
    """What the metadata says of classes, characters, sizes and rates, and who wrote it."""
    said = card.dataset.said
    names = ", ".join(named(name, 20) for name in said.names[:3]) + (" …" if len(said.names) > 3 else "")
    parts = [
        plural(said.classes, "class", "classes") + (f" ({names})" if names else "") if said.classes else "",
        plural(said.characters, "character", "characters") if said.characters else "",
        f"{said.image_size[0]}×{said.image_size[1]}" if said.image_size else "",
        f"stride {said.stride}" if said.stride else "",
        f"{count(said.sample_rate)} Hz" if said.sample_rate else "",
    ]
    found = ", ".join(filter(None, parts))
    sources = (said.sources.get(key) for key in ("names", "classes", "characters", *said.sources))
    source = clean(next(filter(None, sources), "metadata"), 60)
    return f"{found}: {source}" if found else None


_KEPT: Final = {
    "embedding": "embeddings",
    "attention": "attention",
    "mlp": "MLPs",
    "gated-mlp": "MLPs",
    "conv": "convolutions",
    "head": "the head",
    "lstm": "LSTMs",
    "gru": "GRUs",
    "layer-norm": "norms",
    "rms-norm": "norms",
    "batch-norm": "norms",
    "group-norm": "norms",
}


def kept_in_float(card: Card) -> str:
    """Which parts of a quantized model stayed in floating point."""
    found = dict.fromkeys(_KEPT[kind] for kind in card.structure.in_float if kind in _KEPT)
    return f"; in floating point: {', '.join(found)}" if found else ""
