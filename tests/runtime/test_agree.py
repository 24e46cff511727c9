"""Every node that ran is told from every other, and its shapes are held against ours."""

from pathlib import Path

import msgspec
import onnx
import pytest

from onnx_autodoc import ops
from onnx_autodoc.architecture import describe
from onnx_autodoc.ops import Known, elementwise
from onnx_autodoc.runtime import feeds_of
from onnx_autodoc.runtime._agree import agreement
from onnx_autodoc.runtime._child import answer
from onnx_autodoc.runtime._messages import Execution, Ran, Task
from onnx_autodoc.runtime._types import CPU
from tests._corpus import graph, request
from tests.runtime._models import agreed, facts_of, renamed, saved

BRANCHES = """g (float[2,3] x, int64 n) => (float[?,3] y) {
  zero = Constant<value_int = 0>()
  c = Greater(n, zero)
  y = If(c) <then_branch = t () => (float[?,3] p) { a = Neg(x) p = Concat<axis = 0>(a, x) },
             else_branch = e () => (float[?,3] q) { q = Relu(x) }>
}"""
LOOP = """g (float[1,3] x) => (float[?,3] y) {
  n = Constant<value_int = 4>()
  c = Constant<value = bool {1}>()
  y = Loop(n, c, x) <body = b (int64 i, bool go, float[?,3] h) => (bool on, float[?,3] k) {
    on = Identity(go)
    k = Concat<axis = 0>(h, x)
  }>
}"""
LSTM = """g (float[2,1,3] x, float[1,16,3] w, float[1,16,4] r) => (float[1,1,4] h, float[1,1,4] c) {
  y, h, c = LSTM<hidden_size = 4>(x, w, r)
}"""
CALLS = "g (float[2,4] x, float[3] z) => (float[2,4] y, float[3] w) { a = local.F(x) w = local.F(z) y = local.F(a) }"
FUNCTIONS = """
<domain: "local", opset_import: ["" : 20, "local" : 1]> F (p) => (q) { r = local.G(p) q = Relu(r) }
<domain: "local", opset_import: ["" : 20]> G (p) => (q) { q = Add(p, p) }
"""


def mistake(monkeypatch: pytest.MonkeyPatch, known: Known) -> None:
    """What we say of Relu, whatever goes in."""
    wrong = msgspec.structs.replace(elementwise.OPERATORS["Relu"], infer=lambda _: [known])
    monkeypatch.setitem(ops._BY_NAME, ("", "Relu"), wrong)


def test_nodes_without_names_are_told_apart(tmp_path: Path) -> None:
    found = agreed(saved(tmp_path, "g (float[2,3] x) => (float[3,2] y) { a = Relu(x) b = Relu(a) y = Transpose(b) }"))
    assert (found.executed, found.agreed, found.differed) == (3, 3, 0)


def test_nodes_of_one_name_are_told_apart(tmp_path: Path) -> None:
    path = saved(tmp_path, "g (float[2,3] x) => (float[3,2] y) { a = Transpose(x) b = Transpose(a) y = Transpose(b) }")
    found = agreed(renamed(path, {0: "t", 1: "t", 2: "t"}))
    assert (found.executed, found.agreed, found.differed) == (3, 3, 0)


@pytest.mark.parametrize(("number", "ran"), [(1, 4), (0, 3)])
def test_only_the_branch_that_ran_is_compared(tmp_path: Path, number: int, ran: int) -> None:
    found = agreed(saved(tmp_path, BRANCHES), values=(f"n={number}",))
    assert (found.executed, found.agreed, found.differed) == (ran, ran, 0)


def test_a_branch_that_the_card_rules_out_is_a_difference(tmp_path: Path) -> None:
    path = saved(tmp_path, BRANCHES)
    facts = facts_of(path, values=("n=1",))
    feeds = feeds_of(facts, describe(facts).samples)
    other = tuple(msgspec.structs.replace(feed, value=0) if feed.name == "n" else feed for feed in feeds)
    ran = answer(Task("shapes", str(path), other, CPU, folder=str(tmp_path)), lambda _: None)
    assert isinstance(ran, Ran)
    found = agreement(facts, ran.executions, ran.full)
    told = {(each.op, each.ours, each.theirs) for each in found.examples}
    assert ("Relu", "does not run", "ran 1 times") in told
    assert ("If", "float32 [4, 3]", "float32 [2, 3]") in told


def test_each_pass_of_a_loop_has_a_shape_of_ours(tmp_path: Path) -> None:
    found = agreed(saved(tmp_path, LOOP))
    assert found.differed == 0
    assert found.executed == 3  # the loop, and two nodes of its body, however often


