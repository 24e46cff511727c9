"""What whole models cost: as often as each node runs, by the branch that runs, with what is unknown named."""

import onnx
import pytest

from onnx_autodoc.analysis import CostSum, Facts
from onnx_autodoc.api import measure_model
from onnx_autodoc.card.builder import node_rows
from onnx_autodoc.shapes import Request, parse_request
from tests._text import model, proto, save_and_read


def facts(text: str, *dims: str, values: tuple[str, ...] = (), functions: str = "") -> Facts:
    return measure_model(model(text, functions=functions), parse_request(dims=dims, values=values))


def sum_costs(text: str, *dims: str, values: tuple[str, ...] = (), functions: str = "") -> CostSum:
    result = facts(text, *dims, values=values, functions=functions)
    rows = list(node_rows(result))
    assert sum(row.macs or 0 for row in rows) == result.costs.total.macs
    assert sum(row.flops or 0 for row in rows) == result.costs.total.flops
    return result.costs.total


LOOP = """g (float[B,4] x, int64 n, bool c) => (float[] y) { w = Constant <value_floats = [1.0]> ()
    m = ConstantOfShape <value = float[1] {1.0}> (s)
    y = Loop (n, c, x) <body = b (int64 i, bool on, float[B,4] h) => (bool go, float next) {
        go = Identity(on)  a = MatMul(h, m)  next = Relu(a) }> }"""
LOOP = LOOP.replace("{ w", "{ s = Constant <value = int64[2] {4, 4}> ()  w", 1)


def test_loop_cost_is_body_times_trip_count() -> None:
    result = sum_costs(LOOP, "B=2", values=("n=7", "c=1"))
    assert (result.macs, result.other) == (7 * 2 * 4 * 4, 7 * 2 * 4)
    assert not result.missing


def test_loop_of_unknown_trip_count_is_listed_with_cost_per_pass() -> None:
    result = sum_costs(LOOP, "B=2", values=("c=1",))
    assert result.macs == 0
    ((op, why),) = result.missing
    assert op == "Loop" and "the number of iterations is data-dependent" in why
    assert "each pass takes 32 MACs and 72 FLOPs" in why
    assert result.counted == result.nodes - 1


def test_loop_without_trip_count_counts_once() -> None:
    text = LOOP.replace("Loop (n, c, x)", "Loop ( , true, x)").replace(
        "{ s", "{ true = Constant <value = bool {1}> ()  s"
    )
    result = sum_costs(
        text.replace("go = Identity(on)", "t = ReduceSum <keepdims = 0> (h)  go = Cast <to = 9> (t)"), "B=2"
    )
    assert result.macs == 2 * 4 * 4
    assert [op for op, _ in result.missing] == ["Loop"]


def test_loop_with_different_passes_is_summed_by_pass() -> None:
    text = """g (float[1,4] x) => (float[] y) { n = Constant <value = int64 {3}> ()  c = Constant <value = bool {1}> ()
        y = Loop (n, c, x) <body = b (int64 i, bool on, float[M,4] h) => (bool go, float next) {
            go = Identity(on)  t = Transpose(h)  p = MatMul(h, t)  next = Concat <axis = 0> (h, x) }> }"""
    assert sum_costs(text).macs == (1 + 4 + 9) * 4


IF = """g (float[2,3] x, bool c) => (float[] y) {
    y = If (c) <then_branch = t () => (float a) { u = Transpose(x)  a = MatMul(x, u) },
                else_branch = e () => (float b) { v = Transpose(x)  p = MatMul(x, v)  b = MatMul(p, p) }> }"""


@pytest.mark.parametrize(("condition", "macs"), [("c=1", 2 * 2 * 3), ("c=0", 2 * 2 * 3 + 2 * 2 * 2)])
def test_constant_condition_counts_its_branch(condition: str, macs: int) -> None:
    result = sum_costs(IF, values=(condition,))
    assert result.macs == macs and not result.notes and result.spared_macs == 0
    assert result.counted == result.nodes == 6


def test_most_expensive_branch_counts_with_note() -> None:
    result = facts(IF)
    total = sum_costs(IF)
    assert total.macs == 20 and total.spared_macs == 8
    (note,) = total.notes
    assert note.startswith("which branch If_0 runs is data-dependent: the more expensive else_branch is counted")
    assert note.endswith("(MACs: then_branch 12, else_branch 20)")
    cheaper = [row for row in node_rows(result) if row.scope == "If_0/then_branch"]
    assert all(row.macs is None and "more expensive one is counted" in (row.gap or "") for row in cheaper)


TWICE = '<domain: "local", opset_import: ["" : 18]> twice (x, w) => (y) { a = MatMul(x, w)  y = MatMul(a, w) }'


def test_function_cost_counts_for_each_call() -> None:
    text = """g (float[2,4] x, float[4,4] w, float[8,4] z) => (float[] y, float[] u, float[] v) {
        y = local.twice(x, w)  u = local.twice(y, w)  v = local.twice(z, w) }"""
    result = sum_costs(text, functions=TWICE)
    assert result.macs == 2 * 16 * (2 + 2 + 8)
    assert result.operators["", "MatMul"].macs == result.macs


