"""Whatever happens to the process that runs the model costs one line, and nothing is left of it."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.runtime import Feed, _process, _renamed, timed
from onnx_autodoc.runtime._child import answer
from onnx_autodoc.runtime._messages import Failed, Stage, Task
from onnx_autodoc.runtime._process import Deadline, ask, check_extra
from onnx_autodoc.runtime._types import CPU
from tests.runtime._models import saved

TASK = Task("shapes", "m.onnx", (), CPU)
LOADING = r"""os.write(1, b'{"type":"stage","doing":"loading the model"}\n');"""


def stub(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """A child that does this instead."""
    monkeypatch.setattr(_process, "COMMAND", ("-c", f"import os, signal, sys, time; sys.stdin.read(); {code}"))


def asked(seconds: float = 20) -> str:
    with pytest.raises((BadInput, LimitReached)) as caught:
        ask(TASK, Deadline(seconds), lambda _: None)
    assert "\n" not in str(caught.value)
    return f"{caught.value.exit_code} {caught.value}"


def test_a_crash_is_named_with_what_was_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    stub(monkeypatch, f"{LOADING} os.kill(os.getpid(), signal.SIGSEGV)")
    assert asked() == "2 m.onnx: onnxruntime died of SIGSEGV while loading the model"


def test_being_killed_is_most_likely_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    stub(monkeypatch, f"{LOADING} os.kill(os.getpid(), signal.SIGKILL)")
    assert asked().startswith("3 m.onnx: the system killed onnxruntime while loading the model: out of memory?")


def test_an_end_without_an_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    stub(monkeypatch, "sys.exit(7)")
    assert asked() == "2 m.onnx: onnxruntime ended by itself while starting onnxruntime (exit code 7)"


def test_what_is_no_message_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    stub(monkeypatch, r"os.write(1, b'hello\n')")
    assert asked() == "2 m.onnx: what came back while starting onnxruntime is no message"


def test_a_hang_ends_at_the_limit_and_names_its_option(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    stub(monkeypatch, f"open({str(mark)!r}, 'w').write(str(os.getpid())); {LOADING} time.sleep(60)")
    start = time.monotonic()
    assert asked(2) == "3 m.onnx: loading the model was not done after 2 s; --timeout gives it longer"
    assert time.monotonic() - start < 15
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_an_interrupt_ends_the_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    stub(monkeypatch, f"open({str(mark)!r}, 'w').write(str(os.getpid())); {LOADING} time.sleep(60)")

    def interrupt(_: Stage) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(TASK, Deadline(20), interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_a_missing_extra_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "find_spec", lambda name: None if name == "onnxruntime" else object())
    with pytest.raises(BadInput, match=r"^running a model needs onnxruntime: pip install 'onnx-autodoc\[run\]'$"):
        check_extra()


def test_nothing_native_is_loaded_here() -> None:
    """The package that verifies imports neither: only its child does."""
    code = "import sys, onnx_autodoc.runtime._verify; assert not {'onnx', 'onnxruntime'} & set(sys.modules)"
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0


def test_a_model_is_timed_with_given_inputs(tmp_path: Path) -> None:
    path = saved(tmp_path, "g (float[64,64] x) => (float[64,64] y) { y = MatMul(x, x) }")
    found = timed(path, [Feed("x", "float32", (64, 64), "normal", high=1)], runs=5, threads=1)
    assert (found.runs, found.threads, found.provider) == (5, 1, CPU)
    assert 0 < found.min_seconds <= found.median_seconds <= found.p95_seconds < 10
    assert found.session_seconds > 0
    assert (found.rss_peak_bytes or 0) > 10_000_000
    assert list(tmp_path.iterdir()) == [path]


def test_a_provider_that_is_not_there_is_told_with_near_ones(tmp_path: Path) -> None:
    path = saved(tmp_path, "g (float[2] x) => (float[2] y) { y = Relu(x) }")
    with pytest.raises(BadInput, match=r"^--provider CPUU: .*CPUExecutionProvider"):
        timed(path, [Feed("x", "float32", (2,))], provider="CPUU")


def test_what_onnxruntime_refuses_is_one_line(tmp_path: Path) -> None:
    path = saved(tmp_path, "g (float[2] x) => (float[2] y) { y = custom.Own(x) }")
    with pytest.raises(BadInput, match=r"model.onnx: onnxruntime refused while loading the model: .*Own"):
        timed(path, [Feed("x", "float32", (2,))])


def test_more_nodes_than_can_be_told_apart_are_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_renamed, "_MOST", 1)
    path = saved(tmp_path, "g (float[2] x) => (float[2] y) { a = Relu(x) y = Relu(a) }")
    failed = answer(Task("shapes", str(path), (), CPU), lambda _: None)
    assert isinstance(failed, Failed)
    error = _process._failure(TASK, failed)
    assert (error.exit_code, str(error)) == (3, "m.onnx: with functions opened at every call there are over 1 nodes")


def test_memory_that_onnxruntime_cannot_have_is_a_limit() -> None:
    error = _process._failure(TASK, Failed("running the model", "bad_alloc", "memory"))
    assert (error.exit_code, str(error)[:47]) == (3, "m.onnx: running the model ran out of memory; sm")


def test_signals_have_names() -> None:
    assert str(_process._death(TASK, -signal.SIGABRT, "x")) == "m.onnx: onnxruntime died of SIGABRT while x"
    assert str(_process._death(TASK, -63, "x")).startswith("m.onnx: onnxruntime died of ")
