"""The terminal renderer: 80 columns, no markup, no control characters except its own colors."""

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from onnx_autodoc.card import (
    CALIBRATED,
    MEASURED,
    Card,
    DeviceRow,
    HardwareSection,
    Port,
    Severity,
    TokenRow,
    is_lower_bound,
)
from onnx_autodoc.render import card_text, numbers
from onnx_autodoc.render.content import UNKNOWN, KeyValue, Report
from onnx_autodoc.render.device_text import bottleneck_adjective, format_rate, format_run_time, short_device_name
from onnx_autodoc.render.sections.measured import NO_REASON, count_differences, count_threads
from onnx_autodoc.text import (
    display_name,
    escape_ci_commands,
    escape_hidden,
    format_bytes,
    format_count,
    format_percent,
    format_short,
    format_time,
    pluralize,
    sanitize,
)

WIDTH: Final = 80
MAX_LINES: Final = 40
_KEY_WIDTH: Final = 13
VALUE_WIDTH: Final = 67  # columns behind the key
_MAX_ASSUMPTIONS: Final = 6
_MAX_TWO_LINES: Final = 130  # characters that fit into two lines
_DIM_NAME_LENGTHS: Final = (24, 12, 8, 5)  # tried in turn until the line fits: the number of dimensions matters more
_MAX_SHARES: Final = 4
_MAX_SIZES_LENGTH: Final = 42
_MAX_NODE_LENGTH: Final = 30
_MAX_FORMULA_LENGTH: Final = 220
_MAX_DEVICE_LENGTH: Final = 26
_USUAL_CONTEXT: Final = 2048  # tokens
_CALIBRATE_HINT: Final = "this machine: run `onnx-autodoc calibrate` once for an estimate"
_SEVERITY_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow"}
_EMPTY_ROW: Final = KeyValue("", "")