def test_nested_functions_are_multiplied_not_inlined() -> None:
    bodies = [f"f{at} (x) => (y) {{ a = local.f{at - 1}(x)  y = local.f{at - 1}(a) }}" for at in range(1, 61)]
    bodies.insert(0, "f0 (x) => (y) { y = MatMul(x, x) }")
    functions = "\n".join(f'<domain: "local", opset_import: ["" : 18, "local" : 1]> {body}' for body in bodies)
    result = measure_model(
        model("g (float[2,2] x) => (float[] y) { y = local.f60(x) }", functions=functions), Request()
    )
    assert result.costs.total.macs == 8 * 2**60


def test_nodes_independent_of_data_are_bookkeeping() -> None:
    text = """g (float[B,4] x) => (float[] y) { s = Shape(x)  n = Add(s, s)  f = Cast <to = 1> (n)  r = Sqrt(f)
        w = Constant <value = float[4] {1.0, 2.0, 3.0, 4.0}> ()  k = Mul(w, w)  y = Mul(x, k) }"""
    assert sum_costs(text, "B=5").other == 5 * 4


def test_unknown_operator_is_listed_rest_is_counted() -> None:
    text = (
        "g (float[2,3] x, float[3,4] w) => (float[] y) { m = MatMul(x, w)  a = custom.Magic(m)  y = custom.Magic(a) }"
    )
    result = facts(text)
    assert result.costs.total.macs == 24
    (((op, why), missing),) = result.costs.total.missing.items()
    assert (op, missing.count, missing.nodes) == ("Magic", 2, ["Magic_1", "Magic_2"])
    assert "custom" in why and any(gap.section == "compute" and "Magic" in gap.reason for gap in result.gaps)


def test_data_dependent_size_affects_only_its_nodes() -> None:
    text = """g (float[4,4] x) => (float[] y, float[] z) { i = NonZero(x)  f = Cast <to = 1> (i)
        t = Transpose(f)  y = MatMul(t, f)  z = MatMul(x, x) }"""
    result = sum_costs(text)
    assert result.macs == 64
    assert [op for op, _ in result.missing] == ["MatMul"]


def permute_nodes(made: onnx.ModelProto, seed: int) -> onnx.ModelProto:
    """The same graph with its nodes in an order that no longer runs from top to bottom."""
    nodes = list(made.graph.node)
    order = [nodes[(at * seed + 3) % len(nodes)] for at in range(len(nodes))]
    del made.graph.node[:]
    made.graph.node.extend(order)
    return made


@pytest.mark.parametrize("seed", [1, 5, 7])
def test_node_order_does_not_change_totals(seed: int) -> None:
    text = """g (float[2,8] x) => (float[] y) { w = Constant <value = float[8] {1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0}> ()
        a = Relu(x)  b = Mul(a, w)  t = Transpose(b)  p = MatMul(b, t)  s = Softmax(p)  m = MatMul(s, b)
        n = Add(m, x)  r = ReduceMean(n)  d = Sub(n, r)  y = Tanh(d)  z = Exp(y) }"""
    plain = measure_model(model(text), Request())
    other = measure_model(save_and_read(permute_nodes(proto(text), seed)), Request())
    assert (other.costs.total.macs, other.costs.total.flops) == (plain.costs.total.macs, plain.costs.total.flops)
    assert other.costs.total.read + other.costs.total.written == plain.costs.total.read + plain.costs.total.written
    assert other.parameters.total == plain.parameters.total == 8


CHOICE = """y = If (x) <then_branch = a () => (float p) { p = Exp(x) },
    else_branch = b () => (float q) { q = Tan(x) }>"""


@pytest.mark.parametrize(
    ("nodes", "which"),
    [
        (CHOICE, 0),
        ("c = Concat <axis = 1> (x, x)  p = MatMul(x, c)  y = Relu(c)", 1),
        ("c = Concat <axis = 1> (x, x)  y = Relu(x)", 0),
        ("s = Shape(x)  y = Relu(x)", 0),
    ],
)
@pytest.mark.parametrize("part", ["input", "output"])
def test_node_without_inputs_or_outputs_loses_only_its_cost(nodes: str, which: int, part: str) -> None:
    made = proto(f"g (float[1,B,2,2] x) => (float[] y) {{ {nodes} }}")
    made.graph.node[which].ClearField(part)
    result = measure_model(save_and_read(made), Request())
    assert result.costs.total.nodes == len(list(node_rows(result)))


def test_node_row_has_no_figure_beyond_64_bits() -> None:
    product = f"g (float[{1 << 20}, {1 << 40}] x, float[{1 << 40}, %s] w) => (float[] y) {{ y = MatMul(x, w) }}"
    (row,) = node_rows(facts(product % 2))
    assert (row.macs, row.flops, row.gap) == (1 << 61, 1 << 62, None)
    (row,) = node_rows(facts(product % 4))
    assert (row.macs, row.flops, row.gap) == (1 << 62, None, "a figure exceeds 64 bits")
