"""Compute and memory: totals, formulas, distributions, the KV cache, batch scaling."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, is_lower_bound
from onnx_autodoc.render import content as doc
from onnx_autodoc.render import numbers
from onnx_autodoc.render.card_text import describe_cache_layout, explain_missing_cache
from onnx_autodoc.text import (
    display_name,
    format_bytes,
    format_count,
    format_number,
    format_short,
    pluralize,
    sanitize,
)

_MAX_FORMULA_LENGTH: Final = 600
_MAX_GAPS: Final = 50
_MAX_OPERATORS: Final = 200
_DATA_DEPENDENT: Final = "Which branches run is data-dependent: these are the costs of the most expensive branches."
_FORMULAS: Final = {
    "MACs": "macs",
    "FLOPs": "flops",
    "Bytes moved": "bytes_moved",
    "Peak activations, bytes": "peak_activation_bytes",
    "KV cache, bytes": "kv_cache_bytes",
}


def compute(card: Card) -> doc.Section:
    blocks = (*_totals(card), *_formulas(card), *_work(card), *_top_nodes(card), *_uncounted(card))
    return doc.Section("compute", "Compute", blocks)


def _totals(card: Card) -> Iterator[doc.Block]:
    flops, moved = numbers.cost(card, "compute.flops"), numbers.cost(card, "compute.bytes_moved")
    yield doc.Paragraph(("One run at ", numbers.format_sizes(card), ":"))
    yield doc.Bullets(
        (
            (doc.Strong("MACs: "), numbers.cost(card, "compute.macs")),
            (doc.Strong("FLOPs: "), flops, ", 2 per MAC plus all other arithmetic"),
            (doc.Strong("Bytes moved: "), moved, ", without caching between nodes"),
            (doc.Strong("Arithmetic intensity: "), numbers.intensity(card)),
        )
    )
    if card.compute.cheapest is not None:
        cheapest = format_short(card.compute.cheapest.macs, "MACs")
        yield doc.Note(f"{_DATA_DEPENDENT} The least expensive branches take {cheapest}.")


def _formulas(card: Card) -> Iterator[doc.Block]:
    formula = card.compute.formula
    texts = {label: text for label, key in _FORMULAS.items() if (text := getattr(formula, key))}
    if not texts:
        return
    yield doc.Heading("Cost formulas")
    rows = tuple((label, doc.Name(sanitize(text, _MAX_FORMULA_LENGTH))) for label, text in texts.items())
    yield doc.Table(doc.columns("Quantity", "Formula in the dynamic dimensions"), rows)
    points = "; ".join(
        ", ".join(f"{display_name(name, 40)} {format_count(size)}" for name, size in point.items())
        for point in formula.checked_at
    )
    steps = [f"{display_name(name, 40)} in steps of {step}" for name, step in formula.steps.items() if step > 1]
    domain = f" for {', '.join(steps)}" if steps else ""
    yield doc.Paragraph(f"Exact{domain}; checked by re-running shape inference at {points}.")


def _work(card: Card) -> Iterator[doc.Block]:
    parts = card.structure.work
    if not parts or not card.compute.macs:
        return
    yield doc.Heading("Distribution of MACs")
    if len(parts) > 1:
        rows = tuple((part.part, numbers.short(part.macs, "MACs"), numbers.share(part.share)) for part in parts)
        total = ("Total", numbers.short(sum(part.macs for part in parts), "MACs"), "")
        yield doc.Table(doc.columns("Part", "MACs#", "Share#"), rows, total)
    elif parts[0].part == "other":
        yield doc.Paragraph("All MACs are outside of known blocks.")
    else:
        macs = "counted MACs" if is_lower_bound(card, "compute.macs") else "MACs"
        yield doc.Paragraph(f"All {macs} are in {parts[0].part}.")
    yield doc.ChartRef("work")


def _top_nodes(card: Card) -> Iterator[doc.Block]:
    rows = tuple(
        (doc.Name(row.node), doc.Name(row.op), numbers.short(row.macs, "MACs"), numbers.share(row.share))
        for row in card.compute.top
    )
    if len(rows) > 1:
        summary = f"Top {pluralize(len(rows), 'node')} by MACs"
        yield doc.Table(doc.columns("Node", "Operator", "MACs#", "Share#"), rows, summary=summary)


def _uncounted(card: Card) -> Iterator[doc.Block]:
    coverage = card.compute.coverage
    yield doc.Heading("Coverage")
    nodes = pluralize(coverage.nodes, "node")
    if not coverage.gaps:
        yield doc.Paragraph(f"100% of {nodes}.")
        return
    yield doc.Paragraph(f"{format_count(coverage.counted)} of {nodes}; not counted:")
    yield from doc.limited_table(
        doc.columns("Operator", "Nodes#", "Reason", "Examples"),
        coverage.gaps,
        lambda gap: (
            *(doc.Name(gap.op), numbers.count(gap.count)),
            *(sanitize(gap.reason, 300), doc.join_names(gap.nodes[:3])),
        ),
        _MAX_GAPS,
    )


def memory(card: Card) -> doc.Section:
    used, peak = card.memory, numbers.cost(card, "memory.peak_activation_bytes")
    node = (", at ", doc.Name(used.peak_node)) if used.peak_node else ()
    items: list[doc.Spans] = [
        (doc.Strong("Weights: "), numbers.weights(card), ", as stored in the file"),
        (doc.Strong("Peak activations: "), peak, *node),
        (doc.Strong("Total: "), numbers.run_memory(card), ", without runtime overhead"),
    ]
    reason = explain_missing_cache(card)
    if used.kv_cache is None and reason is not None:
        items.append((doc.Strong("KV cache: "), reason))
    blocks: list[doc.Block] = [doc.Bullets(tuple(items))]
    if used.unsized:
        values = pluralize(used.unsized, "value")
        blocks.append(doc.Paragraph(f"The size of {values} is unknown and not included."))
    return doc.Section("memory", "Memory", (*blocks, doc.ChartRef("memory"), *_memory_by_operator(card)))


def _memory_by_operator(card: Card) -> tuple[doc.Block, ...]:
    rows = sorted(card.memory.by_op, key=lambda row: -(row.weight_bytes + (row.written_bytes or 0)))
    if not rows:
        return ()
    none = doc.Number("none", 0, "bytes")
    written = sum(row.written_bytes or 0 for row in rows)
    text = numbers.at_least(card, "memory.by_op.*.written_bytes") + format_bytes(written)
    weights = numbers.memory(sum(row.weight_bytes for row in rows))
    return doc.limited_table(
        doc.columns("Operator", "Weights#", "Written per run#"),
        rows,
        lambda row: (
            doc.Name(row.op),
            numbers.memory(row.weight_bytes) if row.weight_bytes else none,
            none if row.written_bytes == 0 else numbers.memory(row.written_bytes, numbers.COUNTED),
        ),
        _MAX_OPERATORS,
        ("Total", weights, doc.Number(text, written, "bytes", basis=numbers.COUNTED)),
        "By operator",
    )


def kv_cache(card: Card) -> doc.Section | None:
    cache = card.memory.kv_cache
    if cache is None:
        return None
    token_bytes = numbers.memory(cache.bytes_per_token, numbers.COUNTED)
    rows = tuple(
        (numbers.count(size.tokens, "tokens"), numbers.memory(size.bytes, numbers.COUNTED)) for size in cache.at
    )
    layout = describe_cache_layout(cache, "KV head")
    formula, outputs = card.compute.formula.kv_cache_bytes, len(cache.tensors)
    blocks = (
        doc.Paragraph((token_bytes, f" per token and sequence: {layout}.")),
        doc.Table(doc.columns("Tokens#", "Cache#"), rows),
        doc.ChartRef("cache"),
        *((doc.Paragraph(("Cache size in bytes: ", doc.Name(formula), ".")),) if formula else ()),
        doc.Paragraph(f"For one sequence; stored in {pluralize(outputs, 'output')}."),
    )
    return doc.Section("kv-cache", "KV cache", blocks)


def batch_scaling(card: Card) -> doc.Section | None:
    if not card.scaling:
        return None
    rows = tuple(
        (
            *(numbers.count(row.batch), numbers.short(row.macs, "MACs")),
            *(numbers.memory(row.memory_bytes, numbers.COUNTED), numbers.memory(row.bytes_moved, numbers.COUNTED)),
            numbers.number(row.arithmetic_intensity, format_number, "FLOPs per byte"),
        )
        for row in card.scaling
    )
    note = "Memory: weights plus peak activations. Weights are read once per batch."
    table = doc.Table(doc.columns("Batch#", "MACs#", "Memory#", "Bytes moved#", "FLOPs per byte#"), rows)
    intro = doc.Paragraph(f"With {numbers.OTHER_SIZES}. {note}")
    return doc.Section("batch-scaling", "Batch scaling", (intro, table, doc.ChartRef("scaling")))
