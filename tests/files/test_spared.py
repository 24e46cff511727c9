"""No report takes the place of what it is made from: the model, its weights, what else the user named."""

import os
import subprocess
from pathlib import Path

import pytest

from tests._wire import relu
from tests.files._made import command, external, ran, said_in_one_line, tree

WEIGHTS = bytes(range(32))
POLICY = '[limits]\n"graph.nodes" = { max = 9 }\n'
SPARED = "the report would take the place of what it is made from"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "p.toml").write_text(POLICY)
    (tmp_path / "other.onnx").write_bytes(relu())
    return tmp_path


def model(folder: Path, weights: str) -> None:
    (folder / weights).parent.mkdir(exist_ok=True)
    (folder / weights).write_bytes(WEIGHTS)
    (folder / "m.onnx").write_bytes(external(weights))


def refused(place: Path, *words: str) -> None:
    before = tree(place)
    assert SPARED in said_in_one_line(ran(*words, cwd=place), 2)
    assert tree(place) == before


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
def test_weights_beside_a_model_are_spared(words: tuple[str, ...], place: Path) -> None:
    model(place, "w.bin")
    refused(place, *words, "-o", "w.bin", "--format", "json")


@pytest.mark.parametrize("weights", ["card.md", "card.json", "nodes.csv", "pictures/fit.svg"])
def test_weights_in_a_folder_of_reports_are_spared(weights: str, place: Path) -> None:
    model(place, weights)
    refused(place, "card", "m.onnx", "-o", ".")


def test_weights_among_the_pictures_of_a_report_are_spared(place: Path) -> None:
    model(place, "r.pictures/fit.svg")
    refused(place, "card", "m.onnx", "-o", "r.md")


@pytest.mark.parametrize("way", ["hard", "soft", "up"])
def test_another_name_is_the_same_file(way: str, place: Path) -> None:
    model(place, "w.bin")
    if way == "hard":
        (place / "r.json").hardlink_to(place / "w.bin")
    elif way == "soft":
        (place / "r.json").symlink_to("w.bin")
    words = ("card", "m.onnx", "--format", "json", "--follow-links")  # without, a hard link is not looked at
    refused(place, *words, "-o", f"../{place.name}/w.bin" if way == "up" else "r.json")


def test_the_model_and_what_else_was_named_are_spared_in_a_folder(place: Path) -> None:
    (place / "card.json").write_bytes(relu())
    refused(place, "card", "card.json", "-o", ".")
    (place / "card.json").rename(place / "m.onnx")
    (place / "card.md").write_text('[mine]\nname = "Mine"\n')
    before = tree(place)
    assert ran("card", "m.onnx", "--devices", "card.md", "-o", ".", cwd=place).returncode == 2
    assert tree(place) == before


def test_weights_that_lead_elsewhere_are_spared_too(place: Path) -> None:
    (place / "inner").mkdir()
    (place / "inner" / "m.onnx").write_bytes(external("../r.json"))
    (place / "r.json").write_bytes(WEIGHTS)
    refused(place, "card", "inner/m.onnx", "-o", "r.json")


def test_a_report_beside_the_weights_is_written(place: Path) -> None:
    model(place, "w.bin")
    assert ran("card", "m.onnx", "-o", ".", cwd=place).returncode == 0
    assert ran("card", "m.onnx", "-o", ".", cwd=place).returncode == 0  # over its own reports
    assert (place / "w.bin").read_bytes() == WEIGHTS and (place / "card.json").exists()


def summarised(place: Path, kept: str) -> subprocess.CompletedProcess[str]:
    words = command("check", "m.onnx", "--policy", "p.toml", "--format", "github")
    surroundings = {**os.environ, "GITHUB_STEP_SUMMARY": kept}
    return subprocess.run(words, cwd=place, env=surroundings, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("kept", ["m.onnx", "w.bin", "p.toml"])
def test_a_summary_is_put_behind_no_source(kept: str, place: Path) -> None:
    model(place, "w.bin")
    before = tree(place)
    assert SPARED in said_in_one_line(summarised(place, kept), 2)
    assert tree(place) == before


@pytest.mark.parametrize("kept", ["pipe", "x" * 300, ".", "gone/summary", "/dev/full"])
def test_a_summary_that_cannot_be_kept_is_one_line_and_not_waited_for(kept: str, place: Path) -> None:
    model(place, "w.bin")
    os.mkfifo(place / "pipe")
    done = summarised(place, kept)
    assert "cannot be written" in said_in_one_line(done, 2) and "internal" not in done.stderr
    assert done.stdout == ""


def test_a_summary_that_is_not_there_is_begun(place: Path) -> None:
    model(place, "w.bin")
    assert summarised(place, "summary.md").returncode == 0
    assert (place / "summary.md").read_text().startswith("### onnx-autodoc")
