"""Which unit of one row is which of the other: the cheapest way to turn the first into the second."""

from typing import Final

from msgspec import Struct

from onnx_autodoc.compare._units import Unit

_GAP: Final = 10  # to leave a unit out, or put one in
_CHANGED: Final = 8  # to change one into another of its kind: less than leaving out and putting in
_RETOLD: Final = 14  # into one of another kind but with the same label or size
_NEVER: Final = 21
_MOST_CELLS: Final = 1_000_000

Pair = tuple[Unit | None, Unit | None]


def aligned(was: list[Unit], now: list[Unit]) -> list[Pair]:
    """Pairs in order; one side is None where the other has nothing that it could be."""
    head = _common(was, now)
    tail = _common(was[head:][::-1], now[head:][::-1])
    middle = _middle(was[head : len(was) - tail], now[head : len(now) - tail])
    ends = list(zip(was[len(was) - tail :], now[len(now) - tail :]))
    return [*zip(was[:head], now[:head]), *middle, *ends]


class Stretch(Struct, frozen=True):
    """Pairs in a row that are not alike, between those that are. `last` is the unit before them, in both rows."""

    pairs: list[Pair]
    last: Unit | None

    @property
    def was(self) -> list[Unit]:
        return [old for old, _ in self.pairs if old is not None]

    @property
    def now(self) -> list[Unit]:
        return [new for _, new in self.pairs if new is not None]


def stretches(pairs: list[Pair], last: Unit | None = None) -> list[Stretch]:
    found: list[Stretch] = []
    open_ = False
    for old, new in pairs:
        if old is not None and new is not None and old.mark == new.mark:
            last, open_ = old, False
        elif open_:
            found[-1].pairs.append((old, new))
        else:
            found.append(Stretch([(old, new)], last))
            open_ = True
    return found


def _common(was: list[Unit], now: list[Unit]) -> int:
    at = 0
    while at < min(len(was), len(now)) and was[at].mark == now[at].mark:
        at += 1
    return at


def _middle(was: list[Unit], now: list[Unit]) -> list[Pair]:
    if not was or not now:
        return [*((unit, None) for unit in was), *((None, unit) for unit in now)]
    if len(was) * len(now) > _MOST_CELLS:
        return _in_step(was, now)
    return _walked(was, now, _table(was, now))


def _in_step(was: list[Unit], now: list[Unit]) -> list[Pair]:
    """Too many to weigh: by place."""
    most = max(len(was), len(now))
    return [(was[at] if at < len(was) else None, now[at] if at < len(now) else None) for at in range(most)]


def _table(was: list[Unit], now: list[Unit]) -> list[list[int]]:
    """table[i][j]: the price of turning what follows was[i] into what follows now[j]."""
    rows = [[_GAP * (len(now) - at) for at in range(len(now) + 1)]]
    for old in reversed(was):
        below, row = rows[-1], [0] * (len(now) + 1)
        row[-1] = below[-1] + _GAP
        for at in range(len(now) - 1, -1, -1):
            row[at] = min(below[at + 1] + _price(old, now[at]), below[at] + _GAP, row[at + 1] + _GAP)
        rows.append(row)
    return rows[::-1]


def _walked(was: list[Unit], now: list[Unit], table: list[list[int]]) -> list[Pair]:
    found: list[Pair] = []
    i = j = 0
    while i < len(was) and j < len(now):
        if table[i][j] == table[i + 1][j + 1] + _price(was[i], now[j]):
            found.append((was[i], now[j]))
            i, j = i + 1, j + 1
        elif table[i][j] == table[i + 1][j] + _GAP:
            found.append((was[i], None))
            i += 1
        else:
            found.append((None, now[j]))
            j += 1
    return [*found, *((unit, None) for unit in was[i:]), *((None, unit) for unit in now[j:])]


def _price(old: Unit, new: Unit) -> int:
    if old.mark == new.mark:
        return 0
    one, other = old.box, new.box
    if one.kind == other.kind:
        return _CHANGED - (one.detail == other.detail) - (one.label == other.label) - (old.number == new.number)
    alike = one.label == other.label or (one.params and one.params * new.box.count == other.params * old.box.count)
    return _RETOLD if alike else _NEVER
