"""The card for a terminal: at most 40 lines of 80 columns, plain text when piped."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from onnx_autodoc.card import Card, Port, Severity
from onnx_autodoc.render._console import WIDTH, TextConsole
from onnx_autodoc.render._cost_lines import (
    Line,
    cache_lines,
    compute_lines,
    memory_lines,
    not_counted_line,
    parameters_line,
    work_line,
)
from onnx_autodoc.render._device_lines import device_lines, measured_lines
from onnx_autodoc.render._headline import is_partly_counted, kept_in_float, said_of_data, way, without_precision
from onnx_autodoc.render._report import Report
from onnx_autodoc.render.sections.findings import tally
from onnx_autodoc.text import clean, count, file_size, named, percent, plural

HEIGHT: Final = 40
_LABEL: Final = 13
_MOST_GIVEN: Final = 6
_LONGEST: Final = 130  # letters of a line that may take two
_DIM_WIDTHS: Final = (24, 12, 8, 5)  # names of dimensions are shortened until the line fits: how many there are matters


class _Room(Struct, frozen=True):
    """How much is shown of what can be long."""

    ports: int
    operators: int
    gaps: int
    findings: int
    devices: int
    hint: bool


_ROOMS: Final = (
    _Room(4, 8, 4, 5, 4, True),
    _Room(3, 6, 3, 4, 3, True),
    _Room(2, 3, 2, 2, 3, True),
    _Room(2, 3, 2, 2, 3, False),
    _Room(1, 0, 1, 1, 3, False),
    _Room(1, 0, 1, 1, 1, False),
    _Room(1, 0, 1, 1, 0, False),
)
_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow"}


def render_terminal(report: Report, color: bool = False) -> str:
    """The fullest card that is short enough."""
    text = ""
    for room in _ROOMS:
        text = _rendered(report.card, color, room)
        if text.count("\n") <= HEIGHT:
            break
    return text


def _rendered(card: Card, color: bool, room: _Room) -> str:
    console = TextConsole(color)
    console.print(_title(card))
    console.print(Text(card.summary.what))
    table = Table.grid(padding=(0, 0), expand=True)
    table.add_column(width=_LABEL, style="bold", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for label, line in _lines(card, room):
        table.add_row(label, line)
    console.print(table)
    return console.written()


def _title(card: Card) -> Text:
    model = card.model
    producer = " ".join(filter(None, (model.producer.name, model.producer.version)))
    opset = model.opsets.get("ai.onnx")
    facts = [
        f"opset {opset}" if opset else "no ai.onnx opset",
        clean(producer, 40) if len(producer.split()) <= 3 else named(producer, 40),
        file_size(model.file.bytes),
    ]
    right = "ONNX " + " · ".join(filter(None, facts))
    name = _fitted(clean(model.name, WIDTH - 2), WIDTH - 2)
    gap = WIDTH - cell_len(name) - len(right)
    line = Text(name, style="bold cyan")
    return line.append(f"{' ' * gap}{right}" if gap > 1 else f"\n{right:>{WIDTH}}", style="default not bold")


def _fitted(text: str, width: int) -> str:
    """Letters may be two columns wide: what would be broken into two lines could look like a row of the card."""
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def _lines(card: Card, room: _Room) -> Iterator[Line]:
    yield "", ""
    yield "Parameters", parameters_line(card)
    yield "Precision", _precision(card)
    yield from compute_lines(card)
    yield from memory_lines(card)
    yield from cache_lines(card)
    yield "", ""
    yield from _structure(card)
    yield "Work", work_line(card)
    yield "Graph", _graph(card)
    if room.operators:
        yield "Operators", _operators(card, room.operators)
    yield "", ""
    yield from _ports("Inputs", card.interface.inputs, room.ports)
    yield from _ports("Outputs", card.interface.outputs, room.ports)
    yield from _data(card)
    yield "", ""
    yield from device_lines(card, room.devices, room.hint)
    yield from measured_lines(card)
    yield from _findings(card, room.findings)
    yield "Assumed", _assumed(card)
    yield from _shapes(card)
    yield "Not counted", not_counted_line(card)
    yield from _gaps(card, room.gaps)


def _structure(card: Card) -> Iterator[Line]:
    found = way(card)
    if found is not None:
        yield "Structure", found


def _data(card: Card) -> Iterator[Line]:
    said = said_of_data(card)
    if said is not None:
        yield "Data", said


def _precision(card: Card) -> str:
    precision = card.model.precision
    if precision.label is None:
        return without_precision(card) if is_partly_counted(card) else "none: the file holds no weights in tensors"
    shares = ", ".join(f"{dtype} {percent(share)}" for dtype, share in list(precision.weights.items())[:4])
    told = f" (of the weights: {shares})" if shares else ""
    if precision.scheme is None:
        return f"{precision.label}{told}"
    return f"{precision.label} · {precision.scheme}{told}{kept_in_float(card)}"


def _graph(card: Card) -> str:
    graph = card.graph
    inner = graph.nodes_total - graph.nodes
    more = f" + {count(inner)} in subgraphs and functions" if inner else ""
    held = plural(graph.initializers, "initializer")
    return f"{plural(graph.nodes, 'node')}{more} · {held} · longest path {plural(graph.depth, 'node')}"


def _operators(card: Card, most: int) -> str:
    rows = card.graph.operators
    shown = ", ".join(f"{named(row.op, 40)} {count(row.count)}" for row in rows[:most])
    rest = len(rows) - most
    return f"{shown}, {plural(rest, 'more type')}" if rest > 0 else shown or "none"


def _ports(label: str, ports: tuple[Port, ...], most: int) -> Iterator[Line]:
    shown = ports if len(ports) <= most else ports[: max(most - 1, 1)]
    names = [_fitted(named(port.name, 36), 38) for port in shown]
    width = max(map(cell_len, names), default=0)
    for at, (name, port) in enumerate(zip(names, shown)):
        name += " " * (width - cell_len(name) + 2)
        lines = [name + _type(port, most) for most in _DIM_WIDTHS]
        line = next((line for line in lines if cell_len(line) <= WIDTH - _LABEL), lines[-1])
        yield label if at == 0 else "", Text(line, no_wrap=True, overflow="ellipsis")
    if len(shown) < len(ports):
        yield "", f"… {count(len(ports) - len(shown))} more"
    if not ports:
        yield label, "none"


def _type(port: Port, most: int) -> str:
    kind = "" if port.kind == "tensor" else f"{port.kind} of "
    role = f"  {clean(port.role, 20)}" if port.role else ""
    return f"{kind}{port.dtype or 'unknown type'}  {_shape(port.shape, most)}{role}"


def _shape(shape: tuple[int | str | None, ...] | None, most: int) -> str:
    if shape is None:
        return "shape not declared"
    if not shape:
        return "scalar"
    return "[" + ", ".join("?" if dim is None else clean(str(dim), most) for dim in shape) + "]"


def _assumed(card: Card) -> str:
    given = [*card.assumptions.dims.items(), *card.assumptions.values.items()]
    if not given:
        return "nothing: every dimension is fixed in the file"
    shown = ", ".join(f"{named(name, 40)} = {size}" for name, size in given[:_MOST_GIVEN])
    return shown + (f", {count(len(given) - _MOST_GIVEN)} more" if len(given) > _MOST_GIVEN else "")


def _shapes(card: Card) -> Iterator[Line]:
    shapes = card.graph.shapes
    if shapes.resolved < shapes.outputs:
        yield "Shapes", f"{count(shapes.resolved)} of {count(shapes.outputs)} node outputs resolved"


def _findings(card: Card, most: int) -> Iterator[Line]:
    """The worst ones a line each; how many there are of the others."""
    if not card.findings:
        yield "Findings", "none"
        return
    shown = [finding for finding in card.findings if finding.severity is not Severity.INFO][:most]
    for at, finding in enumerate(shown):
        head = f"{finding.severity:<7}  {finding.rule}: "
        line = Text(head + clean(finding.message, _LONGEST - len(head)), style=_STYLES.get(finding.severity, ""))
        yield "Findings" if at == 0 else "", line
    left = card.findings[len(shown) :]
    if left:
        more = f"… {tally(left)}, see" if shown else f"{tally(left)}, see"
        yield "" if shown else "Findings", f"{more} --format markdown"


def _gaps(card: Card, most: int) -> Iterator[Line]:
    if not card.gaps:
        yield "Not known", "nothing"
    shown = card.gaps if len(card.gaps) <= most else card.gaps[: max(most - 1, 1)]
    for at, gap in enumerate(shown):
        yield "Not known" if at == 0 else "", Text(clean(gap.reason, 130), style="yellow")
    if len(shown) < len(card.gaps):
        yield "", f"… {count(len(card.gaps) - len(shown))} more, all of them in --format json"
