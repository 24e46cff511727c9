"""What an open dimension of an input probably is: the batch, a sequence, a picture's height.

Used only to choose a default size, which the card then states. Names of dimensions are hints that come first; the
input's type, rank and fixed dims decide where there is no telling name.
"""

import enum
import re
from typing import Final

from onnx_autodoc.ir import Value, is_float, is_integer


class Role(enum.Enum):
    BATCH = "batch"
    SEQUENCE = "sequence"
    CONTEXT = "context"  # what an encoder has read: all of it is there, however few tokens are new
    PAST = "past"
    TOTAL = "total"
    HEIGHT = "height"
    WIDTH = "width"
    SAMPLES = "samples"
    OTHER = "other"


# The first pattern that a dimension's name fits decides.
_NAMES: Final = (
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
_JUST_A_NUMBER: Final = frozenset(("n",))  # names the batch where it comes first, anything elsewhere
_LONGEST: Final = 200  # letters of a name that are looked at: some patterns look back from each of them
_ANONYMOUS: Final = frozenset(("", "?", "None", "-1"))


def dim_name(dim: int | str | None) -> str | None:
    """The name of an open dimension, or None for one without: "?" is no name, two of them need not be equal."""
    return dim if isinstance(dim, str) and dim not in _ANONYMOUS else None


def role_of(value: Value, axis: int) -> Role:
    """The role of one open axis of an input."""
    assert value.type is not None and value.type.dims is not None
    name = dim_name(value.type.dims[axis])
    if name:
        told = name[:_LONGEST].lower()
        for pattern, role in _NAMES:
            if pattern.search(told) and not (axis and told in _JUST_A_NUMBER):
                return role
    return _role_by_place(value, value.type.dims, value.type.dtype, axis)


def _role_by_place(value: Value, dims: tuple[int | str | None, ...], dtype: str | None, axis: int) -> Role:
    if axis == 0:
        return Role.BATCH
    if len(dims) == 4:
        return _role_in_four(value.name, dims, axis)
    if len(dims) in (2, 3) and (is_integer(dtype) or dtype == "bool") and axis == 1:
        return _role_of_tokens(value.name.lower())
    if len(dims) == 3 and is_float(dtype) and isinstance(dims[3 - axis], int):
        # [batch, time, features] or [batch, features, time]; a recurrent state is [layers, batch, features]
        state = axis == 1 and isinstance(dims[0], int) and dims[0] != 1
        return Role.BATCH if state else _role_of_tokens(value.name.lower())
    if len(dims) == 2 and is_float(dtype) and _AUDIO.search(value.name.lower()):
        return Role.SAMPLES
    return Role.OTHER


def _role_of_tokens(name: str) -> Role:
    """A mask covers the cached tokens too; what comes from an encoder is all there."""
    if "encoder" in name:
        return Role.CONTEXT
    return Role.TOTAL if "mask" in name else Role.SEQUENCE


def _role_in_four(name: str, dims: tuple[int | str | None, ...], axis: int) -> Role:
    """A cache [batch, heads, past, size], a mask [batch, heads, new, total], or a picture, channels first or last."""
    if _CACHE.search(name.lower()):
        past = Role.CONTEXT if "encoder" in name.lower() else Role.PAST
        return past if axis == 2 else Role.OTHER
    if _MASK.search(name.lower()):
        return {2: Role.SEQUENCE, 3: Role.TOTAL}.get(axis, Role.OTHER)
    last = isinstance(dims[3], int) and dims[3] <= 4 and not (isinstance(dims[1], int) and dims[1] <= 4)
    return {1: Role.HEIGHT, 2: Role.WIDTH}.get(axis - (0 if last else 1), Role.OTHER)
