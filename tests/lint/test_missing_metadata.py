import onnx
import pytest

from tests._text import proto
from tests.lint._check import check_rule


def _bare() -> onnx.ModelProto:
    return proto("g (float[2] x) => (float[2] y) { y = Relu(x) }")


def test_undescribed_file_is_reported() -> None:
    model = _bare()
    (finding,) = check_rule("missing-metadata", model)
    assert finding.message == "the file has no description, version, producer or metadata"
    assert "onnx.helper.set_model_props" in finding.recommendation


def test_exporter_metadata_is_not_a_description() -> None:
    model = _bare()
    model.producer_name = "pytorch"
    onnx.helper.set_model_props(model, {"onnx.infer": "onnxruntime.quant"})
    (finding,) = check_rule("missing-metadata", model)
    assert finding.message == ("the file has no description, version or metadata except tool entries (onnx.infer)")


@pytest.mark.parametrize("field", ["doc", "version", "metadata"])
def test_any_description_is_enough(field: str) -> None:
    model = _bare()
    if field == "doc":
        model.doc_string = "Tells cats from dogs."
    elif field == "version":
        model.model_version = 3
    else:
        onnx.helper.set_model_props(model, {"license": "MIT"})
    assert check_rule("missing-metadata", model) == []


def test_graph_description_is_enough() -> None:
    model_proto = proto("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    model_proto.graph.doc_string = "a rectifier"
    assert check_rule("missing-metadata", model_proto) == []
