"""Flattening: inlined functions, branches and loops, removed constants, and malformed graphs."""

import time

import numpy as np
import onnx
import pytest
from onnx import helper

from onnx_autodoc.patterns import Net
from tests._text import proto
from tests.patterns._nets import (
    build_graph_net,
    build_net,
    build_proto_net,
    count_blocks,
    list_kinds,
    list_residual_kinds,
    to_onnx_text,
)


def test_constants_are_not_ops_of_the_net() -> None:
    body = "n = Gather(Shape(x), 0) y = Reshape(MatMul(x, Transpose(W)), Concat<axis = 0>(Unsqueeze(n, [0]), [2, -1]))"
    net = build_net(body, x=(2, 8), W=(4, 8), flat=True)
    assert list_kinds(net) == ["linear", "Reshape"]
    reshape = net.of("Reshape")[0]
    assert [net.constant[value] for value in reshape.inputs] == [False, True]
    producer = net.producers[reshape.inputs[1]]
    assert producer is not None and producer.kind == "Concat"  # reachable as a producer


def test_dead_code_is_removed() -> None:
    net = build_net("a = Relu(x) b = Exp(a) c = Sigmoid(b) y = Tanh(a)", x=(2, 8))
    assert list_kinds(net) == ["Relu", "Tanh"]


def test_row_belongs_to_one_op() -> None:
    body = "n = LayerNormalization(x, G) a = MatMul(n, W) y = Add(x, MatMul(Mul(a, Sigmoid(a)), W))"
    rows = [row for op in build_net(body, x=(2, 8), G=(8,), W=(8, 8)) for row in op.rows]
    assert sorted(rows) == list(range(6))


@pytest.mark.parametrize(
    "weight",
    [
        "Constant<value = float[2,2] {1.0, 2.0, 3.0, 4.0}>()",
        "ConstantOfShape([2, 2])",
        "DequantizeLinear(Q, 0.1)",
        "Transpose(Cast<to = 1>(H))",
        "Concat<axis = 0>(Slice(F, [0], [1], [0]), Slice(F, [1], [2], [0]))",
    ],
)
def test_weights_are_independent_of_inputs(weight: str) -> None:
    weights = {"Q": np.ones((2, 2), np.int8), "H": np.ones((2, 2), np.float16), "F": np.ones((2, 2), np.float32)}
    net = build_net(f"y = MatMul(x, {weight})", x=(3, 2), flat=True, **weights)
    assert list_kinds(net) == ["linear"]
    assert (net.of("linear")[0].in_features, net.of("linear")[0].out_features) == (2, 2)


def test_initializers_that_are_inputs_too_are_weights() -> None:
    """Files of IR version 3 declare them so."""
    net = build_graph_net("g (float[2,8] x, float[8,4] w) => (y) { y = MatMul(x, w) }", w=(8, 4))
    assert list_kinds(net) == ["linear"] and list(net.inputs) == ["x"]


FUNCTION = """
<domain: "local", opset_import: ["" : 18]> swish (a) => (b) { s = Sigmoid(a) b = Mul(a, s) }
<domain: "local", opset_import: ["" : 18, "local" : 1]> layer (a, w, v) => (b) {
    h = MatMul(a, w) i = local.swish(h) b = MatMul(i, v) }
"""


def test_functions_are_inlined_at_each_call() -> None:
    graph = "g (float[2,8] x) => (y) { h = local.layer(x, W, V) y = local.layer(h, W, V) }"
    net = build_graph_net(graph, functions=FUNCTION, W=(8, 16), V=(16, 8))
    assert list_kinds(net) == ["mlp", "mlp"] and count_blocks(net, "silu") == 2
    assert [op.mlp.inner_features for op in net.of("mlp")] == [16, 16]
    assert sorted(row for op in net for row in op.rows) == [1, 3, 4, 5, 7, 9, 10, 11]  # without the calls


BRANCHES = """g (float[2,8] x, bool c) => (y) {
    y = If (c) <then_branch = t () => (float[2,8] a) { s = Sigmoid(x) a = Mul(x, s) },
                else_branch = e () => (float[2,8] b) { b = MatMul(x, W) }> }"""