class TextConsole(Console):
    """A rich console that writes to a string and escapes control characters of the text."""

    def __init__(self, color: bool) -> None:
        self.text = io.StringIO()
        super().__init__(
            file=self.text, width=WIDTH, force_terminal=color, no_color=not color, highlight=False, markup=False
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(escape_hidden(segment.text), segment.style)

    def print_rows(self, rows: Sequence[KeyValue], key_width: int) -> None:
        table = Table.grid(padding=(0, 0), expand=True)
        table.add_column(width=key_width, style="bold", no_wrap=True)
        table.add_column(ratio=1, overflow="fold")
        for row in rows:
            clipped = {"no_wrap": True, "overflow": "ellipsis"} if row.clipped else {}
            table.add_row(row.key, Text(row.value, style=row.style, **clipped))  # type: ignore[arg-type]
        self.print(table)

    def to_text(self) -> str:
        """Return the text without trailing blanks."""
        lines = self.text.getvalue().rstrip().split("\n")
        return escape_ci_commands("\n".join(line.rstrip() for line in lines) + "\n")


def render_terminal(report: Report, color: bool = False) -> str:
    """Return the most detailed card that fits into `MAX_LINES`."""
    text = ""
    for level in DETAIL_LEVELS:
        console = TextConsole(color)
        console.print(_title(report.card))
        console.print(Text(report.card.summary.what))
        console.print_rows(tuple(card_rows(report.card, level)), _KEY_WIDTH)
        text = console.to_text()
        if text.count("\n") <= MAX_LINES:
            break
    return text


def _title(card: Card) -> Text:
    model = card.model
    producer = " ".join(filter(None, (model.producer.name, model.producer.version)))
    opset = model.opsets.get("ai.onnx")
    facts = (
        f"opset {opset}" if opset else "no ai.onnx opset",
        sanitize(producer, 40) if len(producer.split()) <= 3 else display_name(producer, 40),
        format_bytes(model.file.bytes),
    )
    right = "ONNX " + " · ".join(filter(None, facts))
    name = clip(sanitize(model.name, WIDTH - 2), WIDTH - 2)
    gap = WIDTH - cell_len(name) - len(right)
    line = Text(name, style="bold cyan")
    return line.append(f"{' ' * gap}{right}" if gap > 1 else f"\n{right:>{WIDTH}}", style="default not bold")


class DetailLevel(Struct, frozen=True):
    """How many rows are shown of lists that can be long."""

    ports: int
    operators: int
    gaps: int
    findings: int
    devices: int
    hint: bool


DETAIL_LEVELS: Final = (
    DetailLevel(4, 8, 4, 5, 4, True),
    DetailLevel(3, 6, 3, 4, 3, True),
    DetailLevel(2, 3, 2, 2, 3, True),
    DetailLevel(2, 3, 2, 2, 3, False),
    DetailLevel(1, 0, 1, 1, 3, False),
    DetailLevel(1, 0, 1, 1, 1, False),
    DetailLevel(1, 0, 1, 1, 0, False),
)


def card_rows(card: Card, level: DetailLevel) -> Iterator[KeyValue]:
    yield _EMPTY_ROW
    yield KeyValue("Parameters", _format_parameters(card))
    yield KeyValue("Precision", _format_precision(card))
    yield from label_rows("Compute", _compute_lines(card))
    yield from label_rows("Memory", _memory_lines(card))
    yield from label_rows("KV cache", _cache_lines(card))
    yield _EMPTY_ROW
    yield from label_rows("Architecture", filter(None, [card_text.format_block_chain(card)]))
    yield KeyValue("Work", _format_work(card))
    yield from _graph_rows(card, level.operators)
    yield _EMPTY_ROW
    yield from _port_rows("Inputs", card.interface.inputs, level.ports)
    yield from _port_rows("Outputs", card.interface.outputs, level.ports)
    yield from label_rows("Data", filter(None, [card_text.describe_declared_data(card)]))
    yield _EMPTY_ROW
    yield from device_rows(card, level.devices, level.hint)
    yield from measured_rows(card)
    yield from _finding_rows(card, level.findings)
    bindings = [*card.assumptions.dims.items(), *card.assumptions.values.items()]
    assumed = [f"{display_name(name, 40)} = {size}" for name, size in bindings]
    yield KeyValue("Assumptions", _join_first(assumed, _MAX_ASSUMPTIONS) or "none: the file fixes all dimensions")
    shapes = card.graph.shapes
    if shapes.resolved < shapes.outputs:
        resolved = f"{format_count(shapes.resolved)} of {format_count(shapes.outputs)}"
        yield KeyValue("Shapes", f"{resolved} node outputs resolved")
    yield KeyValue("Coverage", _format_coverage(card))
    yield from _gap_rows(card, level.gaps)


def label_rows(label: str, lines: Iterable[str], style: str = "", clipped: bool = False) -> Iterator[KeyValue]:
    """Return lines as rows of which the first carries the label."""
    for index, line in enumerate(lines):
        yield KeyValue("" if index else label, line, style, clipped)


def _join_first(texts: Sequence[str], limit: int, noun: str = "") -> str:
    """Join the first texts and the number of the others: "Add 3, Mul 2, 4 more types"."""
    left = len(texts) - limit
    more = [pluralize(left, f"more {noun}") if noun else f"{format_count(left)} more"] if left > 0 else []
    return ", ".join([*texts[:limit], *more])


def _format_parameters(card: Card) -> str:
    params = card.parameters
    separate = {"running statistics": params.statistics, "scales/zero points": params.quantization}
    more = "".join(f" · {format_short(number)} {name}" for name, number in separate.items() if number)
    if not params.total:
        is_unknown = is_lower_bound(card, "parameters.total")
        return (card_text.explain_missing_precision(card) if is_unknown else numbers.NO_PARAMETERS) + more
    unused = f" · {format_short(params.unread)} unused" if params.unread else ""
    tensors = f"{pluralize(params.tensors, 'tensor')} · weights {format_bytes(params.bytes)}"
    return f"{numbers.parameters(card).text} in {tensors}{more}{unused}"


def _format_precision(card: Card) -> str:
    precision = card.model.precision
    if precision.label is None:
        is_unknown = is_lower_bound(card, "parameters.total")
        no_weights = "none: no weight tensors in the file"
        return card_text.explain_missing_precision(card) if is_unknown else no_weights
    shares = [f"{dtype} {format_percent(share)}" for dtype, share in list(precision.weights.items())[:_MAX_SHARES]]
    weights = f" (weights: {', '.join(shares)})" if shares else ""
    if precision.scheme is None:
        return f"{precision.label}{weights}"
    return f"{precision.label} · {precision.scheme}{weights}{card_text.describe_float_parts(card)}"


def _compute_lines(card: Card) -> Iterator[str]:
    compute, dims = card.compute, card.assumptions.dims
    costs = {unit: numbers.cost(card, path) for path, unit in (("compute.macs", "MACs"), ("compute.flops", "FLOPs"))}
    texts = [f"{unit} unknown" if cost.exact is None else cost.text for unit, cost in costs.items()]
    sizes = ", ".join(f"{display_name(name, 24)} {size}" for name, size in dims.items())
    where = f", at {sizes}" if len(sizes) <= _MAX_SIZES_LENGTH else ", at the sizes below"
    yield " · ".join(texts) + (where if dims else "")
    if compute.cheapest is not None:
        cheapest = format_short(compute.cheapest.macs, "MACs")
        yield f"most expensive branches; least expensive {cheapest} (data-dependent)"
    if compute.formula.macs is not None and compute.macs:
        yield f"MACs = {sanitize(compute.formula.macs, _MAX_FORMULA_LENGTH)}{_format_domain(card)}"


def _format_domain(card: Card) -> str:
    """State the sizes that the formula is valid for: ", for height, width in steps of 32 from 224"."""
    formula, names_by_limit = card.compute.formula, dict[str, list[str]]()
    for name, step in formula.steps.items():
        sizes = (card.assumptions.dims[dim] for dim in formula.dims.get(name, ()) if dim in card.assumptions.dims)
        size, least = next(sizes, 1), formula.least.get(name, 1)
        limits = [f"in steps of {step} from {size}"] if step != 1 else []
        limits += [f"not below {least}"] if least > max((size - 1) % max(step, 1) + 1, 1) else []
        if limits:
            names_by_limit.setdefault(", ".join(limits), []).append(display_name(name, 24))
    return "".join(f", for {', '.join(names)} {limit}" for limit, names in names_by_limit.items())


def _memory_lines(card: Card) -> Iterator[str]:
    peak, moved = numbers.cost(card, "memory.peak_activation_bytes"), numbers.cost(card, "compute.bytes_moved")
    if peak.exact is None:
        yield "peak activations unknown" if card.graph.nodes else "none: the graph has no nodes"
        return
    node = sanitize(card.memory.peak_node or "", 400)
    if len(node) > _MAX_NODE_LENGTH:  # the end of a path is the most specific
        node = "…" + node[1 - _MAX_NODE_LENGTH :]
    yield f"peak activations {peak.text} at {display_name(node, _MAX_NODE_LENGTH)}"
    if moved.exact is not None:
        intensity = numbers.intensity(card)
        yield f"{moved.text} moved" + (f" · {intensity.text}" if intensity.exact is not None else "")


def _cache_lines(card: Card) -> Iterator[str]:
    cache = card.memory.kv_cache
    if cache is None:
        yield from filter(None, [card_text.explain_missing_cache(card)])
        return
    layout = card_text.describe_cache_layout(cache, "head")
    yield f"{format_bytes(cache.bytes_per_token)} per token and sequence ({layout})"
    yield " · ".join(f"{size.tokens // 1024}k {format_bytes(size.bytes)}" for size in cache.at)


def _format_work(card: Card) -> str:
    """Distribute MACs over parts of the model, or FLOPs over operators where there are no MACs."""
    parts = card.structure.work
    if parts:
        shown = ", ".join(f"{part.part} {format_percent(part.share)}" for part in parts[:_MAX_SHARES])
        return f"{shown} of the {'counted ' * is_lower_bound(card, 'compute.macs')}MACs"
    total = card.compute.flops
    flops = sorted(((row.flops, row.op) for row in card.graph.operators if row.flops), key=lambda row: -row[0])
    shares = [f"{display_name(op, 40)} {format_percent(part / (total or part))}" for part, op in flops[:_MAX_SHARES]]
    return f"{', '.join(shares)} of the FLOPs" if shares else UNKNOWN if total is None else "no arithmetic"


def _graph_rows(card: Card, max_operators: int) -> Iterator[KeyValue]:
    graph = card.graph
    inner = graph.nodes_total - graph.nodes
    more = f" + {format_count(inner)} in subgraphs and functions" if inner else ""
    initializers, depth = pluralize(graph.initializers, "initializer"), pluralize(graph.depth, "node")
    yield KeyValue("Graph", f"{pluralize(graph.nodes, 'node')}{more} · {initializers} · longest path {depth}")
    if max_operators:
        counts = [f"{display_name(row.op, 40)} {format_count(row.count)}" for row in graph.operators]
        yield KeyValue("Operators", _join_first(counts, max_operators, "type") or "none")


def _port_rows(label: str, ports: tuple[Port, ...], limit: int) -> Iterator[KeyValue]:
    shown = ports if len(ports) <= limit else ports[: max(limit - 1, 1)]
    names = [clip(display_name(port.name, 36), 38) for port in shown]
    width = max(map(cell_len, names), default=0)
    lines = []
    for name, port in zip(names, shown):
        padded = name + " " * (width - cell_len(name) + 2)
        candidates = [padded + _format_port(port, length) for length in _DIM_NAME_LENGTHS]
        lines.append(next((line for line in candidates if cell_len(line) <= VALUE_WIDTH), candidates[-1]))
    yield from label_rows(label, lines or ["none"], clipped=bool(lines))
    if len(shown) < len(ports):
        yield KeyValue("", f"… {format_count(len(ports) - len(shown))} more")


def clip(text: str, width: int) -> str:
    """Cut text to columns, of which wide characters take two: a wrapped line could imitate a row of the card."""
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def _format_port(port: Port, max_dim_length: int) -> str:
    kind = "" if port.kind == "tensor" else f"{port.kind} of "
    role = f"  {sanitize(port.role, 20)}" if port.role else ""
    dims = ["?" if dim is None else sanitize(str(dim), max_dim_length) for dim in port.shape or ()]
    shape = "shape not declared" if port.shape is None else f"[{', '.join(dims)}]" if dims else "scalar"
    return f"{kind}{port.dtype or 'unknown type'}  {shape}{role}"


def _finding_rows(card: Card, limit: int) -> Iterator[KeyValue]:
    shown = [finding for finding in card.findings if finding.severity is not Severity.INFO][:limit]
    for index, finding in enumerate(shown):
        head = f"{finding.severity:<7}  {finding.rule}: "
        line = head + sanitize(finding.message, _MAX_TWO_LINES - len(head))
        yield KeyValue("" if index else "Findings", line, _SEVERITY_STYLES.get(finding.severity, ""))
    left = card.findings[len(shown) :]
    if left:
        more = f"{'… ' * bool(shown)}{card_text.count_findings(left)}, see --format markdown"
        yield KeyValue("" if shown else "Findings", more)
    elif not shown:
        yield KeyValue("Findings", "none")


def _format_coverage(card: Card) -> str:
    coverage = card.compute.coverage
    nodes = pluralize(coverage.nodes, "node")
    if not coverage.gaps:
        return f"100% of {nodes}"
    ops = list(dict.fromkeys(gap.op for gap in coverage.gaps))
    names = ", ".join(display_name(op, 40) for op in ops[:_MAX_SHARES]) + " …" * (len(ops) > _MAX_SHARES)
    return f"{format_count(coverage.counted)} of {nodes}; not counted: {names}"


def _gap_rows(card: Card, limit: int) -> Iterator[KeyValue]:
    if not card.gaps:
        yield KeyValue("Unknown", "none")
    shown = card.gaps if len(card.gaps) <= limit else card.gaps[: max(limit - 1, 1)]
    yield from label_rows("Unknown", (sanitize(gap.reason, _MAX_TWO_LINES) for gap in shown), "yellow")
    if len(shown) < len(card.gaps):
        left = format_count(len(card.gaps) - len(shown))
        yield KeyValue("", f"… {left} more, see --format json")


def device_rows(card: Card, limit: int, hint: bool = False) -> Iterator[KeyValue]:
    """Return a line per device and one for what is common to them; `hint` at calibration where no time is measured."""
    hardware = card.hardware
    if hardware is None or not hardware.devices or not limit:
        return
    lines = _device_lines(hardware, limit) if limit > 1 else [_single_device(hardware)]
    if hint and not any(row.basis in (CALIBRATED, MEASURED) for row in hardware.devices):
        lines.append(_CALIBRATE_HINT)
    yield from label_rows("Runs on", lines)


def measured_rows(card: Card) -> Iterator[KeyValue]:
    """Return the result of a verified run: its verdict, and its time or the reason why there is none."""
    run = card.measured
    if run is None:
        return
    nodes, timing = pluralize(run.agreement.executed, "node"), run.timing
    yield KeyValue("Measured", f"{nodes} ran, {count_differences(run)} from the card's shapes")
    if timing is None:
        yield KeyValue("", f"latency not measured: {sanitize(run.refused or NO_REASON, 2 * VALUE_WIDTH)}")
        return
    times = f"median {format_time(timing.median_seconds)}, p95 {format_time(timing.p95_seconds)}"
    yield KeyValue("", f"measured {times}, {count_threads(timing)}")


def _device_lines(hardware: HardwareSection, limit: int) -> list[str]:
    """Align devices in columns; bottlenecks are a column where it fits, else part of the last line."""
    shown = hardware.devices[:limit]
    rows = [_device_cells(device, _decode_row(hardware, device)) for device in shown]
    bottlenecks = [row[-1] for row in rows]
    widths = [max(map(len, column)) for column in zip(*(row[:-1] for row in rows))]
    texts = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)) for row in rows]
    full = [f"{text}  {bottleneck}".rstrip() for text, bottleneck in zip(texts, bottlenecks)]
    fits = max(map(len, full)) <= VALUE_WIDTH
    left = len(hardware.devices) - len(shown)
    common = (
        _common_terms(shown, _decode_row(hardware, shown[0])),
        "" if fits else _format_bottlenecks(bottlenecks),
        f"{format_count(left)} more in --format markdown" if left else "",
    )
    lines = full if fits else [sanitize(text.rstrip(), VALUE_WIDTH) for text in texts]
    return [*lines, sanitize("; ".join(filter(None, common)), VALUE_WIDTH)]


