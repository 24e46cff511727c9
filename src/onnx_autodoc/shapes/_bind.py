"""Giving every open dimension of a model a size: the user's, or a default that is said on the card."""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import Struct

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import Model, Value
from onnx_autodoc.ops import Array, dims_text, numpy_dtype
from onnx_autodoc.shapes._branch_inputs import switches
from onnx_autodoc.shapes._roles import Role, dim_name, role_of
from onnx_autodoc.text import told

_SIZE: Final = re.compile("[0-9]{1,18}")  # below 2^63, as sizes are
_SEQUENCE: Final = 128
# One new token over a cache, so that the context is as long as a plain sequence would be.
_DEFAULTS: Final = {
    Role.BATCH: 1,
    Role.SEQUENCE: _SEQUENCE,
    Role.CONTEXT: _SEQUENCE,
    Role.HEIGHT: 224,
    Role.WIDTH: 224,
    Role.SAMPLES: 16_000,
}
_CACHED: Final = {Role.SEQUENCE: 1, Role.PAST: _SEQUENCE - 1, Role.TOTAL: _SEQUENCE}


class Request(Struct, frozen=True):
    """What the user asked for, as given: `NAME=N` and `INPUT.AXIS=N` in dims, `INPUT=V` in values."""

    dims: tuple[str, ...] = ()
    batch: int | None = None
    seq: int | None = None
    size: tuple[int, int] | None = None
    values: tuple[str, ...] = ()


class Open(Struct, frozen=True):
    """One open axis of an input."""

    value: Value
    axis: int
    name: str | None
    role: Role

    @property
    def key(self) -> str:
        """What the card and --dim call it."""
        return self.name or f"{self.value.name}.{self.axis}"


class Binding(Struct, frozen=True):
    sizes: Mapping[str, int]  # by name, or by INPUT.AXIS where the file gives none
    axes: Mapping[tuple[str, int], int]  # every open axis that has a size
    values: Mapping[str, Array]
    chosen: Mapping[str, int]  # every open dimension that has a size, as the card calls it
    defaults: Mapping[str, Role]  # the sizes that the user did not choose, and what they were taken for
    told: frozenset[str] = frozenset()  # of these, the sizes that the graph itself tells


def inputs_of(model: Model) -> list[Value]:
    """The inputs a caller must give: an initializer of the same name is a default, not an input."""
    held = {tensor.name for tensor in model.graph.initializers}
    return [value for value in model.graph.inputs if value.name not in held]


def open_axes(model: Model) -> list[Open]:
    """The open axes of all inputs. Axes of one name have one role: where places suggest two, the more telling one."""
    found = list(_open_axes(model))
    first: dict[str, Open] = {}
    for item in found:
        if item.key not in first or (_is_weak(first[item.key]) and not _is_weak(item)):
            first[item.key] = item
    return [msgspec.structs.replace(item, role=first[item.key].role) for item in found]


def _is_weak(item: Open) -> bool:
    """A mask may be as long as the past or not, and the only dimension of a list need not be a batch."""
    alone = item.value.type is not None and len(item.value.type.dims or ()) == 1
    return item.role in (Role.TOTAL, Role.OTHER) or (item.role is Role.BATCH and alone)


def _open_axes(model: Model) -> Iterator[Open]:
    for value in inputs_of(model):
        for axis, dim in enumerate((value.type.dims if value.type else None) or ()):
            role = role_of(value, axis)
            if not is_fixed(dim, role):
                yield Open(value, axis, dim_name(dim), role)


def is_fixed(dim: int | str | None, role: Role) -> bool:
    """Some exporters write an open size as 0; only a cache may really begin empty."""
    return isinstance(dim, int) and (dim > 0 or role is Role.PAST)


