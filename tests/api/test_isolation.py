"""`isolated=True` in programs with threads, event loops, process pools and signal handlers of their own."""

import asyncio
import mmap
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from onnx_autodoc import BadInput, Card, LimitReached, Limits, Operator, card, check, compare, register_operator, within
from onnx_autodoc.api import isolation
from onnx_autodoc.ops import registry
from onnx_autodoc.policy import Verdict
from onnx_autodoc.sandbox import has_other_threads, run_isolated
from tests._corpus import graph

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "src" / "onnx_autodoc" / "data" / "demo.onnx"
POLICY = ROOT / "docs" / "example-policy.toml"
MODEL = "resnet50-ts-op17"
LARGE_MODEL = "yolov8l-nc1"


@pytest.fixture(autouse=True)
def fixed_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


@pytest.fixture(params=["fork", "new interpreter"])
def worker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start workers as in a program without and with other threads."""
    monkeypatch.setattr(isolation, "has_other_threads", lambda: request.param == "new interpreter")


@contextmanager
def other_thread() -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def compare_demo(**options: Any) -> object:
    return compare(card(graph(MODEL)), DEMO, figures={str(DEMO): {"accuracy": 0.5}}, **options)


def check_demo(**options: Any) -> Verdict:
    return check(DEMO, POLICY, baseline=card(graph(MODEL)), **options)


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("call", [compare_demo, check_demo])
def test_isolated_call_has_the_same_result(call: Callable[..., object]) -> None:
    assert call(isolated=True) == call()


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("call", [compare, lambda model, **options: check(model, POLICY, baseline=DEMO, **options)])
def test_isolated_call_obeys_the_limit_on_time(call: Callable[..., object]) -> None:
    with within(Limits(seconds=0.01)), pytest.raises(LimitReached, match=f"{MODEL}.onnx: timed out .*--timeout"):
        call(graph(MODEL), isolated=True)


@pytest.mark.usefixtures("worker")
def test_isolated_call_of_a_missing_file_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"missing\.onnx"):
        compare(tmp_path / "missing.onnx", isolated=True)


@pytest.mark.usefixtures("worker")
def test_nodes_are_listed_within_the_limits_of_the_card() -> None:
    with within(Limits(rows=10)):
        limited = card(graph(MODEL), isolated=True)
    with pytest.raises(LimitReached, match="--max-rows"):
        limited.render("csv")


def test_threads_have_isolated_cards_at_the_same_time() -> None:
    expected = card(graph(MODEL))
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda _: card(graph(MODEL), isolated=True), range(4))) == [expected] * 4


def test_memory_is_limited_in_a_program_with_threads_and_much_memory() -> None:
    with mmap.mmap(-1, 4 << 30), other_thread(), within(Limits(memory=300_000_000)):
        assert len(run_isolated(bytes, bytes_of_50_mib, "it", fork=False)) == 50 << 20
        with pytest.raises(LimitReached, match=r"^it: requires more than 300,000,000 bytes of memory; --max-memory"):
            run_isolated(bytes, bytes_of_1_gib, "it", fork=False)


def bytes_of_50_mib() -> bytes:
    return bytes(50 << 20)


def bytes_of_1_gib() -> bytes:
    return bytes(1 << 30)


def test_event_loop_awaits_an_isolated_card_within_limits() -> None:
    async def make() -> Card:
        with within(Limits(nodes=500)):
            return await asyncio.to_thread(card, graph(MODEL), isolated=True)

    assert asyncio.run(make()) == card(graph(MODEL))


def run_python(*lines: str, warnings: str = "error") -> str:
    """Return the output of a program in its own process: one without the threads of pytest-xdist."""
    program = f"from onnx_autodoc import *\nimport os, signal, sys\nmodel = {str(graph(MODEL))!r}\n" + "\n".join(lines)
    result = subprocess.run([sys.executable, "-W", warnings, "-c", program], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    return result.stdout


SINGLE_THREAD = "import onnx_autodoc.api.isolation as isolation\nassert not isolation.has_other_threads()"


def test_program_without_threads_forks_and_has_no_warning() -> None:
    """The registered operators and replaced functions of a script are in a fork."""
    lines = ("isolation._call_with_operators = None", "print(card(model, isolated=True) is not None)")
    assert run_python(SINGLE_THREAD, "card(model)", *lines) == "True\n"


def test_daemonic_pool_worker_makes_isolated_cards() -> None:
    lines = (
        "import multiprocessing",
        "def work(path): return card(path, isolated=True).graph.nodes_total",
        "with multiprocessing.get_context('fork').Pool(1) as pool: print(pool.map(work, [model]))",
    )
    assert run_python(*lines, warnings="default::ResourceWarning") == f"[{card(graph(MODEL)).graph.nodes_total}]\n"


def test_handlers_and_masks_of_the_program_do_not_disable_the_limit_on_time() -> None:
    lines = (
        "signals = signal.SIGALRM, signal.SIGXCPU",
        "for number in signals: signal.signal(number, signal.SIG_IGN)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, signals)",
        "with within(Limits(seconds=0.01)):",
        "    try: card(model, isolated=True)",
        "    except LimitReached as error: print('timed out' in str(error))",
        "assert signal.getsignal(signal.SIGALRM) == signal.SIG_IGN",
    )
    assert run_python(SINGLE_THREAD, *lines) == "True\n"


def test_handlers_and_timers_of_the_program_are_kept() -> None:
    lines = (
        "received = []",
        "signal.signal(signal.SIGALRM, lambda *_: received.append('alarm'))",
        "signal.signal(signal.SIGTERM, lambda *_: print('not in the worker', os.getpid()))",
        "signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)",
        "print(card(model, isolated=True).graph.nodes_total > 0)",
        "signal.setitimer(signal.ITIMER_REAL, 0)",
        "print(set(received))",
    )
    assert run_python(SINGLE_THREAD, *lines) == "True\n{'alarm'}\n"


def test_terminated_worker_is_an_error_in_a_program_that_handles_the_signal() -> None:
    lines = (
        "from onnx_autodoc.sandbox import run_isolated",
        "signal.signal(signal.SIGTERM, lambda *_: print('handled'))",
        "try: run_isolated(int, lambda: os.kill(os.getpid(), signal.SIGTERM), 'it')",
        "except LimitReached as error: print(error)",
    )
    assert run_python(*lines) == "it: the worker process was terminated with SIGTERM\n"


def test_ignored_sigchld_leaves_the_result() -> None:
    lines = (
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "print(card(model, isolated=True).graph.nodes_total > 0)",
        "with within(Limits(seconds=0.01)):",
        "    try: card(model, isolated=True)",
        "    except LimitReached as error: print('SIGCHLD' in str(error))",
    )
    assert run_python(SINGLE_THREAD, *lines) == "True\nTrue\n"


# A signal at the worst moment of the start of a worker: in the worker, and in the program before it has the process id.
SIGNAL_IN = "start = {0}.{1}\ndef start_and_signal(*arguments, **options):\n    result = start(*arguments, **options)\n"
IN_WORKER = (
    SIGNAL_IN + "    if result == 0: os.kill(os.getpid(), signal.SIGINT)\n    return result\n{0}.{1} = start_and_signal"
)
IN_PROGRAM = (
    SIGNAL_IN + "    if result != 0: os.kill(os.getpid(), signal.SIGINT)\n    return result\n{0}.{1} = start_and_signal"
)
OTHER_THREAD = "import threading, time; threading.Thread(target=time.sleep, args=(100,), daemon=True).start()"


@pytest.mark.parametrize(
    "lines",
    [
        (IN_WORKER.format("os", "fork"),),
        (IN_PROGRAM.format("os", "fork"),),
        (OTHER_THREAD, "import subprocess", IN_PROGRAM.format("subprocess", "Popen")),
    ],
    ids=["worker", "program", "program with threads"],
)
def test_interrupt_at_the_start_of_a_worker_is_raised_once(lines: tuple[str, ...]) -> None:
    """No second copy of the program runs, nothing is printed, and no process or descriptor is left."""
    after = (
        "descriptors = os.listdir('/proc/self/fd')",
        "try: card(model, isolated=True)",
        "except KeyboardInterrupt: print('interrupted', flush=True)",
        "assert os.listdir('/proc/self/fd') == descriptors",
        "assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())",
        "try: os.waitpid(-1, os.WNOHANG)",
        "except ChildProcessError: print('no process')",
    )
    assert run_python("import onnx_autodoc.api, onnx_autodoc.sandbox.worker", *lines, *after) == (
        "interrupted\nno process\n"
    )


def test_new_interpreter_imports_no_module_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit('imported from the current folder')")
    lines = (
        "import pathlib",
        "card(model)",  # its modules are those of the program
        f"os.chdir({str(tmp_path)!r})",
        "sys.path[:0] = ['', '.', pathlib.Path.cwd()]",
        f"os.environ.update(PYTHONPATH={str(tmp_path)!r}, PYTHONHOME='/nonexistent')",
        OTHER_THREAD,
        "print(card(model, isolated=True) == card(model))",
    )
    assert run_python(*lines) == "True\n"


def test_new_interpreter_imports_the_package_from_where_the_program_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative entry of the path, in which the program found it, does not have to be there."""
    packages = {str(ROOT / "src"), str(Path(msgspec.__file__).parents[1])}
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in packages])
    assert run_isolated(int, os.getpid, "it", fork=False) != os.getpid()


