import os
from pathlib import Path

import onnx
import pytest

from onnx_autodoc.limits import Limits, within
from onnx_autodoc.readers import read_model
from tests._text import proto
from tests.lint._check import check_rule


def _saved(folder: Path, location: str = "weights.bin", nbytes: int | None = None) -> Path:
    """Save a model with two tensors of 32 bytes in an external file that has `nbytes` bytes."""
    model = proto("g (float[8] x) => (float[8] y) { z = Add(x, a) y = Mul(z, b) }")
    for at, name in enumerate("ab"):
        tensor = onnx.TensorProto(name=name, data_type=1, dims=[8], data_location=onnx.TensorProto.EXTERNAL)
        for key, value in (("location", location), ("offset", str(32 * at)), ("length", "32")):
            tensor.external_data.add(key=key, value=value)
        model.graph.initializer.append(tensor)
    if nbytes is not None:
        (folder / location).write_bytes(b"\0" * nbytes)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder / "model.onnx"


def test_absent_file_is_reported(tmp_path: Path) -> None:
    (finding,) = check_rule("missing-external-data", read_model(_saved(tmp_path)))
    assert finding.message == "1 external data file not found: weights.bin"
    assert (finding.severity, finding.evidence) == ("error", ("weights.bin",))


def test_short_file_is_reported(tmp_path: Path) -> None:
    (finding,) = check_rule("missing-external-data", read_model(_saved(tmp_path, nbytes=63)))
    assert finding.message == "weights.bin ends after 63 bytes, the model requires 64"


@pytest.mark.parametrize("nbytes", [64, 4096])
def test_complete_file_is_not_reported(tmp_path: Path, nbytes: int) -> None:
    assert check_rule("missing-external-data", read_model(_saved(tmp_path, nbytes=nbytes))) == []


@pytest.mark.parametrize("location", ["../weights.bin", "/weights.bin", "sub/../../weights.bin", "C:weights.bin"])
def test_unopened_file_is_not_reported_as_missing(tmp_path: Path, location: str) -> None:
    assert check_rule("missing-external-data", read_model(_saved(tmp_path, location))) == []


def test_linked_file_is_reported_as_linked(tmp_path: Path) -> None:
    path = _saved(tmp_path)
    (tmp_path / "elsewhere").write_bytes(bytes(64))
    (tmp_path / "weights.bin").symlink_to("elsewhere")
    (finding,) = check_rule("missing-external-data", read_model(path))
    behind = "weights.bin is behind a symbolic link; --follow-links allows it"
    assert finding.message == f"1 external data file was not opened: {behind}"
    assert (finding.severity, finding.about) == ("warning", "linked")
    assert finding.recommendation.startswith("Run again with --follow-links")


def test_followed_link_is_not_reported(tmp_path: Path) -> None:
    path = _saved(tmp_path)
    (tmp_path / "elsewhere").write_bytes(bytes(63))
    (tmp_path / "weights.bin").symlink_to("elsewhere")
    with within(Limits(follow_links=True)):
        (finding,) = check_rule("missing-external-data", read_model(path))
    assert finding.about == "too short"


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("folder", "folder is a folder, not a regular file"),
        ("pipe", "pipe is a pipe, not a regular file"),
        ("", "one of them has no name"),
        ("folder/../x", "folder/../x has a path with '..' after a folder name, which is not followed"),
    ],
)
def test_special_file_is_an_error(tmp_path: Path, location: str, reason: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (finding,) = check_rule("missing-external-data", read_model(_saved(tmp_path, location)))
    assert finding.message == f"1 external data file was not opened: {reason}"
    assert (finding.severity, finding.about, finding.evidence) == ("error", "refused", (location,))