def bind(model: Model, request: Request, usual: Mapping[Role, int] | None = None) -> Binding:
    """A size for every open dimension that the user gave or that has a default; `usual` overrides the defaults."""
    found = open_axes(model)
    chosen, single = _chosen(model, request, found)
    cached = any(item.role is Role.PAST for item in found)
    defaults = {**_DEFAULTS, **_CACHED} if cached else {**_DEFAULTS, Role.TOTAL: _SEQUENCE, Role.PAST: _SEQUENCE}
    defaults |= usual or {}
    sizes, taken = dict(chosen), dict[str, Role]()
    for item in found:
        if item.key not in sizes and (item.value.name, item.axis) not in single and item.role in defaults:
            sizes[item.key] = defaults[item.role]
            taken[item.key] = item.role
    _sum_names(sizes, taken, found)
    axes = {(item.value.name, item.axis): sizes[item.key] for item in found if item.key in sizes} | single
    chosen = {item.key: axes[item.value.name, item.axis] for item in found if (item.value.name, item.axis) in axes}
    past = {item.value.name for item in found if item.role is Role.PAST and axes.get((item.value.name, item.axis))}
    values = {**switches(model, inputs_of(model), past), **_values(model, request)}
    return Binding(sizes, axes, values, chosen, taken)


def _sum_names(sizes: dict[str, int], taken: dict[str, Role], found: list[Open]) -> None:
    """A dimension called "past_sequence_length + 1" is that sum; a total is the past and what is new."""
    total = _total_terms(found)
    for item in found:
        if item.key in sizes and item.key not in taken:
            continue
        terms = _terms(item.key) or (total if item.role is Role.TOTAL else [])
        parts = [int(term) if _SIZE.fullmatch(term) else sizes.get(term) for term in terms]
        if parts and all(part is not None for part in parts):
            sizes[item.key] = sum(part for part in parts if part is not None)
            taken[item.key] = item.role


def _terms(name: str) -> list[str]:
    return [term.strip() for term in name.split("+")] if "+" in name else []


def _total_terms(found: list[Open]) -> list[str]:
    """The new tokens and those before them; without a cache, only the new ones."""
    firsts = {item.role: item.key for item in reversed(found)}
    if Role.SEQUENCE not in firsts:
        return []
    return [firsts[role] for role in (Role.PAST, Role.SEQUENCE) if role in firsts]


def _chosen(model: Model, request: Request, found: list[Open]) -> tuple[dict[str, int], dict[tuple[str, int], int]]:
    """The user's sizes, by name and for single axes."""
    sizes: dict[str, int] = {}
    single: dict[tuple[str, int], int] = {}
    by_role = {Role.BATCH: request.batch, Role.SEQUENCE: request.seq}
    if request.size:
        by_role |= {Role.HEIGHT: request.size[0], Role.WIDTH: request.size[1]}
    for role, size in by_role.items():
        if size is not None:
            sizes |= dict.fromkeys(_with_role(model, found, role, size), size)
    named: dict[str, int] = {}
    known = _Names(model, found)
    for text in request.dims:
        _choose(known, text, named, single)
    return {**sizes, **_shared(found, single), **named}, single


def _shared(found: list[Open], single: Mapping[tuple[str, int], int]) -> dict[str, int]:
    """A size given for one axis holds for all axes of the same name."""
    pairs = ((item.name, single.get((item.value.name, item.axis))) for item in found)
    return {name: size for name, size in pairs if name and size is not None}


class _Names:
    """What --dim may name: a formula asks for every open dimension again and again, and a file may have thousands."""

    def __init__(self, model: Model, found: list[Open]) -> None:
        self.path, self.keys = model.path, dict.fromkeys(item.key for item in found)
        self.names = {item.name for item in found}
        self.inputs = {value.name: value for value in reversed(inputs_of(model))}


def _choose(known: _Names, text: str, named: dict[str, int], single: dict[tuple[str, int], int]) -> None:
    key, number = _parsed(text, "--dim", "NAME=N or INPUT.AXIS=N")
    key = key if key in known.keys else key.strip()  # a name may end in a space
    if key in known.names:
        named[key] = number
        return
    name, _, axis = key.rpartition(".")
    value = known.inputs.get(name)
    if value is None or not _SIZE.fullmatch(axis):
        raise BadInput(f"--dim {text}: {known.path} has no open dimension {key!r}{_near(key, list(known.keys))}")
    dims = value.type.dims if value.type else None
    if dims is not None and int(axis) >= len(dims):
        raise BadInput(f"--dim {text}: the input {name!r} has {len(dims)} dimensions, they count from 0")
    fixed = dims[int(axis)] if dims is not None else None
    if isinstance(fixed, int) and fixed != number and is_fixed(fixed, role_of(value, int(axis))):
        raise BadInput(f"--dim {text}: the file fixes dimension {axis} of {name!r} at {fixed}")
    single[name, int(axis)] = number


