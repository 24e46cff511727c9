"""What whole models cost: as often as each node runs, by the branch that runs, with what is not known named."""

import onnx
import pytest

from onnx_autodoc.analysis import CostSum, Facts
from onnx_autodoc.api import measure_model
from onnx_autodoc.card.builder import node_rows
from onnx_autodoc.shapes import Request, parse_request
from tests._text import loaded, model, proto


def facts(text: str, *dims: str, values: tuple[str, ...] = (), functions: str = "") -> Facts:
    return measure_model(model(text, functions=functions), parse_request(dims=dims, values=values))


def tally(text: str, *dims: str, values: tuple[str, ...] = (), functions: str = "") -> CostSum:
    found = facts(text, *dims, values=values, functions=functions)
    rows = list(node_rows(found))
    assert sum(row.macs or 0 for row in rows) == found.costs.total.macs
    assert sum(row.flops or 0 for row in rows) == found.costs.total.flops
    return found.costs.total


LOOP = """g (float[B,4] x, int64 n, bool c) => (float[] y) { w = Constant <value_floats = [1.0]> ()
    m = ConstantOfShape <value = float[1] {1.0}> (s)
    y = Loop (n, c, x) <body = b (int64 i, bool on, float[B,4] h) => (bool go, float next) {
        go = Identity(on)  a = MatMul(h, m)  next = Relu(a) }> }"""
LOOP = LOOP.replace("{ w", "{ s = Constant <value = int64[2] {4, 4}> ()  w", 1)


def test_a_loop_costs_its_body_as_often_as_it_runs() -> None:
    found = tally(LOOP, "B=2", values=("n=7", "c=1"))
    assert (found.macs, found.other) == (7 * 2 * 4 * 4, 7 * 2 * 4)
    assert not found.missing


def test_a_loop_that_runs_nobody_knows_how_often_is_named_with_the_cost_of_a_pass() -> None:
    found = tally(LOOP, "B=2", values=("c=1",))
    assert found.macs == 0
    ((op, why),) = found.missing
    assert op == "Loop" and "depends on the data" in why and "each pass takes 32 MACs, 72 FLOPs" in why
    assert found.counted == found.nodes - 1


def test_a_loop_without_a_count_runs_at_least_once() -> None:
    text = LOOP.replace("Loop (n, c, x)", "Loop ( , true, x)").replace(
        "{ s", "{ true = Constant <value = bool {1}> ()  s"
    )
    found = tally(text.replace("go = Identity(on)", "t = ReduceSum <keepdims = 0> (h)  go = Cast <to = 9> (t)"), "B=2")
    assert found.macs == 2 * 4 * 4
    assert [op for op, _ in found.missing] == ["Loop"]


def test_a_loop_whose_passes_differ_is_summed_pass_by_pass() -> None:
    text = """g (float[1,4] x) => (float[] y) { n = Constant <value = int64 {3}> ()  c = Constant <value = bool {1}> ()
        y = Loop (n, c, x) <body = b (int64 i, bool on, float[M,4] h) => (bool go, float next) {
            go = Identity(on)  t = Transpose(h)  p = MatMul(h, t)  next = Concat <axis = 0> (h, x) }> }"""
    assert tally(text).macs == (1 + 4 + 9) * 4


IF = """g (float[2,3] x, bool c) => (float[] y) {
    y = If (c) <then_branch = t () => (float a) { u = Transpose(x)  a = MatMul(x, u) },
                else_branch = e () => (float b) { v = Transpose(x)  p = MatMul(x, v)  b = MatMul(p, p) }> }"""


@pytest.mark.parametrize(("condition", "macs"), [("c=1", 2 * 2 * 3), ("c=0", 2 * 2 * 3 + 2 * 2 * 2)])
def test_a_known_condition_costs_its_branch(condition: str, macs: int) -> None:
    found = tally(IF, values=(condition,))
    assert found.macs == macs and not found.notes and found.spared_macs == 0
    assert found.counted == found.nodes == 6


def test_of_two_branches_the_dearer_one_counts_and_is_noted() -> None:
    found = facts(IF)
    total = tally(IF)
    assert total.macs == 20 and total.spared_macs == 8
    (note,) = total.notes
    assert note.startswith("the data decide which branch If_0 runs: the dearer else_branch is counted")
    assert note.endswith("(MACs: then_branch 12, else_branch 20)")
    cheaper = [row for row in node_rows(found) if row.scope == "If_0/then_branch"]
    assert all(row.macs is None and "cheaper" in (row.gap or "") for row in cheaper)


