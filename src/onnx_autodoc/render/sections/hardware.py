"""Requirements of a run on any device, and memory, time and cost on the requested devices."""

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.card import BOUND, MEASURED, Card, Choice, DeviceRow, HardwareSection, Price, ScaleRow, TokenRow
from onnx_autodoc.render import content as doc
from onnx_autodoc.render import device_text, numbers
from onnx_autodoc.text import format_count, format_number, format_time, sanitize

_MAX_NAME_LENGTH: Final = 60
_MEMORY_BASIS: Final = "weights at this precision, peak activations, and an assumed runtime overhead"
_OVERHEAD_BASIS: Final = "assumed: a runtime, its kernels, and 5% of weights and activations"
_UTILISATION_BASIS: Final = "time of the MACs at the device's peak rate, as a share of the time shown"
_BALANCE_NOTE: Final = "; memory-bound on devices with more FLOPs per byte of memory bandwidth"
_BEST_BATCH: Final = "the smallest batch size with 90% of the best throughput"
_TOO_SMALL: Final = ("does not run", "memory capacity")  # instead of a time and of a bottleneck
_BOTTLENECK: Final = "Bottleneck"
_TOKENS_NOTE: Final = (
    "Prefill processes the prompt in one run. Each decode step generates one token and reads all weights "
    "and the whole cache. Context: tokens in the cache after the step."
)
_ROOFLINE_NOTE: Final = (
    ". This shows the distribution of the work, not the time of a run. Light operators count with the preceding kernel."
)
_MIN_OPERATORS: Final = 3
_MIN_OPERATOR_SHARE: Final = 0.01
_MIN_PRICE: Final = 0.01
_LEVELS: Final = ("minimum", "recommended", "comfortable")


def hardware(card: Card) -> doc.Section:
    estimates = card.hardware
    intensity, where = numbers.intensity(card), numbers.format_sizes(card)
    flops, moved = numbers.cost(card, "compute.flops"), numbers.cost(card, "compute.bytes_moved")
    needs: tuple[doc.Spans, ...] = (
        (
            doc.Strong("Memory: "),
            numbers.run_memory(card),
            " for weights and activations, without runtime overhead",
        ),
        (doc.Strong("FLOPs: "), flops),
        (doc.Strong("Bytes moved: "), moved, ", without caching between nodes"),
        (doc.Strong("Arithmetic intensity: "), intensity, _BALANCE_NOTE if intensity.exact is not None else ""),
    )
    intro = doc.Paragraph(("On any device, one run at ", where, " requires:"))
    blocks: tuple[doc.Block, ...] = (intro, doc.Bullets(needs), doc.ChartRef("roofline"))
    if estimates is not None and estimates.devices:
        blocks = (
            *_devices(card, estimates),
            *_requirements(estimates),
            *_prices(estimates),
            *_batches(estimates),
            *_tokens(estimates),
            doc.Heading("Compute and memory traffic"),
            *blocks,
            *_operators(card, estimates.devices[0]),
        )
    return doc.Section("hardware", "Hardware", blocks)


def _device_name(row: DeviceRow) -> str:
    return sanitize(row.name, _MAX_NAME_LENGTH)


def _time_column(grade: str | None) -> doc.Column:
    """Return the column of times; its title states the grade if all times share one."""
    return doc.Column(device_text.TIME_COLUMNS.get(grade or "", "Time per run"), True)


