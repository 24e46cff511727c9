import onnx

from tests._text import proto
from tests.lint._check import check_rule


def _classifier(names: str, **more: str) -> onnx.ModelProto:
    model = proto(
        "g (float[1, 3, 8, 8] images, float[192, 4] w) => (float[1, 4] y) { z = Flatten(images) y = MatMul(z, w) }"
    )
    weight = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, (192, 4), b"\0" * 192 * 16, raw=True)
    model.graph.initializer.append(weight)
    del model.graph.input[1]
    onnx.helper.set_model_props(model, {"task": "classify", "names": names, **more})
    return model


def test_too_many_class_names_are_reported() -> None:
    (finding,) = check_rule("metadata-contradiction", _classifier(str(dict(enumerate("abcdefghi")))))
    assert finding.message == "metadata 'names' says 9 classes, but no output has room for them: 'y' is [1, 4]"
    assert finding.severity == "warning"


def test_several_contradictions_are_one_finding() -> None:
    (finding,) = check_rule("metadata-contradiction", _classifier(str(dict(enumerate("abcdefghi"))), imgsz="[32, 32]"))
    assert "says 9 classes" in finding.message and "says 32 × 32" in finding.message


def test_matching_class_names_are_not_reported() -> None:
    assert check_rule("metadata-contradiction", _classifier("{0: 'a', 1: 'b', 2: 'c', 3: 'd'}", imgsz="[8, 8]")) == []


def test_key_with_two_values_is_reported() -> None:
    model = _classifier("{0: 'a', 1: 'b', 2: 'c', 3: 'd'}", version="1")
    model.metadata_props.append(onnx.StringStringEntryProto(key="version", value="2"))
    (finding,) = check_rule("metadata-contradiction", model)
    assert finding.message == "the metadata key version is declared as both 1 and 2"
