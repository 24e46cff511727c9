"""A stub that crashes in the child: the part it stands for is lost, and said to be; the rest stands."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc.api import pipeline
from onnx_autodoc.cli import main
from onnx_autodoc.runtime import verification
from tests import _corpus as corpus

Captured = pytest.CaptureFixture[str]
MODEL = "bilstm-gru-tagger"
# Each step: its function, the option that requests it, and the sections that depend on it.
STEPS = {
    "shapes": (pipeline, "measure_model", (), None),
    "structure": (pipeline, "describe", (), {"structure", "task", "interface", "hardware"}),
    "hardware": (pipeline, "estimate_hardware", (), {"hardware"}),
    "findings": (pipeline, "check", (), {"findings"}),
    "weights": (pipeline, "survey", ("--weights",), {"weights"}),
    "measured": (verification, "verify_facts", ("--verify",), {"measured"}),
}
DERIVED_SECTIONS = {"generated", "gaps", "summary", "findings", "uncertain"}


def crash(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def mistake(*_: object) -> None:
    raise ZeroDivisionError("a mistake")


def card(capsys: Captured, *words: str) -> dict[str, Any]:
    assert main([str(corpus.graph(MODEL)), "--format", "json", *words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    made: dict[str, Any] = json.loads(out)
    return made


@pytest.mark.parametrize(("stub", "said"), [(crash, "SIGSEGV"), (mistake, "ZeroDivisionError")])
@pytest.mark.parametrize("name", STEPS)
def test_a_part_that_crashes_costs_itself(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, name: str, stub: Any, said: str
) -> None:
    module, function, words, sections = STEPS[name]
    whole = card(capsys)
    monkeypatch.setattr(module, function, stub)
    made = card(capsys, *words)
    assert [gap for gap in made["gaps"] if said in gap["reason"]]
    same = {key for key in whole if made[key] == whole[key]}
    if sections is None:  # everything that hangs on shapes
        assert {"schema_version"} <= same
        assert made["graph"]["nodes"] == whole["graph"]["nodes"]
        assert made["parameters"]["total"] == whole["parameters"]["total"]
        assert made["compute"]["macs"] is None
        assert made["compute"]["coverage"]["gaps"]
    else:
        assert set(whole) - same <= sections | DERIVED_SECTIONS


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("format_name", ["terminal", "markdown", "html", "huggingface", "cyclonedx", "sarif", "nodes"])
def test_every_format_can_do_without_a_part(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, name: str, format_name: str
) -> None:
    module, function, words, _ = STEPS[name]
    monkeypatch.setattr(module, function, crash)
    if words == ("--verify",) and format_name in ("cyclonedx", "sarif", "nodes"):
        words = ()  # refused there: nothing in them depends on it
    assert main([str(corpus.graph(MODEL)), "--format", format_name, *words]) == 0
    out, err = capsys.readouterr()
    assert out
    assert err == ""


def test_a_crash_while_reading_is_one_line(capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pipeline, "read_model", crash)
    target = tmp_path / "card.md"
    assert main([str(corpus.graph(MODEL)), "-o", str(target)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "SIGSEGV" in err
    assert not target.exists()


def test_a_model_that_cannot_be_run_has_a_card(capsys: Captured) -> None:
    """Its weights are not beside it: onnxruntime gets nothing of it."""
    assert main([str(corpus.graph("bert-base-qa-ts-op12")), "--verify", "--format", "json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [gap["reason"] for gap in made["gaps"] if gap["section"] == "measured"]
    assert made["measured"] is None
    assert made["compute"]["macs"]


def test_what_one_model_costs_another_one_keeps(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pipeline.measure_model

    def some(model: Any, request: Any) -> Any:
        return crash() if MODEL in model.path else whole(model, request)

    monkeypatch.setattr(pipeline, "measure_model", some)
    paths = [str(corpus.graph(name)) for name in (MODEL, "resnet50-ts-op17")]
    assert main(["compare", *paths, "--format", "json"]) == 0
    made = json.loads(capsys.readouterr().out)
    (macs,) = (entry for entry in made["diffs"][0]["numbers"] if entry["path"] == "compute.macs")
    assert macs["was"] is None
    assert macs["is"] > 4e9


def test_what_a_library_prints_is_in_no_document(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = pipeline.describe

    def loud(facts: Any) -> Any:
        os.write(1, b"said by a library")
        os.write(2, b"and complained of")
        return whole(facts)

    monkeypatch.setattr(pipeline, "describe", loud)
    assert main([str(corpus.graph(MODEL)), "--format", "json"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)
    assert err == ""


def test_no_memory_for_a_document_is_the_limit(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """msgspec's own buffer dies of SIGSEGV where it cannot grow."""
    monkeypatch.setattr(pipeline, "read_model", lambda _: bytes(900_000_000))
    assert main([str(corpus.graph(MODEL))]) == 3
    assert "--max-memory" in capsys.readouterr().err


def test_a_death_with_hardly_any_memory_left_is_the_limit(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Any) -> None:
        held = bytearray(os.urandom(1 << 20) * 500)
        crash(held)

    monkeypatch.setattr(pipeline, "read_model", full)
    assert main([str(corpus.graph(MODEL))]) == 3
    assert "--max-memory" in capsys.readouterr().err
