"""`onnx-autodoc compare`: models and cards in any mix, formats, options, errors."""

import json
from pathlib import Path

import pytest

from onnx_autodoc.cli import main
from tests._corpus import graph
from tests.compare._nets import Block, convnet, saved

SMALL, OTHER = graph("local-functions-mlp"), graph("control-flow-loop-if")


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    code = main(["compare", *map(str, words)])
    caught = capsys.readouterr()
    return code, caught.out, caught.err


@pytest.fixture
def card(tmp_path: Path) -> Path:
    path = tmp_path / "small.json"
    assert main(["card", str(SMALL), "-o", str(path)]) == 0
    return path


def test_model_and_its_card_do_not_differ(card: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ((SMALL, card), (card, SMALL), (card, card), (SMALL, SMALL)):
        code, out, err = run(capsys, *words)
        assert (code, err) == (0, "")
        assert out.startswith("No difference")


def test_three_models_and_cards_are_compared(card: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, SMALL, card, OTHER, "--format", "json")
    assert code == 0
    comparison = json.loads(out)
    assert [diff["relation"]["kind"] == "identical" for diff in comparison["diffs"]] == [True, False]
    assert [side["name"] for side in comparison["models"]] == [str(SMALL), str(card), str(OTHER)]


@pytest.mark.parametrize(
    ("suffix", "start"), [(".md", "# "), (".html", "<!doctype html>"), (".json", "{"), (".txt", "A different")]
)
def test_output_suffix_chooses_the_format(
    suffix: str, start: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"diff{suffix}"
    code, out, _ = run(capsys, SMALL, OTHER, "-o", path)
    assert (code, out) == (0, "")
    assert path.read_text(encoding="utf-8").lstrip().startswith(start)


def test_dimension_options_apply_to_all_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [saved(convnet([Block()] * count), tmp_path / f"{count}.onnx") for count in (2, 3)]
    code, out, _ = run(capsys, *paths, "--batch", "4", "--format", "json")
    assert code == 0
    assert [side["dims"] for side in json.loads(out)["models"]] == [{"batch": 4}, {"batch": 4}]


def test_weights_are_compared_with_their_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [saved(convnet([Block()], seed=seed), tmp_path / f"{seed}.onnx") for seed in (0, 1)]
    assert run(capsys, *paths)[1].startswith("No difference between the cards.")
    assert run(capsys, *paths, "--weights")[1].startswith("The same graph with different weights.")
    assert run(capsys, paths[0], paths[0], "--weights")[1].startswith("No difference in the cards or the weights.")


def test_figures_are_read_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "figures.csv"
    figures.write_text(f"model,top1\n{SMALL.name},0.5\n{OTHER.stem},0.25\n")
    code, out, _ = run(capsys, SMALL, OTHER, "--figures", figures)
    assert code == 0
    assert any("top1 *" in line and "−50.0%" in line for line in out.splitlines())


def test_wrong_request_is_one_line(card: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("model,top1\nnobody,1\n")
    cases: list[tuple[tuple[str | Path, ...], str]] = [
        ((SMALL,), "is the only model; name two or more"),
        ((SMALL, tmp_path / "absent.onnx"), "absent.onnx"),
        ((card, card, "--batch", "2"), "the sizes of a stored card are fixed"),
        ((SMALL, card, "--weights"), "without --weights"),
        ((SMALL, OTHER, "--figures", bad), "no model is named 'nobody'"),
        ((SMALL, OTHER, "--figures", tmp_path / "absent.csv"), "file not found"),
        ((SMALL, OTHER, "-o", tmp_path / "diff.pdf"), "unknown suffix '.pdf'"),
        ((SMALL, OTHER, "-o", tmp_path), "name a file"),
        ((SMALL, OTHER, "-o", tmp_path / "absent" / "diff.md"), "folder not found: "),
    ]
    for words, message in cases:
        code, out, err = run(capsys, *words)
        assert (code, out) == (2, ""), words
        assert message in err
        assert err.count("\n") == 1


def test_failed_comparison_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "diff.md"
    assert run(capsys, SMALL, tmp_path / "absent.onnx", "-o", path)[0] == 2
    assert list(tmp_path.iterdir()) == []


def test_sizes_of_a_stored_card_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, stored = saved(convnet([Block()]), tmp_path / "net.onnx"), tmp_path / "kept.json"
    assert main(["card", str(model), "--batch", "4", "-o", str(stored)]) == 0
    assert "at other sizes" in run(capsys, stored, model)[1]
    assert run(capsys, stored, model, "--batch", "4")[1].startswith("No difference")
    assert "at other sizes" in run(capsys, stored, model, "--batch", "2")[1]


def test_no_difference_is_two_lines_with_empty_lists(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, SMALL, SMALL)[1]
    assert " ".join(out.split()) == (
        "No difference between the cards. Weight values were not compared (use --weights)."
    )
    diff = json.loads(run(capsys, SMALL, SMALL, "--format", "json")[1])["diffs"][0]
    assert {key for key, content in diff.items() if content} == {"name", "relation", "findings"}
    assert not any(diff["findings"].values())


def test_example_of_the_documentation_is_current(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
    command, _, expected = next(block for block in page.split("```\n") if block.startswith("$ ")).partition("\n")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.chdir(SMALL.parent)
    assert run(capsys, *command.split()[3:])[1] == expected
