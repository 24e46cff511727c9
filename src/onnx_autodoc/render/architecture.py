"""The architecture document: structure of the model under the headings of the original tool."""

from typing import Final

from onnx_autodoc.card import Card, Port
from onnx_autodoc.render import content as doc
from onnx_autodoc.render import numbers
from onnx_autodoc.render.card_text import explain_missing_precision, format_dtype
from onnx_autodoc.render.markdown import escape_markdown, write_sections
from onnx_autodoc.render.sections.interface import shape_span
from onnx_autodoc.text import format_count, format_percent, pluralize, sanitize

_MAX_ROWS: Final = 200


def render_architecture(report: doc.Report) -> str:
    card, generated = report.card, report.card.generated
    label = f" ({card.model.precision.label})" if card.model.precision.label else ""
    title = escape_markdown(sanitize(card.model.name.removesuffix(".onnx")) + label)
    head = f"# Architecture: {title}\n\n**Documented:** {escape_markdown(generated.at)}\n\n"
    foot = f"\n---\n\n*{escape_markdown(f'{generated.tool} {generated.version}')}, from the file alone*\n"
    make = (_overview, _diagram, _interface, _graph, _operators, _parameters)
    return head + write_sections(tuple(section(card) for section in make)) + foot


def _overview(card: Card) -> doc.Section:
    return doc.Section(
        "overview", "Model Overview", (doc.Paragraph(card.summary.tldr), doc.Paragraph(card.summary.text))
    )


def _diagram(card: Card) -> doc.Section:
    tree, model, precision = card.structure.tree, card.model, card.model.precision
    diagram: doc.Block = doc.Paragraph("The graph tells no structure.") if tree is None else doc.Diagram(tree)
    blocks: list[doc.Block] = [diagram]
    if card.graph.flow:
        rows = tuple((doc.Name(row.source), doc.Name(row.target), numbers.count(row.count)) for row in card.graph.flow)
        blocks += [doc.Heading("Operator Flow"), doc.Table(doc.columns("From", "To", "Connections#"), rows)]
    facts = (
        ("IR Version", model.ir_version),
        ("Producer Name", model.producer.name),
        ("Producer Version", model.producer.version),
        ("Opsets", ", ".join(f"{domain} {version}" for domain, version in model.opsets.items())),
    )
    metadata = tuple((doc.Strong(f"{label}: "), doc.Name(sanitize(str(value)))) for label, value in facts if value)
    scheme = f": {precision.scheme}" if precision.scheme else ""
    file: tuple[doc.Spans, ...] = (
        (doc.Strong("File Size: "), numbers.file_size(model.file.bytes)),
        (doc.Strong("Precision: "), (precision.label or explain_missing_precision(card)), scheme),
    )
    blocks += [doc.Heading("Metadata"), doc.Bullets(metadata), doc.Heading("File Information"), doc.Bullets(file)]
    return doc.Section("diagram", "Architecture Diagram", tuple(blocks))


def _interface(card: Card) -> doc.Section:
    inputs, outputs = _port_table(card.interface.inputs), _port_table(card.interface.outputs)
    blocks = (doc.Heading("Inputs"), *inputs, doc.Heading("Outputs"), *outputs)
    return doc.Section("ports", "Input/Output Specification", blocks)


def _port_table(ports: tuple[Port, ...]) -> tuple[doc.Block, ...]:
    if not ports:
        return (doc.Paragraph("none"),)
    rows = tuple((doc.Name(port.name), format_dtype(port), shape_span(port)) for port in ports[:_MAX_ROWS])
    return doc.Table(doc.columns("Name", "Type", "Shape"), rows), *doc.note_truncation(len(ports), _MAX_ROWS)


def _graph(card: Card) -> doc.Section:
    graph = card.graph
    counts = {
        "Nodes": graph.nodes_total,
        "Inputs": len(card.interface.inputs),
        "Outputs": len(card.interface.outputs),
        "Initializers": graph.initializers,
        "Graph Depth": graph.depth,
    }
    items = tuple((doc.Strong(f"{label}: "), format_count(number)) for label, number in counts.items())
    return doc.Section("graph", "Graph Structure", (doc.Bullets(items),))


def _operators(card: Card) -> doc.Section:
    graph = card.graph
    found = graph.operators[:_MAX_ROWS]
    rows = tuple((doc.Name(row.op), numbers.count(row.count), format_percent(row.share)) for row in found)
    total = ("All", numbers.count(graph.nodes_total), "") if len(rows) == len(graph.operators) else None
    blocks = (
        doc.Paragraph((doc.Strong("Total Operations: "), format_count(graph.nodes_total))),
        doc.Heading("Operator Frequency"),
        doc.Table(doc.columns("Operator", "Count#", "Percentage#"), rows, total),
        *doc.note_truncation(len(graph.operators), _MAX_ROWS),
        doc.Paragraph((doc.Strong("Total Operator Types: "), format_count(graph.operator_types))),
    )
    return doc.Section("operators", "Operators", blocks)


def _parameters(card: Card) -> doc.Section:
    held = card.parameters
    items: tuple[doc.Spans, ...] = (
        (doc.Strong("Total Parameters: "), format_count(held.total) if held.total else numbers.NO_PARAMETERS),
        (doc.Strong("Total Size: "), numbers.weights(card)),
        (doc.Strong("Number of Tensors: "), format_count(held.tensors)),
    )
    constants = f"Beside them {pluralize(held.constants, 'constant')}: shapes, indices, tables that nobody learned."
    return doc.Section("parameters", "Parameters", (doc.Bullets(items), doc.Paragraph(constants)))
