"""Paths of the figures that a card can have, resolved against its types.

Names in a path may contain dots (the domain of an opset, an input, a node), so that a path has several readings. Those
with the longest names come first, and the card decides.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import Struct, inspect

from onnx_autodoc.card import Card

# The fields that name a row of a list: all fields of a compound name, else the first of the others that the row has.
_COMPOUND_NAMES: Final = (("source", "target"), ("device", "phase", "context"), ("device", "batch"))
_TEXT_NAMES: Final = ("source", "name", "id", "node", "rule", "path", "device", "kind", "part", "form", "op")
_NUMBER_NAMES: Final = ("batch", "tokens", "at")
_NAMES: Final = (*_TEXT_NAMES, *_NUMBER_NAMES, "section")
_MAX_READINGS: Final = 500  # a name of n pieces has 2^n where a tree has it at every depth
_MAX_LISTED_DEPTH: Final = 6


class PathStep(Struct, frozen=True):
    """One piece of a path. `how`: the field of a section, the key of a table, a row by name or by index (place)."""

    how: str
    name: str


class FigurePath(Struct, frozen=True):
    """One reading of a path, and the kinds of values there: number, text, flag, list, table, section."""

    steps: tuple[PathStep, ...]
    kinds: frozenset[str]

    @property
    def pattern(self) -> str:
        """The path with an asterisk for every name."""
        return ".".join(step.name if step.how == "field" else "*" for step in self.steps)

    @property
    def field(self) -> str:
        """The last field of the path."""
        return next((step.name for step in reversed(self.steps) if step.how == "field"), "")


def parse_path(path: str) -> tuple[FigurePath, ...]:
    """Return every reading of `path` that the types of a card allow; none without such a figure.

    Readings that end at a row or a section count only where there are no others.
    """
    first, dot, rest = path.partition(".")
    kind = _section_type(first)
    if kind is None or (dot and not rest):
        return ()
    readings = tuple(islice(_parse(kind, rest, (PathStep("field", first),)), _MAX_READINGS))
    return tuple(reading for reading in readings if reading.kinds != {"section"}) or readings


@lru_cache(maxsize=64)
def _section_type(name: str) -> Any:
    """Return the type of a field of the card; types of other sections need not be inspected."""
    kinds = {field.encode_name: field.type for field in msgspec.structs.fields(Card)}
    return inspect.type_info(kinds[name]) if name in kinds else None


def _parse(kind: Any, rest: str, before: tuple[PathStep, ...]) -> Iterator[FigurePath]:
    if not rest:
        yield FigurePath(before, frozenset(_value_kinds(kind)))
        return
    first, _, more = rest.partition(".")
    for alternative in _alternatives(kind):
        match alternative:
            case inspect.StructType(fields=fields):
                for field in fields:
                    if field.encode_name == first and (more or rest == first):
                        yield from _parse(field.type, more, (*before, PathStep("field", first)))
            case inspect.DictType(value_type=value_type):
                yield from _parse_named(value_type, rest, before, "key")
            case inspect.VarTupleType(item_type=inspect.StructType(cls=row) as item) if names_of(row):
                yield from _parse_named(item, rest, before, "row")
            case inspect.VarTupleType(item_type=item) if first.isdecimal() and len(first) < 10:
                yield from _parse(item, more, (*before, PathStep("place", first)))
            case inspect.TupleType(item_types=items) if first.isdecimal() and int(first) < len(items):
                yield from _parse(items[int(first)], more, (*before, PathStep("place", first)))


def _parse_named(kind: Any, rest: str, before: tuple[PathStep, ...], how: str) -> Iterator[FigurePath]:
    """Try every name that the rest can begin with, the longest first."""
    pieces = rest.split(".")
    for at in range(len(pieces), 0, -1):
        name, more = ".".join(pieces[:at]), ".".join(pieces[at:])
        if name and all(pieces[at:]):
            yield from _parse(kind, more, (*before, PathStep(how, name)))


def _alternatives(kind: Any) -> list[Any]:
    types = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return [item for item in types if not isinstance(item, inspect.NoneType)]


_VALUE_KINDS: Final[tuple[tuple[Any, str], ...]] = (
    (inspect.BoolType, "flag"),
    ((inspect.IntType, inspect.FloatType), "number"),
    ((inspect.StrType, inspect.EnumType, inspect.LiteralType), "text"),
    ((inspect.VarTupleType, inspect.TupleType), "list"),
    (inspect.DictType, "table"),
    (inspect.StructType, "section"),
)


def _value_kinds(kind: Any) -> Iterator[str]:
    for alternative in _alternatives(kind):
        yield from (name for types, name in _VALUE_KINDS if isinstance(alternative, types))


@cache
def names_of(row: Any) -> tuple[str, ...]:
    """Return the fields that name a row of a list; none if rows are addressed by index."""
    fields = {field.name for field in msgspec.structs.fields(row)}
    compound = next((names for names in _COMPOUND_NAMES if fields.issuperset(names)), ())
    if compound and "name" not in fields and "per_hour" not in fields:
        return compound
    if "device" in fields:
        return ("device",)
    return next(((name,) for name in _NAMES if name in fields), ())


def is_named_by_number(row: Any) -> bool:
    """Whether a number in a path is the name of such a row, never its index."""
    return names_of(row)[:1] in {(name,) for name in _NUMBER_NAMES}


@cache
def list_figures() -> dict[str, frozenset[str]]:
    """Return the kinds of values by path, with <name> for a row or a key. Nested boxes are listed once."""
    return dict(_list_paths(inspect.type_info(Card), "", ()))


def _list_paths(kind: Any, path: str, inside: tuple[type, ...]) -> Iterator[tuple[str, frozenset[str]]]:
    if path:
        yield path, frozenset(_value_kinds(kind))
    for alternative in _alternatives(kind):
        match alternative:
            case inspect.StructType(cls=cls, fields=fields) if cls not in inside and len(inside) < _MAX_LISTED_DEPTH:
                for field in fields:
                    yield from _list_paths(field.type, f"{path}.{field.encode_name}".lstrip("."), (*inside, cls))
            case inspect.DictType(value_type=value_type):
                yield from _list_paths(value_type, f"{path}.<name>", inside)
            case inspect.VarTupleType(item_type=item):
                names = names_of(item.cls) if isinstance(item, inspect.StructType) else ()
                yield from _list_paths(item, f"{path}.<{'.'.join(names) or 'place'}>", inside)
            case inspect.TupleType(item_types=items):
                yield from _list_paths(items[0], f"{path}.<place>", inside)
