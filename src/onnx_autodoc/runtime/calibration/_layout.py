"""Where onnxruntime turns values around: into blocks of channels and back, into single precision and back.

Convolutions of pictures are computed in blocks of 8 or 16 channels. What can go on in blocks does; before and after all
else the whole value is written anew in the other order.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ops import Known, paces
from onnx_autodoc.runtime.calibration._level import Level, dims_of, elements

BLOCK: Final = 8  # channels
SILU: Final = "silu"
GELU: Final = "gelu"
_PICTURE: Final = 4  # dimensions
_DEPTH: Final = 6  # how far back it is asked whether a value is in blocks
_HALF: Final = "float16"
_FLOATS: Final = ("float32", _HALF)

Turned = tuple[Known, int]  # a value that is written anew, and how often


def is_blocked(level: Level, at: int) -> bool:
    """Whether a convolution is computed in blocks: of pictures, with enough channels, all groups or one."""
    step = level.rows[at].step
    if level.op(at) not in paces.CONVOLUTIONS or level.word.get(at) or len(step.inputs) <= 1:
        return False
    data, weight = step.inputs[0], dims_of(step.inputs[1])
    if data is None or data.dtype not in _FLOATS or weight is None or len(weight) != _PICTURE:
        return False
    if weight[0] < BLOCK or level.inputs(at)[1] in level.maker:
        return False
    group = groups(level, at)
    if group == 1 or (weight[1] == 1 and weight[0] == group):
        return True
    return weight[1] % BLOCK == 0 and (weight[0] // group) % BLOCK == 0


def groups(level: Level, at: int) -> int:
    group = level.rows[at].step.node.attributes.get("group", 1)
    return group if isinstance(group, int) and group > 0 else 1


def reads_plain(level: Level, at: int) -> bool:
    """A convolution of a picture's few channels takes them as they are."""
    weight = dims_of(level.rows[at].step.inputs[1]) or (0, 0)
    return weight[1] < BLOCK and groups(level, at) == 1


def stays_blocked(level: Level, name: str, depth: int = 0) -> bool:
    """Whether a value will be in blocks, asked before that is settled."""
    at = level.kernel_of(name)
    if at is None or depth > _DEPTH:
        return False
    if level.op(at) in paces.CONVOLUTIONS and not level.word.get(at):
        return is_blocked(level, at)
    return _can_go_on(level, at) and all(stays_blocked(level, one, depth + 1) for one in _data(level, at))


def _data(level: Level, at: int) -> list[str]:
    """What a kernel reads from outside, but for constants."""
    parts = level.parts(at)
    names = dict.fromkeys(name for part in parts for name in level.inputs(part) if name in level.maker)
    found = [name for name in names if level.maker[name] not in parts]
    return found or [""]


def _can_go_on(level: Level, at: int) -> bool:
    """Whether a kernel works on blocks if its data are in blocks."""
    step, op = level.rows[at].step, level.op(at)
    if level.word.get(at):
        return level.word[at] in (SILU, GELU)
    shapes = [dims_of(known) for _, known in level.pairs(at)]
    if op in paces.BLOCKED_BINARY:
        return len(shapes) > 1 and len(set(shapes)) == 1
    if op == paces.CONCAT:
        return step.node.attributes.get("axis") == 1 and all(dims and dims[1] % BLOCK == 0 for dims in shapes)
    if op in paces.RESIZES:
        return step.node.attributes.get("mode", "nearest") == "nearest"
    return op in paces.BLOCKED_UNARY or op in paces.BLOCKED_POOLS


def reordered(level: Level) -> Iterator[Turned]:
    """The values that are written anew, into blocks or out of them; notes which are in blocks."""
    into: dict[str, Turned] = {}
    out: dict[str, None] = {}
    for at in level.kernels():
        if is_blocked(level, at):
            _enter(level, at, into, out)
            level.blocked.add(level.made(at))
        elif _can_go_on(level, at) and all(name in level.blocked for name in _data(level, at)):
            level.blocked.add(level.made(at))
        else:
            out.update(dict.fromkeys(name for name in _data(level, at) if name in level.blocked))
    out.update(dict.fromkeys(name for name in level.leaving if name in level.blocked))
    yield from into.values()
    for name in out:
        at = level.maker[name]
        known = level.known(at, name)
        if known is not None:
            yield known, level.rows[at].times


def _enter(level: Level, at: int, into: dict[str, Turned], out: dict[str, None]) -> None:
    """What a convolution in blocks reads: its data, and what is added to its result."""
    times, first = level.rows[at].times, level.inputs(at)[0]
    known = level.rows[at].step.inputs[0]
    if reads_plain(level, at):
        out.update(dict.fromkeys([first] if first in level.blocked else []))
    elif first not in level.blocked and known is not None:
        into[first] = known, times
    size = elements(level.rows[at].step.outputs[0])
    for part in level.joined.get(at, ()):
        for name, other in level.pairs(part):
            outside = name in level.maker and level.kernel_of(name) != at
            later = name in level.blocked or stays_blocked(level, name)  # a convolution further down the file
            if outside and not later and elements(other) == size:
                into[name] = other, times


def widened(level: Level) -> Iterator[Turned]:
    """Casts around what has no kernel for half precision: each value once in each direction."""
    done: set[tuple[str, bool]] = set()
    for at in level.kernels():
        native = level.op(at) in paces.HALF
        for part in level.parts(at):
            for name, known in level.pairs(part):
                if known.dtype != _HALF or level.fixed(part, name) or level.kernel_of(name) == at:
                    continue
                maker = level.kernel_of(name)
                from_native = maker is None or level.op(maker) in paces.HALF
                if from_native != native and (name, native) not in done:
                    done.add((name, native))
                    yield known, level.rows[at].times
    for name in sorted(level.leaving):
        at_end = level.kernel_of(name)
        last = level.known(level.maker[name], name) if at_end is not None else None
        if at_end is not None and last is not None and last.dtype == _HALF and level.op(at_end) not in paces.HALF:
            yield last, level.rows[at_end].times