def _devices(card: Card, estimates: HardwareSection) -> Iterator[doc.Block]:
    devices, sizes = estimates.devices, numbers.format_sizes(card)
    first, is_single_precision = devices[0], len({row.precision for row in devices}) == 1
    precision = f" in {sanitize(first.precision, 40)}" if is_single_precision else ""
    fixed = f", batch {format_count(first.batch)}" if first.batch is not None and not card.assumptions.dims else ""
    # One span: a page updates spans that equal the sizes when its sliders move, and these times do not follow.
    yield doc.Paragraph(f"One run{precision} at {sizes}{fixed}:")
    yield _device_table(devices, sizes, is_single_precision)
    yield doc.Paragraph("Grades of the times:")
    grades = device_text.shown_grades((*devices, *estimates.scaling, *estimates.generation))
    yield doc.Bullets(
        tuple(
            (doc.Strong(f"{device_text.GRADE_NAMES[grade]}: "), text)
            for grade, text in device_text.GRADES.items()
            if grade in grades
        )
    )
    yield from _device_notes(devices)
    yield doc.ChartRef("fit")
    titles = doc.columns("Device", "Weights#", "Activations#", "Overhead#", "Total#")
    rows = tuple(
        (
            _device_name(row),
            numbers.memory(row.memory.weights, f"the file's weights in {sanitize(row.precision, 40)}"),
            numbers.memory(row.memory.activations, "at the peak, including the KV cache"),
            numbers.memory(row.memory.overhead, _OVERHEAD_BASIS),
            replace(numbers.memory(row.memory_bytes, _MEMORY_BASIS), sizes=sizes),
        )
        for row in devices
    )
    yield doc.Table(titles, rows, summary="Memory by component")


def _device_table(devices: Sequence[DeviceRow], sizes: str, is_single_precision: bool) -> doc.Table:
    """Return the table without the precision if all devices share it, and without samples if there is no batch."""
    grade = device_text.single_grade(devices)
    titles = (*doc.columns("Device", "Precision"), _time_column(grade))
    titles += doc.columns("Memory#", "Samples/s#", _BOTTLENECK, "Utilization#")
    omitted = {"Precision"} if is_single_precision else set()
    omitted |= {"Samples/s"} if all(row.batch is None for row in devices) else set()
    shown = [column.title not in omitted for column in titles]
    rows = (_device_row(row, sizes, with_grade=grade is None) for row in devices)
    return doc.Table(tuple(compress(titles, shown)), tuple(tuple(compress(row, shown)) for row in rows))


def _device_row(row: DeviceRow, sizes: str, with_grade: bool) -> tuple[doc.Spans, ...]:
    memory = doc.Number(device_text.format_memory_need(row), row.memory_bytes, "bytes", basis=_MEMORY_BASIS)
    name, precision = _device_name(row), sanitize(row.precision, 40)
    if row.fits is False:
        return (name, precision, _TOO_SMALL[0], memory, "", _TOO_SMALL[1], "")
    basis, seconds = device_text.describe_grade(row.basis, row.rests_on), device_text.shown_seconds(row)
    time = doc.Number(device_text.format_run_time(row, with_grade), seconds, "seconds", None, sizes, basis)
    rate = doc.Number(device_text.format_rate(row), row.per_second, "samples per second", None, sizes, basis)
    share = device_text.format_utilisation(row)
    utilisation = doc.Number(share, row.utilisation, "of the peak rate", None, sizes, _UTILISATION_BASIS)
    samples, bottleneck = rate if row.batch is not None else "", device_text.format_bottleneck(row.bottleneck)
    return (name, precision, time, memory, samples, bottleneck, utilisation)


def _device_notes(devices: Sequence[DeviceRow]) -> Iterator[doc.Block]:
    """List the notes on devices, equal notes once with all their devices."""
    names_by_note: dict[str, list[str]] = {}
    for row in devices:
        for note in ((f"{row.basis} time from {row.rests_on}",) if row.rests_on else ()) + row.notes:
            names_by_note.setdefault(sanitize(note, 400), []).append(_device_name(row))
    if names_by_note:
        yield doc.Paragraph("Sources and assumptions:")
        yield doc.Bullets(tuple(f"{device_text.join_names(names)}: {note}" for note, names in names_by_note.items()))


def _requirements(estimates: HardwareSection) -> Iterator[doc.Block]:
    """List the smallest sufficient device of each level, or name it in a sentence where it is the same for all."""
    requirements = estimates.requirements
    if requirements is None:
        return
    yield doc.Heading("Requirements")
    target = f"Target: {sanitize(requirements.target, 200)}."
    levels: dict[Choice | None, list[str]] = {}
    for level in _LEVELS:
        levels.setdefault(getattr(requirements, level), []).append(level)
    devices = {choice and choice.device for choice in levels}
    largest = requirements.comfortable
    if devices == {None}:
        yield doc.Paragraph(target)
    elif len(devices) == 1 and largest is not None:
        why = f" in {sanitize(largest.precision, 40)}: {sanitize(largest.why, 200)}."
        name = doc.Strong(sanitize(largest.name, _MAX_NAME_LENGTH))
        yield doc.Paragraph((f"{target} The smallest sufficient device, with every margin: ", name, why))
    else:
        yield doc.Paragraph(f"{target} The smallest sufficient devices, by increasing margin:")
        yield doc.Bullets(
            tuple(
                (doc.Strong(f"{device_text.join_names(names)}: "), _format_choice(choice))
                for choice, names in levels.items()
            )
        )
    yield from (doc.Paragraph(f"{sanitize(note, 400)}.") for note in requirements.notes)


