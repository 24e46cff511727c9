"""Requested sizes of dynamic dimensions and values of inputs, checked against a model."""

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import Model, Value
from onnx_autodoc.ops import Array, format_dims, numpy_dtype
from onnx_autodoc.shapes.dynamic_axes import Axis, DynamicAxis, Role, declared_dims, is_fixed, required_inputs, role_of
from onnx_autodoc.text import quote_name

_INTEGER: Final = re.compile("[0-9]{1,18}")  # below 2^63, like all sizes
_MAX_SIZE: Final = 10**18
_MAX_SUGGESTIONS: Final = 5
_DIM_FORM: Final = "use NAME=N or INPUT.AXIS=N with an integer N"


class Request(Struct, frozen=True):
    """Sizes and values that the user requests."""

    dims: Mapping[str, int] = {}  # by the dimension's name, or INPUT.AXIS
    batch: int | None = None
    seq: int | None = None
    size: tuple[int, int] | None = None  # height and width of images
    values: Mapping[str, str | float] = {}  # by input: a number, or its literal, which the input's dtype decides


def parse_request(
    dims: Iterable[str] = (),
    batch: int | None = None,
    seq: int | None = None,
    size: tuple[int, int] | None = None,
    values: Iterable[str] = (),
) -> Request:
    """Parse options of the command line: `NAME=N` and `INPUT.AXIS=N` in `dims`, `INPUT=V` in `values`."""
    sizes: dict[str, int] = {}
    for text in dims:
        key, _, number = text.rpartition("=")
        if not key or not _INTEGER.fullmatch(number.strip()):
            raise BadInput(f"--dim {text}: {_DIM_FORM}")
        sizes[key] = int(number)
    parts = (text.rpartition("=") for text in values)
    literals: dict[str, str | float] = {name: literal for name, _, literal in parts}
    return Request(sizes, batch, seq, size, literals)


def requested_sizes(
    model: Model, request: Request, axes: Sequence[DynamicAxis]
) -> tuple[dict[str, int], dict[Axis, int]]:
    """Return the requested sizes by name, and those of single axes."""
    sizes: dict[str, int] = {}
    by_role = {Role.BATCH: request.batch, Role.SEQUENCE: request.seq}
    if request.size:
        by_role |= {Role.HEIGHT: request.size[0], Role.WIDTH: request.size[1]}
    for role, size in by_role.items():
        if size is not None:
            sizes |= dict.fromkeys(_keys_of_role(model, axes, role, size), size)
    named, single = _named_sizes(model, request, axes) if request.dims else ({}, {})
    shared = ((item.name, single.get(item.place)) for item in axes)
    sizes |= {name: size for name, size in shared if name and size is not None}  # all axes of one name have one size
    return {**sizes, **named}, single


def _named_sizes(model: Model, request: Request, axes: Sequence[DynamicAxis]) -> tuple[dict[str, int], dict[Axis, int]]:
    named: dict[str, int] = {}
    single: dict[Axis, int] = {}
    keys, names = dict.fromkeys(item.key for item in axes), {item.name for item in axes}
    inputs = {value.name: value for value in reversed(required_inputs(model))}
    for requested, number in request.dims.items():
        option = f"--dim {requested}={number}"
        size = _check_size(number, option)
        key = requested if requested in keys else requested.strip()  # a name may end in a space
        if key in names:
            named[key] = size
            continue
        name, _, axis = key.rpartition(".")
        value = inputs.get(name)
        if value is None or not _INTEGER.fullmatch(axis):
            raise BadInput(f"{option}: {model.path} has no dynamic dimension {key!r}{_suggest(key, keys)}")
        _check_axis(value, int(axis), size, option)
        single[name, int(axis)] = size
    return named, single


def _check_size(number: int, option: str) -> int:
    try:
        size = operator.index(number)
    except TypeError:
        size = -1
    if not 0 <= size < _MAX_SIZE:
        raise BadInput(f"{option}: {_DIM_FORM}")
    return size


