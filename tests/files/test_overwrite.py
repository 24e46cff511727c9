"""No output overwrites a source file: the model, its weights, policies, tables."""

import os
from pathlib import Path

import pytest

from tests._command import Completed, error_line, run_command
from tests._wire import relu
from tests.files._external_data import build_external_model, read_tree

WEIGHTS = bytes(range(32))
POLICY = '[limits]\n"graph.nodes" = { max = 9 }\n'
WOULD_OVERWRITE = "the output would overwrite a source file"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "p.toml").write_text(POLICY)
    (tmp_path / "other.onnx").write_bytes(relu())
    return tmp_path


def write_model(folder: Path, weights: str) -> None:
    (folder / weights).parent.mkdir(exist_ok=True)
    (folder / weights).write_bytes(WEIGHTS)
    (folder / "m.onnx").write_bytes(build_external_model(weights))


def assert_refused(place: Path, *words: str) -> None:
    before = read_tree(place)
    assert WOULD_OVERWRITE in error_line(run_command(*words, cwd=place), 2)
    assert read_tree(place) == before


@pytest.mark.parametrize(
    "words",
    [
        ("card", "m.onnx"),
        ("card", "m.onnx", "--weights"),
        ("check", "m.onnx", "--policy", "p.toml"),
        ("check", "other.onnx", "m.onnx", "--policy", "p.toml"),
        ("compare", "other.onnx", "m.onnx"),
    ],
)
def test_weights_are_not_overwritten(words: tuple[str, ...], place: Path) -> None:
    write_model(place, "w.bin")
    assert_refused(place, *words, "-o", "w.bin", "--format", "json")


@pytest.mark.parametrize("weights", ["card.md", "card.json", "nodes.csv", "pictures/fit.svg"])
def test_weights_in_an_output_folder_are_not_overwritten(weights: str, place: Path) -> None:
    write_model(place, weights)
    assert_refused(place, "card", "m.onnx", "-o", ".")


def test_weights_in_a_picture_folder_are_not_overwritten(place: Path) -> None:
    write_model(place, "r.pictures/fit.svg")
    assert_refused(place, "card", "m.onnx", "-o", "r.md")


@pytest.mark.parametrize("kind", ["hard", "soft", "up"])
def test_other_name_of_the_weights_is_not_overwritten(kind: str, place: Path) -> None:
    write_model(place, "w.bin")
    if kind == "hard":
        (place / "r.json").hardlink_to(place / "w.bin")
    elif kind == "soft":
        (place / "r.json").symlink_to("w.bin")
    words = ("card", "m.onnx", "--format", "json", "--follow-links")  # without, a hard link is not looked at
    assert_refused(place, *words, "-o", f"../{place.name}/w.bin" if kind == "up" else "r.json")


def test_sources_in_an_output_folder_are_not_overwritten(place: Path) -> None:
    (place / "card.json").write_bytes(relu())
    assert_refused(place, "card", "card.json", "-o", ".")
    (place / "card.json").rename(place / "m.onnx")
    (place / "card.md").write_text('[mine]\nname = "Mine"\n')
    before = read_tree(place)
    assert run_command("card", "m.onnx", "--devices", "card.md", "-o", ".", cwd=place).returncode == 2
    assert read_tree(place) == before


def test_weights_outside_of_the_folder_are_not_overwritten(place: Path) -> None:
    (place / "inner").mkdir()
    (place / "inner" / "m.onnx").write_bytes(build_external_model("../r.json"))
    (place / "r.json").write_bytes(WEIGHTS)
    assert_refused(place, "card", "inner/m.onnx", "-o", "r.json")


def test_output_next_to_the_weights_is_written(place: Path) -> None:
    write_model(place, "w.bin")
    assert run_command("card", "m.onnx", "-o", ".", cwd=place).returncode == 0
    assert run_command("card", "m.onnx", "-o", ".", cwd=place).returncode == 0  # over its own reports
    assert (place / "w.bin").read_bytes() == WEIGHTS and (place / "card.json").exists()


def run_check(place: Path, summary: str) -> Completed:
    words = ("check", "m.onnx", "--policy", "p.toml", "--format", "github")
    return run_command(*words, cwd=place, GITHUB_STEP_SUMMARY=summary)


@pytest.mark.parametrize("summary", ["m.onnx", "w.bin", "p.toml"])
def test_step_summary_is_not_appended_to_a_source(summary: str, place: Path) -> None:
    write_model(place, "w.bin")
    before = read_tree(place)
    assert WOULD_OVERWRITE in error_line(run_check(place, summary), 2)
    assert read_tree(place) == before


@pytest.mark.parametrize("summary", ["pipe", "x" * 300, ".", "gone/summary", "/dev/full"])
def test_unwritable_step_summary_is_one_line(summary: str, place: Path) -> None:
    write_model(place, "w.bin")
    os.mkfifo(place / "pipe")
    done = run_check(place, summary)
    assert "cannot be written" in error_line(done, 2) and "internal" not in done.stderr
    assert done.stdout == ""


def test_missing_step_summary_is_created(place: Path) -> None:
    write_model(place, "w.bin")
    assert run_check(place, "summary.md").returncode == 0
    assert (place / "summary.md").read_text().startswith("### onnx-autodoc")
