"""Charts of devices: memory that a run needs, throughput by batch, tokens per second by context.

Each function returns None where a sentence would state as much as the chart.
"""

from collections.abc import Sequence
from typing import Final

from onnx_autodoc.card import BOUND, Card, DeviceRow, HardwareSection, ScaleRow, TokenRow
from onnx_autodoc.render.charts.bars import Bar, BarPanel, draw_bars
from onnx_autodoc.render.charts.lines import MAX_LINES, Curve, CurvePoint, LineChart, LinePanel, draw_lines
from onnx_autodoc.render.charts.svg import Chart
from onnx_autodoc.render.device_text import (
    GRADES,
    format_memory_need,
    format_rate,
    join_names,
    short_device_name,
    time_grades,
)
from onnx_autodoc.text import format_count, pluralize

_MIN_DEVICES: Final = 2
_MAX_DEVICES: Final = 12
_MIN_BATCHES: Final = 3
_MIN_CONTEXTS: Final = 2
_RING_NOTE: Final = "Ring: smallest batch with 90% of the best throughput."
_CONSTANT_RATIO: Final = 1.02  # a smaller rise of the throughput counts as none
_PHASES: Final = {"decode": "Decode: one more token", "prefill": "Prefill: the whole prompt"}


def device_memory(card: Card) -> Chart | None:
    """Compare the memory that a run needs with the memory of each device."""
    rows = [row for row in card.hardware.devices if row.memory_bytes] if card.hardware is not None else []
    if sum(row.capacity_bytes is not None for row in rows) < _MIN_DEVICES:
        return None
    rows = rows[:_MAX_DEVICES]
    panel = BarPanel("Memory", "required (solid) of available", tuple(map(_memory_bar, rows)))
    verdicts = {True: "fits on", False: "does not fit on", None: "unknown for"}
    names = {fits: [short_device_name(row.name) for row in rows if row.fits is fits] for fits in verdicts}
    alt = "; ".join(f"{text} {join_names(names[fits])}" for fits, text in verdicts.items() if names[fits])
    return draw_bars("fit", "Memory required per device", f"{alt[0].upper()}{alt[1:]}.", (panel,))


def _memory_bar(row: DeviceRow) -> Bar:
    """Solid is what a run needs; a model that does not fit is an outline."""
    need, capacity = row.memory_bytes or 0, row.capacity_bytes
    name, label = short_device_name(row.name), format_memory_need(row)
    tooltip = f"{name}: {format_count(need)} bytes needed"
    if capacity is None:
        return Bar(name, need, f"{label}, capacity unknown", tooltip)
    tooltip += f" of {format_count(capacity)}"
    if row.fits is False:
        return Bar(name, need, label, tooltip, "rest")
    return Bar(name, capacity, label, tooltip, "pale", solid=need)


def throughput(card: Card) -> Chart | None:
    """Plot samples per second by batch, with the best batch marked."""
    hardware = card.hardware
    if hardware is None:
        return None
    devices = hardware.devices[:MAX_LINES]
    curves = [
        Curve(index, tuple(_batch_point(row, device) for row in _batch_rows(device, hardware) if row.per_second))
        for index, device in enumerate(devices)
    ]
    sizes = tuple(sorted({row.batch for row in hardware.scaling}))
    if len(sizes) < _MIN_BATCHES or not any(map(_is_rising, curves)):
        return None
    drawn = tuple(curve for curve in curves if curve.points)
    chart = LineChart(
        "throughput",
        "Throughput by batch size",
        _describe_throughput(hardware, devices),
        "Samples per second by batch size",
        _describe_grades(hardware.scaling, len(hardware.devices)),
        tuple(_batch_legend(device, hardware) for device in devices),
        (LinePanel("", drawn),),
        sizes,
        "batch size",
        " ".join(filter(None, (_RING_NOTE, _describe_bands(drawn)))),
    )
    return draw_lines(chart)


def _batch_rows(device: DeviceRow, hardware: HardwareSection) -> list[ScaleRow]:
    return [row for row in hardware.scaling if row.device == device.device]


def _batch_point(row: ScaleRow, device: DeviceRow) -> CurvePoint:
    where = f"{short_device_name(device.name)}, batch {format_count(row.batch)}"
    tooltip = f"{where}: {format_rate(row)} samples per second ({row.basis})"
    low, high = (row.batch / seconds if seconds else None for seconds in (row.high, row.low))
    return CurvePoint(row.batch, row.per_second or 0.0, tooltip, row.basis, low, high, row.batch == device.best_batch)


def _is_rising(curve: Curve) -> bool:
    values = [point.value for point in curve.points]
    return len(values) >= _MIN_BATCHES and max(values) > min(values) * _CONSTANT_RATIO


