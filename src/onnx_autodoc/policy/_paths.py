"""Which figures a card can have: its types, walked by the dotted path of one.

Names in a path may have dots themselves (an opset's domain, an input, a node), so a path can be read in several ways;
those with the longest names come first, and the card at hand decides.
"""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import Struct, inspect

from onnx_autodoc.card import Card

# What a row of a list is called by: the first of these that it has.
# What it takes to tell rows apart that no single word does
_COMPOUND: Final = (("source", "target"), ("device", "phase", "context"), ("device", "batch"))
_NAMES: Final = ("source", "name", "id", "node", "rule", "path", "device", "kind", "part", "form", "op")
_NUMBERS: Final = ("batch", "tokens", "at")
_LAST: Final = ("section",)
_MOST_WAYS: Final = 500  # to read a path: there are 2^n where a name of n pieces may stand in a tree at each depth
_DEEPEST: Final = 6  # sections within sections that are listed by name


class Step(Struct, frozen=True):
    """One piece of a path. `how`: a field of a section, the key of a table, a row by name or by place."""

    how: str
    name: str


class Reading(Struct, frozen=True):
    """A way to read a path, and what stands at its end: number, text, flag, list, table, section."""

    steps: tuple[Step, ...]
    kinds: frozenset[str]

    @property
    def pattern(self) -> str:
        """The path with a star for every name."""
        return ".".join(step.name if step.how == "field" else "*" for step in self.steps)

    @property
    def last(self) -> str:
        """The last field, whatever table or list it is."""
        return next((step.name for step in reversed(self.steps) if step.how == "field"), "")


def readings(path: str) -> tuple[Reading, ...]:
    """Every way in which the types of a card allow to read a path; none where there is no such figure.

    What ends at a row or a section is only meant where nothing else can be.
    """
    first, dot, rest = path.partition(".")
    kind = _section(first)
    every = tuple(islice(_read(kind, rest, (Step("field", first),)), _MOST_WAYS)) if kind and (rest or not dot) else ()
    return tuple(way for way in every if way.kinds != {"section"}) or every


@cache
def _root() -> Any:
    return inspect.type_info(Card)


@cache
def _section(name: str) -> Any:
    """What stands under this name in a card: a policy waits for the types of the sections that it names alone."""
    kinds = {field.encode_name: field.type for field in msgspec.structs.fields(Card)}
    return inspect.type_info(kinds[name]) if name in kinds else None


def _read(kind: Any, rest: str, before: tuple[Step, ...]) -> Iterator[Reading]:
    if not rest:
        yield Reading(before, frozenset(_kinds(kind)))
        return
    for each in _alternatives(kind):
        if isinstance(each, inspect.StructType):
            yield from _fields(each, rest, before)
        elif isinstance(each, inspect.DictType):
            yield from _named(each.value_type, rest, before, "key")
        elif isinstance(each, inspect.VarTupleType):
            yield from _rows(each.item_type, rest, before)
        elif isinstance(each, inspect.TupleType):
            first, _, more = rest.partition(".")
            if first.isdecimal() and int(first) < len(each.item_types):
                yield from _read(each.item_types[int(first)], more, (*before, Step("place", first)))


def _fields(kind: inspect.StructType, rest: str, before: tuple[Step, ...]) -> Iterator[Reading]:
    first, _, more = rest.partition(".")
    for field in kind.fields:
        if field.encode_name == first and (more or rest == first):
            yield from _read(field.type, more, (*before, Step("field", first)))


def _rows(kind: Any, rest: str, before: tuple[Step, ...]) -> Iterator[Reading]:
    if isinstance(kind, inspect.StructType) and names_of(kind.cls):
        yield from _named(kind, rest, before, "row")
        return
    first, _, more = rest.partition(".")
    if first.isdecimal() and len(first) < 10:
        yield from _read(kind, more, (*before, Step("place", first)))


def _named(kind: Any, rest: str, before: tuple[Step, ...], how: str) -> Iterator[Reading]:
    """By every name that the rest can begin with, the longest first."""
    pieces = rest.split(".")
    for at in range(len(pieces), 0, -1):
        name, more = ".".join(pieces[:at]), ".".join(pieces[at:])
        if name and all(pieces[at:]):
            yield from _read(kind, more, (*before, Step(how, name)))


def _alternatives(kind: Any) -> tuple[Any, ...]:
    every = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return tuple(each for each in every if not isinstance(each, inspect.NoneType))


_KINDS: Final[tuple[tuple[Any, str], ...]] = (
    (inspect.BoolType, "flag"),
    ((inspect.IntType, inspect.FloatType), "number"),
    ((inspect.StrType, inspect.EnumType, inspect.LiteralType), "text"),
    ((inspect.VarTupleType, inspect.TupleType), "list"),
    (inspect.DictType, "table"),
    (inspect.StructType, "section"),
)


def _kinds(kind: Any) -> Iterator[str]:
    for each in _alternatives(kind):
        yield from (name for types, name in _KINDS if isinstance(each, types))


@cache
def names_of(row: Any) -> tuple[str, ...]:
    """The fields that a row of a list is called by; none where only its place tells it."""
    fields = {field.name for field in msgspec.structs.fields(row)}
    compound = next((names for names in _COMPOUND if fields.issuperset(names)), ())
    if compound and "name" not in fields and "per_hour" not in fields:
        return compound
    if "device" in fields:
        return ("device",)
    return next(((name,) for name in (*_NAMES, *_NUMBERS, *_LAST) if name in fields), ())


def is_numbered(row: Any) -> bool:
    """Whether rows are called by a number of theirs, so that a number is never their place."""
    return names_of(row)[:1] in {(name,) for name in _NUMBERS}


def known() -> tuple[str, ...]:
    """The paths that there are, with <name> where a row or a key stands."""
    return tuple(path for path, _ in listed())


@cache
def listed() -> tuple[tuple[str, frozenset[str]], ...]:
    """Every path that there is and what stands there. Boxes in boxes are listed once."""
    return tuple(dict(_walked(_root(), "", ())).items())


def _walked(kind: Any, path: str, inside: tuple[type, ...]) -> Iterator[tuple[str, frozenset[str]]]:
    if path:
        yield path, frozenset(_kinds(kind))
    for each in _alternatives(kind):
        if isinstance(each, inspect.StructType) and each.cls not in inside and len(inside) < _DEEPEST:
            for field in each.fields:
                yield from _walked(field.type, f"{path}.{field.encode_name}".lstrip("."), (*inside, each.cls))
        elif isinstance(each, inspect.DictType):
            yield from _walked(each.value_type, f"{path}.<name>", inside)
        elif isinstance(each, inspect.VarTupleType):
            yield from _walked(each.item_type, f"{path}.<{_called(each.item_type)}>", inside)
        elif isinstance(each, inspect.TupleType):
            yield from _walked(each.item_types[0], f"{path}.<place>", inside)


def _called(kind: Any) -> str:
    names = names_of(kind.cls) if isinstance(kind, inspect.StructType) else ()
    return ".".join(names) or "place"
