"""Recurrent layers: LSTM, GRU, RNN."""

from onnx_autodoc.ops.call import Call, check_shape, shape_of_rank, size, sizes_differ
from onnx_autodoc.ops.cost import Cost, CostRule
from onnx_autodoc.ops.input_constraints import time_steps
from onnx_autodoc.ops.operator import FLAG, Choices, Operator, Trait, WorkClass, words
from onnx_autodoc.ops.values import Contradiction, Dim, Shape, Unknown, ValueInfo, format_dims, tensor
from onnx_autodoc.text import quote_name

# The misspelling is the default of GRU's first version.
_DIRECTIONS = {"forward": 1, "foward": 1, "reverse": 1, "bidirectional": 2}


def recurrent(call: Call, states: int, hidden_axis: int = 2) -> list[ValueInfo]:
    """Infer all steps, then the last of each state: Y, Y_h and, of two states, Y_c.

    X is [T, N, input], Y [T, directions, N, hidden], a state [directions, N, hidden]; in layout 1 X is [N, T, input],
    Y [N, T, directions, hidden], a state [N, directions, hidden]. Lengths of single sequences only pad with zeros.
    `hidden_axis` is where R, input 2, has the hidden size alone.
    """
    x = call.shape(0)
    if len(x) != 3:
        raise Contradiction(f"{call.node.op} requires rank 3, got rank {len(x)}")
    directions, hidden = _directions(call), _hidden(call, hidden_axis)
    if call.attr_int("layout", 0):
        batch, steps, _ = x
        shapes: list[Shape] = [(batch, steps, directions, hidden), *[(batch, directions, hidden)] * states]
    else:
        steps, batch, _ = x
        shapes = [(steps, directions, batch, hidden), *[(directions, batch, hidden)] * states]
    return [tensor(call.dtype(0), shape) for shape in shapes]


def _directions(call: Call) -> int:
    direction = call.attr_text("direction", "forward")
    if direction not in _DIRECTIONS:
        raise Contradiction(f"{call.node.op} has an unknown direction: {quote_name(direction, 40)}")
    r = call.input_info(2).shape
    if r and sizes_differ(r[0], _DIRECTIONS[direction]):
        raise Contradiction(f"{call.node.op} is {direction}, but the direction axis of its weights has size {r[0]}")
    return _DIRECTIONS[direction]


def _hidden(call: Call, axis: int) -> Dim:
    declared = call.attr_int("hidden_size", 0)
    if declared < 0:
        raise Contradiction(f"hidden_size of {call.node.op} is negative: {declared}")
    if declared and call.input_info(2).shape is None:
        return declared
    r = call.shape(2)
    if len(r) != 3 or (declared and sizes_differ(declared, r[axis])):
        raise Contradiction(f"hidden_size {declared} of {call.node.op} does not match its weight {format_dims(r)}")
    return declared or r[axis]


def _check_operands(call: Call) -> None:
    """Check W, R, biases, lengths, initial states and the peepholes of an LSTM."""
    first, second, width = shape_of_rank(call, 0, 3)
    is_batch_first = call.attr_int("layout", 0) != 0
    batch, steps = (first, second) if is_batch_first else (second, first)
    directions, hidden = _directions(call), _hidden(call, 2)
    rows = _CELLS[call.node.op][0] * hidden
    state = (batch, directions, hidden) if is_batch_first else (directions, batch, hidden)
    expected = [(directions, rows, width), (directions, rows, hidden), (directions, 2 * rows), (batch,), state]
    expected += [state, (directions, 3 * hidden)] if call.node.op == "LSTM" else []
    for at, dims in enumerate(expected, 1):
        check_shape(call, at, *dims)
    lengths = call.value(4)
    if lengths is None or lengths.dtype == object or not lengths.size or isinstance(steps, Unknown):
        return
    if not 0 <= lengths.min() <= lengths.max() <= steps:
        raise Contradiction(
            f"sequence lengths of {call.node.op} ({lengths.min()} to {lengths.max()}) are outside 0 to {steps}"
        )


# operator -> (gates, other operations per hidden element and step: without biases, of the biases)
_CELLS = {"LSTM": (4, 13, 8), "GRU": (3, 11, 6), "RNN": (1, 2, 2)}


def cell(name: str, hidden_axis: int = 2) -> CostRule:
    """Return the cost rule of a recurrent layer; padding steps count. `hidden_axis` as in `recurrent`."""
    gates, other, biases = _CELLS[name]

    def rule(call: Call) -> Cost:
        runs, hidden = size(call.shape(0)[:2]) * _directions(call), _hidden(call, hidden_axis)
        macs = gates * hidden * (call.shape(0)[2] + hidden) + (3 * hidden if call.has(7) else 0)
        return Cost(runs * macs, runs * hidden * (other + (biases if call.has(3) else 0)))

    peepholes = " and 3 · hidden for peepholes" if name == "LSTM" else ""
    rule.__doc__ = (
        f"{gates} · hidden · (input + hidden) MACs{peepholes} per direction, step and sequence; "
        f"{other} FLOPs per hidden element for gates and activations, {biases} for biases"
    )
    return rule


_ACTIVATIONS = words("affine elu hardsigmoid leakyrelu relu scaledtanh sigmoid softplus softsign tanh thresholdedrelu")
_CHOICES: dict[str, Choices] = {"activations": _ACTIVATIONS, "layout": FLAG}


def _layer(name: str, states: int, activations: int) -> Operator:
    def infer(call: Call) -> list[ValueInfo]:
        _check_operands(call)
        return recurrent(call, states)

    return Operator(
        infer,
        cost=cell(name),
        traits={Trait.IGNORES_CASE, Trait.PROPAGATES_NAN},
        choices=_CHOICES,
        activations=activations,
        constraints={4: time_steps},
        work=WorkClass.RECURRENT,
    )


OPERATORS: dict[str, Operator] = {"LSTM": _layer("LSTM", 2, 3), "GRU": _layer("GRU", 1, 2), "RNN": _layer("RNN", 1, 1)}