def _check_axis(value: Value, axis: int, size: int, option: str) -> None:
    dims = declared_dims(value)
    if dims is None:
        return
    if axis >= len(dims):
        raise BadInput(
            f"{option}: axis {axis} is out of range, input {value.name!r} has rank {len(dims)} and axes count from 0"
        )
    fixed = dims[axis]
    if isinstance(fixed, int) and fixed != size and is_fixed(fixed, role_of(value, axis)):
        raise BadInput(f"{option}: dimension {axis} of input {value.name!r} is fixed at {fixed}")


def _suggest(word: str, names: Iterable[str]) -> str:
    import difflib  # only for errors

    names = list(dict.fromkeys(names))
    close = difflib.get_close_matches(word, names, 3, 0.4) or names[:_MAX_SUGGESTIONS]
    return f" (available: {', '.join(map(quote_name, close))})" if close else " (all its dimensions are fixed)"


def _keys_of_role(model: Model, axes: Sequence[DynamicAxis], role: Role, size: int) -> list[str]:
    """Return the dimensions that an option like --batch sets; raise if there are none and the file fixes another."""
    keys = [item.key for item in axes if item.role is role]
    if role is Role.SEQUENCE and not (keys and any(item.role is Role.PAST for item in axes)):
        keys += [item.key for item in axes if item.role is Role.CONTEXT]
    inputs = required_inputs(model)
    if keys or any(_fixes_role(value, role, size) for value in inputs):
        return keys
    option = {Role.BATCH: "--batch", Role.SEQUENCE: "--seq"}.get(role, "--size")
    first = ((value, declared_dims(value)) for value in inputs[:3])
    declared = "; ".join(
        f"{quote_name(value.name)} has {'an unknown shape' if dims is None else f'shape {format_dims(dims)}'}"
        for value, dims in first
    )
    raise BadInput(f"{option} {size}: {model.path} has no dynamic {role.value} dimension: {declared}")


def _fixes_role(value: Value, role: Role, size: int) -> bool:
    """Whether the file fixes a dimension of this role at the requested size."""
    dims = declared_dims(value) or ()
    if role in (Role.HEIGHT, Role.WIDTH) and len(dims) != 4:
        return False
    at = {Role.BATCH: 0, Role.SEQUENCE: 1, Role.HEIGHT: 2, Role.WIDTH: 3}[role]
    return at < len(dims) and dims[at] == size


def requested_values(model: Model, request: Request) -> dict[str, Array]:
    inputs = {value.name: value for value in required_inputs(model)}
    values: dict[str, Array] = {}
    for name, literal in request.values.items():
        option = f"--value {name}={literal}"
        if name not in inputs:
            raise BadInput(f"{option}: {model.path} has no input {name!r}{_suggest(name, inputs)}")
        values[name] = _scalar_value(inputs[name], str(literal).strip(), option)
    return values


def _scalar_value(value: Value, literal: str, option: str) -> Array:
    dtype = numpy_dtype(value.type.dtype) if value.type else None
    dims = declared_dims(value) or ()
    if dtype is None or any(isinstance(dim, int) and dim != 1 for dim in dims):
        raise BadInput(f"{option}: input {value.name!r} does not hold exactly one number")
    literal = {"true": "1", "false": "0"}.get(literal.lower(), literal)
    scalar = _parse_scalar(literal, dtype)
    if scalar is None:
        raise BadInput(f"{option}: {literal!r} is not a number of type {value.type and value.type.dtype}")
    return scalar.reshape((1,) * len(dims))


def _parse_scalar(literal: str, dtype: "np.dtype[Any]") -> Array | None:
    """Return None for a literal that is no number, or none that the type can store."""
    try:
        number = float(literal) if dtype.kind == "f" else int(literal)
        with np.errstate(over="ignore"):
            scalar = np.array(number).astype(dtype)
    except (ValueError, OverflowError):
        return None
    return scalar if np.isfinite(scalar) and (dtype.kind == "f" or int(scalar) == number) else None
