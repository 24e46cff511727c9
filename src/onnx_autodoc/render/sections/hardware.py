"""What a run requires of any device, and memory, time and cost on the requested ones."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.card import (
    BOUND,
    MEASURED,
    Card,
    Choice,
    DeviceRow,
    HardwareSection,
    OperatorTime,
    Price,
    ScaleRow,
    TokenRow,
)
from onnx_autodoc.render import content as doc
from onnx_autodoc.render import numbers
from onnx_autodoc.render.device_text import (
    DOES_NOT_FIT,
    GRADES,
    TIME_COLUMNS,
    bottleneck_noun,
    bound_only_seconds,
    describe_grade,
    format_memory_need,
    format_rate,
    format_run_time,
    format_utilisation,
    join_names,
    short_device_name,
    shown_grades,
    shown_seconds,
    single_grade,
    time_grades,
)
from onnx_autodoc.text import format_count, format_memory, format_number, format_time, sanitize

_MAX_NAME_LENGTH: Final = 60
_MEMORY_BASIS: Final = (
    "weights at this precision, activations at their peak, and what a runtime is assumed to take for itself"
)
_OVERHEAD_BASIS: Final = "assumed: a runtime, its kernels, and a twentieth of the rest"
_UTILISATION_BASIS: Final = "the run's multiply-adds at the device's peak rate, as a share of the time that is shown"
_BALANCE_NOTE: Final = "; a device that can do more than that for each byte of its bandwidth waits for its memory"
_BEST_BATCH: Final = "the smallest batch with 90 % of the best throughput"
_TOO_SMALL: Final = ("does not run", "memory size")  # instead of a time and of a bottleneck
_BOTTLENECK: Final = "Limited by"
_TOKENS_NOTE: Final = (
    "A prompt goes through at once (prefill); then each token is a run of its own, which reads all weights "
    "and the whole cache (decode). Context: the tokens in the cache by then."
)
_MIN_OPERATORS: Final = 3
_MIN_OPERATOR_SHARE: Final = 0.01
_MIN_PRICE: Final = 0.01
_LEVELS: Final = ("minimum", "recommended", "comfortable")


def hardware(card: Card) -> doc.Section:
    found = card.hardware
    any_device = (*_any_device(card), doc.ChartRef("roofline"))
    if found is None or not found.devices:
        return doc.Section("hardware", "Hardware", any_device)
    blocks = (
        *_devices(card, found),
        *_requirements(found),
        *_prices(found),
        *_batches(found),
        *_tokens(found),
        doc.Heading("Arithmetic and traffic"),
        *any_device,
        *_operators(card, found.devices[0]),
    )
    return doc.Section("hardware", "Hardware", blocks)


def _any_device(card: Card) -> tuple[doc.Block, ...]:
    intensity = numbers.intensity(card)
    flops, moved = numbers.cost(card, "compute.flops"), numbers.cost(card, "compute.bytes_moved")
    items = (
        (doc.Strong("Memory: "), numbers.run_memory(card), " for weights and activations, before what a runtime adds"),
        (doc.Strong("Arithmetic: "), flops, " for one run"),
        (doc.Strong("Traffic: "), moved, " read and written, if nothing stays in a cache"),
        (doc.Strong("Balance: "), intensity, _BALANCE_NOTE if intensity.exact is not None else ""),
    )
    return doc.Paragraph(("Whichever the device, one run at ", numbers.format_sizes(card), " takes:")), doc.Bullets(
        items
    )


def _device_name(row: DeviceRow) -> str:
    return sanitize(row.name, _MAX_NAME_LENGTH)


def _time_column(grade: str | None) -> doc.Column:
    """Return the column of times; its title states the grade if all times share one."""
    return doc.Column(TIME_COLUMNS.get(grade or "", "Time of a run"), True)


def _devices(card: Card, found: HardwareSection) -> Iterator[doc.Block]:
    first, is_single_precision = found.devices[0], len({row.precision for row in found.devices}) == 1
    precision = f" in {sanitize(first.precision, 40)}" if is_single_precision else ""
    fixed = f", batch {format_count(first.batch)}" if first.batch is not None and not card.assumptions.dims else ""
    # One span: a page updates spans that equal the sizes when its sliders move, and these times do not follow.
    yield doc.Paragraph(f"One run{precision} at {numbers.format_sizes(card)}{fixed}:")
    yield _device_table(card, found, is_single_precision)
    yield doc.Paragraph("How the time is known:")
    grades = shown_grades((*found.devices, *found.scaling, *found.generation))
    yield doc.Bullets(tuple((doc.Strong(f"{name}: "), text) for name, text in GRADES.items() if name in grades))
    yield from _device_notes(found)
    yield doc.ChartRef("fit")
    rows = tuple(_memory_parts(row, numbers.format_sizes(card)) for row in found.devices)
    titles = doc.columns("Device", "Weights#", "Activations#", "Overhead#", "Together#")
    yield doc.Table(titles, rows, summary="What the memory consists of")


def _device_table(card: Card, found: HardwareSection, is_single_precision: bool) -> doc.Table:
    """Return the table without the precision if all devices share it, and without samples if there is no batch."""
    grade = single_grade(found.devices)
    titles = [doc.Column("Device"), doc.Column("Run as"), _time_column(grade), doc.Column("Memory", True)]
    titles += [doc.Column("Samples/s", True), doc.Column(_BOTTLENECK), doc.Column("Of peak rate", True)]
    omitted = {"Run as"} if is_single_precision else set()
    omitted |= {"Samples/s"} if all(row.batch is None for row in found.devices) else set()
    kept = [index for index, column in enumerate(titles) if column.title not in omitted]
    rows = [_device_row(card, row, with_grade=grade is None) for row in found.devices]
    return doc.Table(tuple(titles[index] for index in kept), tuple(tuple(row[index] for index in kept) for row in rows))


def _device_row(card: Card, row: DeviceRow, with_grade: bool) -> tuple[doc.Spans, ...]:
    memory = doc.Number(format_memory_need(row), row.memory_bytes, "bytes", basis=_MEMORY_BASIS)
    name, precision = _device_name(row), sanitize(row.precision, 40)
    if row.fits is False:
        return (name, precision, _TOO_SMALL[0], memory, "", _TOO_SMALL[1], "")
    sizes, basis = numbers.format_sizes(card), describe_grade(row.basis, row.rests_on)
    time = doc.Number(format_run_time(row, with_grade), shown_seconds(row), "seconds", None, sizes, basis)
    rate = doc.Number(format_rate(row), row.per_second, "samples per second", None, sizes, basis)
    utilisation = doc.Number(
        format_utilisation(row), row.utilisation, "of the peak rate", None, sizes, _UTILISATION_BASIS
    )
    samples = rate if row.batch is not None else ""
    return (name, precision, time, memory, samples, bottleneck_noun(row.bottleneck), utilisation)


def _device_notes(found: HardwareSection) -> Iterator[doc.Block]:
    """List the notes on devices, equal notes once with all their devices."""
    devices_by_note: dict[str, list[str]] = {}
    for row in found.devices:
        for note in ((f"{row.basis} by {row.rests_on}",) if row.rests_on else ()) + row.notes:
            devices_by_note.setdefault(sanitize(note, 400), []).append(_device_name(row))
    if devices_by_note:
        yield doc.Paragraph("What it rests on:")
        yield doc.Bullets(tuple(f"{join_names(names)}: {note}" for note, names in devices_by_note.items()))


def _memory_parts(row: DeviceRow, sizes: str) -> tuple[doc.Spans, ...]:
    need = row.memory
    return (
        _device_name(row),
        numbers.memory(need.weights, f"the file's weights in {sanitize(row.precision, 40)}"),
        numbers.memory(need.activations, "at the peak, a key-value cache included"),
        numbers.memory(need.overhead, _OVERHEAD_BASIS),
        replace(numbers.memory(row.memory_bytes, _MEMORY_BASIS), sizes=sizes),
    )


def _requirements(found: HardwareSection) -> Iterator[doc.Block]:
    """List the smallest sufficient device of each level, or name it in a sentence where it is the same for all."""
    requirements = found.requirements
    if requirements is None:
        return
    yield doc.Heading("What it needs")
    choices = {level: getattr(requirements, level) for level in _LEVELS}
    devices = {choice.device if choice is not None else None for choice in choices.values()}
    target = f"For {sanitize(requirements.target, 200)}."
    if devices == {None}:
        yield doc.Paragraph(target)
    elif None not in devices and len(devices) == 1:
        choice = choices["comfortable"]
        why = f" in {sanitize(choice.precision, 40)}, with room to spare: {sanitize(choice.why, 200)}."
        name = doc.Strong(sanitize(choice.name, _MAX_NAME_LENGTH))
        yield doc.Paragraph((f"{target} The smallest device that is known will do: ", name, why))
    else:
        yield doc.Paragraph(f"{target} The smallest device that is known to do, with growing margins:")
        levels: dict[Choice | None, list[str]] = {}
        for level, choice in choices.items():
            levels.setdefault(choice, []).append(level)
        yield doc.Bullets(
            tuple((doc.Strong(f"{join_names(same)}: "), _format_choice(each)) for each, same in levels.items())
        )
    yield from (doc.Paragraph(f"{sanitize(note, 400)}.") for note in requirements.notes)


def _format_choice(choice: Choice | None) -> str:
    if choice is None:
        return "none that is known"
    precision, why = sanitize(choice.precision, 40), sanitize(choice.why, 200)
    return f"{sanitize(choice.name, _MAX_NAME_LENGTH)} in {precision}: {why}"


def _prices(found: HardwareSection) -> Iterator[doc.Block]:
    if not found.prices:
        return
    yield doc.Heading("What runs cost")
    yield doc.Paragraph("By your own price per hour, at the best batch, with the device busy all the time:")
    names = {row.device: row.name for row in found.devices}
    rows = tuple(_price_row(row, names.get(row.device, row.device)) for row in found.prices)
    yield doc.Table(doc.columns("Device", "Per hour#", "Batch#", "Per million samples#", "Grade"), rows)


def _price_row(row: Price, name: str) -> tuple[doc.Spans, ...]:
    """A lower bound of the time is one of the price."""
    hour = doc.Number(f"{row.per_hour:g}", row.per_hour, basis="as you gave it")
    cost, basis = doc.Number(doc.UNKNOWN), ""
    if row.per_million is not None:
        bound, basis = {BOUND: "at least ", MEASURED: ""}.get(row.basis, "about "), row.basis
        text = bound + format_number(row.per_million) if row.per_million >= _MIN_PRICE else "less than a hundredth"
        cost = doc.Number(text, row.per_million, "for a million samples", basis=describe_grade(row.basis))
    return (sanitize(name, _MAX_NAME_LENGTH), hour, numbers.count(row.batch, basis=""), cost, basis)


def _batches(found: HardwareSection) -> Iterator[doc.Block]:
    if not found.scaling:
        return
    yield doc.Heading("Larger batches")
    yield doc.Paragraph(f"With {numbers.OTHER_SIZES}. {_describe_best_batches(found)}")
    yield doc.ChartRef("throughput")
    for device in found.devices:
        rows = [row for row in found.scaling if row.device == device.device]
        grade = single_grade(rows)
        titles = (doc.Column("Batch", True), _time_column(grade), *doc.columns("Samples/s#", "Memory#", _BOTTLENECK))
        cells = tuple(_batch_row(row, device.best_batch, with_grade=grade is None) for row in rows)
        yield from _device_runs(found, device, rows, doc.Table(titles, cells))


def _describe_best_batches(found: HardwareSection) -> str:
    """State the best batch of each device, with its grade where devices differ in it."""
    names_by_batch: dict[tuple[int, str], list[str]] = {}
    for device in found.devices:
        if device.best_batch is not None:
            own = time_grades([row for row in found.scaling if row.device == device.device])
            grade = f" ({', '.join(own)})" if own and len(time_grades(found.scaling)) > 1 else ""
            names_by_batch.setdefault((device.best_batch, grade), []).append(short_device_name(device.name))
    if not names_by_batch:
        return "No batch fits."
    known = ", of those that a time is known of" if any(map(bound_only_seconds, found.scaling)) else ""
    best = [f"{format_count(batch)} on {join_names(names)}{grade}" for (batch, grade), names in names_by_batch.items()]
    return f"Best is {_BEST_BATCH}{known}: {'; '.join(best)}."


def _device_runs(
    found: HardwareSection, device: DeviceRow, rows: Sequence[ScaleRow | TokenRow], table: doc.Table
) -> Iterator[doc.Block]:
    """Caption a device's table; only the first device's is expanded."""
    grades = ", ".join(shown_grades(rows)) or _TOO_SMALL[0]
    caption = f"{_device_name(device)}, {sanitize(device.precision, 40)} ({grades})"
    if not rows:
        return
    if device.device == found.devices[0].device:
        yield doc.Paragraph(doc.Strong(caption))
        yield table
    else:
        yield replace(table, summary=caption)


def _batch_row(row: ScaleRow, best_batch: int | None, with_grade: bool) -> tuple[doc.Spans, ...]:
    is_best = row.batch == best_batch
    batch = doc.Number(format_count(row.batch) + " (best)" * is_best, row.batch, basis=_BEST_BATCH if is_best else "")
    return (batch, *_run_cells(row, row.per_second, "samples per second", with_grade))


def _run_cells(row: ScaleRow | TokenRow, rate: float | None, unit: str, with_grade: bool) -> tuple[doc.Spans, ...]:
    """Return the cells for time, rate, memory and bottleneck."""
    memory = doc.Number(doc.UNKNOWN)
    if row.memory_bytes is not None:
        text = DOES_NOT_FIT * (row.fits is False) + format_memory(row.memory_bytes)
        memory = doc.Number(text, row.memory_bytes, "bytes", basis=_MEMORY_BASIS)
    if row.fits is False:
        return (_TOO_SMALL[0], "", memory, _TOO_SMALL[1])
    bottleneck, bound = bottleneck_noun(row.bottleneck), bound_only_seconds(row)
    if bound:
        time = doc.Number(
            format_run_time(row), bound, "seconds", sizes=numbers.OTHER_SIZES, basis=describe_grade(BOUND)
        )
        return (time, doc.UNKNOWN, memory, bottleneck)
    basis = describe_grade(row.basis)
    time = doc.Number(format_run_time(row, with_grade), row.seconds, "seconds", sizes=numbers.OTHER_SIZES, basis=basis)
    return (time, doc.Number(format_rate(row), rate, unit, sizes=numbers.OTHER_SIZES, basis=basis), memory, bottleneck)


def _tokens(found: HardwareSection) -> Iterator[doc.Block]:
    if not found.generation:
        return
    yield doc.Heading("Token by token")
    yield doc.Paragraph(_TOKENS_NOTE)
    yield doc.ChartRef("tokens")
    for device in found.devices:
        rows = [row for row in found.generation if row.device == device.device]
        grade = single_grade(rows)
        titles = (
            *doc.columns("Phase", "Context#"),
            _time_column(grade),
            *doc.columns("Tokens/s#", "Memory#", _BOTTLENECK),
        )
        cells = tuple(_token_row(row, with_grade=grade is None) for row in rows)
        yield from _device_runs(found, device, rows, doc.Table(titles, cells))


def _token_row(row: TokenRow, with_grade: bool) -> tuple[doc.Spans, ...]:
    cells = _run_cells(row, row.tokens_per_second, "tokens per second", with_grade)
    return (sanitize(row.phase, 40), numbers.count(row.context, "tokens", ""), *cells)


def _operators(card: Card, device: DeviceRow) -> Iterator[doc.Block]:
    """Distribute the roofline's time over operators on one device."""
    if not device.operators or not device.roofline:
        return
    yield doc.Heading("Where the time goes")
    limit = "at its own limit" if device.bandwidth else "at the peak rate, since the bandwidth is not known"
    where = f"on {_device_name(device)} in {sanitize(device.precision, 40)}"
    intro = f"How the work divides, not how long a run takes: {where}, each kernel {limit}, one after the other: "
    basis = "the roofline: before anything measured"
    total = doc.Number(format_time(device.roofline), device.roofline, "seconds", basis=basis)
    yield doc.Paragraph((intro, total, ". Light operators are counted with the kernel before them."))
    timed = [row for row in device.operators if row.seconds]
    shown = [row for index, row in enumerate(timed) if index < _MIN_OPERATORS or row.share >= _MIN_OPERATOR_SHARE]
    rows = tuple(_operator_row(row, numbers.format_sizes(card)) for row in shown)
    yield doc.Table(doc.columns("Operator", "Kernels#", "Time#", "Share#", _BOTTLENECK), rows)
    if len(shown) < len(timed):
        yield doc.Paragraph("All other types take less than 1 % each.")


def _operator_row(row: OperatorTime, sizes: str) -> tuple[doc.Spans, ...]:
    time = doc.Number(format_time(row.seconds), row.seconds, "seconds", sizes=sizes)
    kernels = numbers.count(row.kernels, "kernels", "")
    return (doc.Name(row.op), kernels, time, numbers.share(row.share), bottleneck_noun(row.bottleneck))
