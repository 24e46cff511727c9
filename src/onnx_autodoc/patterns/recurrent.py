"""Recurrent cells, as one operator or decomposed in a loop body.

    LSTM   c' = Add(Mul(Sigmoid, c), Mul(Sigmoid, Tanh)), h' = Mul(Sigmoid, Tanh(c'))
    GRU    h' = Add(Mul(Sub(h, n), z), n), or (1 - z)·n + z·h

The number of sigmoids does not distinguish them: both bodies may have three.
"""

from typing import Final

from onnx_autodoc.patterns.attributes import RecurrentAttributes
from onnx_autodoc.patterns.net import Net, Op
from onnx_autodoc.patterns.rules import match_pattern, parse_pattern

_OPERATORS: Final = {
    "LSTM": "lstm",
    "GRU": "gru",
    "RNN": "rnn",
    "DynamicQuantizeLSTM": "lstm",
    "AttnLSTM": "lstm",
}
_GATE: Final = "Sigmoid|HardSigmoid"  # Keras uses the hard one
_CELLS: Final = (  # `p` is the previous state
    ("lstm", f"c = Add(Mul({_GATE}(f), p), Mul({_GATE}(i), Tanh(g)))\ny = Mul({_GATE}(o), Tanh(c))"),
    ("gru", f"n = Tanh(a)\ny = Add(Mul(Sub(p, n), {_GATE}(z)), n)"),
    ("gru", f"s = {_GATE}(z)\ny = Add(Mul(Sub(1, s), Tanh(a)), Mul(s, p))"),
)
_CELL_OPS: Final = frozenset(
    (
        *("Add", "Mul", "Slice", "Split", "Sigmoid", "HardSigmoid", "Tanh", "linear"),
        *("Squeeze", "Gather", "Reshape", "Concat"),
    )
)
_MAX_CELL_OPS: Final = 80


def find_recurrent_cells(net: Net) -> None:
    for op in net.of(*_OPERATORS):
        hidden = op.node_attribute("hidden_size")
        recurrent = RecurrentAttributes(
            hidden=hidden if isinstance(hidden, int) and hidden > 0 else None,
            bidirectional=op.node_attribute("direction") == "bidirectional",
        )
        net.relabel(op, _OPERATORS[op.kind], recurrent)
    for kind, text in _CELLS:
        pattern = parse_pattern(text)
        for op in net.of(*pattern.kinds):
            if op in net and (match := match_pattern(net, pattern, op)) is not None:
                _merge_cell(net, kind, op, match.ops, match["p"])


def _merge_cell(net: Net, kind: str, last: Op, matched: tuple[Op, ...], previous: int) -> None:
    """Merge a matched cell with the products of its gates, back to what enters the loop body."""
    members = dict.fromkeys(matched)
    waiting = [value for op in matched for value in net.data_inputs(op)]
    while waiting and len(members) < _MAX_CELL_OPS:
        op = net.producers[waiting.pop()]
        if op is None or op in members or op.kind not in _CELL_OPS or op.loop != last.loop:
            continue
        members[op] = None
        if op.kind != "linear":
            waiting.extend(net.data_inputs(op))
    dims = net.shape(last.outputs[0]) or net.shape(previous)
    read_outside = [value for op in members for value in op.outputs if net.is_read_outside(value, members)]
    outputs = list(dict.fromkeys([last.outputs[0], *read_outside]))
    net.merge(kind, members, outputs, RecurrentAttributes(hidden=dims[-1] if dims else None, looped=bool(last.loop)))
