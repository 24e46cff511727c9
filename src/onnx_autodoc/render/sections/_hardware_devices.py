"""Devices: whether the model fits, how long a run takes and how that is known, what limits it."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.card import Card, DeviceRow, HardwareSection, OperatorTime
from onnx_autodoc.render._blocks import (
    Block,
    Column,
    Figure,
    Heading,
    Items,
    Name,
    Paragraph,
    Picture,
    Strong,
    Table,
    Text,
)
from onnx_autodoc.render._hardware_words import (
    GRADES,
    TITLES,
    grade,
    grades_shown,
    limited,
    listed,
    needed,
    one_grade,
    rate,
    seconds_of,
    taken,
    used,
)
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.text import clean, count, duration, memory

_NEED: Final = "weights at this precision, activations at their peak, and what a runtime is assumed to take for itself"
_ASSUMED: Final = "assumed: a runtime, its kernels, and a twentieth of the rest"
_PEAK: Final = "the run's multiply-adds at the device's peak rate, as a share of the time that is shown"
_LEAST: Final = 3  # operators that are always named
_TELLING: Final = 0.01
_SHOWN: Final = 60  # letters of a device's name


def devices(card: Card, found: HardwareSection) -> Iterator[Block]:
    yield Paragraph((_run(card, found),))
    yield _table(card, found)
    yield Paragraph(("How the time is known:",))
    yield Items(tuple(_grades(found)))
    yield from _notes(found)
    yield Picture("fit")
    yield _memory(card, found)


def _run(card: Card, found: HardwareSection) -> str:
    """What holds for all rows; a batch that the file fixes is in none of the sizes.

    One string: words that are the sizes alone follow the sliders of a page, and the times below do not.
    """
    first = found.devices[0]
    said = f" in {clean(first.precision, 40)}" if len(_precisions(found)) == 1 else ""
    fixed = f", batch {count(first.batch)}" if first.batch is not None and not card.assumptions.dims else ""
    return f"One run{said} at {figures.sizes(card)}{fixed}:"


def _precisions(found: HardwareSection) -> set[str]:
    return {row.precision for row in found.devices}


def _grades(found: HardwareSection) -> Iterator[Text]:
    """What the grades mean that stand on this card, the best first."""
    known = grades_shown((*found.devices, *found.scaling, *found.generation))
    return ((Strong(f"{name}: "), said) for name, said in GRADES.items() if name in known)


def _table(card: Card, found: HardwareSection) -> Table:
    """A column of precisions only where there are several, and of samples only where the model has a batch."""
    rows, one, several = found.devices, one_grade(found.devices), len(_precisions(found)) > 1
    left_out = set() if several else {"Run as"}
    left_out |= set() if any(row.batch is not None for row in rows) else {"Samples/s"}
    columns = [Column("Device"), Column("Run as"), time_title(one), Column("Memory", True)]
    columns += [Column("Samples/s", True), Column("Limited by"), Column("Of peak rate", True)]
    kept = [at for at, column in enumerate(columns) if column.title not in left_out]
    made = (tuple(_row(card, row, one)) for row in rows)
    return Table(tuple(columns[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in made))


def time_title(one: str | None) -> Column:
    """Where all times of a table are of one grade, their title says so."""
    return Column(TITLES.get(one, "Time of a run") if one else "Time of a run", True)


def _row(card: Card, row: DeviceRow, one: str | None) -> Iterator[Text]:
    need = Figure(needed(row.memory_bytes, row.capacity_bytes, row.fits), row.memory_bytes, "bytes", basis=_NEED)
    runs, sizes, basis = row.fits is not False, figures.sizes(card), grade(row.basis, row.rests_on)
    time = Figure(taken(row, one is not None), seconds_of(row), "seconds", None, sizes, basis)
    speed = Figure(rate(row), row.per_second, "samples per second", None, sizes, basis)
    yield (clean(row.name, _SHOWN),)
    yield (clean(row.precision, 40),)
    yield (time if runs else "does not run",)
    yield (need,)
    yield (speed if runs and row.batch is not None else "",)
    yield (limited(row.bottleneck) if runs else "memory size",)
    yield (Figure(used(row), row.utilisation, "of the peak rate", None, sizes, _PEAK) if runs else "",)


def _notes(found: HardwareSection) -> Iterator[Block]:
    """What the numbers of a device rest on, each said once for all devices that it holds for."""
    said: dict[str, list[str]] = {}
    for row in found.devices:
        name = clean(row.name, _SHOWN)
        for note in ((f"{row.basis} by {row.rests_on}",) if row.rests_on else ()) + row.notes:
            said.setdefault(clean(note, 400), []).append(name)
    if said:
        yield Paragraph(("What it rests on:",))
        yield Items(tuple((f"{listed(names)}: {note}",) for note, names in said.items()))


def _memory(card: Card, found: HardwareSection) -> Table:
    """What it consists of."""
    columns = (Column("Device"), *(Column(title, True) for title in ("Weights", "Activations", "Overhead", "Together")))
    rows = tuple(_parts(row, figures.sizes(card)) for row in found.devices)
    return Table(columns, rows, folded="What the memory consists of")


def _parts(row: DeviceRow, sizes: str) -> tuple[Text, ...]:
    need = row.memory
    return (
        (clean(row.name, _SHOWN),),
        (figures.stored(need.weights, f"the file's weights in {clean(row.precision, 40)}"),),
        (figures.stored(need.activations, "at the peak, a key-value cache included"),),
        (figures.stored(need.overhead, _ASSUMED),),
        (replace(figures.stored(row.memory_bytes, _NEED), holds=sizes),),
    )


def operators(card: Card, found: HardwareSection) -> Iterator[Block]:
    """Where the roofline's time goes on the first device."""
    first = found.devices[0]
    if not first.operators or not first.roofline:
        return
    yield Heading("Where the time goes")
    limit = "at its own limit" if first.bandwidth else "at the peak rate, since the bandwidth is not known"
    said = f"How the work divides, not how long a run takes: on {clean(first.name, _SHOWN)} in "
    said += f"{clean(first.precision, 40)}, each kernel {limit}, one after the other: "
    line = Figure(duration(first.roofline), first.roofline, "seconds", basis="the roofline: before anything measured")
    yield Paragraph((said, line, ". Light operators are counted with the kernel before them."))
    timed = [row for row in first.operators if row.seconds]
    shown = [row for at, row in enumerate(timed) if at < _LEAST or row.share >= _TELLING]
    titles = (Column("Kernels", True), Column("Time", True), Column("Share", True), Column("Limited by"))
    yield Table((Column("Operator"), *titles), tuple(_operator(row, figures.sizes(card)) for row in shown))
    if len(shown) < len(timed):
        yield Paragraph(("All other types take less than 1 % each.",))


def _operator(row: OperatorTime, sizes: str) -> tuple[Text, ...]:
    return (
        (Name(row.op),),
        (figures.number(row.kernels, "kernels", ""),),
        (Figure(duration(row.seconds), row.seconds, "seconds", holds=sizes),),
        (figures.share(row.share),),
        (limited(row.bottleneck),),
    )


def memory_cell(nbytes: int | None, fits: bool | None) -> Figure:
    """Of one row of several: that it does not fit is a word."""
    if nbytes is None:
        return Figure("not known")
    return Figure("does not fit: " * (fits is False) + memory(nbytes), nbytes, "bytes", basis=_NEED)
