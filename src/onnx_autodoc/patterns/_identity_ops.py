"""Steps that leave their input as it is, at least for a reader: casts, dropouts, quantization, a product with one."""

from typing import Final

from onnx_autodoc.patterns._net import Net
from onnx_autodoc.shapes import Step

_CASTS: Final = ("Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "FakeQuant")
_LAYOUTS: Final = ("Squeeze", "Unsqueeze", "ReorderInput", "ReorderOutput")
_ALWAYS: Final = frozenset(
    (*_CASTS, *_LAYOUTS, "Identity", "Dropout", "BitmaskDropout", "Optional", "OptionalGetElement")
)
_SAME_SIZE: Final = frozenset(("Slice", "Concat", "Expand", "Tile", "Reshape", "Flatten", "Pad"))
_NEUTRAL: Final = {"Mul": 1.0, "Div": 1.0, "Add": 0.0, "Sub": 0.0, "Pow": 1.0}
_FAR: Final = 6e4  # bounds that only keep fp16 from overflowing


def passed_on(net: Net, step: Step, inputs: list[int], rescaled: set[int]) -> int | None:
    """Which input a step passes on, if it does nothing else to it."""
    op = step.node.op
    if not inputs:
        return None
    if op in _ALWAYS:
        return 0
    if op in _SAME_SIZE:
        return _same(net, step, inputs)
    if op == "Transpose":
        return 0 if _moves_nothing(step) else None
    if op in _NEUTRAL:
        return _neutral(net, op, inputs, rescaled)
    if op == "Where":
        return _guarded(net, inputs)
    return 0 if op == "Clip" and _is_far(net, step, inputs) else None


def _same(net: Net, step: Step, inputs: list[int]) -> int | None:
    """Cut, joined or repeated to the very size that it had, axes of one element left out."""
    if step.node.op == "Concat" and len(inputs) > 1:
        return None
    shape = net.shape(inputs[0])
    made = step.outputs[0].concrete if step.outputs else None
    if shape is None or made is None:
        return None
    return 0 if [dim for dim in shape if dim != 1] == [dim for dim in made if dim != 1] else None


def _moves_nothing(step: Step) -> bool:
    """Pooled features [batch, 1, 1, channels] in another layout."""
    known, order = step.inputs[0], step.node.attributes.get("perm")
    shape = known.concrete if known is not None else None
    axes = [at for at in order if isinstance(at, int)] if isinstance(order, tuple) else []
    if shape is None or sorted(axes) != list(range(len(shape))):
        return False
    moved = [at for at in axes if shape[at] != 1]
    return moved == sorted(moved) and len([at for at in moved if at]) < 2


def _neutral(net: Net, op: str, inputs: list[int], rescaled: set[int]) -> int | None:
    if len(inputs) < 2:
        return None
    sides = (1, 0) if op in ("Mul", "Add") else (1,)
    for side in sides:
        if net.fixed[inputs[1 - side]] or not net.fixed[inputs[side]]:
            continue
        if net.number(inputs[side]) == _NEUTRAL[op] or (op == "Mul" and inputs[side] in rescaled):
            return 1 - side
    return None


def _guarded(net: Net, inputs: list[int]) -> int | None:
    """Where(IsNaN(x), 0, x): rows that attend to nothing."""
    test = net.maker(inputs[0], "IsNaN") if len(inputs) == 3 else None
    return next((at for at in (1, 2) if test is not None and inputs[at] in test.inputs), None)


def _is_far(net: Net, step: Step, inputs: list[int]) -> bool:
    bounds = [net.number(value) for value in inputs[1:] if value]
    bounds += [item for key in ("min", "max") if isinstance(item := step.node.attributes.get(key), float)]
    return bool(bounds) and all(bound is not None and abs(bound) >= _FAR for bound in bounds)
