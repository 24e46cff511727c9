"""Recurrent cells: operators, and cells decomposed in loops."""

import numpy as np
import pytest

from onnx_autodoc.patterns import Net
from tests.patterns._nets import (
    Value,
    build_graph_net,
    build_net,
    count_blocks,
    find_only,
    list_kinds,
    list_residual_kinds,
    to_onnx_text,
)

SEQUENCE: dict[str, Value] = {"x": (5, 2, 16), "W": (1, 32, 16), "R": (1, 32, 8)}


@pytest.mark.parametrize(
    ("body", "kind", "gates", "both"),
    [
        ("y = LSTM<hidden_size = 8>(x, W, R)", "lstm", 4, False),
        ('y = LSTM<hidden_size = 8, direction = "bidirectional">(x, W, R)', "lstm", 4, True),
        ("y = GRU<hidden_size = 8, linear_before_reset = 1>(x, W, R)", "gru", 3, False),
        ('y = RNN<hidden_size = 8, direction = "reverse">(x, W, R)', "rnn", 1, False),
    ],
)
def test_recurrent_operator_is_a_cell(body: str, kind: str, gates: int, both: bool) -> None:
    net = build_net(body, x=(5, 2, 16), W=(1 + both, gates * 8, 16), R=(1 + both, gates * 8, 8))
    assert list_kinds(net) == [kind]
    block = find_only(net, kind)
    assert (block.recurrent.hidden, block.recurrent.bidirectional) == (8, both)


def test_quantized_operator_is_a_cell() -> None:
    weights: dict[str, Value] = {
        "W": np.ones((1, 16, 32), np.int8),
        "R": np.ones((1, 8, 32), np.int8),
        "Z": np.zeros(1, np.int8),
    }
    body = "y = com.microsoft.DynamicQuantizeLSTM<hidden_size = 8>(x, W, R, , , , , , S, Z, S, Z)"
    net = build_net(body, x=(5, 2, 16), **weights, S=(1,))
    assert find_only(net, "lstm").recurrent.hidden == 8


# Decomposed: x is the whole sequence outside, h and c are carried from step to step

GATES = "i, f, g, o = Split<axis = 1, num_outputs = 4>(Add(MatMul(t, W), MatMul(h, R)))"
SUMS = "a, b, d = Split<axis = 1, num_outputs = 3>(MatMul(t, G))"
SUMS += " e, j, k = Split<axis = 1, num_outputs = 3>(MatMul(h, H))"
GATED = f"{SUMS} q = Tanh(Add(d, Mul(Sigmoid(Add(a, e)), k))) z = Sigmoid(Add(b, j))"
SUM = "Add(MatMul(t, A), MatMul(h, E))"
LSTM = "m = Add(Mul(Sigmoid(f), c), Mul(Sigmoid(i), Tanh(g))) n = Mul(Sigmoid(o), Tanh(m))"
CELLS = {
    "lstm": f"{GATES} {LSTM}",
    "lstm, the other way round": f"{GATES} m = Add(Mul(Tanh(g), Sigmoid(i)), Mul(c, Sigmoid(f)))"
    " n = Mul(Tanh(m), Sigmoid(o))",
    "lstm, hard sigmoids": f"{GATES} {LSTM}".replace("Sigmoid", "HardSigmoid"),
    "lstm, a product for each gate": "".join(f"{gate} = Identity({SUM}) " for gate in "ifgo") + LSTM,
    "gru, (h-n)·z + n": f"{GATED} n = Add(Mul(Sub(h, q), z), q) m = Identity(c)",
    "gru, (1-z)·n + z·h": f"{GATED} n = Add(Mul(Sub(1.0, z), q), Mul(z, h)) m = Identity(c)",
    "gru, hard sigmoids": f"{GATED} n = Add(Mul(Sub(h, q), z), q) m = Identity(c)".replace("Sigmoid", "HardSigmoid"),
    "gru, z·h + (1-z)·n": f"{GATED} n = Add(Mul(z, h), Mul(Sub(1.0, z), q)) m = Identity(c)",
}
WEIGHTS: dict[str, Value] = {"W": (16, 32), "R": (8, 32), "G": (16, 24), "H": (8, 24), "A": (16, 8), "E": (8, 8)}


