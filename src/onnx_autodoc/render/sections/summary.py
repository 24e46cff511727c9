"""The summary, the key figures, and the program that runs the model."""

from collections.abc import Iterator

from onnx_autodoc.card import Card
from onnx_autodoc.render import content as doc
from onnx_autodoc.render import numbers
from onnx_autodoc.render.card_text import explain_missing_precision
from onnx_autodoc.render.snippet import MAX_PORTS, make_snippet
from onnx_autodoc.text import format_bytes, format_percent, pluralize, sanitize


def summary(card: Card) -> doc.Section:
    tldr = doc.Paragraph((doc.Strong("TL;DR:"), f" {card.summary.tldr}"))
    return doc.Section("summary", "Summary", (tldr, doc.Paragraph(card.summary.text)))


def at_a_glance(card: Card) -> doc.Section:
    table = doc.Table(doc.columns("Metric", "Value"), tuple(_rows(card)))
    sizes = doc.Paragraph(("Costs are for one run at ", numbers.format_sizes(card), "."))
    return doc.Section("at-a-glance", "At a glance", (table, sizes, doc.ChartRef("overview")))


def _rows(card: Card) -> Iterator[tuple[str, doc.Spans]]:
    graph, opset, intensity = card.graph, card.model.opsets.get("ai.onnx"), numbers.intensity(card)
    yield "Parameters", numbers.parameters(card)
    yield "Weights", numbers.weights(card)
    yield "Precision", _precision(card)
    yield "Compute", _compute(card)
    yield "Peak activations", numbers.cost(card, "memory.peak_activation_bytes")
    yield "Memory for one run", numbers.run_memory(card)
    moved = numbers.cost(card, "compute.bytes_moved")
    yield "Bytes moved", moved if intensity.exact is None else (moved, " · ", intensity)
    if card.memory.kv_cache is not None:
        yield "KV cache", (numbers.memory(card.memory.kv_cache.bytes_per_token), " per token and sequence")
    inner = graph.nodes_total - graph.nodes
    more = f" ({inner:,} in subgraphs and functions)" if inner else ""
    operator_types = pluralize(graph.operator_types, "op type")
    yield "Graph", f"{pluralize(graph.nodes_total, 'node')}{more}, {operator_types}"
    yield "File", (numbers.file_size(card.model.file.bytes), _format_external(card))
    yield "Opset", f"ai.onnx {opset}" if opset else "none for ai.onnx"
    coverage = card.compute.coverage
    is_complete, nodes = coverage.counted == coverage.nodes, pluralize(coverage.nodes, "node")
    yield "Coverage", f"100% of {nodes}" if is_complete else f"{coverage.counted:,} of {nodes}"


def _compute(card: Card) -> doc.Spans:
    """Return MACs and FLOPs; an unknown one is named unless both are."""
    macs, flops = numbers.cost(card, "compute.macs"), numbers.cost(card, "compute.flops")
    if macs.exact is None and flops.exact is None:
        return macs
    return ("MACs " * (macs.exact is None), macs, " · ", "FLOPs " * (flops.exact is None), flops)


def _precision(card: Card) -> doc.Spans:
    precision = card.model.precision
    if precision.label is None:
        return explain_missing_precision(card)
    shares = ", ".join(f"{sanitize(dtype, 20)} {format_percent(part)}" for dtype, part in precision.weights.items())
    return (doc.Name(precision.label), f" ({shares} of the weights)" if shares else "")


def _format_external(card: Card) -> str:
    external = card.model.file.external
    if not external:
        return ""
    sizes = [file.bytes for file in external if file.bytes is not None]
    absent = len(external) - len(sizes)
    size = format_bytes(sum(sizes)) if not absent else f"{absent:,} not found" if sizes else "not found"
    return f", external weights in {pluralize(len(external), 'file')} ({size})"


def usage(card: Card) -> doc.Section:
    inputs, dims = len(card.interface.inputs), len(card.assumptions.dims)
    if max(inputs, dims) > MAX_PORTS:
        counts = f"{pluralize(inputs, 'input')} and {pluralize(dims, 'dynamic dimension')}"
        text = f"No program: the model has {counts}. The JSON card lists them (interface.inputs, assumptions.dims)."
        return doc.Section("run", "Run it", (doc.Paragraph(text),))
    text = "Requires onnxruntime and numpy. The inputs are synthetic, with valid types, shapes and ranges."
    return doc.Section("run", "Run it", (doc.Paragraph(text), doc.Code("python", make_snippet(card))))
