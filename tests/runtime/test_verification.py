"""Verification: failures after the shapes cost one figure, and no process or file is left."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from onnx_autodoc.api import load_or_make_card
from onnx_autodoc.card import Difference, Verified
from onnx_autodoc.errors import AutodocError, BadInput, LimitReached
from onnx_autodoc.render import Report, render_terminal
from onnx_autodoc.render.content import Bullets, Name, Paragraph, Strong
from onnx_autodoc.render.sections.measured import measured
from onnx_autodoc.render.terminal import measured_rows
from onnx_autodoc.render.verification import format_verification
from onnx_autodoc.runtime import Options, measurement, verification, verify
from onnx_autodoc.runtime.process import Deadline, run_worker, worker_command
from onnx_autodoc.runtime.protocol import RunRequest
from onnx_autodoc.runtime.worker import run_job
from onnx_autodoc.sandbox import raise_on_termination
from onnx_autodoc.shapes import Request
from tests._corpus import graph
from tests.runtime._models import save_model

RELU = "g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }"
ENDLESS = """g (float[2] x) => (float[2] y) {
  c = Constant<value = bool {1}>()
  y = Loop( , c, x) <body = b (int64 i, bool go, float[2] h) => (bool on, float[2] k) {
    on = Identity(go)
    k = Add(h, h)
  }>
}"""
FORCED = Options(threads=1, runs=1, force=True)


def fail_job(monkeypatch: pytest.MonkeyPatch, job: str, error: Callable[[str], AutodocError]) -> None:
    """Let one job fail; the others run in this process."""

    def run(request: RunRequest, *_: Any) -> Any:
        if request.job == job:
            raise error(f"{request.path}: too much")
        return run_job(request, lambda _: None, tuple)

    monkeypatch.setattr(verification, "run_worker", run)


@pytest.mark.parametrize("error", [BadInput, LimitReached])
@pytest.mark.parametrize("job", ["time", "operators", "memory"])
def test_failure_after_the_shapes_costs_one_figure(
    job: str, error: Callable[[str], AutodocError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_job(monkeypatch, job, error)
    monkeypatch.setattr(measurement, "_WARM_UP_SECONDS", 0.0)
    monkeypatch.setattr(measurement, "_LOAD_CHECK_SECONDS", 0.0)
    result = verify(save_model(tmp_path, RELU), Request(), FORCED)
    assert (result.agreement.executed, result.agrees) == (1, True)
    assert (result.timing is None) == (job == "time") == (result.refused == "too much")
    assert (result.memory is None) == (job == "memory") == (result.memory_refused == "too much")
    assert ("the time of operators is unknown: too much" in result.agreement.notes) == (job == "operators")


@pytest.mark.parametrize("error", [BadInput, LimitReached])
def test_failure_of_the_shapes_is_an_error(
    error: type[AutodocError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_job(monkeypatch, "shapes", error)
    with pytest.raises(error):
        verify(save_model(tmp_path, RELU), Request(), FORCED)


def test_no_worker_is_started_after_the_deadline() -> None:
    with pytest.raises(LimitReached, match=r"^m.onnx: the limit of 0 s was reached; --timeout raises the limit$"):
        run_worker(RunRequest("shapes", b"m.onnx"), Deadline(0), lambda _: None)


# -- termination


def write_only_to(folder: Path) -> dict[str, str]:
    """Return an environment with this folder for all files, and without CI, where onnxruntime sends no telemetry."""
    inherited = {key: value for key, value in os.environ.items() if key not in ("CI", "GITHUB_ACTIONS")}
    return {**inherited, **dict.fromkeys(("TMPDIR", "HOME", "XDG_CACHE_HOME"), str(folder))}


def test_onnxruntime_stores_no_telemetry_id(tmp_path: Path) -> None:
    """Its telemetry stores an id of this machine in the user's cache."""
    path, folder = save_model(tmp_path, RELU), tmp_path / "elsewhere"
    folder.mkdir()
    words = (
        f"from onnx_autodoc.cli import main; raise SystemExit(main(['verify', {str(path)!r}, '--runs=1', '--force']))"
    )
    ended = subprocess.run([sys.executable, "-c", words], env=write_only_to(folder), capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert list(folder.iterdir()) == []


def list_children(of: int) -> list[int]:
    tasks = Path(f"/proc/{of}/task/{of}/children")
    return [int(word) for word in tasks.read_text().split()] if tasks.exists() else []


@pytest.mark.skipif(sys.platform != "linux", reason="children are listed in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_termination_leaves_neither_process_nor_file(number: signal.Signals, tmp_path: Path) -> None:
    path, folder = save_model(tmp_path, ENDLESS), tmp_path / "temporary"
    folder.mkdir()
    words = f"from onnx_autodoc.cli import main; raise SystemExit(main(['verify', {str(path)!r}]))"
    tool = subprocess.Popen([sys.executable, "-c", words], env=write_only_to(folder), stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not list(folder.glob("*/*")):  # a profile: it is loading
        assert time.monotonic() < end and tool.poll() is None
        time.sleep(0.05)
    started = list_children(tool.pid)
    assert started
    tool.send_signal(number)
    assert tool.wait(30) == (128 + number if number != signal.SIGKILL else -number)
    while number == signal.SIGKILL and list(folder.iterdir()):  # its child sees it a little later
        assert time.monotonic() < end
        time.sleep(0.05)
    assert list(folder.iterdir()) == []
    assert not any(Path(f"/proc/{each}").exists() for each in started) or number == signal.SIGKILL


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm of the kernel")
def test_alarm_during_a_run_leaves_no_file_and_ends_the_process(tmp_path: Path) -> None:
    """As in `card --verify --timeout`: the alarm ends the process."""
    path, folder = save_model(tmp_path, ENDLESS), tmp_path / "temporary"
    folder.mkdir()
    words = "from onnx_autodoc.shapes import Request; from onnx_autodoc.runtime import Options, verify; "
    words += f"verify({str(path)!r}, Request(), Options())"
    tool = subprocess.Popen([sys.executable, "-c", words], env=write_only_to(folder), stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not list(folder.glob("*/*")):  # a profile: it is loading
        assert time.monotonic() < end and tool.poll() is None
        time.sleep(0.05)
    tool.send_signal(signal.SIGALRM)
    assert tool.wait(30) == -signal.SIGALRM
    assert list(folder.iterdir()) == []


def test_existing_signal_handlers_are_kept() -> None:
    def mine(*_: object) -> None: ...

    before = signal.signal(signal.SIGTERM, mine)
    try:
        with raise_on_termination():
            assert signal.getsignal(signal.SIGTERM) is mine
            assert signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_verification_runs_in_a_thread() -> None:
    """Only the main thread can set signal handlers."""
    done: list[bool] = []

    def work() -> None:
        with raise_on_termination():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_orphaned_worker_exits(tmp_path: Path) -> None:
    """The parent may die before the worker has called prctl."""
    path = save_model(tmp_path, RELU)
    request = msgspec.json.encode(RunRequest("time", bytes(path), parent_pid=os.getpid() + 1))
    ended = subprocess.run(worker_command(), input=request, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, b"")


# -- text


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Verified:
    folder = tmp_path_factory.mktemp("verified")
    return verify(save_model(folder, "g (float[n,3] x) => (float[n,3] y) { y = Relu(x) }"), Request(batch=7), FORCED)


def test_figures_are_shown_with_input_sizes(result: Verified) -> None:
    assert [(feed.name, feed.dims) for feed in result.feeds] == [("x", (7, 3))]
    assert "Inputs      x float32 [7, 3]\n" in format_verification(result)


def test_memory_below_the_resolution_has_no_ratio(result: Verified) -> None:
    assert result.memory is not None and result.memory.ratio is None
    assert "peak activations below 1.00 MiB (card: 168 bytes)" in format_verification(result)


def test_long_reason_is_wrapped(result: Verified) -> None:
    reason = "onnxruntime failed while loading the model: " + " ".join(["word"] * 60) + " the-very-end"
    lines = format_verification(
        msgspec.structs.replace(result, timing=None, refused=reason, by_operator=())
    ).splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.endswith("the-very-end") for line in lines)


def test_differences_beyond_the_list_are_counted(result: Verified) -> None:
    """Two outputs of one node are two examples of one node."""
    places = (("a", "p"), ("a", "q"), ("b", "r"), ("c", "s"), ("d", "t"))
    examples = tuple(Difference(node, "Op", output, "float32 [1]", "float32 [2]") for node, output in places)
    agreement = msgspec.structs.replace(result.agreement, executed=9, agreed=2, differed=7, examples=examples)
    text = format_verification(msgspec.structs.replace(result, agreement=agreement))
    assert "  and 4 more nodes (--format json lists up to 20)\n" in text


def test_section_has_the_content_of_the_terminal(result: Verified) -> None:
    """Sizes, memory too small to measure, notes, and the number of nodes that are not listed."""
    examples = (Difference("a", "Op", "p", "float32 [1]", "float32 [2]"),)
    agreement = msgspec.structs.replace(result.agreement, differed=3, examples=examples, notes=("a note",))
    shown = msgspec.structs.replace(result, agreement=agreement)
    card = load_or_make_card(graph("resnet50-ts-op17"), Request())
    section = measured(msgspec.structs.replace(card, measured=shown))
    assert section is not None
    bullets = section.blocks[0]
    assert isinstance(bullets, Bullets)
    assert (Strong("Inputs: "), "", Name("x"), " float32 [7, 3]") in bullets.items
    assert "a note" in bullets.items
    memory = [str(item[1]) for item in bullets.items if isinstance(item, tuple) and item[0] == Strong("Memory: ")]
    assert "below 1.00 MiB, too small to measure" in memory[0]
    assert Paragraph("2 more nodes differ.") in section.blocks


def test_terminal_card_has_the_measurement(result: Verified) -> None:
    card = load_or_make_card(graph("resnet50-ts-op17"), Request())
    assert not list(measured_rows(card))
    shown = [row.value for row in measured_rows(msgspec.structs.replace(card, measured=result))]
    assert shown[0] == "1 node ran, none differ from the card's shapes"
    assert shown[1].startswith("measured ") and ", p95 " in shown[1]
    refused = msgspec.structs.replace(result, timing=None, refused="the machine is busy")
    text = render_terminal(Report(msgspec.structs.replace(card, measured=refused), lambda: iter(())))
    assert "Measured     1 node ran, none differ from the card's shapes\n" in text
    assert "latency not measured: the machine is busy\n" in text
