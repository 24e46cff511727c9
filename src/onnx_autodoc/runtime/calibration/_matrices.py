"""What the time of convolutions and matrix products hangs on."""

import math
from typing import Final

from onnx_autodoc.ops import paces
from onnx_autodoc.runtime.calibration._fusions import ON_INTEGERS, PACKED
from onnx_autodoc.runtime.calibration._layout import BLOCK, groups, is_blocked, reads_plain
from onnx_autodoc.runtime.calibration._level import Amounts, Level, Priced, bytes_of, dims_of, elements, moved

_WIDTH: Final = 4  # bytes of a number in single precision
_ON_INTEGERS: Final = 4  # the accuracy level at which data are quantized too
_PANEL: Final = 16  # columns that a product works on at once
_ABREAST: Final = 4  # blocks of output channels that a convolution works on at once


def _unknown() -> Priced:
    return "unknown", {}


# -- convolutions


def convolution(level: Level, at: int, macs: int) -> Priced:
    step, op = level.rows[at].step, level.op(at)
    where = paces.SECOND_FACTOR.get(op, 1)
    weight = dims_of(step.inputs[where]) if where < len(step.inputs) else None
    data, out = dims_of(step.inputs[0]), dims_of(step.outputs[0])
    if weight is None or data is None or out is None or len(weight) < 3 or not math.prod(weight):
        return _unknown()
    if op in paces.INTEGER_CONVOLUTIONS or level.word.get(at) == ON_INTEGERS:
        return _on_integers(level, at, macs, weight)
    if op in paces.TRANSPOSED:
        columns = math.prod(data[2:]) * data[0] * math.prod(weight[1:]) * groups(level, at)
        return "unrolled convolution", _unrolled(level, at, macs, columns)
    if is_blocked(level, at):
        return _blocked(level, at, macs, weight)
    if weight[1] == 1 and groups(level, at) > 1:
        return "unrolled depthwise", {"macs": macs, "out": _out(level, at)}
    return "unrolled convolution", _unrolled(level, at, macs, _columns(level, at, weight))


def _columns(level: Level, at: int, weight: tuple[int, ...]) -> int:
    """Numbers that are copied so that the convolution is a product: none where the kernel is one place."""
    out, kernel = dims_of(level.rows[at].step.outputs[0]) or (1, 1), math.prod(weight[2:])
    return math.prod(out[2:]) * out[0] * weight[1] * groups(level, at) * kernel if kernel > 1 else 0


def _unrolled(level: Level, at: int, macs: int, columns: int) -> Amounts:
    held = elements(level.rows[at].step.inputs[1]) * _WIDTH
    data = dims_of(level.rows[at].step.inputs[0]) or (1, 1, 1)
    out = dims_of(level.rows[at].step.outputs[0]) or (1, 1, 1)
    places = max(math.prod((data if level.op(at) in paces.TRANSPOSED else out)[2:]), 1)
    macs = macs * -(-places // _PANEL) * _PANEL // places
    return {"macs": macs, "columns": columns, "out": _out(level, at), "weights": held}


def _blocked(level: Level, at: int, macs: int, weight: tuple[int, ...]) -> Priced:
    """In blocks of channels: those that are missing in the last block are multiplied all the same."""
    step, out = level.rows[at].step, _out(level, at)
    data = moved(_WIDTH * (elements(step.inputs[0]) + out))
    if groups(level, at) > 1 and weight[1] == 1:
        return "depthwise", {"macs": macs, "out": out, **data}
    full = macs * _whole(weight[0]) // weight[0]
    narrow = min(_whole(weight[0]) // groups(level, at) // BLOCK, _ABREAST) or 1
    if reads_plain(level, at):
        return "first convolution", {"macs": full, "narrow": full / narrow, "out": out}
    full = full * _whole(weight[1]) // weight[1]
    data["narrow"] = full / narrow
    word = "pointwise convolution" if math.prod(weight[2:]) == 1 else "convolution"
    return word, {"macs": full, "out": out, "weights": elements(step.inputs[1]) * _WIDTH, **data}


def _whole(channels: int) -> int:
    return -(-channels // BLOCK) * BLOCK


def _on_integers(level: Level, at: int, macs: int, weight: tuple[int, ...]) -> Priced:
    step, out = level.rows[at].step, _out(level, at)
    if groups(level, at) > 1 and weight[1] == 1:
        return "integer depthwise", {"macs": macs, "out": out, "in": elements(step.inputs[0])}
    word = "dynamic convolution" if level.op(at) in paces.DYNAMIC_CONVOLUTIONS else "integer convolution"
    return word, {
        "macs": macs,
        "columns": _columns(level, at, weight),
        "out": out,
        "in": elements(step.inputs[0]),
        "weights": math.prod(weight),
    }


# -- products


def product(level: Level, at: int, macs: int) -> Priced:
    step, op = level.rows[at].step, level.op(at)
    where, out = paces.SECOND_FACTOR.get(op, 1), dims_of(step.outputs[0])
    if out is None or dims_of(step.inputs[0]) is None or where >= len(step.inputs):
        return _unknown()
    word = level.word.get(at)
    if op in paces.PACKED_PRODUCTS or word == PACKED:
        return _packed(level, at, macs)
    constant = _is_constant(level, at, where)
    if op in paces.INTEGER_PRODUCTS or word == ON_INTEGERS:
        weights = bytes_of(step.inputs[where]) if constant else 0
        sizes = {"out": _out(level, at), "in": elements(step.inputs[0]), "weights": weights}
        return "integer product" if constant else "integer product of data", {"macs": macs, **sizes}
    return _by_weights(level, at, macs) if constant else _of_data(level, at, macs)


def _is_constant(level: Level, at: int, where: int) -> bool:
    """Whether the second factor is a weight: also one that was dequantized on its way."""
    name = level.inputs(at)[where]
    maker = level.maker.get(name)
    return level.fixed(at, name) or (maker is not None and level.rows[maker].bookkeeping)


def _by_weights(level: Level, at: int, macs: int) -> Priced:
    step, out = level.rows[at].step, _out(level, at)
    held = elements(step.inputs[1]) * _WIDTH
    if out == (dims_of(step.outputs[0]) or (1,))[-1]:
        return "product of a row", {"weights": held, "out": out}
    return "product", {"macs": macs, "in": elements(step.inputs[0]), "out": out, "weights": held}


def _of_data(level: Level, at: int, macs: int) -> Priced:
    step, out = level.rows[at].step, dims_of(level.rows[at].step.outputs[0]) or ()
    batch = math.prod(out[:-2])
    if len(out) < 2 or out[-2] == 1:
        return "product of data and a row", {"batch": batch, "weights": elements(step.inputs[1]) * _WIDTH}
    read = elements(step.inputs[0]) + elements(step.inputs[1])
    return "product of data", {"macs": macs, "batch": batch, "in": read, "out": _out(level, at)}


def _packed(level: Level, at: int, macs: int) -> Priced:
    """Weights of four bits: unpacked once for many rows."""
    out, data = _out(level, at), elements(level.rows[at].step.inputs[0])
    last = (dims_of(level.rows[at].step.outputs[0]) or (1,))[-1]
    held = macs // max(out // max(last, 1), 1)
    exact = level.rows[at].step.node.attributes.get("accuracy_level", 0) != _ON_INTEGERS
    word = "packed product" if exact else "packed product on integers"
    return word if out > last else f"{word}, one row", {
        "macs": macs,
        "weights": held // 2,
        "out": out,
        "in": data,
        "unpacked": held if out > last else 0,
    }


def _out(level: Level, at: int) -> int:
    return elements(level.rows[at].step.outputs[0])
