"""What onnxruntime's profile says: a line of JSON for each kernel that ran. Read line by line: a loop makes many."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from onnx_autodoc.runtime._messages import Cell, Execution, Operators, Way
from onnx_autodoc.runtime._renamed import Renamed
from onnx_autodoc.runtime._types import MeasuredOperatorTime

MOST_EVENTS: Final = 1_000_000  # that onnxruntime keeps
_SUFFIX: Final = "_kernel_time"
_MOST_VARIANTS: Final = 10_000
_MICRO: Final = 1e-6


class _Args(Struct, frozen=True):
    op_name: str = ""
    output_type_shape: list[dict[str, list[int]]] = []


class Event(Struct, frozen=True):
    cat: str
    name: str
    ts: int
    dur: int
    args: _Args


def events(path: Path) -> Iterator[Event]:
    """Kernels and runs. A line that is no JSON (a name with a quote in it) is left out."""
    decoder = msgspec.json.Decoder(Event)
    with path.open("rb") as file:
        for line in file:
            try:
                yield decoder.decode(line.strip().rstrip(b","))
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue


def _is_kernel(event: Event) -> bool:
    return event.cat == "Node" and event.name.endswith(_SUFFIX)


def executions(found: Iterable[Event], named: Renamed) -> tuple[tuple[Execution, ...], bool]:
    """Each node that ran with what came out of it, and whether the profile was full."""
    outputs: dict[tuple[int, str], dict[tuple[Cell, ...], None]] = {}
    times: dict[tuple[int, str], int] = {}
    count = 0
    for event in found:
        count += 1
        number = named.number(event.name.removesuffix(_SUFFIX)) if _is_kernel(event) else None
        if number is None:
            continue
        key = (number, event.args.op_name)
        times[key] = times.get(key, 0) + 1
        variants = outputs.setdefault(key, {})
        if len(variants) < _MOST_VARIANTS:
            variants[_cells(event)] = None
    made = [Execution(named.ways[key[0]], key[1], tuple(kept), times[key]) for key, kept in sorted(outputs.items())]
    return tuple(made), count >= MOST_EVENTS - 1


def _cells(event: Event) -> tuple[Cell, ...]:
    return tuple((dtype, tuple(dims)) for cell in event.args.output_type_shape for dtype, dims in cell.items())


def operators(found: Iterable[Event], named: Renamed, runs: int) -> Operators:
    """The time of one run by operator and by node, over the last so many runs."""
    seen = list(found)
    last = sorted((event for event in seen if event.name == "model_run"), key=lambda event: event.ts)[-runs:]
    start = last[0].ts if last else 0
    kernels = [event for event in seen if _is_kernel(event) and event.ts >= start]
    spent = own_times(kernels)
    rows: dict[str, tuple[int, float]] = {}
    nodes: dict[tuple[int, bool], float] = {}
    for event, micros in zip(kernels, spent):
        seconds = micros * _MICRO / max(len(last), 1)
        count, total = rows.get(event.args.op_name, (0, 0.0))
        rows[event.args.op_name] = count + 1, total + seconds
        name = event.name.removesuffix(_SUFFIX)
        number = named.bearer(name, event.args.op_name)
        if number is not None:
            key = (number, named.number(name) != number or named.ops[number] != event.args.op_name)
            nodes[key] = nodes.get(key, 0.0) + seconds
    return _operators(rows, nodes, named.ways, max(len(last), 1))


def _operators(
    rows: dict[str, tuple[int, float]], nodes: dict[tuple[int, bool], float], ways: list[Way], runs: int
) -> Operators:
    total = sum(seconds for _, seconds in rows.values())
    ordered = sorted(rows.items(), key=lambda row: (-row[1][1], row[0]))
    made = tuple(
        MeasuredOperatorTime(op, round(count / runs), seconds, seconds / total if total else 0.0)
        for op, (count, seconds) in ordered
    )
    return Operators(made, tuple((ways[number], seconds, fused) for (number, fused), seconds in nodes.items()), total)


def own_times(kernels: list[Event]) -> list[int]:
    """What each kernel took itself: what ran inside it (a branch, a loop's body) is not its own."""
    own = [event.dur for event in kernels]
    order = sorted(range(len(kernels)), key=lambda at: (kernels[at].ts, -kernels[at].dur))
    around: list[int] = []
    for at in order:
        event = kernels[at]
        while around and kernels[around[-1]].ts + kernels[around[-1]].dur < event.ts + event.dur:
            around.pop()
        if around:
            own[around[-1]] = max(own[around[-1]] - event.dur, 0)
        around.append(at)
    return own
