"""What onnxruntime joins on a CPU: the rules are those that its optimised graphs show."""

from collections.abc import Iterable
from typing import Final

from onnx_autodoc.ops import WorkClass, paces, work_class
from onnx_autodoc.runtime.calibration._layout import GELU, SILU, is_blocked, stays_blocked
from onnx_autodoc.runtime.calibration._level import Level, dims_of, elements

Group = tuple[str, tuple[int, ...]]  # a block's word, and the rows that it is made of
ON_INTEGERS: Final = "integer"
PACKED: Final = "packed"
_FLOATS: Final = ("float32", "float16")
_PACKED: Final = ("int4", "uint4")
_MATRIX: Final = 2


def fuse(level: Level, groups: Iterable[Group]) -> None:
    _blocks(level, groups)
    for at in level.kernels():
        if at not in level.gone and at not in level.word and level.op(at) in paces.QUANTIZABLE:
            _quantized(level, at)
    _taken_weights(level)
    for at in level.kernels():
        if at not in level.gone and at not in level.word:
            _after(level, at)


def _after(level: Level, at: int) -> None:
    """What comes after a convolution or a product, in it."""
    op = level.op(at)
    if op in paces.CONVOLUTIONS or op in paces.TRANSPOSED:
        _convolution(level, at)
    elif op == paces.MATMUL:
        _matmul(level, at)
    elif op == paces.GEMM:
        _activation(level, at, paces.AFTER_GEMM)
    elif op == paces.DYNAMIC_PRODUCT:
        _dynamic(level, at)
    elif op in paces.PACKED_PRODUCTS:
        _bias(level, at)


def _blocks(level: Level, groups: Iterable[Group]) -> None:
    """Norms and activations that are written out."""
    for word, rows in groups:
        here = [at for at in rows if at in level.rows and at not in level.gone]
        if not here or not _is_fused(level, word, here):
            continue
        last = max(here)
        _skip(level, last, here)
        for at in here:
            if at != last:
                level.join(at, last)
        level.word[last] = word


def _is_fused(level: Level, word: str, rows: list[int]) -> bool:
    """Whether onnxruntime knows the spelling, and nobody else reads what is inside."""
    inner = [name for at in rows[:-1] if at != max(rows) for name in level.rows[at].step.node.outputs]
    if any(reader not in rows for name in inner for reader in level.readers.get(name, ())):
        return False
    ops = [level.op(at) for at in rows]
    if len(rows) == 1 or word == SILU:
        return True
    if word == GELU:
        return (
            level.rows[max(rows)].step.outputs[0].dtype == _FLOATS[0]
            and _spelled_as_fused(level, rows)
            and (paces.TANH not in ops or paces.POWER in ops)
        )
    sums = [op for op in ops if op.startswith(paces.REDUCTIONS)]
    return paces.ROOT in ops and paces.QUOTIENT in ops and paces.MEANS.issuperset(sums)


def _skip(level: Level, norm: int, rows: list[int]) -> None:
    """A sum that only a norm reads goes into it, where the norm is one operator."""
    sum_at = level.maker.get(level.inputs(norm)[0])
    if len(rows) > 1 or sum_at is None or level.op(sum_at) != paces.ADD or sum_at in level.gone:
        return
    data = all(name in level.maker for name in level.inputs(sum_at))
    if data and level.only_reader(level.made(sum_at)) == norm and work_class(level.op(norm)) is WorkClass.NORMALIZATION:
        level.join(sum_at, norm)


def _spelled_as_fused(level: Level, rows: list[int]) -> bool:
    """Half of 1 + erf, times x, is a spelling that onnxruntime does not know; half of x is one that it does."""
    if not any(level.op(at) == paces.ERF for at in rows):
        return True
    sums = [at for at in rows if level.op(at) == paces.ADD]
    readers = [level.only_reader(level.made(at)) for at in sums]
    return not any(at is not None and level.op(at) in paces.SCALES and level.by_scalar(at) for at in readers)


# -- quantized


def _quantized(level: Level, at: int) -> None:
    """An operator between dequantizers and a quantizer works on integers."""
    floats = [name for name, known in level.pairs(at) if known.dtype in _FLOATS]
    if level.op(at) in paces.CLAMPS:
        floats = floats[:1]
    before = [level.maker.get(name) for name in floats]
    opened = [one for one in before if one is not None and level.op(one) == paces.DEQUANTIZE]
    if not before or len(opened) < len(before):
        return
    clamp = level.only_reader(level.made(at)) if level.op(at) in paces.CLAMPED else None
    clamp = clamp if clamp is not None and level.op(clamp) in paces.CLAMPS else None
    after = level.readers.get(level.made(at if clamp is None else clamp), [])
    if after and all(level.op(one) == paces.QUANTIZE for one in after):
        _on_integers(level, at, opened, [*([] if clamp is None else [clamp]), *after])
    elif level.op(at) == paces.MATMUL:
        _to_float(level, at, opened)


def _on_integers(level: Level, at: int, before: list[int], after: list[int]) -> None:
    for one in dict.fromkeys(before):
        if one not in level.gone and level.only_reader(level.made(one)) == at:
            level.join(one, at)
    for one in after:
        if one not in level.gone:
            level.append(one, at)
    level.word[at] = ON_INTEGERS


