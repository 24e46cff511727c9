import onnx
import pytest

from tests._text import proto
from tests.lint._judged import found


def _bare() -> onnx.ModelProto:
    return proto("g (float[2] x) => (float[2] y) { y = Relu(x) }")


def test_a_file_that_says_nothing_of_itself_is_found() -> None:
    model = _bare()
    (finding,) = found("missing-metadata", model)
    assert finding.message == "the file has no description, no version and no metadata, nor what made it"
    assert "onnx.helper.set_model_props" in finding.recommendation


def test_the_exporter_and_its_own_keys_do_not_describe_a_model() -> None:
    model = _bare()
    model.producer_name = "pytorch"
    onnx.helper.set_model_props(model, {"onnx.infer": "onnxruntime.quant"})
    (finding,) = found("missing-metadata", model)
    assert finding.message == (
        "the file has no description, no version and no metadata but what tools left there (onnx.infer)"
    )


@pytest.mark.parametrize("what", ["doc", "version", "metadata"])
def test_one_word_about_it_is_enough(what: str) -> None:
    model = _bare()
    if what == "doc":
        model.doc_string = "Tells cats from dogs."
    elif what == "version":
        model.model_version = 3
    else:
        onnx.helper.set_model_props(model, {"license": "MIT"})
    assert found("missing-metadata", model) == []


def test_a_description_of_the_graph_is_one_too() -> None:
    made = proto("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    made.graph.doc_string = "a rectifier"
    assert found("missing-metadata", made) == []
