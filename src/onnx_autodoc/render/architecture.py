"""The architecture document: what the model is made of, under the headings that such documents have always had."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, Port
from onnx_autodoc.render._blocks import (
    Block,
    Column,
    Diagram,
    Heading,
    Items,
    Name,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
)
from onnx_autodoc.render._escape import escaped
from onnx_autodoc.render._headline import without_precision
from onnx_autodoc.render._report import Report
from onnx_autodoc.render.markdown import written
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.render.sections._ports import shape_of, type_of
from onnx_autodoc.render.sections._rest import rest
from onnx_autodoc.text import clean, count, percent, plural

_MOST: Final = 200


def render_architecture(report: Report) -> str:
    card = report.card
    label = f" ({card.model.precision.label})" if card.model.precision.label else ""
    title = escaped(clean(card.model.name.removesuffix(".onnx")) + label)
    top = f"# Architecture: {title}\n\n**Documented:** {escaped(card.generated.at)}\n\n"
    sections = (_overview(card), _diagram(card), _ports(card), _graph(card), _operators(card), _parameters(card))
    made = card.generated
    foot = f"\n---\n\n*{escaped(f'{made.tool} {made.version}')}, from the file alone*\n"
    return top + written(tuple(filter(None, sections)), card, None) + foot


def _overview(card: Card) -> Section:
    return Section("overview", "Model Overview", (Paragraph((card.summary.tldr,)), Paragraph((card.summary.text,))))


def _diagram(card: Card) -> Section:
    tree, found = card.structure.tree, card.model
    drawn: Block = Paragraph(("The graph tells no structure.",)) if tree is None else Diagram(tree)
    producer = [(Strong(name), Name(text)) for name, text in _producer(card)]
    told = f": {found.precision.scheme}" if found.precision.scheme else ""
    file: tuple[Text, ...] = (
        (Strong("File Size: "), figures.file_bytes(found.file.bytes)),
        (Strong("Precision: "), found.precision.label or without_precision(card), told),
    )
    metadata = (Heading("Metadata"), Items(tuple(producer)), Heading("File Information"), Items(file))
    return Section("diagram", "Architecture Diagram", (drawn, *_flow(card), *metadata))


def _producer(card: Card) -> Iterator[tuple[str, str]]:
    model = card.model
    rows = (
        ("IR Version: ", model.ir_version),
        ("Producer Name: ", model.producer.name),
        ("Producer Version: ", model.producer.version),
        ("Opsets: ", ", ".join(f"{domain} {version}" for domain, version in model.opsets.items())),
    )
    yield from ((name, clean(str(text))) for name, text in rows if text)


def _flow(card: Card) -> Iterator[Block]:
    """Which operators feed which, most often: connections that the graph has."""
    pairs = card.graph.flow
    if pairs:
        yield Heading("Operator Flow")
        rows = tuple(((Name(row.source),), (Name(row.target),), (figures.number(row.count),)) for row in pairs)
        yield Table((Column("From"), Column("To"), Column("Connections", True)), rows)


def _ports(card: Card) -> Section:
    ends = card.interface
    return Section(
        "ports",
        "Input/Output Specification",
        (Heading("Inputs"), *_table(ends.inputs), Heading("Outputs"), *_table(ends.outputs)),
    )


def _table(ports: tuple[Port, ...]) -> tuple[Block, ...]:
    if not ports:
        return (Paragraph(("none",)),)
    rows = tuple(((Name(port.name),), (type_of(port),), shape_of(port.shape)) for port in ports[:_MOST])
    return Table((Column("Name"), Column("Type"), Column("Shape")), rows), *rest(len(ports), _MOST)


def _graph(card: Card) -> Section:
    graph, ends = card.graph, card.interface
    rows = (
        ("Nodes: ", graph.nodes_total),
        ("Inputs: ", len(ends.inputs)),
        ("Outputs: ", len(ends.outputs)),
        ("Initializers: ", graph.initializers),
        ("Graph Depth: ", graph.depth),
    )
    return Section("graph", "Graph Structure", (Items(tuple((Strong(name), count(number)) for name, number in rows)),))


def _operators(card: Card) -> Section:
    graph = card.graph
    found = graph.operators[:_MOST]
    rows = tuple(((Name(row.op),), (figures.number(row.count),), (percent(row.share),)) for row in found)
    total = (("All",), (figures.number(graph.nodes_total),), ("",)) if len(rows) == len(graph.operators) else None
    return Section(
        "operators",
        "Operators",
        (
            Paragraph((Strong("Total Operations: "), count(graph.nodes_total))),
            Heading("Operator Frequency"),
            Table((Column("Operator"), Column("Count", True), Column("Percentage", True)), rows, total),
            *rest(len(graph.operators), _MOST),
            Paragraph((Strong("Total Operator Types: "), count(graph.operator_types))),
        ),
    )


def _parameters(card: Card) -> Section:
    held = card.parameters
    rows: tuple[Text, ...] = (
        (Strong("Total Parameters: "), count(held.total) if held.total else "none in the file"),
        (Strong("Total Size: "), figures.weights(card)),
        (Strong("Number of Tensors: "), count(held.tensors)),
    )
    apart = f"Beside them {plural(held.constants, 'constant')}: shapes, indices, tables that nobody learned."
    return Section("parameters", "Parameters", (Items(rows), Paragraph((apart,))))
