"""Kill the command at random moments: every report is the old one or the new one, byte for byte.

`python -m fuzz.kill [TIMES]` prints what was seen; a slice of it is in the tests.
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

VICTIMS = ("group", "parent", "child")
OLD = b"the old report\n" * 1000
_PATIENCE = 60.0
_SETTING = {**os.environ, "SOURCE_DATE_EPOCH": "0"}  # the same bytes in every run


class Trial:
    """One way of writing: to a file over an old one, or into a folder of old ones."""

    def __init__(self, model: Path, work: Path, output: str) -> None:
        self._command = [sys.executable, "-m", "onnx_autodoc", "card", str(model), "-o", output]
        self._work, self._output = work, work / output
        self.seconds = min(self._whole_run() for _ in range(2))
        self._new = tree(work)

    def _whole_run(self) -> float:
        started = time.monotonic()
        subprocess.run(self._command, cwd=self._work, env=_SETTING, check=True, timeout=_PATIENCE)
        return time.monotonic() - started

    def killed(self, victim: str, after: float, writing: bool) -> str:
        """Run, kill, look. Gives what there is: old, new or both; raises where it is neither.

        `after` so many seconds; with `writing`, of the moment at which the child has ended and the parent writes.
        """
        self._reset()
        kept = {"cwd": self._work, "env": _SETTING, "stderr": subprocess.DEVNULL, "start_new_session": True}
        with subprocess.Popen(self._command, **kept) as run:  # type: ignore[call-overload]
            if writing:
                _wait_for_the_child(run)
            time.sleep(after)
            in_time = run.poll() is None and _kill(run.pid, victim)
            run.wait(_PATIENCE)
            _wait_for_the_group(run.pid)
        return self._judged() + ("" if in_time else ", too late")

    def _reset(self) -> None:
        shutil.rmtree(self._work)
        for name in self._new:
            path = self._work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(OLD)

    def _judged(self) -> str:
        found = tree(self._work)
        hidden = {name for name in found if Path(name).name.startswith(".")}
        for name in found.keys() - hidden:
            assert found[name] in (OLD, self._new[name]), f"{name} is neither the old report nor the new one"
        assert found.keys() - hidden == self._new.keys(), "a report has gone, or one has come"
        assert all(Path(name).name.startswith(".onnx-autodoc.") for name in hidden), "an unknown hidden file"
        kinds = {"old" if found[name] == OLD else "new" for name in self._new}
        return " and ".join(sorted(kinds)) + (f", {len(hidden)} temporary file" if hidden else "")


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _kill(process: int, victim: str) -> bool:
    """Whether there was somebody to kill."""
    with contextlib.suppress(ProcessLookupError):
        if victim == "group":
            os.killpg(process, signal.SIGKILL)
            return True
        victims = [process] if victim == "parent" else _children(process)
        for each in victims:
            os.kill(each, signal.SIGKILL)
        return bool(victims)
    return False


def _children(process: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []


def _wait_for_the_child(run: "subprocess.Popen[bytes]") -> None:
    """Until it was there and has gone."""
    seen, end = False, time.monotonic() + _PATIENCE
    while run.poll() is None and time.monotonic() < end:
        here = bool(_children(run.pid))
        if seen and not here:
            return
        seen = seen or here
        time.sleep(0.001)


def _wait_for_the_group(group: int) -> None:
    """Where only the parent was killed, a child may live a little longer; it writes nothing."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if not _alive(group):
            return
        time.sleep(0.01)
    raise AssertionError("a child lives on without its parent")


def _alive(group: int) -> bool:
    """Whether one of the group still runs; in a container nobody may ask after those that ended."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, found = path.read_text(errors="replace").rpartition(")")[2].split()[:3]
            if int(found) == group and state not in "ZX":
                return True
    return False


def trials(model: Path, times: int, seed: int = 0) -> Counter[str]:
    """So many kills, over both ways of writing and all victims, at any moment of a run, most while it writes."""
    chance, seen = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        works = [Path(folder) / name for name in ("file", "folder")]
        for work in works:
            work.mkdir()
        ways = [Trial(model, works[0], "report.html"), Trial(model, works[1], "reports")]
        for at in range(times):
            way, victim = ways[at % len(ways)], VICTIMS[at // len(ways) % len(VICTIMS)]
            writing = victim != "child" and chance.random() < 0.6
            after = chance.uniform(0.0, 0.06) if writing else chance.uniform(0.0, way.seconds)
            seen[f"{victim}: {way.killed(victim, after, writing)}"] += 1
    return seen


def main() -> None:
    from tests._corpus import graph

    times = int(sys.argv[1]) if sys.argv[1:] else 200
    for what, count in sorted(trials(graph("resnet50-ts-op17"), times).items()):
        sys.stdout.write(f"{count:5,} {what}\n")


if __name__ == "__main__":
    main()
