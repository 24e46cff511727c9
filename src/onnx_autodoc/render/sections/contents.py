"""What the file contains: precision, parameters, weight values, operators."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, Numbers, OperatorRow, WeightGroup, is_lower_bound
from onnx_autodoc.render import content as doc
from onnx_autodoc.render import numbers
from onnx_autodoc.render.card_text import capitalize
from onnx_autodoc.text import format_bytes, pluralize, sanitize

_MAX_ROWS: Final = 200
_MAX_LAYERS: Final = 100
_MAX_TENSORS: Final = 100
_MAX_UNREAD: Final = 10
_MAX_OPEN_OPERATORS: Final = 15
_MAX_OPEN_TENSORS: Final = 8
_HASH_DIGITS: Final = 12  # enough to compare by eye
_STORAGE_WORDS: Final = {
    "dynamic": "quantized, activations quantized at run time",
    "qdq": "quantized, QuantizeLinear/DequantizeLinear pairs",
    "qoperator": "quantized, integer operator",
    "weight-only": "weight-only, floating-point arithmetic",
    "float": "floating point",
    "integer": "integers, no known quantization",
}


def precision(card: Card) -> doc.Section | None:
    precision = card.model.precision
    if precision.label is None:
        return None
    scheme = f": {precision.scheme}." if precision.scheme else "."
    blocks: list[doc.Block] = [doc.Paragraph((doc.Name(precision.label), scheme))]
    if precision.story:
        titles = doc.columns("Operator", "Type", "Scheme", "Scales", "Nodes#", "Parameters#", "Share#")
        blocks += doc.limited_table(titles, precision.story, _weight_group_row, _MAX_ROWS)
    if precision.stayed:
        blocks.append(doc.Paragraph(capitalize(sanitize(precision.stayed, 400)) + "."))
    return doc.Section("precision", "Precision", tuple(blocks))


def _weight_group_row(row: WeightGroup) -> tuple[doc.Spans, ...]:
    scales = [f"per block of {row.block_size}"] if row.block_size else []
    scales += [] if row.per_channel is None else ["per channel" if row.per_channel else "per tensor"]
    scales += [] if row.symmetric is None else ["symmetric" if row.symmetric else "asymmetric"]
    return (
        *(doc.Name(row.op), doc.Name(row.dtype), _STORAGE_WORDS.get(row.how, row.how), ", ".join(scales) or "—"),
        *(numbers.count(row.nodes), numbers.count(row.params, "parameters"), numbers.share(row.share)),
    )


def parameters(card: Card) -> doc.Section:
    params, by_type = card.parameters, card.parameters.by_dtype
    separate = {
        "BatchNorm running statistics": params.statistics,
        "Scales and zero points": params.quantization,
        "Non-learned constants (shapes, indices, tables)": params.constants,
        "Unused weights": params.unread,
    }
    is_known = not is_lower_bound(card, "parameters.total")
    total = numbers.count(params.total, "parameters") if is_known else numbers.parameters(card)
    tensors = f" in {pluralize(params.tensors, 'tensor')}" if params.total or is_known else ""
    items: list[doc.Spans] = [(doc.Strong("Weights: "), total, tensors)]
    items += [(doc.Strong(f"{name}: "), numbers.count(number)) for name, number in separate.items() if number]
    blocks: list[doc.Block] = [doc.Bullets(tuple(items))]
    if len(by_type) > 1:
        rows = tuple((doc.Name(dtype), numbers.count(number)) for dtype, number in by_type.items())
        blocks.append(doc.Table(doc.columns("Type", "Parameters#"), rows, ("Total", numbers.count(params.total))))
    note = doc.Paragraph("The file does not record which weights were trained and which were frozen.")
    return doc.Section("parameters", "Parameters", (*blocks, doc.ChartRef("parameters"), *_by_layer(card), note))


def _by_layer(card: Card) -> Iterator[doc.Block]:
    layers = card.parameters.by_layer
    if not layers:
        return
    shown = sorted(layers, key=lambda row: -row.bytes)[:_MAX_LAYERS] if len(layers) > _MAX_LAYERS else layers
    rows = tuple(
        (doc.Name(row.node), doc.Name(row.op), numbers.count(row.params, "parameters"), numbers.memory(row.bytes))
        for row in shown
    )
    total, summary = None, f"{pluralize(len(layers), 'node')} with weights"
    if len(shown) < len(layers):
        summary = f"{len(shown):,} largest of {summary} (all in the JSON card)"
    else:
        params = numbers.count(sum(row.params for row in layers), "parameters")
        total = ("Total", "", params, numbers.memory(sum(row.bytes for row in layers)))
    yield doc.Table(doc.columns("Node", "Operator", "Parameters#", "Stored#"), rows, total, summary)


def weight_values(card: Card) -> doc.Section | None:
    if card.weights is None:
        return None
    tensors = card.weights.tensors
    intro = f"{pluralize(len(tensors), 'tensor')}, {format_bytes(card.weights.bytes_read)} read."
    blocks: list[doc.Block] = [doc.Paragraph(intro)]
    reasons = [(doc.Name(tensor.name), f": {sanitize(tensor.unread, 200)}") for tensor in tensors if tensor.unread]
    if reasons:
        blocks.append(doc.Paragraph(f"{pluralize(len(reasons), 'tensor')} could not be read:"))
        blocks.append(doc.Bullets(tuple(reasons[:_MAX_UNREAD])))
        blocks += doc.note_truncation(len(reasons), _MAX_UNREAD)
    read = [tensor for tensor in tensors if not tensor.unread]
    if read:
        read.sort(key=lambda tensor: (-(tensor.bytes or 0), tensor.name))
        titles = ("Tensor", "Type", "Bytes#", "Zeros#", "Min#", "Max#", "Non-finite#", "SHA-256 prefix")
        summary = pluralize(len(read), "tensor") if len(read) > _MAX_OPEN_TENSORS else None
        blocks += doc.limited_table(doc.columns(*titles), read, _tensor_row, _MAX_TENSORS, None, summary)
    return doc.Section("weights", "Weight values", tuple(blocks))


def _tensor_row(tensor: Numbers) -> tuple[doc.Spans, ...]:
    dims = " × ".join(map(str, tensor.dims)) or "scalar"
    non_finite = None if tensor.nan is None or tensor.infinite is None else tensor.nan + tensor.infinite
    return (
        *(doc.Name(tensor.name), f"{tensor.dtype} {dims}", numbers.count(tensor.bytes, "bytes")),
        numbers.count(tensor.zeros),
        *(numbers.number(extremum, "{:.4g}".format) for extremum in (tensor.least, tensor.most)),
        *(numbers.count(non_finite), doc.Name((tensor.sha256 or "")[:_HASH_DIGITS])),
    )


def operators(card: Card) -> doc.Section:
    rows = card.graph.operators
    types = pluralize(len(rows), "op type")
    summary = types if len(rows) <= _MAX_ROWS else f"First {_MAX_ROWS} of {types}"
    used = numbers.count(card.parameters.total - card.parameters.unread, "parameters")
    macs, flops = numbers.cost(card, "compute.macs"), numbers.cost(card, "compute.flops")
    table = doc.limited_table(
        doc.columns("Operator", "Domain", "Count#", "Share#", "Parameters#", "MACs#", "FLOPs#"),
        rows,
        lambda row: _operator_row(row, card),
        _MAX_ROWS,
        ("Total", "", numbers.count(card.graph.nodes_total), "", used, macs, flops),
        summary if len(rows) > _MAX_OPEN_OPERATORS else None,
    )
    intro = doc.Paragraph(f"{pluralize(card.graph.nodes_total, 'node')}, {types}.")
    return doc.Section("operators", "Operators", (intro, doc.ChartRef("operators"), *table))


def _operator_row(row: OperatorRow, card: Card) -> tuple[doc.Spans, ...]:
    gaps = [gap for gap in card.compute.coverage.gaps if gap.op == row.op]
    macs = numbers.short(row.macs, "MACs", any(gap.macs for gap in gaps))
    return (
        *(doc.Name(row.op), doc.Name(row.domain), numbers.count(row.count), numbers.share(row.share)),
        *(numbers.count(row.params, "parameters"), macs, numbers.short(row.flops, "FLOPs", bool(gaps))),
    )