def _batch_legend(device: DeviceRow, hardware: HardwareSection) -> str:
    """Name a device, and the largest batch that fits, since larger ones have no point."""
    rows, name = _batch_rows(device, hardware), _legend_name(device, hardware.scaling)
    fitting = [row.batch for row in rows if row.fits is not False]
    if len(fitting) == len(rows):
        return name
    return f"{name}, fits up to {format_count(max(fitting))}" if fitting else f"{name}: does not fit"


def _describe_throughput(hardware: HardwareSection, devices: tuple[DeviceRow, ...]) -> str:
    parts = []
    for device in devices:
        name = short_device_name(device.name)
        rows = {row.batch: row for row in _batch_rows(device, hardware) if row.per_second}
        best, first = rows.get(device.best_batch or 0), next(iter(rows.values()), None)
        if best is not None and first is not None:
            start = f" ({format_rate(first)} at batch {format_count(first.batch)})" if first is not best else ""
            parts.append(f"{name}: {format_rate(best)} samples per second at batch {format_count(best.batch)}{start}")
        elif not rows:
            parts.append(f"{name}: no batch fits")
    return "; ".join(parts) + "."


def token_rates(card: Card) -> Chart | None:
    """Plot tokens per second by context, for decode and prefill."""
    hardware = card.hardware
    if hardware is None or not hardware.generation:
        return None
    devices = hardware.devices[:MAX_LINES]
    sizes = tuple(sorted({row.context for row in hardware.generation}))
    panels = []
    for phase, title in _PHASES.items():
        curves = (_token_curve(index, device, hardware, phase) for index, device in enumerate(devices))
        drawn = tuple(curve for curve in curves if curve.points)
        if any(len(curve.points) >= _MIN_CONTEXTS for curve in drawn):
            panels.append(LinePanel(title, drawn))
    if not panels or len(sizes) < _MIN_CONTEXTS:
        return None
    chart = LineChart(
        "tokens",
        "Tokens per second by context length",
        _describe_decoding(hardware, devices),
        "Tokens per second by context length",
        _describe_grades(hardware.generation, len(hardware.devices)),
        tuple(_legend_name(device, hardware.generation) for device in devices),
        tuple(panels),
        sizes,
        "context length (tokens)",
        _describe_bands([curve for panel in panels for curve in panel.curves]),
    )
    return draw_lines(chart)


def _token_rows(device: DeviceRow, hardware: HardwareSection, phase: str) -> list[TokenRow]:
    rows = (row for row in hardware.generation if row.device == device.device and row.phase == phase)
    return [row for row in rows if row.tokens_per_second]


def _token_curve(index: int, device: DeviceRow, hardware: HardwareSection, phase: str) -> Curve:
    points = []
    for row in _token_rows(device, hardware, phase):
        where = f"{short_device_name(device.name)}, {row.phase}, {format_count(row.context)} tokens"
        tooltip = f"{where}: {format_rate(row)} per second ({row.basis})"
        rate, seconds = row.tokens_per_second or 0.0, row.seconds or 0.0
        low, high = (rate * seconds / limit if limit else None for limit in (row.high, row.low))
        points.append(CurvePoint(row.context, rate, tooltip, row.basis, low, high))
    return Curve(index, tuple(points))


def _describe_decoding(hardware: HardwareSection, devices: tuple[DeviceRow, ...]) -> str:
    parts = []
    for device in devices:
        rows = _token_rows(device, hardware, "decode")
        if rows:
            ends = dict.fromkeys((rows[0], rows[-1]))
            rates = ", ".join(f"{format_rate(row)} at {pluralize(row.context, 'token')}" for row in ends)
            parts.append(f"{short_device_name(device.name)}: {rates}")
    if not parts:
        return f"No decode rate on {pluralize(len(devices), 'device')}."
    return "Decode, tokens per second: " + "; ".join(parts) + "."


def _describe_grades(rows: Sequence[ScaleRow | TokenRow], devices: int) -> str:
    """State the grade that all numbers share, and that some devices are missing."""
    grades = time_grades(rows)
    shared = ("at most" if grades == [BOUND] else grades[0]) if len(grades) == 1 else ""
    return ", ".join(filter(None, (shared, f"on the first {MAX_LINES} devices" if devices > MAX_LINES else "")))


def _describe_bands(curves: Sequence[Curve]) -> str:
    ranged = {point.grade for curve in curves for point in curve.points if point.low and point.high}
    grades = [grade for grade in GRADES if grade in ranged]
    return f"Shaded: range of {' or '.join(grades)} values." if grades else ""


def _legend_name(device: DeviceRow, rows: Sequence[ScaleRow | TokenRow]) -> str:
    """Name a device, with its grade where devices differ in it."""
    grades = ", ".join(time_grades([row for row in rows if row.device == device.device]))
    return short_device_name(device.name) + (f" ({grades})" if grades and len(time_grades(rows)) > 1 else "")
