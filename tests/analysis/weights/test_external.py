"""Weights in other files: read where they are as they should be, refused with a reason where they are not."""

import hashlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnx_autodoc.analysis.weights import external_hashes, survey
from onnx_autodoc.limits import Limits, within
from onnx_autodoc.readers import read_model
from tests.analysis.weights._made import external, model_of, some, surveyed

ARRAY = some(4, 5)
HARD = (
    "its external file has more than one hard link, so it may be a file from outside the model's folder; "
    "--follow-links allows it"
)
HASH = hashlib.sha256(ARRAY.tobytes()).hexdigest()


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    """A test that waits for a pipe fails."""
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.mark.parametrize("offset", [None, 0, 80, 4096])
@pytest.mark.parametrize("length", [None, 80])
def test_external_tensor_is_read(tmp_path: Path, offset: int | None, length: int | None) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "w.bin").write_bytes(bytes(offset or 0) + ARRAY.tobytes() + b"after")
    (result,) = surveyed(tmp_path, external("./deep/w.bin", [4, 5], offset, length))
    assert (result.sha256, result.unread) == (HASH, None)
    assert (result.least, result.most) == (float(ARRAY.min()), float(ARRAY.max()))


def test_external_data_written_by_onnx_is_read(tmp_path: Path) -> None:
    arrays = {f"w{at}": some(40, 40 + at) for at in range(3)}
    made = model_of(*(onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()))
    onnx.save(made, tmp_path / "m.onnx", save_as_external_data=True, location="m.data")
    result = {each.name: each.numbers.sha256 for each in survey(read_model(tmp_path / "m.onnx")).tensors}
    assert result == {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in arrays.items()}


def given_missing(folder: Path) -> tuple[str, str]:
    return "w.bin", "its external file was not found"


def given_a_short_file(folder: Path) -> tuple[str, str]:
    (folder / "w.bin").write_bytes(bytes(79))
    return "w.bin", "its file ends after 79 bytes, but its data end after 80"


def given_a_way_up(folder: Path) -> tuple[str, str]:
    (folder.parent / "secret.bin").write_bytes(bytes(80))
    return "../secret.bin", "its external file is outside the model's folder"


def given_a_way_down_and_up(folder: Path) -> tuple[str, str]:
    return "deep/../../secret.bin", "its external file is outside the model's folder"


def given_an_absolute_path(folder: Path) -> tuple[str, str]:
    (folder / "w.bin").write_bytes(bytes(80))
    return str(folder / "w.bin"), "its external file is outside the model's folder"


def given_a_symbolic_link(folder: Path) -> tuple[str, str]:
    (folder / "real.bin").write_bytes(bytes(80))
    (folder / "w.bin").symlink_to("real.bin")
    return "w.bin", "its external file is behind a symbolic link; --follow-links allows it"


def given_a_linked_folder(folder: Path) -> tuple[str, str]:
    (folder / "real").mkdir()
    (folder / "real" / "w.bin").write_bytes(bytes(80))
    (folder / "link").symlink_to("real")
    return "link/w.bin", "its external file is behind a symbolic link; --follow-links allows it"


def given_a_hard_link(folder: Path) -> tuple[str, str]:
    (folder / "real.bin").write_bytes(bytes(80))
    (folder / "w.bin").hardlink_to(folder / "real.bin")
    return "w.bin", HARD


def given_a_pipe(folder: Path) -> tuple[str, str]:
    os.mkfifo(folder / "w.bin")
    return "w.bin", "its external file is a pipe, not a regular file"


def given_a_folder(folder: Path) -> tuple[str, str]:
    (folder / "w.bin").mkdir()
    return "w.bin", "its external file is a folder, not a regular file"


def given_no_name(folder: Path) -> tuple[str, str]:
    return "", "its external file has no name"


def given_a_zero_in_the_name(folder: Path) -> tuple[str, str]:
    return "w\0.bin", "its external file has a NUL byte in its name"


def given_a_name_that_is_too_long(folder: Path) -> tuple[str, str]:
    return "w" * 5000, "its external file has a path of 5,000 bytes; systems accept at most 4,095"


