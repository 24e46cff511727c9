import onnx
import pytest

from tests._text import proto
from tests.lint._check import check_rule

_WEIGHT = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, (20, 5), [0.0] * 100)


def _product(dims: str, declared: str = "float[] y") -> onnx.ModelProto:
    model = proto(f"g (float[{dims}] x) => ({declared}) {{ [m] y = MatMul(x, w) }}")
    model.graph.initializer.append(_WEIGHT)
    return model


@pytest.mark.parametrize("dims", ["2, 10", "batch, 10", "batch, length, 10"])
def test_node_that_cannot_run_at_any_size_is_reported(dims: str) -> None:
    (finding,) = check_rule("contradictory-shape", _product(dims))
    assert finding.message.startswith("a node cannot run: m: ")
    assert (finding.severity, finding.evidence) == ("error", ("m",))


def test_undefined_value_is_left_to_its_own_rule() -> None:
    model = proto("g (float[n] x) => (float[] y) { y = Relu(x) }")
    model.graph.node[0].input[0] = "nowhere"
    assert check_rule("contradictory-shape", model) == []
    assert len(check_rule("undefined-value", model)) == 1


def test_requested_size_is_not_reported() -> None:
    assert check_rule("contradictory-shape", _product("2, n"), "n=7") == []


def test_assumed_size_is_not_reported() -> None:
    """Two open dimensions of unlike roles that must be equal, which no name says."""
    text = "g (float[2, seq] a, float[2, height] b) => (float[] y) { y = Add(a, b) }"
    assert check_rule("contradictory-shape", text) == []


def test_misdeclared_output_is_a_warning() -> None:
    (finding,) = check_rule("contradictory-shape", _product("2, 20", "float[2, 6] y"))
    text = "the file declares y as [2, 6], but its inferred shape is [2, 5]"
    assert finding.message == f"a declared shape differs from the inferred one: {text}"
    assert (finding.severity, finding.evidence) == ("warning", ("y",))


def test_declaration_inside_the_graph_is_a_note() -> None:
    model = proto("g (float[2, 3] x) => (float[] y) { z = Relu(x) y = Relu(z) }")
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [3, 2]))
    (finding,) = check_rule("contradictory-shape", model)
    assert (finding.severity, finding.evidence) == ("note", ("z",))


@pytest.mark.parametrize("declared", ["float[n, 5] y", "float[2, 5] y", "float[a, b] y", "float[] y"])
def test_possible_declarations_are_not_reported(declared: str) -> None:
    assert check_rule("contradictory-shape", _product("n, 20", declared)) == []


def test_empty_shape_of_an_inner_value_is_not_reported() -> None:
    model = proto("g (float[2, 3] x) => (float[2, 3] y) { z = Relu(x) y = Relu(z) }")
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, []))
    assert check_rule("contradictory-shape", model) == []
