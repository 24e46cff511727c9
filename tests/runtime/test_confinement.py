"""The worker process has no access to files and connections when onnxruntime gets the model."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Feed
from onnx_autodoc.runtime import verification
from onnx_autodoc.runtime.process import Deadline, run_worker
from onnx_autodoc.runtime.protocol import RunRequest, ShapesResult
from onnx_autodoc.shapes import Request
from tests.runtime._models import save_model

FEEDS = (Feed("x", "float32", (2,)),)
PROBE = """
import ctypes, os, socket, sys
from onnx_autodoc.runtime.confinement import confine

folder, outside, drivers = sys.argv[1:]
open_file = os.open(outside, os.O_RDONLY)
if ctypes.CDLL(None, use_errno=True).syscall(444, None, 0, 1) < 1:
    sys.exit("this system has no Landlock")
print(*confine(folder, with_drivers=drivers == "drivers"))


def attempt(what, action):
    try:
        action()
        print(what)
    except PermissionError:
        print("no", what)


def io_uring():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(425, 1, None) < 0 and ctypes.get_errno() == 13:
        raise PermissionError


attempt("read", lambda: open(outside))
attempt("list", lambda: os.listdir(os.path.dirname(outside)))
attempt("create", lambda: open(outside + ".new", "w"))
attempt("truncate", lambda: os.truncate(outside, 0))
attempt("other process", lambda: open(f"/proc/{os.getppid()}/environ"))
attempt("TCP", lambda: socket.socket().connect(("127.0.0.1", 9)))
attempt("UDP", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"", ("127.0.0.1", 9)))
attempt("local socket", lambda: socket.socket(socket.AF_UNIX))
attempt("io_uring", lambda: io_uring())
attempt("hosts", lambda: open("/etc/hosts"))
attempt("hosts to write", lambda: os.open("/etc/hosts", os.O_WRONLY))
attempt("profile", lambda: open(os.path.join(folder, "profile"), "w"))
attempt("own status", lambda: open("/proc/self/status"))
attempt("open file", lambda: os.pread(open_file, 1, 0))
attempt("library", lambda: __import__("onnxruntime"))
"""
EXPECTED = [
    *("", "no read", "no list", "no create", "no truncate", "no other process", "no TCP", "no UDP", "no local socket"),
    *("no io_uring", "no hosts", "no hosts to write", "profile", "own status", "open file", "library"),
]
FOR_DRIVERS = {"no other process", "no UDP", "no local socket", "no io_uring", "no hosts"}  # of accelerators


@pytest.mark.parametrize("drivers", ["", "drivers"])
def test_only_the_interpreter_and_one_folder_remain(drivers: str, tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "secret" / "file"
    for path in (folder, outside.parent):
        path.mkdir()
    outside.write_text("secret")
    (tmp_path / "probe.py").write_text(PROBE)
    command = [sys.executable, "-P", str(tmp_path / "probe.py"), str(folder), str(outside), drivers]
    done = subprocess.run(command, capture_output=True, text=True)
    if "no Landlock" in done.stderr:
        pytest.skip(done.stderr.strip())
    expected = [line.removeprefix("no ") if drivers and line in FOR_DRIVERS else line for line in EXPECTED]
    assert done.stdout.splitlines() == expected, done.stderr
    assert outside.read_text() == "secret"


def test_process_with_threads_is_not_confined() -> None:
    """Confinement would not hold for them."""
    code = "import threading, time; threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n"
    code += "from onnx_autodoc.runtime.confinement import confine; print(confine('', with_drivers=False))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "('files', 'connections')\n"


@pytest.mark.parametrize("provider", ["CPU", "cpu", "CPUExecutionProvider"])
def test_run_is_confined_for_every_name_of_the_cpu(provider: str, tmp_path: Path) -> None:
    path = save_model(tmp_path, "g (float[2] x) => (float[2] y) { y = Relu(x) }")
    results = []
    for job in ("shapes", "time"):
        request = RunRequest(job, bytes(path), FEEDS, provider, threads=1, runs=1, folder=str(tmp_path))  # type: ignore[arg-type]
        results.append(run_worker(request, Deadline(60), lambda _: None).accessible)  # type: ignore[union-attr]
    assert results == [(), ()]


def test_access_that_the_system_cannot_deny_is_noted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run: Callable[..., object] = verification.run_worker

    def run_unconfined(request: RunRequest, *others: object) -> object:
        result = run(request, *others)
        return replace(result, accessible=("files", "connections")) if isinstance(result, ShapesResult) else result

    path = save_model(tmp_path, "g (float[2] x) => (float[2] y) { y = Relu(x) }")
    options = verification.Options(threads=1, runs=1, force=True)
    monkeypatch.setattr(verification, "run_worker", run_unconfined)
    text = "onnxruntime ran with access to files and connections, which this system cannot deny"
    assert text in verification.verify(path, Request(), options).agreement.notes
