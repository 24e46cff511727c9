"""The same model at other batches, and token by token: tables for each device, the first one open."""

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_autodoc.card import BOUND, Card, DeviceRow, HardwareSection, ScaleRow, TokenRow
from onnx_autodoc.render._blocks import Block, Column, Figure, Heading, Paragraph, Picture, Strong, Table, Text
from onnx_autodoc.render._hardware_words import (
    grade,
    grades_of,
    grades_shown,
    least_of,
    limited,
    listed,
    one_grade,
    rate,
    short_name,
    taken,
)
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.render.sections._hardware_devices import memory_cell, time_title
from onnx_autodoc.text import clean, count

_BEST: Final = "the smallest batch with 90 % of the best throughput"
_TOLD: Final = ", of those that a time is known of"
_HOLDS: Final = "every other size as it is on this card"
_LAST: Final = (Column("Limited by"),)
_TOKENS: Final = (
    "A prompt goes through at once (prefill); then each token is a run of its own, which reads all weights "
    "and the whole cache (decode). Context: the tokens in the cache by then."
)


def batches(card: Card, found: HardwareSection) -> Iterator[Block]:
    if not found.scaling:
        return
    yield Heading("Larger batches")
    yield Paragraph(("With every other size as it is on this card. ", *_best(found)))
    yield Picture("throughput")
    for device in found.devices:
        rows = [row for row in found.scaling if row.device == device.device]
        one = one_grade(rows)
        columns = (Column("Batch", True), time_title(one), Column("Samples/s", True), Column("Memory", True), *_LAST)
        shown = tuple(_scaled(row, device.best_batch, one) for row in rows)
        yield from _titled(found, device, Table(columns, shown), _caption(device, rows))


def _best(found: HardwareSection) -> Iterator[str]:
    """The best batch of each device, those with the same together; how it is known, where that differs."""
    same: dict[tuple[int, str], list[str]] = {}
    for row in found.devices:
        if row.best_batch is not None:
            same.setdefault((row.best_batch, _by(found, row)), []).append(short_name(row.name))
    if not same:
        yield "No batch fits."
        return
    yield f"Best is {_BEST}{_TOLD if any(map(least_of, found.scaling)) else ''}: "
    yield "; ".join(f"{count(batch)} on {listed(names)}{by}" for (batch, by), names in same.items())
    yield "."


def _by(found: HardwareSection, device: DeviceRow) -> str:
    own = grades_of([row for row in found.scaling if row.device == device.device])
    return f" ({', '.join(own)})" if own and len(grades_of(found.scaling)) > 1 else ""


def _caption(device: DeviceRow, rows: Sequence[ScaleRow | TokenRow]) -> str:
    grades = ", ".join(grades_shown(rows)) or "does not run"
    return f"{clean(device.name, 60)}, {clean(device.precision, 40)} ({grades})"


def _titled(found: HardwareSection, device: DeviceRow, table: Table, caption: str) -> Iterator[Block]:
    """The first device's table stands open, those of others behind their names."""
    if not table.rows:
        return
    if device.device == found.devices[0].device:
        yield Paragraph((Strong(caption),))
        yield table
    else:
        yield Table(table.columns, table.rows, table.total, caption)


def _scaled(row: ScaleRow, best: int | None, one: str | None) -> tuple[Text, ...]:
    batch = Figure(
        count(row.batch) + " (best)" * (row.batch == best), row.batch, basis=_BEST if row.batch == best else ""
    )
    return ((batch,), *_run(row, row.per_second, "samples per second", one), _memory(row), (_limit(row),))


def _run(row: ScaleRow | TokenRow, speed: float | None, unit: str, one: str | None) -> tuple[Text, Text]:
    if row.fits is False:
        return ("does not run",), ("",)
    basis, least = grade(row.basis), least_of(row)
    if least:  # nothing tells a time of the row's own grade
        return (Figure(taken(row), least, "seconds", holds=_HOLDS, basis=grade(BOUND)),), ("not known",)
    time = Figure(taken(row, one is not None), row.seconds, "seconds", holds=_HOLDS, basis=basis)
    return (time,), (Figure(rate(row), speed, unit, holds=_HOLDS, basis=basis),)


def _memory(row: ScaleRow | TokenRow) -> Text:
    return (memory_cell(row.memory_bytes, row.fits),)


def _limit(row: ScaleRow | TokenRow) -> str:
    return "memory size" if row.fits is False else limited(row.bottleneck)


def tokens(card: Card, found: HardwareSection) -> Iterator[Block]:
    """A decoder: what a prompt takes, and then each token, by how many there are already."""
    if not found.generation:
        return
    yield Heading("Token by token")
    yield Paragraph((_TOKENS,))
    yield Picture("tokens")
    for device in found.devices:
        rows = [row for row in found.generation if row.device == device.device]
        one = one_grade(rows)
        columns = (Column("Phase"), Column("Context", True), time_title(one), Column("Tokens/s", True))
        table = Table((*columns, Column("Memory", True), *_LAST), tuple(_token(row, one) for row in rows))
        yield from _titled(found, device, table, _caption(device, rows))


def _token(row: TokenRow, one: str | None) -> tuple[Text, ...]:
    context = figures.number(row.context, "tokens", "")
    speed = _run(row, row.tokens_per_second, "tokens per second", one)
    return ((clean(row.phase, 40),), (context,), *speed, _memory(row), (_limit(row),))