def test_the_calls_of_a_function_are_told_apart(tmp_path: Path) -> None:
    """Each call has its own sizes: taken for one another they would differ."""
    found = agreed(saved(tmp_path, CALLS, FUNCTIONS))
    assert (found.executed, found.agreed, found.differed) == (6, 6, 0)
    assert found.unseen == 6  # the calls themselves


def test_an_operator_that_onnxruntime_writes_out_is_not_seen(tmp_path: Path) -> None:
    found = agreed(saved(tmp_path, "g (float[2,3] x) => (float[2,3] y) { a = Mish(x) y = Relu(a) }"))
    assert (found.executed, found.unseen, found.differed) == (1, 1, 0)


def test_outputs_that_are_left_out_do_not_move_the_others(tmp_path: Path) -> None:
    path = saved(tmp_path, LSTM)
    model = onnx.load(path)
    model.graph.node[0].output[0] = ""
    path.write_bytes(model.SerializeToString())
    found = agreed(path)
    assert (found.executed, found.agreed) == (1, 1)


def test_a_wrong_rule_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake(monkeypatch, Known("float32", (7, 7)))
    found = agreed(saved(tmp_path, "g (float[2,3] x) => (float[2,3] y) { a = Neg(x) y = Relu(a) }"))
    assert (found.executed, found.agreed, found.differed) == (2, 1, 1)
    only = found.examples[0]
    assert (only.op, only.output, only.ours, only.theirs) == ("Relu", "y", "float32 [7, 7]", "float32 [2, 3]")


def test_a_wrong_type_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake(monkeypatch, Known("int64", (2, 3)))
    found = agreed(saved(tmp_path, "g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }"))
    assert [each.ours for each in found.examples] == ["int64 [2, 3]"]


def test_never_more_than_twenty_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake(monkeypatch, Known("float32", (7, 7)))
    nodes = " ".join(f"y{at} = Relu(x)" for at in range(30))
    found = agreed(saved(tmp_path, f"g (float[2,3] x) => (float[2,3] y29) {{ {nodes} }}"))
    assert (found.differed, len(found.examples)) == (30, 20)


def test_sizes_that_only_the_data_decide_are_not_ours_to_know(tmp_path: Path) -> None:
    found = agreed(saved(tmp_path, "g (float[2,3] x) => (int64[2,?] y) { a = Relu(x) y = NonZero(a) }"))
    assert (found.executed, found.agreed, found.unknown_to_us, found.differed) == (2, 1, 1, 0)


def test_half_precision_that_runs_in_float32_is_no_difference(tmp_path: Path) -> None:
    found = agreed(saved(tmp_path, "g (float16[2,3] x) => (float16[2,3] y) { a = Relu(x) y = Erf(a) }"))
    assert found.differed == 0
    assert found.executed == 2


@pytest.mark.parametrize("dtype", ["bfloat16", "float8e4m3fn", "float8e5m2", "int4", "uint4"])
def test_outputs_of_types_that_numpy_does_not_have_are_compared(dtype: str, tmp_path: Path) -> None:
    number = onnx.TensorProto.DataType.Value(dtype.upper())
    found = agreed(saved(tmp_path, f"g (float[2,3] x) => ({dtype}[2,3] y) {{ y = Cast<to = {number}>(x) }}", opset=21))
    assert (found.executed, found.agreed, found.examples) == (1, 1, ())


def test_what_cannot_be_paired_agrees_with_nothing(tmp_path: Path) -> None:
    """A run that told of more or fewer outputs than the node has was not compared."""
    facts = facts_of(saved(tmp_path, "g (float[2] x) => (float[2] y) { y = Relu(x) }"))
    for cells in ((), (("float", (2,)), ("float", (2,)))):
        found = agreement(facts, [Execution((0,), "Relu", (cells,), 1)], False)
        assert (found.executed, found.agreed, found.unknown_to_us, found.differed) == (1, 0, 1, 0)


def test_a_node_that_the_card_does_not_have_is_counted(tmp_path: Path) -> None:
    facts = facts_of(saved(tmp_path, "g (float[2] x) => (float[2] y) { y = Relu(x) }"))
    ran = [Execution((0,), "Relu", ((("float", (2,)),),), 1), Execution((0, "body", 3), "Add", (), 1)]
    found = agreement(facts, ran, False)
    assert (found.executed, found.agreed, found.unknown_to_us, found.unseen) == (2, 1, 1, 0)


@pytest.mark.parametrize("name", ["onnx-light-squeezenet", "onnx-light-bvlc-alexnet"])
def test_a_real_model_is_what_the_card_says(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(graph(name).read_bytes())
    found = agreed(path, *request(name).dims)
    assert found.executed == found.agreed > 30
