"""Short texts on a card that several output formats share."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from onnx_autodoc.card import Box, CacheSection, Card, Finding, Port, Severity, is_lower_bound
from onnx_autodoc.render.content import UNKNOWN
from onnx_autodoc.text import display_name, format_count, pluralize, sanitize

_MAX_CHAIN_LENGTH: Final = 130  # characters, before the remaining blocks are only counted
_DETAILED_KINDS: Final = ("attention", "attention-block", "mlp", "mlp-block", "gated-mlp", "moe")
_PLAIN_KINDS: Final = ("input", "add")
_FLOAT_PARTS: Final = {
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
RECOMMENDATION: Final = "Recommendation"
EVIDENCE: Final = "Evidence"
NO_WEIGHTS: Final = "no weights"
SEVERITY_WORDS: Final = {
    Severity.ERROR: ("error", "errors"),
    Severity.WARNING: ("warning", "warnings"),
    Severity.NOTE: ("note", "notes"),
    Severity.INFO: ("info", "info"),
}


def count_findings(findings: Sequence[Finding]) -> str:
    """Count findings by severity, the worst first: "1 warning, 2 notes"."""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(pluralize(counts[key], *words) for key, words in SEVERITY_WORDS.items() if counts[key]) or "none"


def explain_missing_cache(card: Card) -> str | None:
    """Explain why a transformer has no KV cache; None for other models."""
    if card.structure.family in ("transformer-encoder", "vision-transformer"):
        return "none (encoder)"
    if card.structure.family in ("transformer-decoder", "encoder-decoder"):
        return "none: each run recomputes the whole sequence"
    return None


def describe_cache_layout(cache: CacheSection, head: str) -> str:
    """Describe a KV cache as "12 layers, 4 heads of 64, float16", with `head` as the noun of its heads."""
    parts = [pluralize(cache.layers, "layer")] if cache.layers else []
    parts += [f"{pluralize(cache.kv_heads, head)} of {cache.head_dim}"] if cache.kv_heads else []
    return ", ".join([*parts, cache.dtype])


def explain_missing_precision(card: Card) -> str:
    unknown = is_lower_bound(card, "parameters.total")
    return "unknown: the file is inconsistent" if unknown else NO_WEIGHTS


def format_dtype(port: Port) -> str:
    dtype = port.dtype or UNKNOWN
    return dtype if port.kind == "tensor" else f"{port.kind} of {dtype}"


def format_block_chain(card: Card) -> str | None:
    """Chain the blocks, the main layer opened: "Embedding → 6 × [Attention → Add → …] → Linear"."""
    tree = card.structure.tree
    boxes = [box for box in tree.children if box.kind not in ("input", "output")] if tree is not None else []
    if not boxes:
        return None
    layers = (box for box in boxes if box.repeats and sum(part.kind not in _PLAIN_KINDS for part in box.children) > 1)
    layer = max(layers, key=lambda box: (box.share or 0.0, box.params), default=None)
    steps: list[str] = []
    for box in boxes:
        if steps and len(" → ".join(steps)) + len(box.label) > _MAX_CHAIN_LENGTH:
            break
        label = f"[{' → '.join(_part_labels(box))}]" if box is layer else box.label
        steps.append(sanitize((f"{box.count} × " if box.count > 1 else "") + label, _MAX_CHAIN_LENGTH))
    left = len(boxes) - len(steps)
    return " → ".join(steps) + (f" → … {format_count(left)} more, see --format mermaid" if left else "")


def _part_labels(box: Box) -> list[str]:
    return [
        part.label + (f" {part.detail}" if part.detail and part.kind in _DETAILED_KINDS else "")
        for part in box.children
        if part.kind != "input"
    ]


def describe_declared_data(card: Card) -> str | None:
    """State what the metadata declares on classes, characters, sizes and rates, and its source."""
    declared = card.dataset.said
    names = ", ".join(display_name(name, 20) for name in declared.names[:3]) + " …" * (len(declared.names) > 3)
    parts = [
        pluralize(declared.classes, "class", "classes") + (f" ({names})" if names else "") if declared.classes else "",
        pluralize(declared.characters, "character") if declared.characters else "",
        f"{declared.image_size[0]}×{declared.image_size[1]}" if declared.image_size else "",
        f"stride {declared.stride}" if declared.stride else "",
        f"{format_count(declared.sample_rate)} Hz" if declared.sample_rate else "",
    ]
    sources = (declared.sources.get(key) for key in ("names", "classes", "characters", *declared.sources))
    source = sanitize(next(filter(None, sources), "metadata"), 60)
    text = ", ".join(filter(None, parts))
    return f"{text}: {source}" if text else None


def describe_float_parts(card: Card) -> str:
    """List the parts of a quantized model that are in floating point."""
    parts = dict.fromkeys(_FLOAT_PARTS[kind] for kind in card.structure.in_float if kind in _FLOAT_PARTS)
    return f"; in floating point: {', '.join(parts)}" if parts else ""


def capitalize(text: str) -> str:
    """Return text with its first letter in upper case, the others unchanged."""
    return text[:1].upper() + text[1:]
