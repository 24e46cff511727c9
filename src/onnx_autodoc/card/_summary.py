"""The card in words: a line, two sentences, a paragraph. From a template: every word is one the sections prove."""

import re
from collections import Counter
from typing import Final

from onnx_autodoc.card._types import Card, Port, Summary
from onnx_autodoc.text import clean, count, file_size, memory, named, percent, plural, short

_FAMILIES: Final = {
    "cnn": "Convolutional network",
    "transformer-encoder": "Transformer encoder",
    "transformer-decoder": "Transformer decoder",
    "encoder-decoder": "Transformer, encoder and decoder",
    "vision-transformer": "Vision transformer",
    "hybrid": "Hybrid",
    "rnn": "Recurrent network",
    "mlp": "Multilayer perceptron",
    "diffusion-unet": "Diffusion U-Net",
    "tree-ensemble": "Tree ensemble",
    "preprocessing": "Preprocessing",
    "unknown": "Family not known",
}
SURE: Final = 0.85  # from here on a task is said without "probably"
_LIKELY: Final = 0.65
_FEW: Final = 3
_MOST: Final = 5
_VERSION: Final = re.compile(r"[0-9][0-9a-z.+-]{,31}( [0-9a-f]{4,12})?")  # "1.16.1 15c810", as tf2onnx has it
_OTHER: Final = "other"  # the part of the work that no block holds


def summary_of(card: Card) -> Summary:
    return Summary(what_it_is(card), _tldr(card), _text(card), "template")


def what_it_is(card: Card) -> str:
    """ "Transformer encoder, 6 layers of width 384, 12 heads; question answering." """
    found = card.structure
    parts = [_FAMILIES.get(found.family, found.family)]
    if found.family == "hybrid":
        parts[0] += f" ({clean(' and '.join(found.evidence[:2]), 90)})" if found.evidence else ""
    if found.layers:
        wide = f" of width {count(found.hidden)}" if found.hidden else ""
        parts.append(plural(found.layers, "layer") + wide)
    if found.heads and found.family not in ("cnn", "rnn"):
        grouped = found.kv_heads not in (None, found.heads)
        keys = f" ({found.kv_heads} for keys and values)" if grouped else ""
        parts.append(plural(found.heads, "head") + keys)
    return f"{', '.join(parts)}; {_task(card)}"


def _task(card: Card) -> str:
    task = card.task
    if task.name is None:
        return "the graph does not tell its task"
    name = clean(task.name, 60)
    sure = name if task.confidence >= SURE else f"probably {name}" if task.confidence >= _LIKELY else f"perhaps {name}"
    classes = f", {plural(task.classes, 'class', 'classes')}" if task.classes else ""
    return sure + classes + ", as its metadata says" * task.claimed


def _tldr(card: Card) -> str:
    """What it is, how large it is, what a run takes."""
    return " ".join(filter(None, (f"{what_it_is(card)}.", _held(card), _takes(card))))


def _held(card: Card) -> str:
    held, doubtful = card.parameters, any(gap.section == "parameters" for gap in card.gaps)
    if not held.total:
        return "How many weights it has cannot be told." if doubtful else "No weights in the file."
    word = "parameter" if held.total == 1 else "parameters"
    kept = card.model.precision.label or "no one type"
    return f"{'At least ' * doubtful}{short(held.total)} {word} in {kept}, {memory(held.bytes)}."


def _takes(card: Card) -> str:
    done, used = card.compute, card.memory
    parts = []
    if done.macs is not None:
        least = "at least " if any(gap.macs for gap in done.coverage.gaps) else ""
        parts.append(least + short(done.macs, "MACs") if done.macs else "no multiply-adds")
    if used.peak_activation_bytes:
        least = "at least " if used.unsized else ""
        parts.append(f"{least}{memory(used.peak_activation_bytes)} of activations")
    return f"One run{_at(card)} takes {_joined(parts)}." if parts else ""


