"""The summary of a card: one line, two sentences and a paragraph from templates, filled from its sections."""

import re
from collections import Counter
from typing import Final

from onnx_autodoc.card.types import Card, Port, Summary
from onnx_autodoc.card.uncertainty import is_lower_bound
from onnx_autodoc.text import (
    display_name,
    format_bytes,
    format_count,
    format_percent,
    format_short,
    pluralize,
    sanitize,
)

_FAMILIES: Final = {
    "cnn": "Convolutional network",
    "transformer-encoder": "Transformer encoder",
    "transformer-decoder": "Transformer decoder",
    "encoder-decoder": "Encoder-decoder transformer",
    "vision-transformer": "Vision transformer",
    "hybrid": "Hybrid",
    "rnn": "Recurrent network",
    "mlp": "Multilayer perceptron",
    "diffusion-unet": "Diffusion U-Net",
    "tree-ensemble": "Tree ensemble",
    "preprocessing": "Preprocessing",
    "unknown": "Architecture unknown",
}
CERTAIN_TASK: Final = 0.85  # the confidence from which a task is named without "probably"
_LIKELY_TASK: Final = 0.65
_MAX_LISTED: Final = 3
_MAX_LISTED_BLOCKS: Final = 5
_VERSION: Final = re.compile(r"[0-9][0-9a-z.+-]{,31}( [0-9a-f]{4,12})?")  # tf2onnx: "1.16.1 15c810"
_OTHER: Final = "other"  # MACs outside of known blocks


def summarize(card: Card) -> Summary:
    return Summary(describe_model(card), _tldr(card), _paragraph(card), "template")


def describe_model(card: Card) -> str:
    """Return one line: "Transformer encoder, 6 layers of width 384, 12 heads; question answering"."""
    structure = card.structure
    parts = [_FAMILIES.get(structure.family, structure.family)]
    if structure.family == "hybrid":
        parts[0] += f" ({sanitize(' and '.join(structure.evidence[:2]), 90)})" if structure.evidence else ""
    if structure.layers:
        wide = f" of width {format_count(structure.hidden)}" if structure.hidden else ""
        parts.append(pluralize(structure.layers, "layer") + wide)
    if structure.heads and structure.family not in ("cnn", "rnn"):
        grouped = structure.kv_heads not in (None, structure.heads)
        keys = f" ({pluralize(structure.kv_heads or 0, 'KV head')})" if grouped else ""
        parts.append(pluralize(structure.heads, "head") + keys)
    return f"{', '.join(parts)}; {_task(card)}"


def _task(card: Card) -> str:
    task = card.task
    if task.name is None:
        return "task unknown"
    name = sanitize(task.name, 60)
    certainty = (
        "" if task.confidence >= CERTAIN_TASK else "probably " if task.confidence >= _LIKELY_TASK else "possibly "
    )
    classes = f", {pluralize(task.classes, 'class', 'classes')}" if task.classes else ""
    return certainty + name + classes + ", declared in its metadata" * task.claimed


def _tldr(card: Card) -> str:
    return " ".join(filter(None, (f"{describe_model(card)}.", _parameters_sentence(card), _cost_sentence(card))))


def _parameters_sentence(card: Card) -> str:
    parameters, is_bound = card.parameters, is_lower_bound(card, "parameters.total")
    if not parameters.total:
        return "Number of parameters unknown." if is_bound else "No weights in the file."
    word = "parameter" if parameters.total == 1 else "parameters"
    precision = card.model.precision.label or "unknown precision"
    total = "At least " * is_bound + format_short(parameters.total)
    return f"{total} {word} ({precision}, {format_bytes(parameters.bytes)})."


def _cost_sentence(card: Card) -> str:
    compute, memory = card.compute, card.memory
    parts = []
    if compute.macs is not None:
        bound = "at least " if is_lower_bound(card, "compute.macs") else ""
        parts.append(bound + format_short(compute.macs, "MACs") if compute.macs else "no MACs")
    if memory.peak_activation_bytes:
        bound = "at least " if is_lower_bound(card, "memory.peak_activation_bytes") else ""
        parts.append(f"{bound}{format_bytes(memory.peak_activation_bytes)} of peak activations")
    return f"One run{_sizes_phrase(card)}: {', '.join(parts)}." if parts else ""


