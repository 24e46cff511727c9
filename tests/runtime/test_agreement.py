"""Every node that ran is identified, and its output types are compared with the inferred ones."""

from pathlib import Path

import msgspec
import onnx
import pytest

from onnx_autodoc import ops
from onnx_autodoc.architecture import describe
from onnx_autodoc.ops import ValueInfo, elementwise
from onnx_autodoc.runtime import make_feeds
from onnx_autodoc.runtime.agreement import compare_executions
from onnx_autodoc.runtime.protocol import NodeExecution, RunRequest, ShapesResult
from onnx_autodoc.runtime.worker import run_job
from tests._corpus import graph, request
from tests._versions import CASTS_INT4
from tests.runtime._models import measure_file, rename_nodes, save_model, verify_shapes

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


def infer_relu_as(monkeypatch: pytest.MonkeyPatch, known: ValueInfo) -> None:
    wrong = msgspec.structs.replace(elementwise.OPERATORS["Relu"], infer=lambda _: [known])
    monkeypatch.setitem(ops.OPERATORS, ("", "Relu"), wrong)


def test_nodes_without_names_are_distinguished(tmp_path: Path) -> None:
    result = verify_shapes(
        save_model(tmp_path, "g (float[2,3] x) => (float[3,2] y) { a = Relu(x) b = Relu(a) y = Transpose(b) }")
    )
    assert (result.executed, result.agreed, result.differed) == (3, 3, 0)


def test_nodes_with_the_same_name_are_distinguished(tmp_path: Path) -> None:
    path = save_model(
        tmp_path, "g (float[2,3] x) => (float[3,2] y) { a = Transpose(x) b = Transpose(a) y = Transpose(b) }"
    )
    result = verify_shapes(rename_nodes(path, {0: "t", 1: "t", 2: "t"}))
    assert (result.executed, result.agreed, result.differed) == (3, 3, 0)


@pytest.mark.parametrize(("number", "ran"), [(1, 4), (0, 3)])
def test_only_the_branch_that_ran_is_compared(tmp_path: Path, number: int, ran: int) -> None:
    result = verify_shapes(save_model(tmp_path, BRANCHES), values=(f"n={number}",))
    assert (result.executed, result.agreed, result.differed) == (ran, ran, 0)


def test_branch_ruled_out_by_the_card_is_a_difference(tmp_path: Path) -> None:
    path = save_model(tmp_path, BRANCHES)
    facts = measure_file(path, values=("n=1",))
    feeds = make_feeds(facts, describe(facts).samples)
    other = tuple(msgspec.structs.replace(feed, value=0) if feed.name == "n" else feed for feed in feeds)
    ran = run_job(RunRequest("shapes", bytes(path), other, folder=str(tmp_path)), lambda _: None, tuple)
    assert isinstance(ran, ShapesResult)
    result = compare_executions(facts, ran.executions, ran.truncated)
    differences = {(each.op, each.ours, each.theirs) for each in result.examples}
    assert ("Relu", "does not run", "ran 1 time") in differences
    assert ("If", "float32 [4, 3]", "float32 [2, 3]") in differences


def test_each_iteration_of_a_loop_is_compared(tmp_path: Path) -> None:
    result = verify_shapes(save_model(tmp_path, LOOP))
    assert result.differed == 0
    assert result.executed == 3  # the loop, and two nodes of its body, however often


def test_calls_of_a_function_are_distinguished(tmp_path: Path) -> None:
    """Each call has other sizes, so confused calls would differ."""
    result = verify_shapes(save_model(tmp_path, CALLS, FUNCTIONS))
    assert (result.executed, result.agreed, result.differed) == (6, 6, 0)
    assert result.unseen == 6  # the calls themselves


def test_operator_expanded_by_onnxruntime_is_unseen(tmp_path: Path) -> None:
    result = verify_shapes(save_model(tmp_path, "g (float[2,3] x) => (float[2,3] y) { a = Mish(x) y = Relu(a) }"))
    assert (result.executed, result.unseen, result.differed) == (1, 1, 0)