def _at(card: Card) -> str:
    """The sizes that it holds for, where there are few."""
    sizes, names = card.assumptions.dims, card.compute.formula.dims
    dims = [key for keys in names.values() for key in keys[:1]] or list(sizes)
    few = ", ".join(f"{named(name, 24)} {count(sizes[name])}" for name in dims[:_FEW] if name in sizes)
    return f" at {few}" + (" and others" if len(dims) > _FEW else "") if few else ""


def _text(card: Card) -> str:
    sentences = (_origin(card), _ports(card), _made_of(card), _where(card), _kept(card), _open(card))
    return " ".join(filter(None, sentences)).strip()


def _origin(card: Card) -> str:
    model = card.model
    made = " ".join(_said(text) for text in (model.producer.name, model.producer.version) if text)
    opset = model.opsets.get("ai.onnx")
    beside = f" with weights in {plural(len(model.file.external), 'file')} beside it" if model.file.external else ""
    by = f", written by {made}" if made else ""
    by += f" for opset {opset}" if opset else ""
    return f"An ONNX file of {file_size(model.file.bytes)}{beside}{by}."


def _said(text: str) -> str:
    """A producer or its version, which may be a number."""
    return clean(text) if _VERSION.fullmatch(text) else named(text, 48)


def _ports(card: Card) -> str:
    taken, given = _listed(card.interface.inputs), _listed(card.interface.outputs)
    return f"It takes {taken or 'no inputs'} and gives {given or 'no outputs'}."


def _listed(ports: tuple[Port, ...]) -> str:
    shown = [named(port.name) + _role(port) for port in ports[:_FEW]]
    rest = len(ports) - len(shown)
    return _joined([*shown, *([f"{count(rest)} more"] if rest else [])])


def _role(port: Port) -> str:
    return f" ({clean(port.role, 40)})" if port.role and port.role != port.name else ""


def _joined(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _made_of(card: Card) -> str:
    """The boxes of the drawing, alike ones together."""
    total, tree = card.graph.nodes_total, card.structure.tree
    boxes = Counter[str]()
    for box in tree.children if tree is not None else ():
        if box.kind not in ("input", "output"):
            boxes[clean(box.label, 40)] += box.count
    most = dict(boxes.most_common(_MOST if len(boxes) > _MOST + 1 else _MOST + 1))
    shown = [f"{count(most[label])} × {label}" if most[label] > 1 else label for label in boxes if label in most]
    rest = len(boxes) - len(shown)
    form = _joined([*shown, *([f"{count(rest)} other kinds of parts"] if rest else [])])
    if not form:
        return f"It has {plural(total, 'node')}." if total else "It has no nodes."
    return f"Its {count(total)} nodes form {form}." if total > 1 else f"Its only node is {form}."


def _where(card: Card) -> str:
    parts = card.structure.work
    if not parts or not card.compute.macs:
        return ""
    counted = " that were counted" if any(gap.macs for gap in card.compute.coverage.gaps) else ""
    if len(parts) == 1:
        return "" if parts[0].part == _OTHER else f"All multiply-adds{counted} are in {parts[0].part}."
    first, *rest = parts[:_FEW]
    shown = [
        f"{percent(first.share)} are {_in(first.part)}",
        *(f"{percent(each.share)} {_in(each.part)}" for each in rest),
    ]
    return f"Of the multiply-adds{counted}, {_joined(shown)}."


def _in(part: str) -> str:
    return "in no known block" if part == _OTHER else f"in {part}"


def _kept(card: Card) -> str:
    kept = card.memory.kv_cache
    return f"Its key-value cache takes {memory(kept.bytes_per_token)} for each token of a sequence." if kept else ""


def _open(card: Card) -> str:
    """What the reader must know is missing."""
    missing = card.compute.coverage.nodes - card.compute.coverage.counted
    if len(card.gaps) == 1:
        without = "; the totals are without it" if missing else ""
        return f"Left open: {clean(card.gaps[0].reason, 160).rstrip('.')}{without}."
    costs = f"The cost of {plural(missing, 'node')} is not known, and the totals are without it. " if missing else ""
    return costs + (f"Left open: {count(len(card.gaps))} points, each listed with its reason." if card.gaps else "")