TWICE = '<domain: "local", opset_import: ["" : 18]> twice (x, w) => (y) { a = MatMul(x, w)  y = MatMul(a, w) }'


def test_a_function_costs_what_each_of_its_calls_costs() -> None:
    text = """g (float[2,4] x, float[4,4] w, float[8,4] z) => (float[] y, float[] u, float[] v) {
        y = local.twice(x, w)  u = local.twice(y, w)  v = local.twice(z, w) }"""
    found = tally(text, functions=TWICE)
    assert found.macs == 2 * 16 * (2 + 2 + 8)
    assert found.operators["", "MatMul"].macs == found.macs


def test_functions_that_call_functions_are_multiplied_not_inlined() -> None:
    bodies = [f"f{at} (x) => (y) {{ a = local.f{at - 1}(x)  y = local.f{at - 1}(a) }}" for at in range(1, 61)]
    bodies.insert(0, "f0 (x) => (y) { y = MatMul(x, x) }")
    functions = "\n".join(f'<domain: "local", opset_import: ["" : 18, "local" : 1]> {body}' for body in bodies)
    found = measure_model(model("g (float[2,2] x) => (float[] y) { y = local.f60(x) }", functions=functions), Request())
    assert found.costs.total.macs == 8 * 2**60


def test_what_does_not_hang_on_data_is_bookkeeping() -> None:
    text = """g (float[B,4] x) => (float[] y) { s = Shape(x)  n = Add(s, s)  f = Cast <to = 1> (n)  r = Sqrt(f)
        w = Constant <value = float[4] {1.0, 2.0, 3.0, 4.0}> ()  k = Mul(w, w)  y = Mul(x, k) }"""
    assert tally(text, "B=5").other == 5 * 4


def test_an_unknown_operator_is_named_and_the_rest_is_counted() -> None:
    text = (
        "g (float[2,3] x, float[3,4] w) => (float[] y) { m = MatMul(x, w)  a = custom.Magic(m)  y = custom.Magic(a) }"
    )
    found = facts(text)
    assert found.costs.total.macs == 24
    (((op, why), missing),) = found.costs.total.missing.items()
    assert (op, missing.count, missing.nodes) == ("Magic", 2, ["Magic_1", "Magic_2"])
    assert "custom" in why and any(gap.section == "compute" and "Magic" in gap.reason for gap in found.gaps)


def test_a_size_that_the_data_decide_costs_only_its_own_nodes() -> None:
    text = """g (float[4,4] x) => (float[] y, float[] z) { i = NonZero(x)  f = Cast <to = 1> (i)
        t = Transpose(f)  y = MatMul(t, f)  z = MatMul(x, x) }"""
    found = tally(text)
    assert found.macs == 64
    assert [op for op, _ in found.missing] == ["MatMul"]


def permuted(made: onnx.ModelProto, seed: int) -> onnx.ModelProto:
    """The same graph with its nodes in an order that no longer runs from top to bottom."""
    nodes = list(made.graph.node)
    order = [nodes[(at * seed + 3) % len(nodes)] for at in range(len(nodes))]
    del made.graph.node[:]
    made.graph.node.extend(order)
    return made


@pytest.mark.parametrize("seed", [1, 5, 7])
def test_another_order_of_the_nodes_changes_no_total(seed: int) -> None:
    text = """g (float[2,8] x) => (float[] y) { w = Constant <value = float[8] {1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0}> ()
        a = Relu(x)  b = Mul(a, w)  t = Transpose(b)  p = MatMul(b, t)  s = Softmax(p)  m = MatMul(s, b)
        n = Add(m, x)  r = ReduceMean(n)  d = Sub(n, r)  y = Tanh(d)  z = Exp(y) }"""
    plain = measure_model(model(text), Request())
    other = measure_model(loaded(permuted(proto(text), seed)), Request())
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
def test_a_node_that_lacks_inputs_or_outputs_costs_that_node_alone(nodes: str, which: int, part: str) -> None:
    made = proto(f"g (float[1,B,2,2] x) => (float[] y) {{ {nodes} }}")
    made.graph.node[which].ClearField(part)
    found = measure_model(loaded(made), Request())
    assert found.costs.total.nodes == len(list(node_rows(found)))
