"""A verification as a whole: what fails after the shapes costs its own figure, and nothing is left of any ending."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from onnx_autodoc.api import opened
from onnx_autodoc.errors import AutodocError, BadInput, LimitReached
from onnx_autodoc.render import Report, render_terminal
from onnx_autodoc.render._blocks import Name, Paragraph, Strong
from onnx_autodoc.render._device_lines import measured_lines
from onnx_autodoc.runtime import Difference, Options, Verified, _verify, said, verify
from onnx_autodoc.runtime._messages import Task
from onnx_autodoc.runtime._process import COMMAND, Deadline, ask
from onnx_autodoc.runtime._types import CPU
from onnx_autodoc.sandbox import cleared_up
from onnx_autodoc.shapes import Request
from tests._corpus import graph
from tests.runtime._models import saved

measured = import_module("onnx_autodoc.render.sections.measured")  # the door has a function of its name
RELU = "g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }"
ENDLESS = """g (float[2] x) => (float[2] y) {
  c = Constant<value = bool {1}>()
  y = Loop( , c, x) <body = b (int64 i, bool go, float[2] h) => (bool on, float[2] k) {
    on = Identity(go)
    k = Add(h, h)
  }>
}"""
FORCED = Options(threads=1, runs=1, force=True)


def failing(monkeypatch: pytest.MonkeyPatch, what: str, error: Callable[[str], AutodocError]) -> None:
    """The process of this job fails, the others are real."""
    real = _verify.ask

    def asked(task: Task, *more: Any) -> Any:
        if task.what == what:
            raise error(f"{task.path}: too much")
        return real(task, *more)

    monkeypatch.setattr(_verify, "ask", asked)


@pytest.mark.parametrize("error", [BadInput, LimitReached])
@pytest.mark.parametrize("what", ["time", "operators", "memory"])
def test_what_fails_after_the_shapes_costs_its_own_figure(
    what: str, error: Callable[[str], AutodocError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, what, error)
    found = verify(saved(tmp_path, RELU), Request(), FORCED)
    assert (found.agreement.executed, found.agrees) == (1, True)
    assert (found.timing is None) == (what == "time") == (found.refused == "too much")
    assert (found.memory is None) == (what == "memory") == (found.memory_refused == "too much")
    assert ("the time of operators is not known: too much" in found.agreement.notes) == (what == "operators")


@pytest.mark.parametrize("error", [BadInput, LimitReached])
def test_without_shapes_there_is_no_verdict(
    error: type[AutodocError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, "shapes", error)
    with pytest.raises(error):
        verify(saved(tmp_path, RELU), Request(), FORCED)


def test_no_process_is_started_when_no_time_is_left() -> None:
    with pytest.raises(LimitReached, match=r"^m.onnx: nothing is left of 0 s; --timeout gives it longer$"):
        ask(Task("shapes", "m.onnx", (), CPU), Deadline(0), lambda _: None)


# -- endings


def elsewhere(folder: Path) -> dict[str, str]:
    """An environment whose every place to write is this folder; outside of CI, where onnxruntime tells nobody."""
    kept = {key: value for key, value in os.environ.items() if key not in ("CI", "GITHUB_ACTIONS")}
    return {**kept, **dict.fromkeys(("TMPDIR", "HOME", "XDG_CACHE_HOME"), str(folder))}


def test_onnxruntime_keeps_and_sends_nothing(tmp_path: Path) -> None:
    """Its telemetry begins with an id of this machine in the user's cache."""
    path, folder = saved(tmp_path, RELU), tmp_path / "elsewhere"
    folder.mkdir()
    words = f"from onnx_autodoc.cli import main; raise SystemExit(main(['verify', {str(path)!r}]))"
    ended = subprocess.run([sys.executable, "-c", words], env=elsewhere(folder), capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert list(folder.iterdir()) == []


def children(of: int) -> list[int]:
    tasks = Path(f"/proc/{of}/task/{of}/children")
    return [int(word) for word in tasks.read_text().split()] if tasks.exists() else []


@pytest.mark.skipif(sys.platform != "linux", reason="children are listed in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_an_ending_leaves_neither_process_nor_file(number: signal.Signals, tmp_path: Path) -> None:
    path, folder = saved(tmp_path, ENDLESS), tmp_path / "temporary"
    folder.mkdir()
    words = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    words += f"from onnx_autodoc.cli import main; raise SystemExit(main(['verify', {str(path)!r}]))"
    tool = subprocess.Popen([sys.executable, "-c", words], env=elsewhere(folder), stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not list(folder.glob("*/*")):  # a profile: it is loading
        assert time.monotonic() < end and tool.poll() is None
        time.sleep(0.05)
    started = children(tool.pid)
    assert started
    tool.send_signal(number)
    assert tool.wait(30) == (128 + number if number != signal.SIGKILL else -number)
    while number == signal.SIGKILL and list(folder.iterdir()):  # its child sees it a little later
        assert time.monotonic() < end
        time.sleep(0.05)
    assert list(folder.iterdir()) == []
    assert not any(Path(f"/proc/{each}").exists() for each in started) or number == signal.SIGKILL


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm of the kernel")
def test_a_clock_that_rings_while_a_model_runs_leaves_nothing_and_still_rings(tmp_path: Path) -> None:
    """Of `card --verify --timeout`: the alarm ends the process that asks, wherever that is."""
    path, folder = saved(tmp_path, ENDLESS), tmp_path / "temporary"
    folder.mkdir()
    words = "from onnx_autodoc.shapes import Request; from onnx_autodoc.runtime import Options, verify; "
    words += f"verify({str(path)!r}, Request(), Options())"
    tool = subprocess.Popen([sys.executable, "-c", words], env=elsewhere(folder), stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not list(folder.glob("*/*")):  # a profile: it is loading
        assert time.monotonic() < end and tool.poll() is None
        time.sleep(0.05)
    tool.send_signal(signal.SIGALRM)
    assert tool.wait(30) == -signal.SIGALRM
    assert list(folder.iterdir()) == []


def test_who_handles_a_signal_keeps_it_and_gets_it_back() -> None:
    def mine(*_: object) -> None: ...

    before = signal.signal(signal.SIGTERM, mine)
    try:
        with cleared_up():
            assert signal.getsignal(signal.SIGTERM) is mine
            assert signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_thread_may_verify_too() -> None:
    """Only the main thread may set handlers: elsewhere it goes without."""
    done: list[bool] = []

    def work() -> None:
        with cleared_up():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_a_process_whose_parent_went_does_nothing(tmp_path: Path) -> None:
    """It may be gone before its child has asked to die with it."""
    path = saved(tmp_path, RELU)
    task = msgspec.json.encode(Task("time", str(path), (), CPU, parent=os.getpid() + 1))
    ended = subprocess.run([sys.executable, *COMMAND], input=task, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, b"")


# -- words


@pytest.fixture
def found(tmp_path: Path) -> Verified:
    return verify(saved(tmp_path, "g (float[n,3] x) => (float[n,3] y) { y = Relu(x) }"), Request(batch=7), FORCED)


def test_figures_are_told_with_the_sizes_they_hold_for(found: Verified) -> None:
    assert [(feed.name, feed.dims) for feed in found.feeds] == [("x", (7, 3))]
    assert "Inputs      x float32 [7, 3]\n" in said(found)


def test_memory_too_little_to_measure_is_no_number(found: Verified) -> None:
    assert found.memory is not None and found.memory.ratio is None
    assert "under 1.00 MiB of activations at the peak (card 168 bytes)" in said(found)


def test_a_long_reason_is_wrapped_and_not_cut(found: Verified) -> None:
    reason = "onnxruntime refused while loading the model: " + " ".join(["word"] * 60) + " the-very-end"
    lines = said(msgspec.structs.replace(found, timing=None, refused=reason, by_operator=())).splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.endswith("the-very-end") for line in lines)


def test_nodes_that_are_not_listed_are_counted(found: Verified) -> None:
    """Two outputs of one node are two examples of one."""
    places = (("a", "p"), ("a", "q"), ("b", "r"), ("c", "s"), ("d", "t"))
    examples = tuple(Difference(node, "Op", output, "float32 [1]", "float32 [2]") for node, output in places)
    agreement = msgspec.structs.replace(found.agreement, executed=9, agreed=2, differed=7, examples=examples)
    text = said(msgspec.structs.replace(found, agreement=agreement))
    assert "  and 4 more nodes (--format json lists up to 20)\n" in text


def test_the_section_says_what_the_terminal_says(found: Verified) -> None:
    """Sizes, what is too little to measure, notes, and nodes beyond those that are listed."""
    examples = (Difference("a", "Op", "p", "float32 [1]", "float32 [2]"),)
    agreement = msgspec.structs.replace(found.agreement, differed=3, examples=examples, notes=("a note",))
    shown = msgspec.structs.replace(found, agreement=agreement)
    rows = list(measured._rows(shown))
    assert (Strong("Inputs: "), "", Name("x"), " float32 [7, 3]") in rows
    assert ("a note",) in rows
    assert any("too little to measure, under 1.00 MiB" in str(row[1]) for row in rows if row[0] == Strong("Memory: "))
    assert Paragraph(("2 more nodes differed.",)) in list(measured._differences(shown))


def test_the_card_of_a_terminal_says_what_happened(found: Verified) -> None:
    card = opened(graph("resnet50-ts-op17"), Request())
    assert not list(measured_lines(card))
    shown = [line for _, line in measured_lines(msgspec.structs.replace(card, measured=found))]
    assert shown[0] == "1 node ran, none differed from the card's shapes"
    assert shown[1].startswith("measured ") and " in the median, 95 % within " in shown[1]
    refused = msgspec.structs.replace(found, timing=None, refused="the machine is busy")
    text = render_terminal(Report(msgspec.structs.replace(card, measured=refused), lambda: iter(())))
    assert "Run here     1 node ran, none differed from the card's shapes\n" in text
    assert "no latency: the machine is busy\n" in text
