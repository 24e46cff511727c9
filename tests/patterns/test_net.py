"""Consistency of the net: every value is computed once, before it is read, after any merge."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnx_autodoc.limits import Limits, current_limits, within
from onnx_autodoc.ops import ValueInfo
from onnx_autodoc.patterns import Net, Op
from onnx_autodoc.patterns.attributes import BlockAttributes
from tests.patterns._nets import build_graph_net, build_net, list_kinds, to_onnx_text

# every value is [8, 8], so that any op can follow any other
STEPS = (
    *("Relu({0})", "Sigmoid({0})", "Tanh({0})", "Erf({0})", "Exp({0})", "Softmax({0})", "Neg({0})", "Transpose({0})"),
    *("Add({0}, {1})", "Mul({0}, {1})", "Sub({0}, {1})", "Div({0}, {1})", "MatMul({0}, {1})", "Max({0}, {1})"),
    *("MatMul({0}, W)", "Add(MatMul({0}, W), B)", "Mul({0}, B)", "Add({0}, B)", "Gather(W, Cast<to = 7>({0}))"),
    *("Mul({0}, Sigmoid({0}))", "LayerNormalization({0}, B)", "Add({0}, MatMul({1}, W))", "Mul({0}, 0.5)"),
    *("Sub({0}, ReduceMean({0}, [-1]))", "Div({0}, Sqrt(Add(ReduceMean(Mul({1}, {1}), [-1]), 0.00001)))"),
    *("Slice(Concat<axis = 1>({0}, {1}), [0], [8], [1])", "MatMul(Softmax(MatMul({0}, {1})), {0})"),
    *("Reshape(Conv(Reshape({0}, [1, 8, 8, 1]), Reshape(W, [8, 8, 1, 1])), [8, 8])", "Clip(Add({0}, 3.0), 0.0, 6.0)"),
    *("Mul(Sigmoid({0}), Tanh(Add(Mul(Sigmoid({1}), {0}), Mul(Sigmoid(MatMul({0}, W)), Tanh({1})))))",),
    *("Add({0}, Mul(MatMul({1}, W), ReduceSum(Softmax(MatMul({0}, W)), [-1])))", "Mul({0}, Sigmoid(MatMul({1}, W)))"),
    *("MatMul(Mul(Relu(MatMul({0}, W)), MatMul({0}, W)), W)", "Reshape({0}, [8, 8])", "Cast<to = 1>({0})"),
)
GRAPHS = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=24)


def build_chain(steps: list[tuple[str, int, int]], outputs: int) -> Net:
    """Return a net whose steps read recent values, with one more output in the middle."""
    lines = []
    for at, (call, *back) in enumerate(steps):
        names = [f"v{at - 1 - each}" if at > each else "x" for each in back]
        lines.append(f"v{at} = {call.format(*names)}")
    out = dict.fromkeys((f"v{len(steps) - 1}", f"v{outputs % len(steps)}"))
    return build_net(" ".join(lines), outputs=", ".join(out), x=(8, 8), W=(8, 8), B=(8,), invalid=True)


def find_defects(net: Net) -> list[str]:
    """Return the inconsistencies of a net."""
    terms = list(net)
    rows = [row for op in terms for row in op.rows]
    wrong = [f"row {row} is in two terms" for row in set(rows) if rows.count(row) > 1]
    for op in terms:
        wrong += [f"{op} reads {value} before it is computed" for value in op.inputs if not _is_ready(net, op, value)]
        wrong += [f"{value} is not computed by {op}" for value in op.outputs if net.producers[value] is not op]
        wrong += [f"{value} forgot {op}" for value in op.inputs if op not in net.consumers[value]]
        inner = {row for part in op.walk() if not part.parts for row in part.rows}
        wrong += [f"{op} lost rows"] if inner != set(op.rows) else []
    wrong += [f"{value} is an output and not computed" for value in net.output_values if not _is_computed(net, value)]
    read = {(value, reader) for value, readers in enumerate(net.consumers) for reader in readers}
    wrong += [f"{reader} is gone" for _, reader in read if net.ops.get(reader.position) is not reader]
    return wrong


def _is_computed(net: Net, value: int) -> bool:
    producer = net.producers[value]
    return net.constant[value] or producer is None or net.ops.get(producer.position) is producer


def _is_ready(net: Net, op: Op, value: int) -> bool:
    producer = net.producers[value]
    return (
        net.constant[value]
        or producer is None
        or (net.ops.get(producer.position) is producer and producer.position < op.position)
    )


@settings(max_examples=150, deadline=None)
@given(GRAPHS, st.integers(0, 23))
def test_rewriting_keeps_the_net_consistent(steps: list[tuple[str, int, int]], outputs: int) -> None:
    assert find_defects(build_chain(steps, outputs)) == []


def test_inconsistent_net_is_detected() -> None:
    net = build_net("y = Exp(Relu(x))", x=(8, 8))
    assert find_defects(net) == []
    net.remove(net.of("Relu")[0])
    assert find_defects(net)


def test_values_read_early_stay_outside_the_block() -> None:
    """The keys are an output, and the queries are computed from them."""
    net = build_net("k = Neg(x) q = Erf(k) y = MatMul(Softmax(MatMul(q, k)), q)", outputs="y, k", x=(8, 8))
    assert list_kinds(net) == ["Neg", "Erf", "attention"] and find_defects(net) == []


def test_merging_leaves_ops_that_others_read() -> None:
    net = build_net("a = Relu(x) b = Exp(a) y = Add(b, Tanh(a))", x=(8, 8), flat=True)
    relu, exp = net.of("Relu")[0], net.of("Exp")[0]
    block = net.merge("pair", [relu, exp], exp.outputs, BlockAttributes(out_features=1))
    assert list_kinds(net) == ["Relu", "pair", "Tanh", "Add"]
    assert (block.inputs, block.parts, block.out_features) == (relu.outputs, (exp,), 1)


def test_growing_block_does_not_nest() -> None:
    net = build_net("y = Mul(Relu(x), B)", x=(8, 8), B=(8,), flat=True)
    block = net.merge("norm", net.of("Relu"), net.of("Relu")[0].outputs, BlockAttributes(out_features=1))
    grown = net.merge("norm", [block, *net.of("Mul")], net.of("Mul")[0].outputs)
    assert [op.kind for op in grown.walk()] == ["norm", "Relu", "Mul"]
    assert grown.out_features == 1


@pytest.mark.parametrize(
    ("constant", "number"),
    [
        ("2.5", 2.5),
        ("Cast<to = 1>([3])", 3.0),
        ("[1.0, 2.0]", None),
        ("DequantizeLinear(Q, 0.5)", 1.5),
        ("Sqrt(4.0)", 2.0),
    ],
)
def test_scalar_returns_the_value_of_a_constant(constant: str, number: float | None) -> None:
    net = build_net(f"y = Mul(x, {constant})", x=(8, 2), Q=np.array(3, np.int8), flat=True)
    scalar = net.scalar(net.of("Mul")[0].inputs[1])
    assert scalar == number or (scalar is not None and number is not None and math.isclose(scalar, number))
    assert net.scalar(net.inputs["x"]) is None


def test_nested_functions_are_truncated_at_the_row_limit() -> None:
    functions = '<domain: "local", opset_import: ["" : 18]> f0 (a) => (b) { b = Relu(a) }'
    for at in range(1, 9):
        inner = f"{{ c = local.f{at - 1}(a) b = local.f{at - 1}(c) }}"
        functions += f'\n<domain: "local", opset_import: ["" : 18, "local" : 1]> f{at} (a) => (b) {inner}'
    graph = "g (float[8] x) => (y) { y = local.f8(x) }"
    with within(Limits(rows=104)):
        truncated = build_graph_net(graph, functions=functions, runs=[True])
    assert truncated.truncation.startswith("the model has more than 104 operations") and truncated.truncation.endswith(
        "--max-rows raises the limit"
    )
    assert find_defects(truncated) == []
    assert build_graph_net(graph, functions=functions).truncation == ""


@pytest.mark.parametrize("rows", [4, 5])
def test_row_limit_is_exact(rows: int) -> None:
    functions = (
        '<domain: "local", opset_import: ["" : 18]> f (a) => (b) { c = Relu(a) d = Exp(c) e = Exp(d) b = Exp(e) }'
    )
    with within(Limits(rows=rows)):
        net = build_graph_net("g (float[8] x) => (y) { y = local.f(x) }", functions=functions, runs=[True])
    assert (net.truncation == "") == (rows == 5)  # a call and four nodes


def test_functions_are_inlined_up_to_the_depth_limit() -> None:
    functions = '<domain: "local", opset_import: ["" : 18]> f0 (a) => (b) { b = Relu(a) }'
    for at in range(1, 300):
        head = f'<domain: "local", opset_import: ["" : 18, "local" : 1]> f{at} (a) => (b)'
        functions += f"\n{head} {{ c = local.f{at - 1}(a) b = Exp(c) }}"
    net = build_graph_net("g (float[8] x) => (y) { y = local.f299(x) }", functions=functions, invalid=True)
    assert (
        list_kinds(net).count("Exp") == current_limits().depth + 1 and find_defects(net) == []
    )  # of the last, no sizes are known


def test_notation_of_tests_is_parsed_as_models() -> None:
    text = to_onnx_text("a, b = Split<axis = -1>(x, [2, 2]) y = Clip(Mul(a, 0.5), , b)")
    assert text == (
        "made1 = Constant<value = int64[2] {2,  2}>() a, b = Split<axis = -1>(x, made1)"
        " made2 = Constant<value = float {0.5}>() made3 = Mul(a, made2) y = Clip(made3, , b)"
    )


def test_repeated_dequantization_needs_no_recursion() -> None:
    net = Net()
    one = net.add_value("s", ValueInfo("float32", (), value=np.array(1, np.float32)), constant=True)
    last = net.add_value("x", ValueInfo("int8", (), value=np.array(4, np.int8)), constant=True)
    for at in range(20_000):
        value = net.add_value(f"v{at}", ValueInfo("float32", ()), constant=True)
        net.add_constant(Op("DequantizeLinear", [last, one], [value], -1, ()))
        last = value
    doubled = net.add_value("y", ValueInfo("float32", ()), constant=True)
    net.add_constant(Op("DequantizeLinear", [last, last, last], [doubled], -1, ()))
    assert (net.scalar(last), net.scalar(doubled)) == (4, 0)
