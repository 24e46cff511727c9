"""The dynamic axes of a model's inputs, their roles (batch, sequence, height of an image), and branch flags.

Roles are only used to choose a default size, which the card then states. The name of a dimension comes first; the
input's type, rank and fixed dims decide if no pattern matches the name.
"""

import enum
import re
from collections.abc import Collection
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.ir import Model, Value, is_float, is_integer
from onnx_autodoc.ops import Array, Trait, has_trait

Axis = tuple[str, int]  # an input's name, and which of its dimensions


class Role(enum.Enum):
    BATCH = "batch"
    SEQUENCE = "sequence"
    CONTEXT = "context"  # the input of an encoder: complete, however few tokens are new
    PAST = "past"
    TOTAL = "total"
    HEIGHT = "height"
    WIDTH = "width"
    SAMPLES = "samples"
    OTHER = "other"


# The first pattern that matches the name of a dimension decides.
_ROLE_PATTERNS: Final = (
    (re.compile(r"total|past.*\+|\+.*past"), Role.TOTAL),
    (re.compile(r"encoder.*(seq|len)|source_(seq|len)|src_(seq|len)"), Role.CONTEXT),
    (re.compile(r"past|cache_len"), Role.PAST),
    (re.compile(r"batch|^n$|^b$|^bs$"), Role.BATCH),
    (re.compile(r"height|(^|_)h$"), Role.HEIGHT),
    (re.compile(r"width|(^|_)w$"), Role.WIDTH),
    (re.compile(r"sample"), Role.SAMPLES),
    (re.compile(r"seq|len|token|frame|time|^s$|^t$"), Role.SEQUENCE),
)
_AUDIO: Final = re.compile(r"wav|audio|speech|signal|input_values|pcm")
_CACHE: Final = re.compile(r"past|cache")
_MASK: Final = re.compile(r"att\w*_(mask|bias)")
_BATCH_ONLY_ON_AXIS_0: Final = "n"  # on other axes it names any number
_MAX_MATCHED_CHARS: Final = 200  # of a name: some patterns look back from each character
_ANONYMOUS: Final = frozenset(("", "?", "None", "-1"))


class DynamicAxis(Struct, frozen=True):
    value: Value
    axis: int
    name: str | None
    role: Role

    @property
    def key(self) -> str:
        """Its name on the card and in --dim."""
        return self.name or f"{self.value.name}.{self.axis}"

    @property
    def place(self) -> Axis:
        return self.value.name, self.axis


def required_inputs(model: Model) -> list[Value]:
    """Return the inputs without a default: an initializer of the same name is one."""
    defaults = {tensor.name for tensor in model.graph.initializers}
    return [value for value in model.graph.inputs if value.name not in defaults]


def declared_dims(value: Value) -> tuple[int | str | None, ...] | None:
    return value.type.dims if value.type else None


def dynamic_axes(model: Model) -> tuple[DynamicAxis, ...]:
    """Return the dynamic axes of all inputs. Axes of one name have one role, that of the most reliable place.

    They are found once and kept with the model, as a cached property is: a model may have 100,000 inputs.
    """
    cached: tuple[DynamicAxis, ...] | None = vars(model).get("dynamic_axes")
    if cached is None:
        cached = vars(model)["dynamic_axes"] = tuple(_find_dynamic_axes(model))
    return cached


def _find_dynamic_axes(model: Model) -> list[DynamicAxis]:
    axes = []
    for value in required_inputs(model):
        for axis, dim in enumerate(declared_dims(value) or ()):
            if isinstance(dim, int) and dim > 0:
                continue
            role = role_of(value, axis)
            if not is_fixed(dim, role):
                # "?" is no name: two of them need not be equal
                name = dim if isinstance(dim, str) and dim not in _ANONYMOUS else None
                axes.append(DynamicAxis(value, axis, name, role))
    first: dict[str, DynamicAxis] = {}
    for item in axes:
        if item.key not in first or (_is_unreliable(first[item.key]) and not _is_unreliable(item)):
            first[item.key] = item
    return [item if item.role is (role := first[item.key].role) else replace(item, role=role) for item in axes]


