"""What a model runs on, in lines for a terminal: one for each device, and one for what holds for all of them."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import CALIBRATED, MEASURED, Card, DeviceRow, HardwareSection, TokenRow
from onnx_autodoc.render._hardware_words import bound_by, rate, short_name, taken
from onnx_autodoc.text import clean, count, duration, memory, plural

Line = tuple[str, str]

ROOM: Final = 67  # columns behind the label
_GAP: Final = "  "
_CONTEXT: Final = 2048  # tokens: a decoder is asked at this many, or at the next fewer
_HINT: Final = "this machine: run `onnx-autodoc calibrate` once for an estimate"
_LONGEST_NAME: Final = 26


class _Row(Struct, frozen=True):
    cells: tuple[str, str, str]  # device, memory, time
    limit: str


def device_lines(card: Card, most: int, hint: bool) -> Iterator[Line]:
    """`most` devices; a hint at what would tell more, where there is room for it and no device is better known."""
    found = card.hardware
    if found is None or not found.devices or not most:
        return
    lines = _several(found, most) if most > 1 else [_alone(found)]
    lines += [_HINT] if hint and not _known(found) else []
    yield from (("Runs on" if at == 0 else "", line) for at, line in enumerate(lines))


def measured_lines(card: Card) -> Iterator[Line]:
    """What a run of the model showed, where one was asked for: its verdict, its time, or why there is none."""
    found = card.measured
    if found is None:
        return
    shapes, taken_here = found.agreement, found.timing
    verdict = f"{count(shapes.differed)} differed" if shapes.differed else "none differed"
    yield "Run here", f"{plural(shapes.executed, 'node')} ran, {verdict} from the card's shapes"
    if taken_here is None:
        yield "", f"no latency: {clean(found.refused or 'not known why', 2 * ROOM)}"
        return
    threads = plural(taken_here.threads, "thread") if taken_here.threads else "default threads"
    within = f"95 % within {duration(taken_here.p95_seconds)}"
    yield "", f"measured {duration(taken_here.median_seconds)} in the median, {within}, {threads}"


def _several(found: HardwareSection, most: int) -> list[str]:
    shown = found.devices[:most]
    rows = [_row(each, _decoded(found, each)) for each in shown]
    texts, beside = _aligned(rows)
    more = len(found.devices) - len(shown)
    also = ("" if beside else _limits(rows), f"{count(more)} more in --format markdown" if more else "")
    return [*texts, clean("; ".join(filter(None, (_holds(shown, _decoded(found, shown[0])), *also))), ROOM)]


def _alone(found: HardwareSection) -> str:
    """The first device in one line, where there is room for no more; what limits it goes first."""
    token = _decoded(found, found.devices[0])
    row, holds = _row(found.devices[0], token), _holds(found.devices[:1], token)
    ways = ((*row.cells, row.limit, holds), (*row.cells, holds), row.cells)
    texts = [_GAP.join(filter(None, way)) for way in ways]
    return next((text for text in texts if len(text) <= ROOM), clean(texts[-1], ROOM))


def _known(found: HardwareSection) -> bool:
    return any(row.basis in (CALIBRATED, MEASURED) for row in found.devices)


def _decoded(found: HardwareSection, device: DeviceRow) -> TokenRow | None:
    """A decoder's step at a usual context."""
    rows = [row for row in found.generation if row.device == device.device and row.phase == "decode"]
    near = [row for row in rows if row.context <= _CONTEXT]
    return near[-1] if near else rows[0] if rows else None


def _row(device: DeviceRow, token: TokenRow | None) -> _Row:
    row = token or device
    name = clean(short_name(device.name), _LONGEST_NAME)
    if row.fits is False:
        return _Row((name, "does not fit", _lacking(row.memory_bytes, device.capacity_bytes)), "")
    time = taken(row) if token is None else f"{taken(row)} a token"
    time = f"{rate(token, alone=True)} tokens/s" if token is not None and token.tokens_per_second else time
    return _Row((name, _fits(row), f"time {time}" if time.startswith("not known") else time), bound_by(row.bottleneck))


def _fits(row: DeviceRow | TokenRow) -> str:
    """Where it is not known what the device has, what it needs."""
    if row.fits:
        return "fits"
    return "memory not known" if row.memory_bytes is None else f"needs {memory(row.memory_bytes)}"


def _lacking(nbytes: int | None, capacity: int | None) -> str:
    need = memory(nbytes) if nbytes is not None else "weights alone too large"
    return f"{need} of {memory(capacity)}" if capacity is not None else need


def _aligned(rows: Sequence[_Row]) -> tuple[list[str], bool]:
    """In columns; what limits stands beside each where all lines have the room."""
    wide = [max(len(row.cells[at]) for row in rows) for at in range(3)]
    texts = [_GAP.join(f"{cell:<{wide[at]}}" for at, cell in enumerate(row.cells)) for row in rows]
    full = [f"{text}{_GAP}{row.limit}".rstrip() for text, row in zip(texts, rows)]
    beside = max(map(len, full)) <= ROOM
    return (full if beside else [clean(text.rstrip(), ROOM) for text in texts]), beside


def _holds(shown: Sequence[DeviceRow], token: TokenRow | None) -> str:
    """What is the same on all lines: precision, and batch or context."""
    batch, precisions = shown[0].batch, ", ".join(dict.fromkeys(clean(row.precision, 12) for row in shown))
    if token is not None:
        return f"in {precisions}, {count(token.context)} tokens in the cache"
    return f"in {precisions} at batch {count(batch)}" if batch is not None else f"in {precisions}"


def _limits(rows: Sequence[_Row]) -> str:
    """One word for all, or one for each line in their order."""
    limits = [row.limit for row in rows]
    if len(set(limits) - {""}) <= 1:
        return max(limits) + " on each" * (len(rows) > 1 and all(limits))
    return ", ".join(limit or "-" for limit in limits)
