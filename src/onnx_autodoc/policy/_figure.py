"""A figure of a card by its path: what it is, and whether that is all of it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import Card
from onnx_autodoc.policy._bounds import Standing, standing
from onnx_autodoc.policy._paths import Reading, Step, is_numbered, names_of, readings
from onnx_autodoc.text import clean

_MOST_NAMES: Final = 5  # of a table, that a message shows
_LONGEST: Final = 60  # letters of each

# What adds up over rows of one name, and is none of it where there is no such row.
_ADDS: Final = frozenset(("count", "share", "params", "weight_bytes", "macs", "flops", "bytes_moved", "written_bytes"))
_SUMS: Final = _ADDS | {"bytes", "nodes"}
# Tables that list all there is, in words that a policy's reader knows: what is not in them is not in the model.
_COMPLETE: Final = (
    *("graph.operators.*.", "memory.by_op.*.", "structure.blocks.*.", "compute.coverage.gaps.*.", "findings.*."),
)
_COMPLETE_TABLES: Final = ("parameters.by_dtype.*", "model.precision.weights.*", "structure.residuals.*")


class Figure(Struct, frozen=True):
    """`value` is None where it is not known. `whole` is what stands there itself, of a list not its length alone."""

    value: bool | int | float | str | None
    whole: Any
    standing: Standing
    why: str  # it is not known, or not all of it
    pattern: str
    kinds: frozenset[str]
    note: str = ""  # on what was read

    @property
    def is_plain(self) -> bool:
        """Whether it is one value, not a list, a table or a section."""
        return not self.kinds & {"list", "table", "section"}


def figure(card: Card, path: str) -> Figure:
    """The longest names that the card has are the ones that are meant."""
    ways = readings(path)
    for way in ways:
        found = list(_values(card, way.steps))
        if found:
            return _figure(card, way, _together(found, way))
    none = _figure(card, ways[0], _absent(card, ways[0]))
    if none.value == 0:
        return replace(none, note=" (the card has nothing of this name)")
    return replace(none, why=_nothing(card, ways[0])) if none.value is None else none


def _nothing(card: Card, way: Reading) -> str:
    """Which name there is not, and those that there are."""
    ends = (at for at in range(1, len(way.steps)) if not list(_values(card, way.steps[:at])))
    at = next(ends, len(way.steps)) - 1
    step, table = way.steps[at], next(_values(card, way.steps[:at]), None) or ()
    names = [_names(row)[0] if isinstance(row, Struct) else row for row in table] if step.how in ("row", "key") else []
    shown = [clean(name, _LONGEST) for name in names[:_MOST_NAMES]]
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    there = f"; there are {', '.join([*shown, *more])}" if names else ""
    return f"the card has nothing of the name {clean(step.name, _LONGEST)}{there}"


def _figure(card: Card, way: Reading, whole: Any) -> Figure:
    value = len(whole) if isinstance(whole, tuple | Mapping) else whole
    plain = value if isinstance(value, bool | int | float | str) else None
    stands, why = standing(card, way, plain is None)
    return Figure(plain, whole, stands, why, way.pattern, way.kinds)


def _values(at: Any, steps: tuple[Step, ...]) -> Iterator[Any]:
    """What stands at the end; nothing where there is no such row or key, several where rows share a name."""
    if not steps or at is None:
        yield at
        return
    first, rest = steps[0], steps[1:]
    if first.how == "field":
        yield from _values(getattr(at, first.name), rest)
    elif first.how == "key":
        yield from _values(at[first.name], rest) if first.name in at else ()
    else:
        for row in _rows(at, first):
            yield from _values(row, rest)


def _rows(rows: tuple[Any, ...], step: Step) -> list[Any]:
    named = [row for row in rows if step.name in _names(row)] if step.how == "row" else []
    if named or not step.name.isdecimal() or (rows and step.how == "row" and is_numbered(type(rows[0]))):
        return named
    return list(rows[int(step.name) : int(step.name) + 1])


def _names(row: Any) -> tuple[str, ...]:
    """What a row is called: an operator also with its domain before it."""
    kind: Any = type(row)
    fields = names_of(kind)
    name = ".".join(str(getattr(row, field)) for field in fields)
    domain = getattr(row, "domain", None) if fields == ("op",) else None
    return (name, f"{domain}.{name}") if domain else (name,)


def _together(found: list[Any], way: Reading) -> Any:
    """Rows of one name add up where that means something; where they differ otherwise, nothing can be said."""
    if len(found) == 1 or (way.last not in _SUMS and all(value == found[0] for value in found[1:])):
        return found[0]
    numbers = [value for value in found if isinstance(value, int | float)]
    return sum(numbers) if way.last in _SUMS and len(numbers) == len(found) else None


def _absent(card: Card, way: Reading) -> Any:
    """None of it, in tables that list all there is; else not known."""
    listed = way.pattern in _COMPLETE_TABLES or (way.pattern.startswith(_COMPLETE) and way.last in _ADDS)
    placed = any(step.how == "row" and step.name.isdecimal() for step in way.steps)
    return 0 if listed and not placed else None