REFUSED = [item for name, item in sorted(globals().items()) if name.startswith("given_")]


@pytest.mark.parametrize("given", REFUSED)
def test_file_outside_model_folder_is_not_read(given: object, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    location, reason = given(folder)  # type: ignore[operator]
    (result,) = surveyed(folder, external(location, [4, 5]))
    assert (result.unread, result.sha256, result.nan, result.least) == (reason, None, None, None)
    model = read_model(folder / "model.onnx")
    short = reason.startswith("its file ends")
    assert short or external_hashes(model) == dict.fromkeys((file.path for file in model.external), None)


@pytest.mark.parametrize(
    ("offset", "length", "reason"),
    [
        (None, 79, "the file stores 79 bytes for it, but its type and dimensions require 80"),
        (None, 0, "the file stores 0 bytes for it, but its type and dimensions require 80"),
        (8, None, "its file ends after 80 bytes, but its data end after 88"),
        ("ten", None, "its offset or length in the external file is not a number"),
        (-8, None, "its offset or length in the external file is not a number"),
        (None, "all", "its offset or length in the external file is not a number"),
        (10**19, None, "its file ends after 80 bytes, but its data end after 10,000,000,000,000,000,080"),
    ],
)
def test_wrong_location_has_a_reason(offset: object, length: object, reason: str, tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(ARRAY.tobytes())
    (result,) = surveyed(tmp_path, external("w.bin", [4, 5], offset, length))
    assert (result.unread, result.sha256) == (reason, None)


def test_shared_bytes_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(ARRAY.tobytes())
    made = model_of(*(external("w.bin", dims) for dims in ([4, 5], [4, 5], [5, 4])))
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    result = survey(read_model(tmp_path / "m.onnx"))
    assert {each.numbers.sha256 for each in result.tensors} == {HASH}
    assert result.bytes_read == 2 * 80


def test_overlapping_tensors_are_read_within_limit(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(1 << 22))
    made = model_of(*(external("w.bin", [1000 * at]) for at in range(600, 700)))
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    result = survey(read_model(tmp_path / "m.onnx"))
    reasons = [each.numbers.unread for each in result.tensors]
    assert (
        reasons[0] is None
        and reasons[-1] == "the tensors of this file overlap so that it would be read more than 8 times"
    )
    assert result.bytes_read < 10 << 22


def test_external_file_has_hash(tmp_path: Path) -> None:
    content = np.arange(3_000_000, dtype=np.uint8).tobytes()
    (tmp_path / "w.bin").write_bytes(content)
    (tmp_path / "m.onnx").write_bytes(model_of(external("w.bin", [4])).SerializeToString())
    assert external_hashes(read_model(tmp_path / "m.onnx")) == {"w.bin": hashlib.sha256(content).hexdigest()}


@pytest.mark.parametrize("given", [given_a_symbolic_link, given_a_linked_folder, given_a_hard_link])
def test_links_are_followed_if_allowed(given: object, tmp_path: Path) -> None:
    location, _ = given(tmp_path)  # type: ignore[operator]
    with within(Limits(follow_links=True)):
        (result,) = surveyed(tmp_path, external(location, [4, 5]))
        assert read_model(tmp_path / "model.onnx").external[0].nbytes == 80
    assert (result.unread, result.sha256) == (None, hashlib.sha256(bytes(80)).hexdigest())


@pytest.mark.parametrize("given", [given_a_way_up, given_a_way_down_and_up, given_an_absolute_path, given_a_pipe])
def test_allowing_links_allows_nothing_else(given: object, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    location, reason = given(folder)  # type: ignore[operator]
    with within(Limits(follow_links=True)):
        (result,) = surveyed(folder, external(location, [4, 5]))
        assert read_model(folder / "model.onnx").external[0].nbytes is None
    assert result.unread == reason


def test_model_changed_after_reading_is_not_surveyed(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    made = model_of(onnx.numpy_helper.from_array(some(400, 500), "w")).SerializeToString()
    path.write_bytes(made)
    model = read_model(path)
    path.write_bytes(made + made)
    (result,) = survey(model).tensors
    assert result.numbers.unread == "the model file was changed after its graph was read"
