"""Depth, precision and gaps on models small enough to count by hand."""

from pathlib import Path

import pytest
from onnx import TensorProto, helper

from onnx_autodoc.analysis.graph_metrics import depth
from onnx_autodoc.analysis.parameters import parameters
from onnx_autodoc.analysis.precision import precision
from onnx_autodoc.api import card, make_card, measure_model
from onnx_autodoc.card import Precision
from onnx_autodoc.render import FORMATS
from onnx_autodoc.shapes import Request, parse_request
from tests._corpus import graph
from tests._text import model, proto, save_and_read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("g (float[2] x) => (float[] y) { y = Relu(x) }", 1),
        ("g (float[2] x) => (float[] y) { a = Relu(x)  b = Relu(x)  c = Relu(b)  y = Add(a, c) }", 3),
        ("g (float[2] x) => (float[] y, float[] z) { y = Relu(x)  z = Relu(x) }", 1),
        ("g (float[2] x) => (float[] y) { c = Constant <value = float {1.0}> ()  y = Add(x, c) }", 2),
        ("g (float[2] x) => (float[] y) { y = local.twice(x) }", 3),
    ],
)
def test_depth_is_the_longest_path(text: str, expected: int) -> None:
    twice = '<domain: "local", opset_import: ["" : 18]> twice (x) => (y) { a = Relu(x)  y = Relu(a) }'
    assert depth(model(text, functions=twice)) == expected


def test_depth_includes_branches_and_their_captures() -> None:
    text = """g (float[2] x, bool c) => (float[] y) { a = Relu(x)  b = Relu(a)
        y = If (c) <then_branch = t () => (float[] p) { q = Relu(b)  p = Relu(q) },
                    else_branch = e () => (float[] r) { r = Relu(b) }> }"""
    assert depth(model(text)) == 2 + 1 + 2


def test_depth_grows_with_layers() -> None:
    six, twelve = (card(graph(f"{name}-dynquant-int8")).graph.depth for name in ("all-minilm-l6-v2", "e5-small-v2"))
    assert 1.8 < twelve / six < 2.1


def make_model(dtype: int, op: str = "Relu", **attributes: int) -> object:
    shape = [4, 8]
    data = helper.make_tensor("w", dtype, shape, [1] * 32)
    node = helper.make_node(op, ["w"], ["y"], **attributes)
    made = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", 1, None)], [data])
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 21)])


def measure_precision(model: object) -> Precision:
    result = save_and_read(model)
    return precision(result, parameters(result))


@pytest.mark.parametrize(
    ("dtype", "label"),
    [("FLOAT", "fp32"), ("FLOAT16", "fp16"), ("BFLOAT16", "bf16"), ("DOUBLE", "fp64"), ("FLOAT8E4M3FN", "fp8")],
)
def test_float_weights_are_labelled_by_type(dtype: str, label: str) -> None:
    result = measure_precision(make_model(TensorProto.DataType.Value(dtype)))
    assert result.label == label and sum(result.weights.values()) == 1


def test_indices_and_flags_are_not_weights() -> None:
    result = measure_precision(make_model(TensorProto.INT64))
    assert result.label is None and result.weights == {}


def test_dequantized_int4_weights_are_labelled() -> None:
    assert measure_precision(make_model(TensorProto.INT4, "DequantizeLinear")).label == "int4-weights"
    assert measure_precision(make_model(TensorProto.INT8, "DequantizeLinear")).label == "int8-weights"


def test_unbound_integer_input_is_listed_as_gap() -> None:
    text = "g (int64 n, float[4] x) => (float[] y) { s = Unsqueeze(n, z)  y = Expand(x, s) }"
    text = text.replace("{ s", "{ z = Constant <value = int64[1] {0}> ()  s")
    gaps = [gap.reason for gap in measure_model(model(text.replace("float[4]", "float[1]")), Request()).gaps]
    assert any("--value n=N" in reason for reason in gaps)
    given = measure_model(model(text.replace("float[4]", "float[1]")), parse_request(values=("n=3",)))
    assert given.gaps == () and given.shapes.values["y"].concrete == (3,)


def test_unknown_figures_are_null_not_zero(tmp_path: Path) -> None:
    path = tmp_path / "magic.onnx"
    path.write_bytes(proto("g (float[2,3] x) => (float[] y) { y = custom.Magic(x) }").SerializeToString())
    made = card(path)
    assert (made.compute.macs, made.compute.flops) == (None, None)
    assert [(row.macs, row.flops) for row in made.graph.operators] == [(None, None)]
    assert "MACs unknown · FLOPs unknown" in FORMATS["terminal"].render(make_card(path, Request()))
