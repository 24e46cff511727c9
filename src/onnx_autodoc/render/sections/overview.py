"""In short: what it is and what it costs, in words and in one table."""

from collections.abc import Iterator

from onnx_autodoc.card import Card
from onnx_autodoc.render._blocks import Column, Inline, Name, Paragraph, Picture, Section, Strong, Table, Text
from onnx_autodoc.render._headline import without_precision
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.text import clean, file_size, percent, plural


def in_short(card: Card) -> Section:
    said = card.summary
    return Section("in-short", "In short", (Paragraph((Strong("TL;DR:"), f" {said.tldr}")), Paragraph((said.text,))))


def key_numbers(card: Card) -> Section:
    rows = tuple(((name,), text) for name, text in _rows(card))
    held = Paragraph(("Costs hold for ", figures.sizes(card), "."))
    table = Table((Column("What"), Column("How much")), rows)
    return Section("key-numbers", "Key numbers", (table, held, Picture("overview")))


def _rows(card: Card) -> Iterator[tuple[str, Text]]:
    opset = card.model.opsets.get("ai.onnx")
    yield "Parameters", (figures.parameters(card),)
    yield "Weights", (figures.weights(card),)
    yield "Precision", _precision(card)
    yield "Compute", _compute(card)
    yield "Peak activations", (figures.peak(card),)
    yield "Memory for one run", (figures.together(card),)
    yield "Bytes moved", (figures.moved(card), *_each(card))
    if card.memory.kv_cache is not None:
        yield "KV cache", (figures.stored(card.memory.kv_cache.bytes_per_token), " per token and sequence")
    yield "Graph", (_graph(card),)
    yield "File", (figures.file_bytes(card.model.file.bytes), *_beside(card))
    yield "Opset", (f"ai.onnx {opset}" if opset else "none for ai.onnx",)
    yield "Not counted", (_not_counted(card),)


def _compute(card: Card) -> Text:
    """Which of the two is not known, is said."""
    macs, flops = figures.macs(card), figures.flops(card)
    if macs.exact is None and flops.exact is None:
        return (macs,)
    words = ["MACs "] if macs.exact is None else [], ["FLOPs "] if flops.exact is None else []
    return (*words[0], macs, " · ", *words[1], flops)


def _each(card: Card) -> Text:
    found = figures.intensity(card)
    return () if found.exact is None else (" · ", found)


def _precision(card: Card) -> Text:
    found = card.model.precision
    shares = ", ".join(f"{clean(dtype, 20)} {percent(part)}" for dtype, part in found.weights.items())
    if found.label is None:
        return (without_precision(card),)
    return (Name(found.label), f" ({shares} of the weights)" if shares else "")


def _graph(card: Card) -> str:
    graph = card.graph
    inner = graph.nodes_total - graph.nodes
    more = f" ({inner:,} of them in subgraphs and functions)" if inner else ""
    return f"{plural(graph.nodes_total, 'node')}{more}, {plural(graph.operator_types, 'operator type')}"


def _beside(card: Card) -> Iterator[Inline]:
    external = card.model.file.external
    if external:
        sizes = [item.bytes for item in external if item.bytes is not None]
        absent = len(external) - len(sizes)
        gone = "not there" if not sizes else f"{absent:,} of them not there"
        yield f" and {plural(len(external), 'file')} of weights beside it "
        yield f"({gone})" if absent else f"({file_size(sum(sizes))})"


def _not_counted(card: Card) -> str:
    covered = card.compute.coverage
    missing = covered.nodes - covered.counted
    nodes = plural(covered.nodes, "node")
    return f"{missing:,} of {nodes}" if missing else f"nothing: all {nodes} are counted"
