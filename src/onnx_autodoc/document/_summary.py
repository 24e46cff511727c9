"""The card in words: a line, two sentences, a paragraph. From a template: every word is one the sections prove."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.document._types import Card, Summary
from onnx_autodoc.say import clean, count, file_size, memory, percent, plural, short

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
_SURE: Final = 0.85
_LIKELY: Final = 0.65
_FEW: Final = 3


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
    sure = name if task.confidence >= _SURE else f"probably {name}" if task.confidence >= _LIKELY else f"perhaps {name}"
    return f"{sure}, {plural(task.classes, 'class', 'classes')}" if task.classes else sure


def _tldr(card: Card) -> str:
    """What it is, how large it is, what a run takes."""
    costs = [*_held(card), *_takes(card)]
    return f"{what_it_is(card)}. {_sentence(costs)}" if costs else f"{what_it_is(card)}."


def _sentence(parts: list[str]) -> str:
    text = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    return text[0].upper() + text[1:] + "."


def _held(card: Card) -> Iterator[str]:
    held = card.parameters
    if held.total:
        yield f"{short(held.total)} parameters in {card.model.precision.label} ({memory(held.bytes)})"


def _takes(card: Card) -> Iterator[str]:
    done, used = card.compute, card.memory
    if done.macs:
        least = "at least " if any(gap.macs for gap in done.coverage.gaps) else ""
        yield f"{least}{short(done.macs, 'MACs')} for one run{_at(card)}"
    if used.peak_activation_bytes:
        least = "at least " if used.unsized else ""
        yield f"{least}{memory(used.peak_activation_bytes)} of activations at the peak"


def _at(card: Card) -> str:
    """The sizes that it holds for, where there are few."""
    dims = list(card.assumptions.dims.items())
    if not dims:
        return ""
    few = ", ".join(f"{clean(name, 24)} {count(size)}" for name, size in dims[:_FEW])
    return f" at {few}" + (" and others" if len(dims) > _FEW else "")


def _text(card: Card) -> str:
    sentences = (_origin(card), _ports(card), _made_of(card), _where(card), _kept(card), _open(card))
    return " ".join(filter(None, sentences))


def _origin(card: Card) -> str:
    model = card.model
    made = " ".join(filter(None, (model.producer.name, model.producer.version)))
    opset = model.opsets.get("ai.onnx")
    parts = [f"exported by {clean(made, 60)}" if made else "", f"opset {opset}" if opset else ""]
    said = ", ".join(filter(None, parts))
    size = file_size(model.file.bytes)
    beside = " and weights in " + plural(len(model.file.external), "file") + " beside it" if model.file.external else ""
    return f"An ONNX file of {size}{beside}" + (f", {said}." if said else ".")


def _ports(card: Card) -> str:
    ends = card.interface
    return f"It takes {_listed(ends.inputs)} and gives {_listed(ends.outputs)}."


def _listed(ports: tuple[object, ...]) -> str:
    names = [clean(str(getattr(port, "name", "")), 40) for port in ports]
    roles = [getattr(port, "role", None) for port in ports]
    shown = [f"{name} ({role})" if role else name for name, role in zip(names[:_FEW], roles, strict=False)]
    rest = len(names) - len(shown)
    if rest > 0:
        shown.append(f"{count(rest)} more")
    return _joined(shown) or "nothing"


def _joined(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _made_of(card: Card) -> str:
    graph = card.graph
    kinds = [f"{count(row.count)} × {row.kind}" for row in card.structure.blocks[: _FEW + 1] if row.count]
    made = f" make up {_joined(kinds)}" if kinds else ""
    return f"{plural(graph.nodes_total, 'node')} of {plural(graph.operator_types, 'operator type')}{made}."


def _where(card: Card) -> str:
    parts = card.structure.work
    if not parts or not card.compute.macs:
        return ""
    shown = _joined([f"{part.part} ({percent(part.share)})" for part in parts[:_FEW]])
    return f"The multiply-adds are in {shown}."


def _kept(card: Card) -> str:
    kept = card.memory.kv_cache
    return f"Its key-value cache takes {memory(kept.bytes_per_token)} for each token of a sequence." if kept else ""


def _open(card: Card) -> str:
    if card.gaps or card.compute.coverage.gaps:
        number = len(card.gaps) + len(card.compute.coverage.gaps)
        return f"{plural(number, 'thing').capitalize()} could not be told from the file, each listed with its reason."
    return "Nothing in it was left uncounted."
