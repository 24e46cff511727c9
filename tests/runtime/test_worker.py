"""Failures of the worker process become one-line errors, and no process is left."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from onnx_autodoc.card import Feed
from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.runtime import process, require_onnxruntime, time_model
from onnx_autodoc.runtime.ort_profile import NodeNames, TooManyNodes
from onnx_autodoc.runtime.process import Deadline, describe_death, describe_failure, run_worker
from onnx_autodoc.runtime.protocol import CPU, Failure, RunRequest, Stage
from tests.runtime._models import save_model

REQUEST = RunRequest("shapes", b"m.onnx")
LOADING = r"""os.write(1, b'{"type":"stage","doing":"loading the model"}\n');"""


def stub_worker(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    script = f"import os, signal, sys, time; sys.stdin.read(); {code}"
    monkeypatch.setattr(process, "worker_command", lambda: [sys.executable, "-c", script])


def run_failing(seconds: float = 20) -> str:
    with pytest.raises((BadInput, LimitReached)) as caught:
        run_worker(REQUEST, Deadline(seconds), lambda _: None)
    assert "\n" not in str(caught.value)
    return f"{caught.value.exit_code} {caught.value}"


def test_crash_is_reported_with_signal_and_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_worker(monkeypatch, f"{LOADING} os.kill(os.getpid(), signal.SIGSEGV)")
    assert run_failing() == "2 m.onnx: onnxruntime crashed with SIGSEGV while loading the model"


def test_killed_worker_is_reported_as_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_worker(monkeypatch, f"{LOADING} os.kill(os.getpid(), signal.SIGKILL)")
    assert run_failing().startswith("3 m.onnx: the system killed onnxruntime while loading the model: out of memory?")


def test_exit_without_result_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_worker(monkeypatch, "sys.exit(7)")
    assert run_failing() == "2 m.onnx: onnxruntime exited while reading the model (exit code 7)"


def test_invalid_message_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_worker(monkeypatch, r"os.write(1, b'hello\n')")
    assert run_failing() == "2 m.onnx: the worker process sent an invalid message while reading the model"


def test_hanging_worker_is_killed_at_the_timeout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    stub_worker(monkeypatch, f"open({str(mark)!r}, 'w').write(str(os.getpid())); {LOADING} time.sleep(60)")
    start = time.monotonic()
    assert run_failing(2) == "3 m.onnx: timed out after 2 s while loading the model; --timeout raises the limit"
    assert time.monotonic() - start < 15
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_interrupt_kills_the_worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    stub_worker(monkeypatch, f"open({str(mark)!r}, 'w').write(str(os.getpid())); {LOADING} time.sleep(60)")

    def interrupt(_: Stage) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_worker(REQUEST, Deadline(20), interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_missing_onnxruntime_is_reported_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "find_spec", lambda name: None if name == "onnxruntime" else object())
    with pytest.raises(BadInput, match=r"^running a model requires onnxruntime: pip install 'onnx-autodoc\[run\]'$"):
        require_onnxruntime()


def test_verification_imports_nothing_native() -> None:
    """Only the worker imports them."""
    code = "import sys, onnx_autodoc.runtime.verification; assert not {'onnx', 'onnxruntime'} & set(sys.modules)"
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0


def test_model_is_timed_with_given_inputs(tmp_path: Path) -> None:
    path = save_model(tmp_path, "g (float[64,64] x) => (float[64,64] y) { y = MatMul(x, x) }")
    result = time_model(path, [Feed("x", "float32", (64, 64), "normal", high=1)], runs=5, threads=1).timing
    assert (result.runs, result.threads, result.provider) == (5, 1, CPU)
    assert 0 < result.min_seconds <= result.median_seconds <= result.p95_seconds < 10
    assert result.session_seconds > 0
    assert (result.rss_peak_bytes or 0) > 10_000_000
    assert list(tmp_path.iterdir()) == [path]


def test_unknown_provider_is_reported_with_suggestions(tmp_path: Path) -> None:
    path = save_model(tmp_path, "g (float[2] x) => (float[2] y) { y = Relu(x) }")
    with pytest.raises(BadInput, match=r"^--provider CPUU: .*CPUExecutionProvider"):
        time_model(path, [Feed("x", "float32", (2,))], provider="CPUU")


def test_model_rejected_by_onnxruntime_is_reported_in_one_line(tmp_path: Path) -> None:
    path = save_model(tmp_path, "g (float[2] x) => (float[2] y) { y = custom.Own(x) }")
    with pytest.raises(BadInput, match=r"model.onnx: onnxruntime failed while loading the model: .*Own"):
        time_model(path, [Feed("x", "float32", (2,))])


def test_too_many_nodes_are_a_limit(tmp_path: Path) -> None:
    path = save_model(tmp_path, "g (float[2] x) => (float[2] y) { a = Relu(x) y = Relu(a) }")
    with pytest.raises(TooManyNodes, match=r"^more than 1 nodes with functions expanded at every call$") as caught:
        NodeNames(path.read_bytes(), max_nodes=1)
    error = describe_failure("m.onnx", Failure("reading the model", str(caught.value), "limit"))
    assert (error.exit_code, str(error)) == (3, "m.onnx: more than 1 nodes with functions expanded at every call")


def test_out_of_memory_is_a_limit() -> None:
    error = describe_failure("m.onnx", Failure("running the model", "bad_alloc", "memory"))
    assert (error.exit_code, str(error)[:48]) == (3, "m.onnx: out of memory while running the model; s")


def test_signals_are_named() -> None:
    assert str(describe_death("m.onnx", -signal.SIGABRT, "x")) == "m.onnx: onnxruntime crashed with SIGABRT while x"
    assert str(describe_death("m.onnx", -63, "x")).startswith("m.onnx: onnxruntime crashed with ")
