"""The card for a terminal: at most 40 lines of 80 columns, plain text when piped."""

import io
from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from onnx_autodoc.document import Card, Port
from onnx_autodoc.render._report import Report
from onnx_autodoc.render._scale import count, file_size, memory, percent, plural, short, three
from onnx_autodoc.render._text import clean

WIDTH: Final = 80
_LABEL: Final = 13
_MOST_PORTS: Final = 4
_MOST_GIVEN: Final = 6
_MOST_GAPS: Final = 4
_DIM_WIDTHS: Final = (24, 12, 8, 5)  # names of dimensions are shortened until the line fits: how many there are matters
_MOST_OPERATORS: Final = 8
_MOST_WORKERS: Final = 4
_MOST_SIZES: Final = 42  # letters
_LONGEST_NODE: Final = 30
_LONGEST_FORMULA: Final = 220


def render_terminal(report: Report, color: bool = False) -> str:
    card = report.card
    text = io.StringIO()
    console = Console(file=text, width=WIDTH, force_terminal=color, no_color=not color, highlight=False, markup=False)
    console.print(_title(card))
    table = Table.grid(padding=(0, 0), expand=True)
    table.add_column(width=_LABEL, style="bold", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for label, line in _lines(card):
        table.add_row(label, line)
    console.print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _title(card: Card) -> Text:
    model = card.model
    producer = " ".join(filter(None, (model.producer.name, model.producer.version)))
    opset = model.opsets.get("ai.onnx")
    facts = [f"opset {opset}" if opset else "no ai.onnx opset", clean(producer, 40), file_size(model.file.bytes)]
    right = "ONNX " + " · ".join(filter(None, facts))
    name = clean(model.name, WIDTH - 2)
    gap = WIDTH - len(name) - len(right)
    line = Text(name, style="bold cyan")
    return line.append(f"{' ' * gap}{right}" if gap > 1 else f"\n{right:>{WIDTH}}", style="default not bold")


def _lines(card: Card) -> Iterator[tuple[str, Text | str]]:
    yield "", ""
    yield "Parameters", _parameters(card)
    yield "Precision", _precision(card)
    yield from _compute(card)
    yield from _memory(card)
    yield from _cache(card)
    yield "", ""
    yield "Graph", _graph(card)
    yield "Operators", _operators(card)
    yield "Work", _work(card)
    yield "", ""
    yield from _ports("Inputs", card.interface.inputs)
    yield from _ports("Outputs", card.interface.outputs)
    yield "", ""
    yield "Assumed", _assumed(card)
    yield from _shapes(card)
    yield "Not counted", _not_counted(card)
    yield from _gaps(card)


def _parameters(card: Card) -> str:
    held = card.parameters
    apart = {"statistics": held.statistics, "for quantization": held.quantization}
    more = "".join(f" · {short(number)} {name}" for name, number in apart.items() if number)
    unread = f" · {short(held.unread)} of them unused" if held.unread else ""
    if not held.total:
        return "none in the file" + more
    return f"{short(held.total)} in {plural(held.tensors, 'tensor')} · weights {memory(held.bytes)}{more}{unread}"


def _compute(card: Card) -> Iterator[tuple[str, Text | str]]:
    done, formula = card.compute, card.compute.formula.macs
    gaps = done.coverage.gaps
    macs = _bounded(done.macs, "MACs", any(gap.macs for gap in gaps))
    yield "Compute", f"{macs} · {_bounded(done.flops, 'FLOPs', bool(gaps))}{_sizes(card)}"
    if done.cheapest is not None:
        yield "", f"in the dearest branches; {short(done.cheapest.macs, 'MACs')} in the cheapest: the data decide"
    if formula is not None and done.macs:
        yield "", f"MACs = {clean(formula, _LONGEST_FORMULA)}"


def _bounded(number: int | None, unit: str, more: bool) -> str:
    if number is None:
        return f"{unit} not known"
    return f"at least {short(number, unit)}" if more else short(number, unit)


def _sizes(card: Card) -> str:
    """The sizes that a cost holds for, where there are few."""
    dims = card.assumptions.dims
    few = ", ".join(f"{clean(name, 24)} {size}" for name, size in dims.items())
    return f", at {few}" if dims and len(few) <= _MOST_SIZES else ", at the sizes below" if dims else ""


def _memory(card: Card) -> Iterator[tuple[str, Text | str]]:
    used, done = card.memory, card.compute
    if used.peak_activation_bytes is None:
        return
    least = "at least " if used.unsized else ""
    yield "Memory", f"peak activations {least}{memory(used.peak_activation_bytes)} at {_tail(used.peak_node or '')}"
    least = "at least " if done.coverage.unmoved else ""
    intensity = done.arithmetic_intensity
    each = f" · {three(intensity)} FLOPs per byte" if intensity is not None else ""
    if done.bytes_moved is not None:
        yield "", f"{least}{memory(done.bytes_moved)} moved{each}"


def _tail(name: str) -> str:
    """A long path by its end, which tells more."""
    name = clean(name, 400)
    return name if len(name) <= _LONGEST_NODE else "…" + name[1 - _LONGEST_NODE :]


def _cache(card: Card) -> Iterator[tuple[str, Text | str]]:
    kept = card.memory.kv_cache
    if kept is None:
        return
    parts = [plural(kept.layers, "layer")] if kept.layers else []
    parts += [plural(kept.kv_heads, "head") + f" of {kept.head_dim}"] if kept.kv_heads else []
    yield "KV cache", f"{memory(kept.bytes_per_token)} per token and sequence ({', '.join([*parts, kept.dtype])})"
    yield "", " · ".join(f"{size.tokens // 1024}k {memory(size.bytes)}" for size in kept.at)


def _work(card: Card) -> str:
    total = card.compute.flops
    flops = [(row.flops, row.op) for row in card.graph.operators if row.flops]
    most = sorted(flops, key=lambda row: -row[0])[:_MOST_WORKERS]
    shown = ", ".join(f"{clean(op, 40)} {percent(each / (total or each))}" for each, op in most)
    return f"{shown} of the FLOPs" if shown else "not known" if total is None else "no arithmetic"


def _not_counted(card: Card) -> str:
    covered = card.compute.coverage
    if not covered.gaps:
        return f"nothing: {count(covered.counted)} of {count(covered.nodes)} nodes"
    ops = dict.fromkeys(gap.op for gap in covered.gaps)
    names = ", ".join(clean(op, 40) for op in list(ops)[:_MOST_WORKERS]) + (" …" if len(ops) > _MOST_WORKERS else "")
    return f"{count(covered.nodes - covered.counted)} of {count(covered.nodes)} nodes: {names}"


def _precision(card: Card) -> str:
    precision = card.model.precision
    if precision.label is None:
        return "none: the file holds no weights in tensors"
    shares = ", ".join(f"{dtype} {percent(share)}" for dtype, share in list(precision.weights.items())[:4])
    scheme = f" · {precision.scheme}" if precision.scheme else ""
    return f"{precision.label}{scheme} (of the weights: {shares})"


def _graph(card: Card) -> str:
    graph = card.graph
    inner = graph.nodes_total - graph.nodes
    more = f" + {count(inner)} in subgraphs and functions" if inner else ""
    held = plural(graph.initializers, "initializer")
    return f"{plural(graph.nodes, 'node')}{more} · {held} · longest path {plural(graph.depth, 'node')}"


def _operators(card: Card) -> str:
    rows = card.graph.operators
    shown = ", ".join(f"{clean(row.op, 40)} {count(row.count)}" for row in rows[:_MOST_OPERATORS])
    rest = len(rows) - _MOST_OPERATORS
    return f"{shown}, {plural(rest, 'more type')}" if rest > 0 else shown or "none"


def _ports(label: str, ports: tuple[Port, ...]) -> Iterator[tuple[str, Text | str]]:
    shown = ports if len(ports) <= _MOST_PORTS else ports[: _MOST_PORTS - 1]
    width = min(max((len(clean(port.name, 36)) for port in shown), default=0), 36)
    for at, port in enumerate(shown):
        name = f"{clean(port.name, 36):<{width}}  "
        lines = [name + _type(port, most) for most in _DIM_WIDTHS]
        line = next((line for line in lines if len(line) <= WIDTH - _LABEL), lines[-1])
        yield label if at == 0 else "", Text(line, no_wrap=True, overflow="ellipsis")
    if len(shown) < len(ports):
        yield "", f"… {count(len(ports) - len(shown))} more"
    if not ports:
        yield label, "none"


def _type(port: Port, most: int) -> str:
    kind = "" if port.kind == "tensor" else f"{port.kind} of "
    return f"{kind}{port.dtype or 'unknown type'}  {_shape(port.shape, most)}"


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
    shown = ", ".join(f"{clean(name, 40)} = {size}" for name, size in given[:_MOST_GIVEN])
    return shown + (f", {count(len(given) - _MOST_GIVEN)} more" if len(given) > _MOST_GIVEN else "")


def _shapes(card: Card) -> Iterator[tuple[str, Text | str]]:
    shapes = card.graph.shapes
    if shapes.resolved < shapes.outputs:
        yield "Shapes", f"{count(shapes.resolved)} of {count(shapes.outputs)} node outputs resolved"


def _gaps(card: Card) -> Iterator[tuple[str, Text | str]]:
    if not card.gaps:
        yield "Not known", "nothing"
    shown = card.gaps if len(card.gaps) <= _MOST_GAPS else card.gaps[: _MOST_GAPS - 1]
    for at, gap in enumerate(shown):
        yield "Not known" if at == 0 else "", Text(clean(gap.reason, 130), style="yellow")
    if len(shown) < len(card.gaps):
        yield "", f"… {count(len(card.gaps) - len(shown))} more, all of them in --format json"