def test_omitted_output_does_not_shift_the_others(tmp_path: Path) -> None:
    path = save_model(tmp_path, LSTM)
    model = onnx.load(path)
    model.graph.node[0].output[0] = ""
    path.write_bytes(model.SerializeToString())
    result = verify_shapes(path)
    assert (result.executed, result.agreed) == (1, 1)


def test_wrong_shape_rule_is_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    infer_relu_as(monkeypatch, ValueInfo("float32", (7, 7)))
    result = verify_shapes(save_model(tmp_path, "g (float[2,3] x) => (float[2,3] y) { a = Neg(x) y = Relu(a) }"))
    assert (result.executed, result.agreed, result.differed) == (2, 1, 1)
    only = result.examples[0]
    assert (only.op, only.output, only.ours, only.theirs) == ("Relu", "y", "float32 [7, 7]", "float32 [2, 3]")


def test_wrong_dtype_is_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    infer_relu_as(monkeypatch, ValueInfo("int64", (2, 3)))
    result = verify_shapes(save_model(tmp_path, "g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }"))
    assert [each.ours for each in result.examples] == ["int64 [2, 3]"]


def test_examples_are_limited_to_twenty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    infer_relu_as(monkeypatch, ValueInfo("float32", (7, 7)))
    nodes = " ".join(f"y{at} = Relu(x)" for at in range(30))
    result = verify_shapes(save_model(tmp_path, f"g (float[2,3] x) => (float[2,3] y29) {{ {nodes} }}"))
    assert (result.differed, len(result.examples)) == (30, 20)


def test_data_dependent_shape_is_unknown(tmp_path: Path) -> None:
    result = verify_shapes(save_model(tmp_path, "g (float[2,3] x) => (int64[2,?] y) { a = Relu(x) y = NonZero(a) }"))
    assert (result.executed, result.agreed, result.unknown_to_us, result.differed) == (2, 1, 1, 0)


def test_half_precision_widened_to_float32_is_no_difference(tmp_path: Path) -> None:
    result = verify_shapes(save_model(tmp_path, "g (float16[2,3] x) => (float16[2,3] y) { a = Relu(x) y = Erf(a) }"))
    assert result.differed == 0
    assert result.executed == 2


FOUR_BIT = [pytest.param(name, marks=CASTS_INT4) for name in ("int4", "uint4")]


@pytest.mark.parametrize("dtype", ["bfloat16", "float8e4m3fn", "float8e5m2", *FOUR_BIT])
def test_outputs_without_numpy_type_are_compared(dtype: str, tmp_path: Path) -> None:
    number = onnx.TensorProto.DataType.Value(dtype.upper())
    result = verify_shapes(
        save_model(tmp_path, f"g (float[2,3] x) => ({dtype}[2,3] y) {{ y = Cast<to = {number}>(x) }}", opset=21)
    )
    assert (result.executed, result.agreed, result.examples) == (1, 1, ())


def test_outputs_that_cannot_be_paired_are_unknown(tmp_path: Path) -> None:
    """onnxruntime reported more or fewer outputs than the node has."""
    facts = measure_file(save_model(tmp_path, "g (float[2] x) => (float[2] y) { y = Relu(x) }"))
    for cells in ((), (("float", (2,)), ("float", (2,)))):
        result = compare_executions(facts, [NodeExecution((0,), "Relu", (cells,), 1)], False)
        assert (result.executed, result.agreed, result.unknown_to_us, result.differed) == (1, 0, 1, 0)


def test_node_that_was_not_analysed_is_counted_as_unknown(tmp_path: Path) -> None:
    facts = measure_file(save_model(tmp_path, "g (float[2] x) => (float[2] y) { y = Relu(x) }"))
    ran = [NodeExecution((0,), "Relu", ((("float", (2,)),),), 1), NodeExecution((0, "body", 3), "Add", (), 1)]
    result = compare_executions(facts, ran, False)
    assert (result.executed, result.agreed, result.unknown_to_us, result.unseen) == (2, 1, 1, 0)


@pytest.mark.parametrize("name", ["onnx-light-squeezenet", "onnx-light-bvlc-alexnet"])
def test_real_model_agrees_with_its_card(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(graph(name).read_bytes())
    result = verify_shapes(path, request=request(name))
    assert result.executed == result.agreed > 30
