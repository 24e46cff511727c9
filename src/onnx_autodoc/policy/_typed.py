"""A table of a policy as one of its types, and what is wrong with it in words that name the place."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")


class Wrong(Exception):
    """What is wrong with a policy, without the name of its file."""


def typed(value: Any, kind: type[_T], where: str) -> _T:
    only(value, kind, f"{where}: ")
    empty = [name for name in value if value[name] is None]
    if empty:
        raise Wrong(f"{where}: {empty[0]} has no value")
    try:
        found = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        what, _, at = str(error).partition(" - at `$")
        said = f"{what[:1].lower()}{what[1:]}".replace(" | null`", "`")
        raise Wrong(f"{where}{at.rstrip('`')}: {said}") from None
    endless = [name for name in value if not _is_finite(value[name])]
    if endless:
        raise Wrong(f"{where}: {endless[0]} is no number that anything can be held against")
    return found


def _is_finite(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def fields_of(kind: type) -> tuple[str, ...]:
    return tuple(field.encode_name for field in msgspec.structs.fields(kind))


def only(value: Any, kind: type, where: str) -> None:
    """Whether a table has only keys that mean something."""
    fields = fields_of(kind)
    if not isinstance(value, Mapping):
        raise Wrong(f"{where.rstrip(': ')} is a table, such as {{ {fields[0]} = 1 }}")
    for key in value:
        if key not in fields:
            raise Wrong(f"{where}there is no key {key!r}{near(str(key), fields, 'there are ' + ', '.join(fields))}")


def near(name: str, every: Iterable[str], otherwise: str, alike: float = 0.6) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, list(every), 3, alike)
    return f"; near it: {', '.join(found)}" if found else f"; {otherwise}"