@pytest.mark.parametrize(("value", "kinds"), [("c=1", ["silu"]), ("c=0", ["linear"])])
def test_known_branch_is_inlined(value: str, kinds: list[str]) -> None:
    assert list_kinds(build_graph_net(BRANCHES, bound_values=(value,), W=(8, 8))) == kinds


@pytest.mark.parametrize(
    ("runs", "kinds"), [([True, True, True, False], ["silu"]), ([True, False, False, True], ["linear"])]
)
def test_counted_branch_is_inlined_if_the_condition_is_unknown(runs: list[bool], kinds: list[str]) -> None:
    assert list_kinds(build_graph_net(BRANCHES, runs=runs, W=(8, 8))) == kinds


def test_branch_may_forward_a_value() -> None:
    graph = """g (float[2,8] x, bool c) => (z) {
        h = Exp(x) y = If (c) <then_branch = t () => (float[2,8] a) { a = Identity(h) },
                               else_branch = e () => (float[2,8] b) { b = Identity(x) }>
        z = Relu(y) }"""
    assert list_kinds(build_graph_net(graph, bound_values=("c=1",))) == ["Exp", "Relu"]


LOOP = """g (float[2,8] x, int64 n) => (y, z) {
    true = Constant<value = bool {1}>() start = Constant<value = float[8,8] {VALUES}>()
    y, w, z = Loop (n, true, x, start) <body = b (int64 i, bool on, float[2,8] h, float[8,8] v)
        => (bool go, float[2,8] next, float[8,8] u, float[2,8] out) {
            go = Identity(on) u = Identity(v) next = MatMul(h, v) out = Relu(next) }> }"""
LOOP = LOOP.replace("VALUES", ", ".join(["0.5"] * 64))


def test_loop_body_is_inlined_once_and_invariants_stay_constant() -> None:
    net = build_graph_net(LOOP, bound_values=("n=3",))
    assert list_kinds(net) == ["carry", "linear", "Relu", "stack"]
    carry = net.of("carry")[0]
    assert carry.inputs == (net.inputs["x"],)
    assert [op.loop for op in net] == [1, 1, 1, 0]
    assert net.outputs["z"] == net.of("stack")[0].outputs[0]


def test_scan_body_is_inlined_once() -> None:
    graph = """g (float[5,8] x, float[8] s) => (y, z) {
        y, z = Scan<num_scan_inputs = 1, body = b (float[8] h, float[8] t) => (float[8] next, float[8] out)
            { next = Add(h, t) out = Tanh(next) }>(s, x) }"""
    net = build_graph_net(graph, invalid=True)
    assert [op for op in list_kinds(net) if op in ("Add", "Tanh", "stack")] == ["Add", "Tanh", "stack"]


# Malformed graphs


def test_graph_without_nodes_has_no_blocks() -> None:
    assert list_kinds(build_graph_net("g (float[2] x) => (x) { }")) == []


def test_unknown_operator_becomes_an_op() -> None:
    net = build_net("y = Relu(custom.Strange(x, W))", x=(2, 8), W=(8,))
    assert list_kinds(net) == ["Strange", "Relu"]


@pytest.mark.parametrize(
    "op", ["Relu", "Add", "Mul", "Sub", "Concat", "MatMul", "Gemm", "Conv", "Softmax", "Gather", "LSTM"]
)
@pytest.mark.parametrize(
    "inputs", [[], ["x"], ["", "x"], ["x", ""], ["w"], ["x", "w", "w", "w", "w", "w", "w", "w", "w"]]
)
@pytest.mark.parametrize("outputs", [["y"], ["", "y"], []])
def test_nodes_may_lack_inputs_and_outputs(op: str, inputs: list[str], outputs: list[str]) -> None:
    assert isinstance(build_proto_net(_single(op, "", inputs, outputs), invalid=True), Net)


