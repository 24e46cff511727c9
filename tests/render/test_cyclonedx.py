"""The ML-BOM: valid by the specification's own library, whatever the file says, and nothing in it that nobody knows."""

import json
from pathlib import Path

import pytest
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import ComponentType
from msgspec.structs import replace
from onnx import helper

from onnx_autodoc.api import make_card
from onnx_autodoc.card import Task
from onnx_autodoc.cli import main
from onnx_autodoc.render.cyclonedx import render_cyclonedx
from onnx_autodoc.shapes import Request
from tests._corpus import GRAPH_NAMES, graph, load_report
from tests._text import proto
from tests.render._boms import (
    RELU,
    VALIDATORS,
    make_bom,
    read_properties,
    save_external_model,
    save_model,
    sha256,
    validate_bom,
)


@pytest.fixture(autouse=True)
def _same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


# Real models


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_document_of_real_model_is_valid_and_matches_its_card(name: str) -> None:
    result = make_card(graph(name), Request(), sha256=True)
    made, card = validate_bom(result), result.card
    model = made["metadata"]["component"]
    assert (model["type"], model["name"]) == ("machine-learning-model", card.model.name)
    assert model["hashes"] == [{"alg": "SHA-256", "content": sha256(graph(name))}]
    assert [part["name"] for part in model.get("components", ())] == [file.path for file in card.model.file.external]
    assert read_properties(made)["parameters.total"] == [str(card.parameters.total)]
    text = model["modelCard"]["modelParameters"]
    assert len(text["inputs"]) == len(card.interface.inputs)
    assert len(text["outputs"]) == len(card.interface.outputs)
    assert len(made.get("annotations", ())) == len(card.findings)


@pytest.mark.parametrize("name", ("smollm2-135m-genai-int4", "yolov8l-nc1", "silero-vad"))
def test_cyclonedx_library_parses_document(name: str) -> None:
    made = Bom.from_json(json.loads(render_cyclonedx(make_card(graph(name), Request(), sha256=True))))
    model = made.metadata.component
    assert made.validate()
    assert (model.type, model.name) == (ComponentType.MACHINE_LEARNING_MODEL, f"{name}.onnx")
    assert [each.content for each in model.hashes] == [sha256(graph(name))]
    assert [tool.name for tool in made.metadata.tools.components] == ["onnx-autodoc"]
    assert made.metadata.timestamp.timestamp() == 1_700_000_000


@pytest.mark.parametrize("name", ("smollm2-135m-genai-int4", "control-flow-loop-if"))
def test_document_is_valid_under_next_specification(name: str) -> None:
    text = render_cyclonedx(make_card(graph(name), Request(), sha256=True))
    newer = text.replace('"specVersion": "1.6"', '"specVersion": "1.7"').replace("bom-1.6.schema", "bom-1.7.schema")
    assert VALIDATORS["1.7"].validate_str(newer) is None


def test_document_is_deterministic(monkeypatch: pytest.MonkeyPatch) -> None:
    first, again = (render_cyclonedx(make_card(graph("silero-vad"), Request(), sha256=True)) for _ in range(2))
    assert first == again
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000001")
    later = json.loads(render_cyclonedx(make_card(graph("silero-vad"), Request(), sha256=True)))
    assert later["serialNumber"] != json.loads(first)["serialNumber"]
    assert later["metadata"]["component"] == json.loads(first)["metadata"]["component"]


# Files


def test_weight_files_are_components_with_hash_and_size(tmp_path: Path) -> None:
    made = validate_bom(make_card(save_external_model(tmp_path), Request(), sha256=True))
    parts = {part["name"]: part for part in made["metadata"]["component"]["components"]}
    assert set(parts) == {"a.bin", "b.bin"}
    for name, part in parts.items():
        assert part["type"] == "file"
        assert part["hashes"] == [{"alg": "SHA-256", "content": sha256(tmp_path / name)}]
        assert {"name": "onnx-autodoc:model.file.external.bytes", "value": "16384"} in part["properties"]


def test_absent_weight_file_is_listed_as_absent(tmp_path: Path) -> None:
    path = save_external_model(tmp_path)
    (tmp_path / "b.bin").unlink()
    made = validate_bom(make_card(path, Request(), sha256=True))
    absent = next(part for part in made["metadata"]["component"]["components"] if part["name"] == "b.bin")
    assert "hashes" not in absent
    assert absent["properties"] == [{"name": "onnx-autodoc:model.file.external.present", "value": "false"}]
    assert any("b.bin" in reason for reason in read_properties(made)["gaps"])


def test_card_without_hash_gives_valid_document(tmp_path: Path) -> None:
    model = validate_bom(make_card(save_external_model(tmp_path), Request()))["metadata"]["component"]
    assert not any("hashes" in each for each in (model, *model["components"]))
    assert model["bom-ref"] == "model:model.onnx"


# What is unknown is not there