def _format_choice(choice: Choice | None) -> str:
    if choice is None:
        return "no known device"
    precision, why = sanitize(choice.precision, 40), sanitize(choice.why, 200)
    return f"{sanitize(choice.name, _MAX_NAME_LENGTH)} in {precision}: {why}"


def _prices(estimates: HardwareSection) -> Iterator[doc.Block]:
    if not estimates.prices:
        return
    yield doc.Heading("Cost of runs")
    yield doc.Paragraph("At your price per hour, the best batch size and full load:")
    names = {row.device: row.name for row in estimates.devices}
    rows = tuple(_price_row(row, names.get(row.device, row.device)) for row in estimates.prices)
    yield doc.Table(doc.columns("Device", "Per hour#", "Batch#", "Per million samples#", "Grade"), rows)


def _price_row(row: Price, name: str) -> tuple[doc.Spans, ...]:
    """Return the cells of a price; with a lower bound of the time, it is a lower bound too."""
    hour = doc.Number(f"{row.per_hour:g}", row.per_hour, basis="from the price file")
    cost, basis = doc.Number(doc.UNKNOWN), ""
    if row.per_million is not None:
        bound, basis = {BOUND: "≥ ", MEASURED: ""}.get(row.basis, "about "), device_text.join_grades([row.basis])
        text = bound + format_number(row.per_million) if row.per_million >= _MIN_PRICE else "< 0.01"
        cost = doc.Number(text, row.per_million, "for a million samples", basis=device_text.describe_grade(row.basis))
    return (sanitize(name, _MAX_NAME_LENGTH), hour, numbers.count(row.batch, basis=""), cost, basis)


def _batches(estimates: HardwareSection) -> Iterator[doc.Block]:
    if estimates.scaling:
        yield doc.Heading("Throughput by batch size")
        yield doc.Paragraph(f"With {numbers.OTHER_SIZES}. {_describe_best_batches(estimates)}")
        yield doc.ChartRef("throughput")
        yield from _run_tables(estimates.devices, estimates.scaling, doc.columns("Batch#"), "Samples/s#")


def _describe_best_batches(estimates: HardwareSection) -> str:
    """State the best batch of each device, with its grade where devices differ in it."""
    has_grades = len(device_text.time_grades(estimates.scaling)) > 1
    names_by_batch: dict[tuple[int, str], list[str]] = {}
    for device in estimates.devices:
        if device.best_batch is not None:
            rows = [row for row in estimates.scaling if row.device == device.device]
            grades = device_text.join_grades(device_text.time_grades(rows))
            grade = f" ({grades})" if grades and has_grades else ""
            names = names_by_batch.setdefault((device.best_batch, grade), [])
            names.append(device_text.short_device_name(device.name))
    if not names_by_batch:
        return "No batch size fits."
    has_bounds = any(map(device_text.bound_only_seconds, estimates.scaling))
    known = ", among those with a known time" if has_bounds else ""
    best = "; ".join(
        f"{format_count(batch)} on {device_text.join_names(names)}{grade}"
        for (batch, grade), names in names_by_batch.items()
    )
    return f"Marked as best: {_BEST_BATCH}{known}: {best}."


def _tokens(estimates: HardwareSection) -> Iterator[doc.Block]:
    if estimates.generation:
        yield doc.Heading("Prefill and decode")
        yield doc.Paragraph(_TOKENS_NOTE)
        yield doc.ChartRef("tokens")
        yield from _run_tables(estimates.devices, estimates.generation, doc.columns("Phase", "Context#"), "Tokens/s#")