def test_new_interpreter_is_started_without_a_pipe_for_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that other threads fork in this moment would keep it open, and the start would wait for them."""
    started, spawn = [], os.posix_spawn

    def record(*arguments: Any, **options: Any) -> int:
        started.append(spawn(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(os, "posix_spawn", record)
    assert run_isolated(int, os.getpid, "it", fork=False) == started[0]


@pytest.mark.usefixtures("worker")
def test_path_that_is_not_utf8_has_the_same_results(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path / "m") + b"\xff.onnx"))
    shutil.copy(DEMO, path)
    assert card(path, isolated=True) == card(path)
    assert compare(path, DEMO, isolated=True) == compare(path, DEMO)
    assert check(path, POLICY, baseline=path, isolated=True) == check(path, POLICY, baseline=path)


def test_nodes_are_those_of_the_card_after_a_change_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, model in (("first", DEMO), ("second", graph(MODEL))):
        (tmp_path / folder).mkdir()
        shutil.copy(model, tmp_path / folder / "m.onnx")
    monkeypatch.chdir(tmp_path / "first")
    isolated = card("m.onnx", isolated=True)
    monkeypatch.chdir(tmp_path / "second")
    assert isolated.render("csv") == card(DEMO).render("csv")


def test_isolated_stored_card_has_no_nodes(tmp_path: Path) -> None:
    stored = tmp_path / "card.json"
    stored.write_text(card(DEMO).to_json())
    with pytest.raises(BadInput, match="a stored card has no list of nodes"):
        card(stored, isolated=True).render("csv")


@pytest.mark.parametrize("stream", ["object()", "None", "open('/dev/full', 'w')"])
def test_output_that_cannot_be_flushed_is_no_error_of_the_card(stream: str) -> None:
    lines = (
        f"sys.stdout = {stream}",
        "if hasattr(sys.stdout, 'write'): sys.stdout.write('buffered')",
        "nodes = card(model, isolated=True).graph.nodes_total",
        "os.write(1, str(nodes).encode())",
        "os._exit(0)",
    )
    assert run_python(SINGLE_THREAD, *lines) == str(card(graph(MODEL)).graph.nodes_total)


def test_operator_that_a_new_interpreter_cannot_import_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_REGISTERED", {})
    monkeypatch.setattr(registry, "OPERATORS", dict(registry.OPERATORS))
    register_operator(Operator(lambda _: [], domain="acme", op_type="Lambda"))
    with other_thread(), pytest.raises(BadInput, match=r"custom operator: .*lambda"):
        card(graph(MODEL), isolated=True)


def test_other_threads_are_found() -> None:
    with other_thread():
        assert has_other_threads()


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(seconds=0), "Limits.seconds: 0 is not a number from"),
        (Limits(seconds=float("nan")), "Limits.seconds: nan"),
        (Limits(seconds=float("inf")), "Limits.seconds: inf"),
        (Limits(memory=1_000_000), "Limits.memory: 1000000 is not a number from 200,000,000 to"),
        (Limits(memory=1 << 70), "Limits.memory"),
        (Limits(memory=None), "Limits.memory: None"),  # type: ignore[arg-type]
        (Limits(nodes=-1), "Limits.nodes: -1"),
        (Limits(depth=201), "Limits.depth: 201 is not a number from 1 to 200"),
        (Limits(rows="10"), "Limits.rows: '10'"),  # type: ignore[arg-type]
    ],
)
def test_limit_out_of_range_is_an_error(limits: Limits, message: str) -> None:
    with pytest.raises(ValueError, match=message), within(limits):
        pass


def test_leftover_processes_and_descriptors() -> None:
    """Workers that end in any way leave neither."""
    before = set(os.listdir("/proc/self/fd"))
    for fork in (True, False):
        for work in (os.getpid, os.abort):
            try:
                run_isolated(int, work, "it", fork=fork)
            except BadInput:
                assert work is os.abort
    assert set(os.listdir("/proc/self/fd")) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_worker_of_a_killed_program_ends() -> None:
    program = (
        "import os, time; from functools import partial; from onnx_autodoc.sandbox import run_isolated\n"
        "print(os.getpid(), flush=True); run_isolated(int, partial(time.sleep, 50), 'it', fork=False)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        deadline = time.monotonic() + 20
        while not (worker := children.read_text().split()) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    while Path(f"/proc/{worker[0]}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{worker[0]}").exists()
