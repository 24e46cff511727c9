"""What a card says of files that were not looked at: nothing but why; the rest is counted from what the model says."""

import json
from pathlib import Path

import pytest

from onnx_autodoc.api import report
from onnx_autodoc.render import FORMATS
from onnx_autodoc.shapes import Request
from tests.files._made import ODD, OUTSIDE, Made, external, place, plain, ran


@pytest.mark.parametrize("made", [*OUTSIDE, *ODD])
def test_a_file_that_is_refused_has_a_reason_and_its_tensors_are_counted(made: Made, tmp_path: Path) -> None:
    path, _ = place(tmp_path, made)
    card = json.loads(str(FORMATS["json"].render(report(path, Request(), sha256=True))))
    (file,) = card["model"]["file"]["external"]
    assert (file["bytes"], file["present"], file["sha256"]) == (None, False, None)
    assert file["reason"]
    assert (card["parameters"]["total"], card["parameters"]["bytes"]) == (8, 32)
    said = [finding for finding in card["findings"] if finding["rule"].endswith("external-data")]
    assert len(said) == 1 and said[0]["recommendation"]


def test_a_file_that_is_there_needs_no_reason(tmp_path: Path) -> None:
    path, _ = place(tmp_path, plain)
    (file,) = report(path, Request(), sha256=True).card.model.file.external
    assert (file.bytes, file.present, file.reason) == (32, True, "") and file.sha256


def test_the_option_lets_the_command_follow_links(tmp_path: Path) -> None:
    path, outside = place(tmp_path, plain)
    (path.parent / "w.bin").rename(outside)
    (path.parent / "w.bin").symlink_to(outside)
    for words, found in (((), (None, False)), (("--follow-links",), (32, True))):
        done = ran("card", path, "--weights", *words, "--format", "json")
        (file,) = json.loads(done.stdout)["model"]["file"]["external"]
        (tensor,) = json.loads(done.stdout)["weights"]["tensors"]
        assert (file["bytes"], file["present"]) == found and (tensor["sha256"] is not None) == found[1]


def test_many_tensors_of_one_file_are_counted_once(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(32))
    (tmp_path / "model.onnx").write_bytes(external(*["w.bin"] * 2000))
    card = report(tmp_path / "model.onnx", Request()).card
    assert [(file.path, file.bytes) for file in card.model.file.external] == [("w.bin", 32)]
    assert (card.parameters.total, card.parameters.bytes) == (8, 32)
