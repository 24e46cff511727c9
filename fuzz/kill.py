"""Kill the command at random moments: every report is the old one or the new one, byte for byte.

`python -m fuzz.kill [TIMES]` prints the outcomes; the tests run a few.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

TARGETS = ("group", "parent", "child")
OLD = b"the old report\n" * 1000
_MAX_SECONDS = 60.0
_ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": "0"}  # the same bytes in every run


class Trial:
    """One kind of output: a file that replaces an old one, or a folder of old files."""

    def __init__(self, model: Path, folder: Path, output: str) -> None:
        self._command = [sys.executable, "-m", "onnx_autodoc", "card", str(model), "-o", output]
        self._work, self._output = folder, folder / output
        self.seconds = min(self._whole_run() for _ in range(2))
        self._new = read_tree(folder)

    def _whole_run(self) -> float:
        started = time.monotonic()
        subprocess.run(self._command, cwd=self._work, env=_ENVIRONMENT, check=True, timeout=_MAX_SECONDS)
        return time.monotonic() - started

    def kill_run(self, target: str, after: float, writing: bool) -> str:
        """Run the command, kill it `after` seconds, and return which reports exist: old, new or both.

        With `writing`, the time counts from the end of the worker, when the parent writes. Raise AssertionError if a
        report is neither old nor new.
        """
        self._reset()
        options = {"cwd": self._work, "env": _ENVIRONMENT, "stderr": subprocess.DEVNULL, "start_new_session": True}
        with subprocess.Popen(self._command, **options) as run:  # type: ignore[call-overload]
            if writing:
                _wait_for_worker(run)
            time.sleep(after)
            in_time = run.poll() is None and _kill(run.pid, target)
            run.wait(_MAX_SECONDS)
            _wait_for_group(run.pid)
        return self._check_files() + ("" if in_time else ", too late")

    def _reset(self) -> None:
        shutil.rmtree(self._work)
        for name in self._new:
            path = self._work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(OLD)

    def _check_files(self) -> str:
        files = read_tree(self._work)
        hidden = {name for name in files if Path(name).name.startswith(".")}
        for name in files.keys() - hidden:
            assert files[name] in (OLD, self._new[name]), f"{name} is neither the old report nor the new one"
        assert files.keys() - hidden == self._new.keys(), "a report has gone, or one has come"
        assert all(Path(name).name.startswith(".onnx-autodoc.") for name in hidden), "an unknown hidden file"
        kinds = {"old" if files[name] == OLD else "new" for name in self._new}
        return " and ".join(sorted(kinds)) + (f", {len(hidden)} temporary file" if hidden else "")


def read_tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _kill(process: int, target: str) -> bool:
    """Kill a process or its children; return whether there was one."""
    with contextlib.suppress(ProcessLookupError):
        if target == "group":
            os.killpg(process, signal.SIGKILL)
            return True
        pids = [process] if target == "parent" else _children(process)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return bool(pids)
    return False


def _children(process: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []


def _wait_for_worker(run: "subprocess.Popen[bytes]") -> None:
    """Wait until a worker process has started and ended."""
    was_present, end = False, time.monotonic() + _MAX_SECONDS
    while run.poll() is None and time.monotonic() < end:
        is_present = bool(_children(run.pid))
        if was_present and not is_present:
            return
        was_present = was_present or is_present
        time.sleep(0.001)


def _wait_for_group(group: int) -> None:
    """Wait for a worker whose parent was killed; it writes no files."""
    end = time.monotonic() + _MAX_SECONDS
    while time.monotonic() < end:
        if not _is_alive(group):
            return
        time.sleep(0.01)
    raise AssertionError("a worker process survives its parent")


def _is_alive(group: int) -> bool:
    """Return whether a process of the group is running, by /proc: zombies do not count."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, group_id = path.read_text(errors="replace").rpartition(")")[2].split()[:3]
            if int(group_id) == group and state not in "ZX":
                return True
    return False


def run_trials(model: Path, times: int, seed: int = 0) -> Counter[str]:
    """Kill runs of both kinds of output at random moments, most while they write; count the outcomes."""
    rng, results = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as root:
        folders = [Path(root) / name for name in ("file", "folder")]
        for folder in folders:
            folder.mkdir()
        cases = [Trial(model, folders[0], "report.html"), Trial(model, folders[1], "reports")]
        for at in range(times):
            case, target = cases[at % len(cases)], TARGETS[at // len(cases) % len(TARGETS)]
            writing = target != "child" and rng.random() < 0.6
            after = rng.uniform(0.0, 0.06) if writing else rng.uniform(0.0, case.seconds)
            results[f"{target}: {case.kill_run(target, after, writing)}"] += 1
    return results


def main() -> None:
    from tests._corpus import graph

    times = int(sys.argv[1]) if sys.argv[1:] else 200
    for outcome, count in sorted(run_trials(graph("resnet50-ts-op17"), times).items()):
        sys.stdout.write(f"{count:5,} {outcome}\n")


if __name__ == "__main__":
    main()