def _sizes_phrase(card: Card) -> str:
    """The first dimensions that the costs hold for."""
    sizes, names = card.assumptions.dims, card.compute.formula.dims
    dims = [key for keys in names.values() for key in keys[:1]] or list(sizes)
    listed = ", ".join(
        f"{display_name(name, 24)} {format_count(sizes[name])}" for name in dims[:_MAX_LISTED] if name in sizes
    )
    return f" at {listed}" + (" and other sizes" if len(dims) > _MAX_LISTED else "") if listed else ""


def _paragraph(card: Card) -> str:
    sentences = (
        *(_origin_sentence(card), _interface_sentence(card), _blocks_sentence(card), _work_sentence(card)),
        *(_cache_sentence(card), _gaps_sentence(card)),
    )
    return " ".join(filter(None, sentences)).strip()


def _origin_sentence(card: Card) -> str:
    model = card.model
    producer = " ".join(_format_producer(text) for text in (model.producer.name, model.producer.version) if text)
    opset = model.opsets.get("ai.onnx")
    external = len(model.file.external)
    parts = (
        f"ONNX file, {format_bytes(model.file.bytes)}",
        f"opset {opset}" if opset else "",
        f"produced by {producer}" if producer else "",
        f"external weights in {pluralize(external, 'file')}" if external else "",
    )
    return f"{', '.join(filter(None, parts))}."


def _format_producer(text: str) -> str:
    """Quote a producer or its version, unless it is a version number."""
    return sanitize(text) if _VERSION.fullmatch(text) else display_name(text, 48)


def _interface_sentence(card: Card) -> str:
    inputs, outputs = _list_ports("Input", card.interface.inputs), _list_ports("Output", card.interface.outputs)
    return f"{inputs} {outputs}"


def _list_ports(noun: str, ports: tuple[Port, ...]) -> str:
    shown = [display_name(port.name) + _role_note(port) for port in ports[:_MAX_LISTED]]
    rest = len(ports) - len(shown)
    names = _join([*shown, *([f"{format_count(rest)} more"] if rest else [])])
    return f"{noun}{'s' * (len(ports) != 1)}: {names or 'none'}."


def _role_note(port: Port) -> str:
    return f" ({sanitize(port.role, 40)})" if port.role and port.role != port.name else ""


def _join(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _blocks_sentence(card: Card) -> str:
    """List the boxes of the diagram, equal ones together."""
    total, tree = card.graph.nodes_total, card.structure.tree
    boxes = Counter[str]()
    for box in tree.children if tree is not None else ():
        if box.kind not in ("input", "output"):
            boxes[sanitize(box.label, 40)] += box.count
    count = _MAX_LISTED_BLOCKS if len(boxes) > _MAX_LISTED_BLOCKS + 1 else _MAX_LISTED_BLOCKS + 1
    most = dict(boxes.most_common(count))
    shown = [f"{format_count(most[label])} × {label}" if most[label] > 1 else label for label in boxes if label in most]
    rest = len(boxes) - len(shown)
    form = _join([*shown, *([f"{format_count(rest)} other kinds"] if rest else [])])
    if not form:
        return f"The graph has {pluralize(total, 'node')}." if total else "The graph has no nodes."
    return f"The graph has {pluralize(total, 'node')}; blocks: {form}."


def _work_sentence(card: Card) -> str:
    parts = card.structure.work
    if not parts or not card.compute.macs:
        return ""
    macs = "counted MACs" if is_lower_bound(card, "compute.macs") else "MACs"
    if len(parts) == 1:
        return "" if parts[0].part == _OTHER else f"All {macs} are in {parts[0].part}."
    first, *rest = parts[:_MAX_LISTED]
    shown = [
        f"{format_percent(first.share)} of the {macs} are {_place(first.part)}",
        *(f"{format_percent(each.share)} {_place(each.part)}" for each in rest),
    ]
    return f"{_join(shown)}."


def _place(part: str) -> str:
    return "outside of known blocks" if part == _OTHER else f"in {part}"


def _cache_sentence(card: Card) -> str:
    cache = card.memory.kv_cache
    if cache is None:
        return ""
    return f"KV cache: {format_bytes(cache.bytes_per_token)} per token and sequence."


def _gaps_sentence(card: Card) -> str:
    missing = card.compute.coverage.nodes - card.compute.coverage.counted
    if len(card.gaps) == 1:
        without = "; the totals exclude it" if missing else ""
        return f"Limitation: {sanitize(card.gaps[0].reason, 160).rstrip('.')}{without}."
    costs = f"The cost of {pluralize(missing, 'node')} is unknown; the totals exclude it. " if missing else ""
    return costs + (f"{format_count(len(card.gaps))} limitations, each listed with its reason." if card.gaps else "")
