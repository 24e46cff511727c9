import onnx
import pytest

from tests._text import proto
from tests.lint._judged import found

_WEIGHT = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, (20, 5), [0.0] * 100)


def _product(dims: str, declared: str = "float[] y") -> onnx.ModelProto:
    model = proto(f"g (float[{dims}] x) => ({declared}) {{ [m] y = MatMul(x, w) }}")
    model.graph.initializer.append(_WEIGHT)
    return model


@pytest.mark.parametrize("dims", ["2, 10", "batch, 10", "batch, length, 10"])
def test_a_node_that_cannot_run_at_any_size_is_found(dims: str) -> None:
    (finding,) = found("contradictory-shape", _product(dims))
    assert finding.message.startswith("a node cannot run: m: ")
    assert (finding.severity, finding.evidence) == ("error", ("m",))


def test_a_value_that_nothing_makes_is_told_by_another_rule() -> None:
    model = proto("g (float[n] x) => (float[] y) { y = Relu(x) }")
    model.graph.node[0].input[0] = "nowhere"
    assert found("contradictory-shape", model) == []
    assert len(found("undefined-value", model)) == 1


def test_a_size_that_the_reader_asked_for_is_not_the_files_fault() -> None:
    assert found("contradictory-shape", _product("2, n"), "n=7") == []


def test_a_size_that_was_assumed_is_not_either() -> None:
    """Two open dimensions of unlike roles that must be equal, which no name says."""
    text = "g (float[2, seq] a, float[2, height] b) => (float[] y) { y = Add(a, b) }"
    assert found("contradictory-shape", text) == []


def test_an_output_that_is_declared_otherwise_is_a_warning() -> None:
    (finding,) = found("contradictory-shape", _product("2, 20", "float[2, 6] y"))
    text = "the file declares y as [2, 6], its nodes give [2, 5]"
    assert finding.message == f"a value has another shape: {text}"
    assert (finding.severity, finding.evidence) == ("warning", ("y",))


def test_a_declaration_inside_the_graph_is_a_note() -> None:
    model = proto("g (float[2, 3] x) => (float[] y) { z = Relu(x) y = Relu(z) }")
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [3, 2]))
    (finding,) = found("contradictory-shape", model)
    assert (finding.severity, finding.evidence) == ("note", ("z",))


@pytest.mark.parametrize("declared", ["float[n, 5] y", "float[2, 5] y", "float[a, b] y", "float[] y"])
def test_declarations_that_can_be_true_are_not_found(declared: str) -> None:
    assert found("contradictory-shape", _product("n, 20", declared)) == []


def test_an_exporter_that_knows_no_shape_may_write_an_empty_one() -> None:
    model = proto("g (float[2, 3] x) => (float[2, 3] y) { z = Relu(x) y = Relu(z) }")
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, []))
    assert found("contradictory-shape", model) == []
