"""A step that crashes in the worker process is skipped with its reason; the rest of the card is unchanged."""

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


def fail(*_: object) -> None:
    raise ZeroDivisionError("a mistake")


def read_card(capsys: Captured, *words: str) -> dict[str, Any]:
    assert main([str(corpus.graph(MODEL)), "--format", "json", *words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    card: dict[str, Any] = json.loads(out)
    return card


@pytest.mark.parametrize(("stub", "reason"), [(crash, "SIGSEGV"), (fail, "ZeroDivisionError")])
@pytest.mark.parametrize("name", STEPS)
def test_crashed_step_leaves_out_its_sections_only(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, name: str, stub: Any, reason: str
) -> None:
    module, function, words, sections = STEPS[name]
    complete = read_card(capsys)
    monkeypatch.setattr(module, function, stub)
    card = read_card(capsys, *words)
    assert [gap for gap in card["gaps"] if reason in gap["reason"]]
    same = {key for key in complete if card[key] == complete[key]}
    if sections is None:  # every section that depends on shapes
        assert {"schema_version"} <= same
        assert card["graph"]["nodes"] == complete["graph"]["nodes"]
        assert card["parameters"]["total"] == complete["parameters"]["total"]
        assert card["compute"]["macs"] is None
        assert card["compute"]["coverage"]["gaps"]
    else:
        assert set(complete) - same <= sections | DERIVED_SECTIONS


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("format_name", ["terminal", "markdown", "html", "huggingface", "cyclonedx", "sarif", "nodes"])
def test_every_format_renders_without_a_step(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, name: str, format_name: str
) -> None:
    module, function, words, _ = STEPS[name]
    monkeypatch.setattr(module, function, crash)
    if words == ("--verify",) and format_name in ("cyclonedx", "sarif", "nodes"):
        words = ()  # refused: it has no effect on these formats
    assert main([str(corpus.graph(MODEL)), "--format", format_name, *words]) == 0
    out, err = capsys.readouterr()
    assert out
    assert err == ""


def test_crash_while_reading_is_one_line(capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pipeline, "read_model", crash)
    target = tmp_path / "card.md"
    assert main([str(corpus.graph(MODEL)), "-o", str(target)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "SIGSEGV" in err
    assert not target.exists()


def test_model_that_cannot_be_run_has_a_card(capsys: Captured) -> None:
    """Its external weights are missing, so it is not passed to onnxruntime."""
    assert main([str(corpus.graph("bert-base-qa-ts-op12")), "--verify", "--format", "json"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert [gap["reason"] for gap in card["gaps"] if gap["section"] == "measured"]
    assert card["measured"] is None
    assert card["compute"]["macs"]


def test_crash_for_one_model_does_not_affect_another(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = pipeline.measure_model

    def crash_or_measure(model: Any, request: Any) -> Any:
        return crash() if MODEL in model.path else measure(model, request)

    monkeypatch.setattr(pipeline, "measure_model", crash_or_measure)
    paths = [str(corpus.graph(name)) for name in (MODEL, "resnet50-ts-op17")]
    assert main(["compare", *paths, "--format", "json"]) == 0
    card = json.loads(capsys.readouterr().out)
    (macs,) = (entry for entry in card["diffs"][0]["numbers"] if entry["path"] == "compute.macs")
    assert macs["was"] is None
    assert macs["is"] > 4e9


def test_output_of_a_library_is_in_no_document(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    describe = pipeline.describe

    def print_and_describe(facts: Any) -> Any:
        os.write(1, b"output of a library")
        os.write(2, b"warning of a library")
        return describe(facts)

    monkeypatch.setattr(pipeline, "describe", print_and_describe)
    assert main([str(corpus.graph(MODEL)), "--format", "json"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)
    assert err == ""


def test_result_above_the_memory_limit_is_exit_3(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """The buffer of msgspec crashes with SIGSEGV if it cannot grow."""
    monkeypatch.setattr(pipeline, "read_model", lambda _: bytes(950_000_000))
    assert main([str(corpus.graph(MODEL))]) == 3
    assert "--max-memory" in capsys.readouterr().err


def test_crash_near_the_memory_limit_is_exit_3(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def allocate_and_crash(_: Any) -> None:
        data = bytearray(os.urandom(1 << 20) * 500)
        crash(data)

    monkeypatch.setattr(pipeline, "read_model", allocate_and_crash)
    assert main([str(corpus.graph(MODEL))]) == 3
    assert "--max-memory" in capsys.readouterr().err