@pytest.mark.parametrize(
    "op",
    [
        *("Attention", "QAttention", "MultiHeadAttention", "GroupQueryAttention", "SkipLayerNormalization"),
        *("GroupNorm", "EmbedLayerNormalization", "SkipGroupNorm", "BiasGelu", "FastGelu", "QuickGelu", "MatMulNBits"),
        *(
            "MatMulBnb4",
            "QLinearConv",
            "QLinearAdd",
            "QGemm",
            "QLinearConcat",
            "FusedConv",
            "FusedMatMul",
            "GatherBlockQuantized",
        ),
    ],
)
@pytest.mark.parametrize(
    "inputs", [[], ["x"], ["", "x"], ["w"], ["x", "w", "w", "w", "w", "w", "w", "w"], ["x", "x", "x"]]
)
def test_fused_nodes_may_lack_inputs_and_attributes(op: str, inputs: list[str]) -> None:
    for outputs in ([], ["y"], ["y", "", "z", "u"]):
        assert isinstance(build_proto_net(_single(op, "com.microsoft", inputs, outputs), invalid=True), Net)


def _single(op: str, domain: str, inputs: list[str], outputs: list[str]) -> onnx.ModelProto:
    model_proto = proto("g (float[2,8] x) => (y) <float[8,8] w> { }")
    model_proto.graph.node.append(helper.make_node(op, inputs, outputs, domain=domain))
    return model_proto


@pytest.mark.parametrize("dims", ["float", "float[]", "float[N,M]", "float[0,8]"])
def test_sizes_may_be_unknown_or_nothing(dims: str) -> None:
    body = "a = Mul(MatMul(x, W), Sigmoid(MatMul(x, W))) n = LayerNormalization(x, G) y = Add(x, MatMul(Softmax(a), W))"
    net = build_net(body, x=dims, W=(8, 8), G=(8,), invalid=True)
    assert count_blocks(net, "linear") == 3 and list_residual_kinds(net) == ["add"]


def test_missing_producer_is_tolerated() -> None:
    net = build_net("y = Add(x, MatMul(nowhere, W))", x=(2, 8), W=(8, 8), invalid=True)
    assert list_kinds(net)[-1] == "Add"


def test_cycle_is_tolerated() -> None:
    net = build_graph_net("g (float[2,8] x) => (y) { a = Add(x, b) b = Relu(a) y = Relu(b) }", invalid=True)
    assert list_kinds(net) == ["Add", "Relu", "Relu"]


def test_name_with_two_producers_belongs_to_the_last() -> None:
    net = build_graph_net("g (float[2,8] x) => (y) { a = Relu(x) a = Exp(x) y = Tanh(a) }", invalid=True)
    assert list_kinds(net) == ["Exp", "Tanh"]


@pytest.mark.parametrize(
    ("step", "nodes"),
    [
        ("{b} = Relu({a})", 1),
        ("{b} = Add(x, Relu({a}))", 2),
        ("{b} = Mul({a}, Sigmoid({a}))", 2),
        ("{b} = Add({a}, MatMul({a}, W))", 2),
        ("{b} = Softmax(MatMul({a}, {a}))", 2),
        ("{b} = Concat<axis = 1>(x, Slice({a}, [0], [1], [1]))", 5),
    ],
)
def test_long_chains_are_fast(step: str, nodes: int) -> None:
    """A search to the beginning from each of 5,000 nodes would take minutes."""
    steps = [(at, step.format(a=f"v{at}" if at else "x", b=f"v{at + 1}")) for at in range(5000 // nodes)]
    calls = [to_onnx_text(text).replace("made", f"made{at}_") for at, text in steps]
    graph = f"g (float[8,8] x) => (v{len(steps)}) {{ {' '.join(calls)} }}"
    began = time.process_time()
    build_graph_net(graph, W=(8, 8), invalid=True)
    assert time.process_time() - began < 8


def test_captures_of_an_unknown_operator_are_added_in_sorted_order() -> None:
    names = [f"w{index}" for index in range(8)]
    body = f"b () => (float[2] r) {{ r = Sum({', '.join(reversed(names))}) }}"
    weights = dict.fromkeys(names, (2,))
    net = build_graph_net(f"g (float[2] x) => (float[2] y) {{ y = acme.Map<body = {body}>(x) }}", **weights)
    assert [name for name in net.names if name in names] == names
