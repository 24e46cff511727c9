"""Bind every dynamic dimension of a model to a size: the requested one, or a default that the card states."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import Model
from onnx_autodoc.ops import Array
from onnx_autodoc.shapes.dynamic_axes import Axis, DynamicAxis, Role, branch_flags, dynamic_axes
from onnx_autodoc.shapes.request import Request, requested_sizes, requested_values

_INTEGER: Final = re.compile("[0-9]{1,18}")
_SEQUENCE_LENGTH: Final = 128
_DEFAULTS: Final = {
    Role.BATCH: 1,
    Role.SEQUENCE: _SEQUENCE_LENGTH,
    Role.CONTEXT: _SEQUENCE_LENGTH,
    Role.PAST: _SEQUENCE_LENGTH,
    Role.TOTAL: _SEQUENCE_LENGTH,
    Role.HEIGHT: 224,
    Role.WIDTH: 224,
    Role.SAMPLES: 16_000,
}
# One new token over a cache, so that the context is as long as a sequence without one.
_DECODE_DEFAULTS: Final = _DEFAULTS | {Role.SEQUENCE: 1, Role.PAST: _SEQUENCE_LENGTH - 1}


class Binding(Struct, frozen=True):
    sizes: Mapping[str, int] = {}  # by name, or by INPUT.AXIS where the file declares none
    axes: Mapping[Axis, int] = {}  # every dynamic axis that has a size
    values: Mapping[str, Array] = {}
    chosen: Mapping[str, int] = {}  # every dynamic dimension that has a size, by its name on the card
    defaults: Mapping[str, Role] = {}  # the sizes that were not requested, and the roles that they were chosen for
    determined: frozenset[str] = frozenset()  # of the defaults, those that the graph itself determines


def bind(
    model: Model,
    request: Request,
    role_sizes: Mapping[Role, int] | None = None,
    axes: Sequence[DynamicAxis] | None = None,
) -> Binding:
    """Bind every dynamic dimension that was requested or has a default; `role_sizes` override the defaults.

    `axes` are the model's dynamic axes, for callers that bind often.
    """
    axes = dynamic_axes(model) if axes is None else axes
    requested, single = requested_sizes(model, request, axes)
    has_past = any(item.role is Role.PAST for item in axes)
    role_defaults = {**(_DECODE_DEFAULTS if has_past else _DEFAULTS), **(role_sizes or {})}
    sizes, defaults = dict(requested), dict[str, Role]()
    for item in axes:
        if item.key not in sizes and item.place not in single and item.role in role_defaults:
            sizes[item.key] = role_defaults[item.role]
            defaults[item.key] = item.role
    _bind_sums(sizes, defaults, axes)
    bound = {item.place: sizes[item.key] for item in axes if item.key in sizes} | single
    chosen = {item.key: bound[item.place] for item in axes if item.place in bound}
    past = {item.value.name for item in axes if item.role is Role.PAST and bound.get(item.place)}
    values = {**branch_flags(model, past), **requested_values(model, request)}
    return Binding(sizes, bound, values, chosen, defaults)


def _bind_sums(sizes: dict[str, int], defaults: dict[str, Role], axes: Sequence[DynamicAxis]) -> None:
    """Bind dimensions named like "past_sequence_length + 1" to that sum, and totals to past plus new tokens."""
    first_keys = {item.role: item.key for item in reversed(axes)}
    total = [first_keys[role] for role in (Role.PAST, Role.SEQUENCE) if role in first_keys]
    for item in axes:
        if item.key in sizes and item.key not in defaults:
            continue
        terms = [term.strip() for term in item.key.split("+")] if "+" in item.key else []
        if not terms and item.role is Role.TOTAL and Role.SEQUENCE in first_keys:
            terms = total
        parts = [int(term) if _INTEGER.fullmatch(term) else sizes.get(term) for term in terms]
        if parts and all(part is not None for part in parts):
            sizes[item.key] = sum(part for part in parts if part is not None)
            defaults[item.key] = item.role
