"""What a kernel's time hangs on: the pace it runs at, and how much there is of each thing that takes time.

Seconds are a sum: so many for the kernel itself, for each multiply-add, each element, each byte near and far. What a
machine needs for one of each, by pace, is what calibration finds.
"""

import math
from typing import Final

from onnx_autodoc.ops import WorkClass, paces, work_class
from onnx_autodoc.runtime.calibration._fusions import ON_INTEGERS
from onnx_autodoc.runtime.calibration._layout import GELU, SILU
from onnx_autodoc.runtime.calibration._level import Level, Priced, bytes_of, certain, dims_of, elements, moved
from onnx_autodoc.runtime.calibration._matrices import convolution, product

_NORMS: Final = ("layer-norm", "rms-norm")
_FLOATS: Final = ("float32", "float16")
_STEPS_IN_HALVES: Final = 3  # softmax and norms have no kernels for half precision, and are computed in steps


def price(level: Level, at: int) -> Priced:
    """Of one run of a kernel."""
    op, kind = level.op(at), work_class(level.op(at))
    if kind is WorkClass.CONVOLUTION:
        return convolution(level, at, macs(level, at))
    if kind is WorkClass.PRODUCT:
        return product(level, at, macs(level, at))
    if kind is WorkClass.ATTENTION:
        return "attention", {"macs": macs(level, at), "out": _out(level, at), "in": _read(level, at) // 4}
    if kind is WorkClass.RECURRENT:
        return _recurrent(level, at)
    if level.word.get(at):
        return _block(level, at)
    if level.rows[at].step.bodies:
        return _control(level, at)
    return _single(level, at, paces.pace(op))


def macs(level: Level, at: int) -> int:
    row = level.rows[at]
    return certain(row.cost.macs) // max(row.times, 1) if row.cost else 0


def _out(level: Level, at: int) -> int:
    outputs = level.rows[at].step.outputs
    return elements(outputs[0]) if outputs else 0


def _in(level: Level, at: int) -> int:
    inputs = level.rows[at].step.inputs
    return elements(inputs[0]) if inputs else 0


def _read(level: Level, at: int) -> int:
    """Bytes; of a value of which only some is read, that."""
    row = level.rows[at]
    whole = sum(bytes_of(known) for known in dict(level.pairs(at)).values())
    said = row.cost.read if row.cost else None
    return min(whole, said // max(row.times, 1)) if type(said) is int and whole else whole


def _written(level: Level, at: int) -> int:
    return sum(map(bytes_of, level.rows[at].step.outputs))


def _control(level: Level, at: int) -> Priced:
    """A branch or a loop itself; what runs inside it has kernels of its own."""
    if level.op(at) not in paces.CONTROL:
        return "", {}  # a function: its nodes stand in its place
    if level.op(at) == paces.BRANCH and level.inputs(at)[0] not in level.maker:
        return "", {}  # which branch runs is settled before
    passes = sum(certain(body.times) for body in level.rows[at].step.bodies)
    return "control", {"passes": passes if level.op(at) in paces.REPEATED else 0}


def _recurrent(level: Level, at: int) -> Priced:
    """Step by step: the weights of the state are read in each; those of the input are one product before."""
    step, op = level.rows[at].step, level.op(at)
    dims, hidden = dims_of(step.inputs[0]), step.node.attributes.get("hidden_size", 1)
    if dims is None or len(dims) < 2 or not isinstance(hidden, int):
        return "unknown", {}
    ways = 2 if step.node.attributes.get("direction") == "bidirectional" else 1
    steps, gates = dims[0] * ways, paces.GATES.get(op, 4)
    state = steps * gates * hidden * hidden * dims[1]
    word = "integer recurrent" if op in paces.INTEGER_RECURRENT else "recurrent"
    return word, {
        "steps": steps,
        "state": state,
        "macs": max(macs(level, at) - state, 0),
        "cells": steps * gates * hidden * dims[1],
    }


def _block(level: Level, at: int) -> Priced:
    """What was written out, and is one kernel."""
    word, out = level.word[at], _out(level, at)
    if word == ON_INTEGERS:
        return _on_integers(level, at)
    data = {"elements": out, **moved(8 * out)}
    if word in _NORMS:
        halves = level.rows[at].step.outputs[0].dtype == _FLOATS[1]
        return "norm", data if not halves else {name: _STEPS_IN_HALVES * amount for name, amount in data.items()}
    quick = word == SILU or any(level.op(part) in paces.BY_TANH for part in level.parts(at))
    return "function silu" if quick and word in (SILU, GELU) else "function gelu", data


def _on_integers(level: Level, at: int) -> Priced:
    """Between quantizers, and neither a convolution nor a product."""
    op, size = level.op(at), {"elements": float(_out(level, at) + _in(level, at))}
    if paces.pace(op) == "view":
        return "view", {}
    if paces.pace(op) == "softmax":
        return "integer softmax", size
    if op not in paces.INTEGER_MOVES:
        return "integer pointwise", size
    return ("integer pool", {"window": _window(level, at)}) if paces.pace(op) == "pool" else ("integer move", size)


def _single(level: Level, at: int, word: str) -> Priced:
    step, read, written = level.rows[at].step, _read(level, at), _written(level, at)
    out, data = _out(level, at), moved(read + written)
    if word == "cast":
        kinds = {known.dtype for known in (step.inputs[0], step.outputs[0]) if known is not None}
        return (word if kinds <= set(_FLOATS) else "cast to another kind"), data
    if word in ("view", "other", "copy"):
        return word, {} if word == "view" else data
    if word in ("quantize", "dequantize", "quantize dynamically", "integer pointwise"):
        return word, {"elements": max(_in(level, at), out) if word != "integer pointwise" else out + _in(level, at)}
    if word == "softmax":
        return _softmax(level, at)
    if word in ("gather", "sort"):
        return word, {"elements": out if word == "gather" else _in(level, at), **moved(2 * written)}
    if word == "norm":
        return _norm(level, at)
    if word == "reduce":
        return "reduce" if _within_rows(level, at) else "reduce across", {"elements": _in(level, at), **moved(read)}
    if word == "pool":
        return _pool(level, at)
    if word in ("transpose", "resize"):
        return _rearranged(level, at, word)
    return _pointwise(level, at, word)


def _softmax(level: Level, at: int) -> Priced:
    """Not along the last axis, it is turned before and after."""
    step, out = level.rows[at].step, _out(level, at)
    dims = dims_of(step.outputs[0]) or (1,)
    axis, size = step.node.attributes.get("axis", -1), dims[-1] if dims else 1
    slow = 1 if step.outputs[0].dtype == _FLOATS[0] else _STEPS_IN_HALVES
    if isinstance(axis, int) and 0 <= axis < len(dims) and math.prod(dims[axis + 1 :]) > 1:
        return "softmax across", {"elements": out * slow, "rows": out // max(dims[axis], 1)}
    return "softmax", {"elements": out * slow, "rows": out // max(size, 1)}


def _norm(level: Level, at: int) -> Priced:
    out, near = _out(level, at), level.rows[at].step.node.attributes.get("size")
    if isinstance(near, int):  # by the channels next to each: a power for every element
        return "norm across", {"elements": out, "window": out * near}
    return "norm", {"elements": out, **moved(8 * out)}


def _within_rows(level: Level, at: int) -> bool:
    """Whether a reduction is along the last axis, or over all: its numbers lie side by side."""
    step = level.rows[at].step
    axes: object = step.node.attributes.get("axes", step.node.attributes.get("axis"))
    if axes is None and len(step.inputs) > 1 and step.inputs[1] is not None and step.inputs[1].value is not None:
        axes = tuple(step.inputs[1].value.reshape(-1).tolist())
    rank = len(dims_of(step.inputs[0]) or ())
    return axes is None or any(axis in (-1, rank - 1) for axis in (axes if isinstance(axes, tuple) else (axes,)))


def _pool(level: Level, at: int) -> Priced:
    word = "blocked pool" if level.made(at) in level.blocked else "pool"
    return word, {"window": _window(level, at), **moved(_read(level, at) + _written(level, at))}


def _window(level: Level, at: int) -> int:
    """Numbers that are looked at. Some write a window larger than the picture, to take all of it."""
    step = level.rows[at].step
    shape, picture = step.node.attributes.get("kernel_shape"), math.prod((dims_of(step.inputs[0]) or ())[2:])
    window = min(math.prod(shape), picture) if isinstance(shape, tuple) else picture  # type: ignore[arg-type]
    return _out(level, at) * window


def _rearranged(level: Level, at: int, word: str) -> Priced:
    attributes, out = level.rows[at].step.node.attributes, _out(level, at)
    if word == "resize":
        plain = attributes.get("mode", "nearest") == "nearest"
        return word if plain else "resize smoothly", {"elements": out}
    perm = attributes.get("perm")
    whole_rows = isinstance(perm, tuple) and len(perm) > 0 and perm[-1] == len(perm) - 1
    data = moved(_read(level, at) + _written(level, at))
    return "transpose rows" if whole_rows else word, {"elements": out, **data}


def _pointwise(level: Level, at: int, word: str) -> Priced:
    step, out = level.rows[at].step, _out(level, at)
    data = moved(_read(level, at) + _written(level, at))
    if level.op(at) == paces.POWER and _is_small_power(level, at):
        word = "function square"
    if word != "plain":
        return word, {"elements": out, **data}
    if step.outputs and step.outputs[0].dtype not in _FLOATS:
        return "plain on integers", data
    sizes = [elements(known) for _, known in level.pairs(at)]
    spread = len(sizes) > 1 and any(1 < size < out for size in sizes)
    return "plain spread" if spread else word, data


def _is_small_power(level: Level, at: int) -> bool:
    """Squares and cubes are multiplied out."""
    exponent = level.rows[at].step.inputs[1] if len(level.rows[at].step.inputs) > 1 else None
    value = exponent.value if exponent is not None else None
    return value is not None and value.size == 1 and value.reshape(-1)[0] in (2, 3)