def _is_unreliable(item: DynamicAxis) -> bool:
    """Whether its place decides little: a mask may cover the past or not, the only axis of a list may be no batch."""
    is_only = len(declared_dims(item.value) or ()) == 1
    return item.role in (Role.TOTAL, Role.OTHER) or (item.role is Role.BATCH and is_only)


def is_fixed(dim: int | str | None, role: Role) -> bool:
    """Whether a declared dimension has a size. Some exporters write 0 for a dynamic one; only a cache may be empty."""
    return isinstance(dim, int) and (dim > 0 or role is Role.PAST)


def role_of(value: Value, axis: int) -> Role:
    """Return the role of a dynamic axis of an input."""
    assert value.type is not None and value.type.dims is not None
    dim = value.type.dims[axis]
    if isinstance(dim, str) and dim not in _ANONYMOUS:
        name = dim[:_MAX_MATCHED_CHARS].lower()
        for pattern, role in _ROLE_PATTERNS:
            if pattern.search(name) and not (axis and name == _BATCH_ONLY_ON_AXIS_0):
                return role
    return _role_by_place(value.name, value.type.dims, value.type.dtype, axis)


def _role_by_place(name: str, dims: tuple[int | str | None, ...], dtype: str | None, axis: int) -> Role:
    if axis == 0:
        return Role.BATCH
    if len(dims) > 4:
        return Role.OTHER
    name = name.lower()
    if len(dims) == 4:
        return _role_in_four(name, dims, axis)
    if len(dims) in (2, 3) and (is_integer(dtype) or dtype == "bool") and axis == 1:
        return _role_of_tokens(name)
    if len(dims) == 3 and is_float(dtype) and isinstance(dims[3 - axis], int):
        # [batch, time, features] or [batch, features, time]; a recurrent state is [layers, batch, features]
        is_state = axis == 1 and isinstance(dims[0], int) and dims[0] != 1
        return Role.BATCH if is_state else _role_of_tokens(name)
    if len(dims) == 2 and is_float(dtype) and _AUDIO.search(name):
        return Role.SAMPLES
    return Role.OTHER


def _role_of_tokens(name: str) -> Role:
    """Return the role of an axis of tokens: a mask covers the cached ones too; the output of an encoder is complete."""
    if "encoder" in name:
        return Role.CONTEXT
    return Role.TOTAL if "mask" in name else Role.SEQUENCE


def _role_in_four(name: str, dims: tuple[int | str | None, ...], axis: int) -> Role:
    """Return a role in a cache [batch, heads, past, size], a mask [batch, heads, new, total], or an image."""
    if _CACHE.search(name):
        past = Role.CONTEXT if "encoder" in name else Role.PAST
        return past if axis == 2 else Role.OTHER
    if _MASK.search(name):
        return {2: Role.SEQUENCE, 3: Role.TOTAL}.get(axis, Role.OTHER)
    is_channels_last = isinstance(dims[3], int) and dims[3] <= 4 and not (isinstance(dims[1], int) and dims[1] <= 4)
    return {1: Role.HEIGHT, 2: Role.WIDTH}.get(axis - (0 if is_channels_last else 1), Role.OTHER)


def branch_flags(model: Model, past: Collection[str]) -> dict[str, Array]:
    """Return boolean inputs that alone select between a branch that reads the past and one that does not.

    They are set so that the past is read: default sizes are those of a run over a past.
    """
    flags = {value.name: value for value in required_inputs(model) if value.type and value.type.dtype == "bool"}
    values: dict[str, Array] = {}
    for node in model.graph.nodes if flags else ():
        if not (node.has_subgraphs and node.is_op("If") and node.inputs):
            continue
        source = model.graph.index.trace_back(node.inputs[0], lambda node: has_trait(node, Trait.KEEPS_SCALAR))
        flag = flags.get(source)
        if flag is None:
            continue
        reads_past = {name: not graph.captures.isdisjoint(past) for name, graph in node.subgraphs()}
        dims = declared_dims(flag) or ()
        if len(set(reads_past.values())) == 2 and all(dim == 1 for dim in dims):
            values[flag.name] = np.full((1,) * len(dims), reads_past.get("then_branch", False))
    return values