def _to_float(level: Level, at: int, before: list[int]) -> None:
    """A product of dequantized factors whose result stays in floating point."""
    for one in dict.fromkeys(before):
        if one not in level.gone and level.only_reader(level.made(one)) == at:
            level.join(one, at)
    weight = level.rows[before[-1]].step.inputs[0]
    level.word[at] = PACKED if weight is not None and weight.dtype in _PACKED else ON_INTEGERS


def _taken_weights(level: Level) -> None:
    """A dequantizer that only kernels on integers read is not there."""
    for at in level.kernels():
        readers = level.readers.get(level.made(at), [])
        if level.op(at) == paces.DEQUANTIZE and readers:
            taken = (one in level.gone or level.word.get(one) in (ON_INTEGERS, PACKED) for one in readers)
            if all(taken):
                level.gone.add(at)


def _dynamic(level: Level, at: int) -> None:
    """Cast, scale and bias of a product on integers; the two scales are multiplied in it."""
    after = level.next(at)
    while after is not None and level.op(after) in paces.AFTER_DYNAMIC_PRODUCT:
        if level.op(after) == paces.ADD and not level.adds_constant(after, level.made(at)):
            return
        for name, known in level.pairs(after):
            maker = level.maker.get(name)
            small = len(dims_of(known) or ()) < _MATRIX and level.only_reader(name) == after
            if small and maker is not None and maker not in level.gone and level.op(maker) in paces.SCALES:
                level.join(maker, at)
        level.append(after, at)
        after = level.next(at)


# -- in floating point


def _convolution(level: Level, at: int) -> None:
    """Norms and constants for each channel go into the weights; then a sum, then an activation."""
    before = level.maker.get(level.inputs(at)[0])
    if before is not None and level.op(before) == paces.PAD and level.only_reader(level.made(before)) == at:
        level.join(before, at)
    after = level.next(at)
    while after is not None and (level.op(after) == paces.FOLDED_NORM or _by_channel(level, after)):
        level.append(after, at)
        after = level.next(at)
    if level.op(at) in paces.TRANSPOSED:
        return
    if after is not None and is_blocked(level, at) and _sums_blocked(level, after, at):
        level.append(after, at)
    _activation(level, at, paces.AFTER_CONVOLUTION)


def _activation(level: Level, at: int, known: frozenset[str]) -> None:
    after = level.next(at)
    if after is not None and level.op(after) in known:
        level.append(after, at)


def _by_channel(level: Level, at: int) -> bool:
    if level.op(at) not in paces.CHANNEL_WISE:
        return False
    if level.op(at) in paces.SCALES and any(known.concrete == () for _, known in level.pairs(at)):
        return level.by_scalar(at)
    out = dims_of(level.rows[at].step.outputs[0]) or ()
    for name, known in level.pairs(at):
        dims = dims_of(known) or ()
        if level.fixed(at, name) and len(out) > 1 and len(out) - 1 <= len(dims) <= len(out):
            padded = (1,) * (len(out) - len(dims)) + dims
            return padded[1] == out[1] > 1 and elements(known) == out[1]
    return False


def _sums_blocked(level: Level, at: int, convolution: int) -> bool:
    shapes = [dims_of(known) for _, known in level.pairs(at)]
    others = [name for name in level.inputs(at) if name != level.made(convolution)]
    alike = len(shapes) == _MATRIX and shapes[0] == shapes[1]
    return level.op(at) in paces.SUMS and alike and any(stays_blocked(level, name) for name in others)


def _matmul(level: Level, at: int) -> None:
    """Scales and turns of its factors, a scale after it; a bias only of a matrix, or on its way to a gelu."""
    for name in level.inputs(at)[:_MATRIX]:
        maker = level.maker.get(name)
        free = maker is not None and maker not in level.gone and maker not in level.word
        if maker is not None and free and level.only_reader(name) == at and _goes_in(level, maker):
            level.join(maker, at)
    after = level.next(at)
    if after is None:
        return
    if level.op(after) in paces.SCALES and level.by_scalar(after):
        level.append(after, at)
    elif level.op(after) == paces.ADD and level.adds_constant(after, level.made(at)):
        _biased(level, at, after)


def _goes_in(level: Level, at: int) -> bool:
    return (level.op(at) in paces.SCALES and level.by_scalar(at)) or _swaps_last(level, at)


def _swaps_last(level: Level, at: int) -> bool:
    perm = level.rows[at].step.node.attributes.get("perm") if level.op(at) == paces.TURN else None
    if not isinstance(perm, tuple) or len(perm) < _MATRIX:
        return False
    rank = len(perm)
    return perm == (*range(rank - 2), rank - 1, rank - 2)


def _biased(level: Level, at: int, add: int) -> None:
    dims = dims_of(level.rows[at].step.inputs[0])
    if dims is not None and len(dims) == _MATRIX:
        level.append(add, at)
        _activation(level, at, paces.AFTER_GEMM)
        return
    readers = {level.home.get(one, one) for one in level.readers.get(level.made(add), [])}
    if len(readers) == 1 and level.word.get(reader := readers.pop()) == GELU:
        level.join(add, reader)


def _bias(level: Level, at: int) -> None:
    after = level.next(at)
    if after is not None and level.op(after) == paces.ADD and level.adds_constant(after, level.made(at)):
        level.append(after, at)
