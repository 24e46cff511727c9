"""onnxruntime's profile, and the nodes that its kernels are assigned to."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnx_autodoc.runtime.ort_profile import (
    Event,
    EventArgs,
    NodeNames,
    ShadowedOperator,
    exclusive_times,
    read_events,
)
from tests.runtime._models import rename_nodes, run_operators, save_model


def make_event(ts: int, dur: int, name: str = "n_kernel_time") -> Event:
    return Event("Node", name, ts, dur, EventArgs())


def test_exclusive_time_leaves_out_inner_kernels() -> None:
    inner = [make_event(10, 20), make_event(40, 30)]
    assert exclusive_times([make_event(41, 5), *inner, make_event(0, 100), make_event(100, 7)]) == [5, 20, 25, 50, 7]


def test_profile_line_that_is_no_json_is_skipped(tmp_path: Path) -> None:
    line = json.dumps({"cat": "Node", "name": "a", "ts": 1, "dur": 2, "args": {}})
    (tmp_path / "p").write_text(f'[\n{line},\n{{"name": "a"b"}},\n{line}\n]')
    assert len(list(read_events(tmp_path / "p"))) == 2


def test_operator_times_add_up_and_are_assigned_to_nodes(tmp_path: Path) -> None:
    text = """g (float[64,64] x) => (float[64,64] y) {
      a = MatMul(x, x) b = Sigmoid(a) y = Softmax(b) }"""
    result = run_operators(rename_nodes(save_model(tmp_path, text), {0: "same", 1: "same"}))
    assert {row.op for row in result.rows} == {"MatMul", "Sigmoid", "Softmax"}
    assert sum(row.share for row in result.rows) == pytest.approx(1)
    assert {node for node, _, _ in result.nodes} == {(0,), (1,), (2,)}
    assert sum(seconds for _, seconds, _ in result.nodes) == pytest.approx(result.seconds)


def test_fused_kernel_is_assigned_to_the_node_of_its_operator(tmp_path: Path) -> None:
    """Conv and Relu become one kernel, which in some layouts has the name of Relu's output."""
    path = save_model(
        tmp_path, "g (float[1,16,8,8] x) => (float[1,16,8,8] y) { a = Conv(x, w) r = Relu(a) y = Erf(r) }"
    )
    proto = onnx.load(path)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((16, 16, 1, 1), np.float32), "w"))
    path.write_bytes(proto.SerializeToString())
    result = {node: fused for node, _, fused in run_operators(path).nodes}
    assert result == {(0,): True, (2,): False}


def test_ambiguous_origin_is_not_guessed(tmp_path: Path) -> None:
    text = "g (float[4] x) => (float[4] y) { a = Exp(x) b = Exp(x) c = Add(a, b) y = Relu(c) }"
    names = NodeNames(save_model(tmp_path, text).read_bytes())
    assert names.find_origin("y_nchwc", "Exp") == 3  # either of both
    assert names.find_origin("y_nchwc", "FusedAdd") == 2
    assert names.find_origin("c_nchwc", "Add") == 2
    assert names.find_origin("oad1e/Fusion/", "Other") == 1
    assert names.find_origin("Transpose_7", "Transpose") is None


def test_messages_have_the_names_of_the_file(tmp_path: Path) -> None:
    """Also where names in the file look like generated ones."""
    functions = '<domain: "local", opset_import: ["" : 20]> F (p) => (q) { q = Relu(p) }'
    path = save_model(tmp_path, "g (float[2] x) => (float[2] y) { a = local.F(x) y = Neg(a) }", functions)
    names = NodeNames(rename_nodes(path, {1: "last"}).read_bytes())
    assert names.restore_names("oad0f oad0e oad2e") == "F F_0 last"
    assert names.restore_names(f"oad7e oad{'9' * 5000}e oad3f") == f"oad7e oad{'9' * 5000}e oad3f"
    assert names.find_origin("InsertedCast_oad99e", "Cast") is None
    assert names.number_of("oad99e") is None


IDENTITY = '<opset_import: ["" : 20], domain: "local"> f (a) => (b) { b = Identity(a) }'


def build_with_functions(*functions: str, domain: str = "local", op: str = "f", opset: int = 20) -> onnx.ModelProto:
    header = f'<ir_version: 10, opset_import: ["" : {opset}, "{domain or "other"}" : 1]>'
    call = f"{domain}.{op}" if domain else op
    return onnx.parser.parse_model(
        "\n".join((header, f"g (float[2] x) => (float[2] y) {{ y = {call}(x) }}", *functions))
    )


def rename_functions(model: onnx.ModelProto) -> list[str]:
    return [proto.name for proto in onnx.ModelProto.FromString(NodeNames(model.SerializeToString()).data).functions]


def test_functions_that_onnxruntime_may_refuse_are_kept() -> None:
    unused = IDENTITY.replace("f (a)", "unused (a)").replace("Identity", "local.unused")
    assert rename_functions(build_with_functions(IDENTITY)) == ["oad0f"]
    assert rename_functions(build_with_functions(IDENTITY, unused)) == ["oad0f", "unused"]
    assert rename_functions(build_with_functions(IDENTITY, IDENTITY)) == ["oad0f", "f", "f"]


@pytest.mark.parametrize(
    ("domain", "op", "opset", "is_shadowed"),
    [("", "Relu", 20, True), ("", "Gelu", 20, True), ("", "Gelu", 17, False), ("com.microsoft", "Gelu", 17, True),
     ("ai.onnx.ml", "Scaler", 17, True), ("com.microsoft", "Own", 17, False)],
)  # fmt: skip
def test_function_with_the_name_of_an_operator_is_not_run(domain: str, op: str, opset: int, is_shadowed: bool) -> None:
    """onnxruntime would run its own operator, and the card describes the function."""
    function = f'<opset_import: ["" : {opset}], domain: "{domain}"> {op} (a) => (b) {{ b = Identity(a) }}'
    model = build_with_functions(function, domain=domain, op=op, opset=opset)
    if not is_shadowed:
        assert rename_functions(model) == ["oad0f"]
        return
    with pytest.raises(
        ShadowedOperator, match=f"^the local function {domain or 'ai.onnx'}.{op} has the name of an operator"
    ):
        NodeNames(model.SerializeToString())