def _parsed(text: str, option: str, form: str) -> tuple[str, int]:
    key, _, number = text.rpartition("=")
    if not key or not _SIZE.fullmatch(number.strip()):
        raise BadInput(f"{option} {text}: give it as {form}, N a whole number")
    return key, int(number)


def _near(word: str, words: list[str]) -> str:
    names = list(dict.fromkeys(words))
    close = difflib.get_close_matches(word, names, 3, 0.4) or names[:5]
    return f" (there is {', '.join(map(told, close))})" if close else " (all its dimensions are fixed)"


def _with_role(model: Model, found: list[Open], role: Role, size: int) -> list[str]:
    """The open dimensions that an option like --batch sets; it must set one, or say what the file fixes."""
    keys = [item.key for item in found if item.role is role]
    if role is Role.SEQUENCE and not (keys and any(item.role is Role.PAST for item in found)):
        keys += [item.key for item in found if item.role is Role.CONTEXT]
    option = {Role.BATCH: "--batch", Role.SEQUENCE: "--seq"}.get(role, "--size")
    if keys or _already(model, role, size):
        return keys
    inputs = "; ".join(f"{told(value.name)} is {_declared(value)}" for value in inputs_of(model)[:3])
    raise BadInput(f"{option} {size}: {model.path} has no open {role.value} dimension: {inputs}")


def _declared(value: Value) -> str:
    dims = value.type.dims if value.type else None
    return "of unknown shape" if dims is None else dims_text(dims)


def _already(model: Model, role: Role, size: int) -> bool:
    """The file fixes this size as asked: nothing to set, and nothing wrong."""
    for value in inputs_of(model):
        dims = (value.type.dims if value.type else None) or ()
        at = {Role.BATCH: 0, Role.SEQUENCE: 1, Role.HEIGHT: len(dims) - 2, Role.WIDTH: len(dims) - 1}[role]
        wide = role in (Role.BATCH, Role.SEQUENCE) or len(dims) == 4
        if wide and 0 <= at < len(dims) and dims[at] == size:
            return True
    return False


def _values(model: Model, request: Request) -> dict[str, Array]:
    known = {value.name: value for value in inputs_of(model)}
    values: dict[str, Array] = {}
    for text in request.values:
        name, _, number = text.rpartition("=")
        if name not in known:
            raise BadInput(f"--value {text}: {model.path} has no input {name!r}{_near(name, list(known))}")
        values[name] = _value(known[name], text, number.strip())
    return values


def _value(value: Value, text: str, number: str) -> Array:
    kind = numpy_dtype(value.type.dtype) if value.type else None
    dims = (value.type.dims if value.type else None) or ()
    if kind is None or any(isinstance(dim, int) and dim != 1 for dim in dims):
        raise BadInput(f"--value {text}: only a single number can be given, {value.name!r} holds more")
    number = {"true": "1", "false": "0"}.get(number.lower(), number)
    item = _item(number, kind)
    if item is None:
        raise BadInput(f"--value {text}: {number!r} is no number for an input of {value.type and value.type.dtype}")
    return item.reshape((1,) * len(dims))


def _item(number: str, kind: "np.dtype[Any]") -> Array | None:
    """None where it is no number, or none that the type can hold."""
    try:
        given = float(number) if kind.kind == "f" else int(number)
        with np.errstate(over="ignore"):
            item = np.array(given).astype(kind)
    except (ValueError, OverflowError):
        return None
    return item if np.isfinite(item) and (kind.kind == "f" or int(item) == given) else None
