import onnx
import pytest

from tests._text import proto
from tests.lint._check import check_rule

_P = "float[4] s = {1,1,1,1}, float[4] b = {0,0,0,0}, float[4] m = {0,0,0,0}, float[4] v = {1,1,1,1}"
_D = "float half = {0.5}, float none = {0}, bool yes = {1}, bool no = {0}"


def graph(nodes: str, inputs: str = "") -> str:
    return f"g (float[2, 4] x{inputs}) => (float y) <{_P}, {_D}> {{ {nodes} }}"


@pytest.mark.parametrize(
    ("nodes", "opset", "operator"),
    [
        ("[n] y, rm, rv = BatchNormalization<training_mode = 1>(x, s, b, m, v)", 15, "BatchNormalization"),
        ("[n] y, rm, rv, sm, sv = BatchNormalization(x, s, b, m, v)", 9, "BatchNormalization"),
        ("[n] y = Dropout(x, half, yes)", 13, "Dropout"),
    ],
)
def test_node_in_training_mode_is_reported(nodes: str, opset: int, operator: str) -> None:
    (finding,) = check_rule("training-mode", graph(nodes), opset=opset)
    assert finding.message == f"1 node is in training mode: 1 {operator}"
    assert (finding.evidence, finding.severity) == (("n",), "warning")


@pytest.mark.parametrize(
    ("nodes", "opset"),
    [
        ("y = BatchNormalization(x, s, b, m, v)", 15),
        ("y = BatchNormalization(x, s, b, m, v)", 9),
        ("y = Dropout<ratio = 0.5>(x)", 10),
        ("y = Dropout(x, half)", 13),
        ("y = Dropout(x, half, no)", 13),
        ("y = Dropout(x, none, yes)", 13),  # drops nothing
        ("y = Dropout(x, half, mode)", 13),  # the caller decides
    ],
)
def test_inference_mode_is_not_reported(nodes: str, opset: int) -> None:
    assert check_rule("training-mode", graph(nodes, ", bool mode"), opset=opset) == []


def test_overridable_mode_is_not_reported() -> None:
    assert check_rule("training-mode", graph("y = Dropout(x, half, yes)", ", bool yes"), opset=13) == []


def test_gradients_are_a_note() -> None:
    model = proto("g (float[2] x) => (float y) { y = Relu(x) z = com.microsoft.ReluGrad(y, x) }")
    (finding,) = check_rule("training-mode", model)
    assert finding.message == "1 node computes gradients or weight updates: 1 ReluGrad"
    assert finding.severity == "note"


def test_training_part_of_the_file_is_a_note() -> None:
    model = proto("g (float[2] x) => (float y) { y = Relu(x) }")
    model.training_info.append(onnx.TrainingInfoProto(algorithm=onnx.helper.make_graph([], "step", [], [])))
    (finding,) = check_rule("training-mode", model)
    assert finding.message == "the file contains a training graph in addition to the model"
    assert finding.severity == "note"
