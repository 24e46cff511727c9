"""`onnx-autodoc verify` as a user meets it: the verdict, the exit code, and nothing left behind."""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest

from onnx_autodoc import ops
from onnx_autodoc.cli import _verify
from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.ops import Known
from onnx_autodoc.runtime import _process
from onnx_autodoc.runtime import _verify as verifying
from tests.runtime._models import saved
from tests.runtime.test_parts import external

MLP = """g (float[n,64] x) => (float[n,64] y) {
  [first] a = MatMul(x, k)
  [second] b = Relu(a)
  [third] y = Softmax(b)
}"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = saved(tmp_path, MLP)
    proto = onnx.load(path)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(64, dtype=np.float32), "k"))
    path.write_bytes(proto.SerializeToString())
    return path


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Where temporary files go; nothing is there afterwards."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def ran(*words: str) -> int:
    parser = argparse.ArgumentParser()
    _verify.add(parser.add_subparsers())
    options = parser.parse_args(["verify", *words])
    return int(options.run(options))


def test_a_model_that_does_as_the_card_says(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(str(path), "--force", "--runs", "3", "--batch", "5", "--threads", "1") == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0] == "All 3 nodes that ran gave the shapes that the card says"
    assert captured.err == ""
    assert len(lines) <= 30 and max(map(len, lines)) <= 80
    assert any(line.startswith("Latency ") and "median" in line for line in lines)
    assert "3 runs after " in captured.out and "1 thread;" in captured.out
    assert "of activations at the peak (card 2.50 KiB" in captured.out  # two of [5, 64], the weight not among them
    assert "× MatMul" in captured.out
    assert list(path.parent.iterdir()) == [path]


def test_json_has_everything_in_base_units(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(str(path), "--force", "--runs", "4", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["agreement"]["executed"] == found["agreement"]["agreed"] == 3
    assert found["timing"]["runs"] == 4
    assert set(found["by_node"]) <= {"first", "second", "third"}
    assert 0 < found["attributed"] <= 1.0001
    assert found["memory"]["card_bytes"] > 0
    assert found["provider"] == "CPUExecutionProvider"


def test_a_wrong_card_is_exit_1_and_says_where(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = msgspec.structs.replace(ops._BY_NAME["", "Relu"], infer=lambda _: [Known("float32", (9, 64))])
    monkeypatch.setitem(ops._BY_NAME, ("", "Relu"), wrong)
    assert ran(str(path), "--force", "--runs", "1") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "2 of 3 nodes that ran did otherwise than the card says",
        "  second (Relu), output b",
        "    card: float32 [9, 64]",
        "    run:  float32 [1, 64]",
    ]


def test_a_busy_machine_gives_shapes_and_no_latency(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "BUSIEST", -1.0)  # any machine is busier
    assert ran(str(path)) == 0
    text = capsys.readouterr().out
    assert text.startswith("All 3 nodes that ran gave the shapes that the card says\n")
    assert "Latency     refused: the machine is busy: " in text
    assert "verify --force" in text
    assert "median" not in text and "Time in" not in text


def test_a_crash_while_loading_is_one_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "COMMAND", ("-c", "import os; os.abort()"))
    with pytest.raises(BadInput, match=r"onnxruntime died of SIGABRT while starting onnxruntime$"):
        ran(str(path))


def test_the_limit_of_time_is_exit_3(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "COMMAND", ("-c", "import time; time.sleep(60)"))
    with pytest.raises(LimitReached, match=r"was not done after 0\.\d+ s; --timeout gives it longer$"):
        ran(str(path), "--timeout", "1")


def test_what_fails_when_optimised_still_has_its_shapes(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the first process is a real one."""
    real = verifying.ask

    def ask(task: Any, *more: Any) -> Any:
        if task.what != "shapes":
            raise BadInput(f"{task.path}: onnxruntime died of SIGSEGV while loading the model")
        return real(task, *more)

    monkeypatch.setattr(verifying, "ask", ask)
    assert ran(str(path)) == 0
    text = capsys.readouterr().out
    assert "Latency     refused: onnxruntime died of SIGSEGV while loading the model" in text
    assert "Memory      not measured: onnxruntime died of SIGSEGV while loading the model" in text


def test_where_the_card_knows_that_it_cannot_run_it_says_so(tmp_path: Path) -> None:
    path = saved(tmp_path, "g (float[n,4] x) => (y) { z = Reshape(x, s) y = Relu(z) }")
    proto = onnx.load(path)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([3, 5]), "s"))
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(BadInput, match=r"onnxruntime refused while running .*; the card says so too: Reshape_0: "):
        ran(str(path), "--batch", "2")


def test_missing_weights_are_said_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "COMMAND", ("-c", "raise SystemExit(9)"))
    with pytest.raises(BadInput, match=r"its weights in w.bin are not there"):
        ran(str(external(tmp_path, "w.bin", None)))


def test_without_the_extra_it_says_what_to_install(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "find_spec", lambda _: None)
    with pytest.raises(BadInput, match=r"pip install 'onnx-autodoc\[run\]'$"):
        ran(str(path))


@pytest.mark.parametrize("word", ["0", "-1", "x", "1e9"])
def test_a_wrong_limit_is_refused(word: str, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        ran(str(path), f"--timeout={word}")


def test_words_of_a_model_are_made_safe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path, "g (float[2] x) => (float[2] y) { y = Relu(x) }")
    proto = onnx.load(path)
    proto.graph.node[0].name = "a\x1b[31m\nb" + "c" * 300
    path.write_bytes(proto.SerializeToString())
    wrong = msgspec.structs.replace(ops._BY_NAME["", "Relu"], infer=lambda _: [Known("float32", (9,))])
    monkeypatch.setitem(ops._BY_NAME, ("", "Relu"), wrong)
    assert ran(str(path), "--force", "--runs", "1") == 1
    text = capsys.readouterr().out
    assert "\x1b" not in text and r"a\x1b[31m\nb" in text
    assert max(map(len, text.splitlines())) <= 80
