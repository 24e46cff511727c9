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
    foot = f"\n---\n\n*{escape_markdown(f'{generated.tool} {generated.version}')}, from the model file only*\n"
    overview = (doc.Paragraph(card.summary.tldr), doc.Paragraph(card.summary.text))
    sections = (
        doc.Section("overview", "Model Overview", overview),
        _diagram(card),
        _interface(card),
        _graph(card),
        _operators(card),
        _parameters(card),
    )
    return head + write_sections(sections) + foot


def _diagram(card: Card) -> doc.Section:
    tree, model, precision = card.structure.tree, card.model, card.model.precision
    diagram: doc.Block = doc.Paragraph("Structure unknown.") if tree is None else doc.Diagram(tree)
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
    blocks: list[doc.Block] = []
    for title, ports in (("Inputs", card.interface.inputs), ("Outputs", card.interface.outputs)):
        blocks.append(doc.Heading(title))
        titles = doc.columns("Name", "Type", "Shape")
        blocks += doc.limited_table(titles, ports, _port_row, _MAX_ROWS) if ports else (doc.Paragraph("none"),)
    return doc.Section("ports", "Input/Output Specification", tuple(blocks))


def _port_row(port: Port) -> tuple[doc.Spans, ...]:
    return (doc.Name(port.name), format_dtype(port), shape_span(port))


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
    blocks = (
        doc.Paragraph((doc.Strong("Total Operations: "), format_count(graph.nodes_total))),
        doc.Heading("Operator Frequency"),
        *doc.limited_table(
            doc.columns("Operator", "Count#", "Percentage#"),
            graph.operators,
            lambda row: (doc.Name(row.op), numbers.count(row.count), format_percent(row.share)),
            _MAX_ROWS,
            ("Total", numbers.count(graph.nodes_total), ""),
        ),
        doc.Paragraph((doc.Strong("Total Operator Types: "), format_count(graph.operator_types))),
    )
    return doc.Section("operators", "Operators", blocks)


def _parameters(card: Card) -> doc.Section:
    params = card.parameters
    items: tuple[doc.Spans, ...] = (
        (doc.Strong("Total Parameters: "), format_count(params.total) if params.total else numbers.NO_PARAMETERS),
        (doc.Strong("Total Size: "), numbers.weights(card)),
        (doc.Strong("Number of Tensors: "), format_count(params.tensors)),
    )
    constants = f"Not included: {pluralize(params.constants, 'non-learned constant')} (shapes, indices, tables)."
    return doc.Section("parameters", "Parameters", (doc.Bullets(items), doc.Paragraph(constants)))
