"""Cards of models whose external files are refused: a reason, and counts from the declarations."""

import json
from pathlib import Path

import pytest

from onnx_autodoc.api import make_card
from onnx_autodoc.render import FORMATS
from onnx_autodoc.shapes import Request
from tests._command import run_command
from tests.files._external_data import ODD, OUTSIDE, AddFile, add_regular_file, build_external_model, create_model


@pytest.mark.parametrize("add_file", [*OUTSIDE, *ODD])
def test_refused_external_file_has_a_reason_and_counted_tensors(add_file: AddFile, tmp_path: Path) -> None:
    path, _ = create_model(tmp_path, add_file)
    card = json.loads(str(FORMATS["json"].render(make_card(path, Request(), sha256=True))))
    (file,) = card["model"]["file"]["external"]
    assert (file["bytes"], file["present"], file["sha256"]) == (None, False, None)
    assert file["reason"]
    assert (card["parameters"]["total"], card["parameters"]["bytes"]) == (8, 32)
    findings = [finding for finding in card["findings"] if finding["rule"].endswith("external-data")]
    assert len(findings) == 1 and findings[0]["recommendation"]


def test_present_external_file_has_no_reason(tmp_path: Path) -> None:
    path, _ = create_model(tmp_path, add_regular_file)
    (file,) = make_card(path, Request(), sha256=True).card.model.file.external
    assert (file.bytes, file.present, file.reason) == (32, True, "") and file.sha256


def test_follow_links_option_reads_linked_weights(tmp_path: Path) -> None:
    path, outside = create_model(tmp_path, add_regular_file)
    (path.parent / "w.bin").rename(outside)
    (path.parent / "w.bin").symlink_to(outside)
    for words, expected in (((), (None, False)), (("--follow-links",), (32, True))):
        done = run_command("card", path, "--weights", *words, "--format", "json")
        (file,) = json.loads(done.stdout)["model"]["file"]["external"]
        (tensor,) = json.loads(done.stdout)["weights"]["tensors"]
        assert (file["bytes"], file["present"]) == expected and (tensor["sha256"] is not None) == expected[1]


def test_external_file_of_many_tensors_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(32))
    (tmp_path / "model.onnx").write_bytes(build_external_model(*["w.bin"] * 2000))
    card = make_card(tmp_path / "model.onnx", Request()).card
    assert [(file.path, file.bytes) for file in card.model.file.external] == [("w.bin", 32)]
    assert (card.parameters.total, card.parameters.bytes) == (8, 32)