def _single_device(hardware: HardwareSection) -> str:
    """Format the first device on one line, without the parts that do not fit."""
    device = hardware.devices[0]
    token = _decode_row(hardware, device)
    *cells, bottleneck = _device_cells(device, token)
    common = _common_terms([device], token)
    texts = ["  ".join(filter(None, (*cells, *more))) for more in ((bottleneck, common), (common,), ())]
    return next((text for text in texts if len(text) <= VALUE_WIDTH), sanitize(texts[-1], VALUE_WIDTH))


def _decode_row(hardware: HardwareSection, device: DeviceRow) -> TokenRow | None:
    """Return the decode step of a device at a usual context, or at the nearest one."""
    rows = [row for row in hardware.generation if row.device == device.device and row.phase == "decode"]
    near = [row for row in rows if row.context <= _USUAL_CONTEXT]
    return near[-1] if near else rows[0] if rows else None


def _device_cells(device: DeviceRow, token: TokenRow | None) -> tuple[str, str, str, str]:
    """Return name, memory, time and bottleneck."""
    row = token or device
    name = sanitize(short_device_name(device.name), _MAX_DEVICE_LENGTH)
    if row.fits is False:
        need = format_bytes(row.memory_bytes) if row.memory_bytes is not None else "weights alone too large"
        capacity = f" of {format_bytes(device.capacity_bytes)}" if device.capacity_bytes is not None else ""
        return (name, "does not fit", need + capacity, "")
    unknown = "memory unknown" if row.memory_bytes is None else f"needs {format_bytes(row.memory_bytes)}"
    time = format_run_time(row) if token is None else f"{format_run_time(row)} per token"
    if token is not None and token.tokens_per_second:
        time = f"{format_rate(token, with_grade=True)} tokens/s"
    time = f"time {time}" if time.startswith(UNKNOWN) else time
    return (name, "fits" if row.fits else unknown, time, bottleneck_adjective(row.bottleneck))


def _common_terms(shown: Sequence[DeviceRow], token: TokenRow | None) -> str:
    """State what is common to all devices: precision, and batch or context."""
    batch, precisions = shown[0].batch, ", ".join(dict.fromkeys(sanitize(row.precision, 12) for row in shown))
    if token is not None:
        return f"in {precisions}, {format_count(token.context)} tokens in the cache"
    return f"in {precisions} at batch {format_count(batch)}" if batch is not None else f"in {precisions}"


def _format_bottlenecks(bottlenecks: Sequence[str]) -> str:
    """Name the bottleneck once for all devices, or one for each in order."""
    if len(set(bottlenecks) - {""}) <= 1:
        return "all " * (len(bottlenecks) > 1 and all(bottlenecks)) + max(bottlenecks)
    return ", ".join(bottleneck or "-" for bottleneck in bottlenecks)
