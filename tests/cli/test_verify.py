"""`onnx-autodoc verify`: verdict, exit code, errors, and no temporary files left."""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest

from onnx_autodoc import ops
from onnx_autodoc.cli import runtime
from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.ops import ValueInfo
from onnx_autodoc.runtime import process, verification
from tests.runtime._models import save_model
from tests.runtime.test_inputs import save_external

MLP = """g (float[n,64] x) => (float[n,64] y) {
  [first] a = MatMul(x, k)
  [second] b = Relu(a)
  [third] y = Softmax(b)
}"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = save_model(tmp_path, MLP)
    proto = onnx.load(path)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(64, dtype=np.float32), "k"))
    path.write_bytes(proto.SerializeToString())
    return path


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The folder of temporary files, which must be empty afterwards."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def run_verify(*words: str) -> int:
    parser = argparse.ArgumentParser()
    runtime.add_verify(parser.add_subparsers())
    options = parser.parse_args(["verify", *words])
    return int(options.run(options))


def test_agreeing_model_is_exit_0_with_times(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_verify(str(path), "--force", "--runs", "3", "--batch", "5", "--threads", "1") == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0] == "All 3 nodes that ran match the card's shapes"
    assert captured.err == ""
    assert len(lines) <= 30 and max(map(len, lines)) <= 80
    assert any(line.startswith("Latency ") and "median" in line for line in lines)
    assert "3 runs after " in captured.out and "1 thread;" in captured.out
    assert "peak activations below 1.00 MiB (card: 2.50 KiB" in captured.out  # two of [5, 64], without the weight
    assert "× MatMul" in captured.out
    assert list(path.parent.iterdir()) == [path]


def test_json_is_in_base_units(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_verify(str(path), "--force", "--runs", "4", "--format", "json") == 0
    verified = json.loads(capsys.readouterr().out)
    assert verified["agreement"]["executed"] == verified["agreement"]["agreed"] == 3
    assert verified["timing"]["runs"] == 4
    assert set(verified["by_node"]) <= {"first", "second", "third"}
    assert 0 < verified["attributed"] <= 1.0001
    assert verified["memory"]["card_bytes"] > 0
    assert verified["provider"] == "CPUExecutionProvider"


def test_disagreeing_card_is_exit_1_with_the_node(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = msgspec.structs.replace(ops.OPERATORS["", "Relu"], infer=lambda _: [ValueInfo("float32", (9, 64))])
    monkeypatch.setitem(ops.OPERATORS, ("", "Relu"), wrong)
    assert run_verify(str(path), "--force", "--runs", "1") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "2 of 3 nodes that ran differ from the card",
        "  second (Relu), output b",
        "    card: float32 [9, 64]",
        "    run:  float32 [1, 64]",
    ]


def test_busy_machine_gives_shapes_and_no_latency(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "MAX_BACKGROUND_LOAD", -1.0)  # any machine is busier
    assert run_verify(str(path)) == 0
    text = capsys.readouterr().out
    assert text.startswith("All 3 nodes that ran match the card's shapes\n")
    assert "Latency     not measured: the machine is busy: " in text
    assert "verify --force" in text
    assert "median" not in text and "Time by op" not in text


def test_crash_while_loading_is_one_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "worker_command", lambda: [sys.executable, "-c", "import os; os.abort()"])
    with pytest.raises(BadInput, match=r"onnxruntime crashed with SIGABRT while reading the model$"):
        run_verify(str(path))


def test_timeout_is_exit_3(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "worker_command", lambda: [sys.executable, "-c", "import time; time.sleep(60)"])
    with pytest.raises(LimitReached, match=r"timed out after 0\.\d+ s while .*; --timeout raises the limit$"):
        run_verify(str(path), "--timeout", "1")


def test_crash_of_the_optimized_model_keeps_the_shapes(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the process that checks shapes is real."""
    run_worker = verification.run_worker

    def run(request: Any, *arguments: Any) -> Any:
        if request.job != "shapes":
            raise BadInput(f"{request.path}: onnxruntime crashed with SIGSEGV while loading the model")
        return run_worker(request, *arguments)

    monkeypatch.setattr(verification, "run_worker", run)
    assert run_verify(str(path)) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Latency not measured: onnxruntime crashed with SIGSEGV while loading the model" in text
    assert "Memory not measured: onnxruntime crashed with SIGSEGV while loading the model" in text


def test_failure_that_the_card_predicts_names_the_contradiction(tmp_path: Path) -> None:
    path = save_model(tmp_path, "g (float[n,4] x) => (y) { z = Reshape(x, s) y = Relu(z) }")
    proto = onnx.load(path)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([3, 5]), "s"))
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(
        BadInput, match=r"onnxruntime failed while running .*; the card reports this contradiction: Reshape_0: "
    ):
        run_verify(str(path), "--batch", "2")


def test_missing_weights_are_refused_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "worker_command", lambda: [sys.executable, "-c", "raise SystemExit(9)"])
    with pytest.raises(BadInput, match=r"the weights file w.bin was not found"):
        run_verify(str(save_external(tmp_path, "w.bin", None)))


def test_missing_extra_names_the_install_command(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "find_spec", lambda _: None)
    with pytest.raises(BadInput, match=r"pip install 'onnx-autodoc\[run\]'$"):
        run_verify(str(path))


@pytest.mark.parametrize("word", ["0", "-1", "x", "1e9"])
def test_wrong_timeout_is_refused(word: str, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_verify(str(path), f"--timeout={word}")


def test_names_of_the_model_are_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save_model(tmp_path, "g (float[2] x) => (float[2] y) { y = Relu(x) }")
    proto = onnx.load(path)
    proto.graph.node[0].name = "a\x1b[31m\nb" + "c" * 300
    path.write_bytes(proto.SerializeToString())
    wrong = msgspec.structs.replace(ops.OPERATORS["", "Relu"], infer=lambda _: [ValueInfo("float32", (9,))])
    monkeypatch.setitem(ops.OPERATORS, ("", "Relu"), wrong)
    assert run_verify(str(path), "--force", "--runs", "1") == 1
    text = capsys.readouterr().out
    assert "\x1b" not in text and r"a\x1b[31m\nb" in text
    assert max(map(len, text.splitlines())) <= 80