def _run_tables(
    devices: Sequence[DeviceRow], runs: Sequence[ScaleRow | TokenRow], titles: tuple[doc.Column, ...], rate: str
) -> Iterator[doc.Block]:
    """Yield a table per device, whose first columns have `titles`; only the first device's is expanded."""
    for device in devices:
        rows = [row for row in runs if row.device == device.device]
        if not rows:
            continue
        grade = device_text.single_grade(rows)
        columns = (*titles, _time_column(grade), *doc.columns(rate, "Memory#", _BOTTLENECK))
        cells = tuple((*_condition_cells(row, device), *_run_cells(row, with_grade=grade is None)) for row in rows)
        grades = device_text.join_grades(device_text.shown_grades(rows)) or _TOO_SMALL[0]
        caption = f"{_device_name(device)}, {sanitize(device.precision, 40)} ({grades})"
        if device.device == devices[0].device:
            yield doc.Paragraph(doc.Strong(caption))
            yield doc.Table(columns, cells)
        else:
            yield doc.Table(columns, cells, summary=caption)


def _condition_cells(row: ScaleRow | TokenRow, device: DeviceRow) -> tuple[doc.Spans, ...]:
    """Return the batch of a run, or its phase and context."""
    if isinstance(row, TokenRow):
        return (sanitize(row.phase, 40), numbers.count(row.context, "tokens", ""))
    is_best = row.batch == device.best_batch
    text = format_count(row.batch) + " (best)" * is_best
    return (doc.Number(text, row.batch, basis=_BEST_BATCH if is_best else ""),)


def _run_cells(row: ScaleRow | TokenRow, with_grade: bool) -> tuple[doc.Spans, ...]:
    """Return the cells for time, rate, memory and bottleneck."""
    memory = numbers.memory(row.memory_bytes, _MEMORY_BASIS)
    if row.fits is False:
        if row.memory_bytes is not None:
            memory = replace(memory, text=device_text.DOES_NOT_FIT + memory.text)
        return (_TOO_SMALL[0], "", memory, _TOO_SMALL[1])
    bottleneck, sizes = device_text.format_bottleneck(row.bottleneck), numbers.OTHER_SIZES
    bound = device_text.bound_only_seconds(row)
    if bound:
        basis, text = device_text.describe_grade(BOUND), device_text.format_run_time(row)
        return (doc.Number(text, bound, "seconds", None, sizes, basis), doc.UNKNOWN, memory, bottleneck)
    if isinstance(row, TokenRow):
        per_second, unit = row.tokens_per_second, "tokens per second"
    else:
        per_second, unit = row.per_second, "samples per second"
    basis, text = device_text.describe_grade(row.basis), device_text.format_run_time(row, with_grade)
    time = doc.Number(text, row.seconds, "seconds", None, sizes, basis)
    return (time, doc.Number(device_text.format_rate(row), per_second, unit, None, sizes, basis), memory, bottleneck)


def _operators(card: Card, device: DeviceRow) -> Iterator[doc.Block]:
    """Distribute the roofline's time over operators on one device."""
    if not device.operators or not device.roofline:
        return
    yield doc.Heading("Roofline by operator")
    limit = "at its roofline" if device.bandwidth else "at the peak rate (bandwidth unknown)"
    where = f"on {_device_name(device)} in {sanitize(device.precision, 40)}"
    intro = f"Sum over the kernels {where}, each {limit}: "
    total = numbers.number(device.roofline, format_time, "seconds", "the roofline: from published peak rates only")
    yield doc.Paragraph((intro, total, _ROOFLINE_NOTE))
    timed = [row for row in device.operators if row.seconds]
    shown = [row for index, row in enumerate(timed) if index < _MIN_OPERATORS or row.share >= _MIN_OPERATOR_SHARE]
    sizes = numbers.format_sizes(card)
    rows = tuple(
        (
            *(doc.Name(row.op), numbers.count(row.kernels, "kernels", "")),
            *(doc.Number(format_time(row.seconds), row.seconds, "seconds", sizes=sizes), numbers.share(row.share)),
            device_text.format_bottleneck(row.bottleneck),
        )
        for row in shown
    )
    yield doc.Table(doc.columns("Operator", "Kernels#", "Time#", "Share#", _BOTTLENECK), rows)
    if len(shown) < len(timed):
        yield doc.Paragraph("All other op types take less than 1% each.")