def test_file_without_metadata_gives_no_claims(tmp_path: Path) -> None:
    result = make_card(
        save_model(tmp_path, proto("g () => (float y) { y = custom.Unheard() }")), Request(), sha256=True
    )
    made = validate_bom(replace(result, card=replace(result.card, findings=())))
    model = made["metadata"]["component"]
    assert set(model["modelCard"]["modelParameters"]) == {"outputs"}
    assert set(model) == {"type", "name", "bom-ref", "description", "hashes", "modelCard", "properties"}
    assert not {"annotations", "vulnerabilities", "components"} & set(made)
    assert "compute.macs" not in read_properties(made) and "task.name" not in read_properties(made)
    assert read_properties(made)["parameters.total"] == ["0"]


def test_training_and_quality_are_never_claimed() -> None:
    for name in GRAPH_NAMES[::6]:
        text = validate_bom(load_report(name))["metadata"]["component"]["modelCard"]
        assert set(text) == {"modelParameters", "properties"}
        assert set(text["modelParameters"]) <= {"task", "architectureFamily", "modelArchitecture", "inputs", "outputs"}


def test_uncertain_task_is_property_with_confidence() -> None:
    result = load_report("yolov8l-nc1")
    assert validate_bom(result)["metadata"]["component"]["modelCard"]["modelParameters"]["task"] == "object detection"
    doubtful = replace(result, card=replace(result.card, task=Task("object detection", 0.6, None, ())))
    made = validate_bom(doubtful)
    assert "task" not in made["metadata"]["component"]["modelCard"]["modelParameters"]
    assert read_properties(made)["task.name"] + read_properties(made)["task.confidence"] == ["object detection", "0.6"]


def test_lower_bound_has_its_own_property_name(tmp_path: Path) -> None:
    text = "g (float[2,2] x) => (float y) { h = MatMul(x, x) y = custom.Unheard(h) }"
    message = read_properties(make_bom(tmp_path, text))
    assert message["compute.macs.at_least"] == ["8"]
    assert "compute.macs" not in message and "compute.flops" not in message
    assert read_properties(make_bom(tmp_path, RELU))["compute.macs"] == ["0"]


def test_assumed_sizes_are_properties(tmp_path: Path) -> None:
    text = "g (float[batch,2] x) => (float y) { y = MatMul(x, w) }"
    path = save_model(tmp_path, proto(text.replace("float[batch,2] x", "float[batch,2] x, float[2,2] w")))
    message = read_properties(validate_bom(make_card(path, Request(batch=3))))
    assert message["compute.macs"] == ["12"]
    assert message["assumptions.dims"] == ["batch = 3"]


def test_inputs_are_described_as_declared(tmp_path: Path) -> None:
    text = "g (float[N,2] x, seq(float[2]) s, float[] n) => (float[?,2] y) { y = Identity(x) }"
    message = make_bom(tmp_path, text)["metadata"]["component"]["modelCard"]["modelParameters"]
    assert message["inputs"][0]["format"].startswith("x: float32 [N, 2]")
    assert message["inputs"][1]["format"].startswith("s: sequence of float32")
    assert message["outputs"][0]["format"].startswith("y: float32 [?, 2]")


def test_version_is_that_of_the_file(tmp_path: Path) -> None:
    model = proto(RELU)
    model.model_version = 7
    helper.set_model_props(model, {"version": "8.2.0"})  # the exporter's, as often as not
    made = validate_bom(make_card(save_model(tmp_path, model), Request()))
    assert made["metadata"]["component"]["version"] == "7"
    assert read_properties(made)["dataset.said.extras.version"] == ["8.2.0"]


def test_finding_is_annotation_by_this_tool() -> None:
    result = load_report("smollm2-135m-genai-int4")
    notes = validate_bom(result)["annotations"]
    finding = next(each for each in result.card.findings if each.rule == "dynamic-input")
    note = next(each for each in notes if "rule dynamic-input" in each["text"])
    assert note["annotator"]["component"]["name"] == "onnx-autodoc"
    assert finding.message in note["text"] and f"{finding.count - 5} more" in note["text"]


# The command line


def test_command_computes_hash_by_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save_external_model(tmp_path)
    assert main([str(path), "--format", "cyclonedx"]) == 0
    model = json.loads(capsys.readouterr().out)["metadata"]["component"]
    assert model["hashes"][0]["content"] == sha256(path)
    assert main([str(path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"]["file"]["sha256"] is None


@pytest.mark.parametrize("name", ("model.cdx.json", "MODEL.CDX.JSON", "a.b.cdx.json"))
def test_cdx_json_suffix_selects_cyclonedx(name: str, tmp_path: Path) -> None:
    path, target = save_model(tmp_path, proto(RELU)), tmp_path / name
    assert main([str(path), "-o", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    assert VALIDATORS["1.6"].validate_str(text) is None
    assert json.loads(text)["metadata"]["component"]["hashes"][0]["content"] == sha256(path)


@pytest.mark.parametrize("name", ("model.json", "cdx.json", "model-cdx.json"))
def test_other_json_suffix_selects_card(name: str, tmp_path: Path) -> None:
    assert main([str(save_model(tmp_path, proto(RELU))), "-o", str(tmp_path / name)]) == 0
    assert json.loads((tmp_path / name).read_text(encoding="utf-8"))["schema_version"]
