"""Recurrent layers: LSTM, GRU, RNN."""

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, Price
from onnx_autodoc.ops._known import Contradiction, Dim, Known, Shape, Unknown, tensor
from onnx_autodoc.ops._operator import Operator
from onnx_autodoc.ops._ranks import ranked, sized
from onnx_autodoc.ops._window import differ
from onnx_autodoc.text import told

# The misspelling is the default of GRU's first version.
_DIRECTIONS = {"forward": 1, "foward": 1, "reverse": 1, "bidirectional": 2}


def recurrent(call: Call, states: int, hidden_axis: int = 2) -> list[Known]:
    """All steps, then the last of each state: Y, Y_h and, of two states, Y_c.

    X is [T, N, input], Y [T, directions, N, hidden], a state [directions, N, hidden]; in layout 1 X is [N, T, input],
    Y [N, T, directions, hidden], a state [N, directions, hidden]. Lengths of single sequences only pad with zeros.
    `hidden_axis` is where R, input 2, has the hidden size alone.
    """
    x = call.shape(0)
    if len(x) != 3:
        raise Contradiction(f"{call.node.op} of {len(x)} dimensions, not 3")
    directions, hidden = _directions(call), _hidden(call, hidden_axis)
    if call.attr_int("layout", 0):
        batch, steps, _ = x
        shapes: list[Shape] = [(batch, steps, directions, hidden), *[(batch, directions, hidden)] * states]
    else:
        steps, batch, _ = x
        shapes = [(steps, directions, batch, hidden), *[(directions, batch, hidden)] * states]
    return [tensor(call.dtype(0), shape) for shape in shapes]


def _directions(call: Call) -> int:
    named = call.attr_text("direction", "forward")
    if named not in _DIRECTIONS:
        raise Contradiction(f"{call.node.op}'s direction is {told(named, 40)}")
    r = call.known(2).shape
    if r and differ(r[0], _DIRECTIONS[named]):
        raise Contradiction(f"{call.node.op} is {named} with weights for {r[0]} directions")
    return _DIRECTIONS[named]


def _hidden(call: Call, axis: int) -> Dim:
    named = call.attr_int("hidden_size", 0)
    if named < 0:
        raise Contradiction(f"{call.node.op}'s hidden_size is {named}")
    if named and call.known(2).shape is None:
        return named
    r = call.shape(2)
    if len(r) != 3 or (named and differ(named, r[axis])):
        raise Contradiction(f"{call.node.op}'s hidden_size {named} is not that of its weight {r}")
    return named or r[axis]


def _lstm(call: Call) -> list[Known]:
    _check_operands(call)
    return recurrent(call, states=2)


def _one_state(call: Call) -> list[Known]:
    _check_operands(call)
    return recurrent(call, states=1)


def _check_operands(call: Call) -> None:
    """W, R, the biases, lengths, what the states begin with and, of an LSTM, the peepholes."""
    first, second, width = ranked(call, 0, 3)
    turned = call.attr_int("layout", 0) != 0
    batch, steps = (first, second) if turned else (second, first)
    directions, hidden = _directions(call), _hidden(call, 2)
    rows = _CELLS[call.node.op][0] * hidden
    state = (batch, directions, hidden) if turned else (directions, batch, hidden)
    wanted = [(directions, rows, width), (directions, rows, hidden), (directions, 2 * rows), (batch,), state]
    wanted += [state, (directions, 3 * hidden)] if call.node.op == "LSTM" else []
    for at, dims in enumerate(wanted, 1):
        sized(call, at, *dims)
    _check_lengths(call, steps)


def _check_lengths(call: Call, steps: Dim) -> None:
    lengths = call.value(4)
    if lengths is None or lengths.dtype == object or not lengths.size or isinstance(steps, Unknown):
        return
    if not 0 <= lengths.min() <= lengths.max() <= steps:
        raise Contradiction(f"{call.node.op} over {steps} steps has sequences of {lengths.min()} to {lengths.max()}")


# operator -> (gates, arithmetic beside the products for one hidden element and step, without and only for the biases)
_CELLS = {"LSTM": (4, 13, 8), "GRU": (3, 11, 6), "RNN": (1, 2, 2)}


def cell(name: str, hidden_axis: int = 2) -> Price:
    """The price of a recurrent layer; `hidden_axis` as in `recurrent`. Steps that only pad count like all others."""
    gates, other, biases = _CELLS[name]

    def price(call: Call) -> Cost:
        runs, hidden = size(call.shape(0)[:2]) * _directions(call), _hidden(call, hidden_axis)
        macs = gates * hidden * (call.shape(0)[2] + hidden) + (3 * hidden if call.has(7) else 0)
        return Cost(runs * macs, runs * hidden * (other + (biases if call.has(3) else 0)))

    peepholes = " and 3 · hidden for peepholes" if name == "LSTM" else ""
    price.__doc__ = (
        f"{gates} · hidden · (input + hidden) multiply-adds{peepholes} for each direction, step and sequence; "
        f"{other} per hidden element for gates and activations, {biases} for biases"
    )
    return price


OPERATORS: dict[str, Operator] = {
    "LSTM": Operator(_lstm, cost=cell("LSTM")),
    "GRU": Operator(_one_state, cost=cell("GRU")),
    "RNN": Operator(_one_state, cost=cell("RNN")),
}