def build_loop(cell: str) -> Net:
    """Return the net of a loop as tf2onnx exports it: each iteration gathers one step of the sequence."""
    graph = f"""g (float[5,2,16] x, float[2,8] h0, float[2,8] c0) => (y, last) {{
        true = Constant<value = bool {{1}}>() five = Constant<value = int64 {{5}}>()
        last, rest, y = Loop (five, true, h0, c0) <body = b (int64 step, bool on, float[2,8] h, float[2,8] c)
            => (bool go, float[2,8] n, float[2,8] m, float[2,8] out) {{
            go = Identity(on) t = Gather(x, step) {to_onnx_text(cell)} out = Identity(n) }}> }}"""
    return build_graph_net(graph, **WEIGHTS)


@pytest.mark.parametrize("name", CELLS)
def test_cell_in_a_loop_is_one_block(name: str) -> None:
    net, kind = build_loop(CELLS[name]), name.partition(",")[0]
    assert count_blocks(net, kind) == 1
    assert count_blocks(net, "lstm") + count_blocks(net, "gru") == 1
    block = find_only(net, kind)
    assert (block.recurrent.hidden, block.recurrent.looped) == (8, True)
    assert count_blocks(net, "linear") == (8 if "each gate" in name else 2)
    assert list_residual_kinds(net) == []
    assert not [op for op in net if op.kind in ("linear", "Sigmoid", "Tanh", "Mul")]  # parts of the block


def test_cell_without_a_loop_is_matched() -> None:
    """A model that runs once per step, with its state as input and output."""
    net = build_net(CELLS["lstm"], outputs="n, m", t=(2, 16), h=(2, 8), c=(2, 8), **WEIGHTS)
    assert list_kinds(net) == ["lstm"]
    assert find_only(net, "lstm").recurrent.looped is False
    assert set(net.outputs.values()) <= set(find_only(net, "lstm").outputs)


@pytest.mark.parametrize(
    "cell",
    [
        "n = Tanh(Add(MatMul(t, A), MatMul(h, E))) m = Identity(c)",
        "n = Mul(Sigmoid(MatMul(t, A)), Tanh(MatMul(h, E))) m = Add(c, n)",  # gates and a sum, but no forget gate
        "n = Add(h, MatMul(h, E)) m = Identity(c)",
    ],
)
def test_other_bodies_are_not_cells(cell: str) -> None:
    net = build_loop(cell)
    assert count_blocks(net, "lstm") == count_blocks(net, "gru") == 0
    assert count_blocks(net, "linear") > 0


def test_three_sigmoids_are_not_a_recurrent_cell() -> None:
    """The body of a GRU with a head has the sigmoids and tanhs of an LSTM."""
    net = build_loop(CELLS["gru, (h-n)·z + n"].replace("m = Identity(c)", "m = Sigmoid(Tanh(MatMul(n, E)))"))
    assert (count_blocks(net, "gru"), count_blocks(net, "lstm")) == (1, 0)


def test_unrolled_steps_are_one_cell_each() -> None:
    step = """i{1}, f{1}, g{1}, o{1} = Split<axis = 1, num_outputs = 4>(Add(MatMul(t{1}, W), MatMul(h{0}, R)))
        c{1} = Add(Mul(Sigmoid(f{1}), c{0}), Mul(Sigmoid(i{1}), Tanh(g{1}))) h{1} = Mul(Sigmoid(o{1}), Tanh(c{1}))"""
    steps: dict[str, Value] = {f"t{at}": (2, 16) for at in (1, 2, 3)}
    body = " ".join(step.format(at, at + 1) for at in range(3))
    net = build_net(body, outputs="h3, c3", **steps, h0=(2, 8), c0=(2, 8), W=(16, 32), R=(8, 32))
    assert list_kinds(net) == ["lstm"] * 3 and count_blocks(net, "linear") == 6
