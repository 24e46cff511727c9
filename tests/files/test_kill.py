"""Killed at any moment, there is the old report or the new one, and never a part of one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.kill import OLD, trials
from tests._corpus import graph

NEW = b"new" * 100_000
# One process that kills itself right before or right after the n-th call of one function of the system.
DYING = """
import os, signal, sys
from pathlib import Path
from onnx_autodoc.cli import _write
step, when, way = sys.argv[1:]
real, done = getattr(os, step), [0]
def dying(*given, **kept):
    done[0] += 1
    here = done[0] == {count}
    if here and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    if here and when == "within" and step == "write":
        real(given[0], given[1][:1000])
        os.kill(os.getpid(), signal.SIGKILL)
    found = real(*given, **kept)
    if here and when == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return found
setattr(os, step, dying)
if way == "named":
    _write._NAMELESS = 0
with _write.written([_write.File(Path("card.md"), b"new" * 100_000)]):
    pass
"""
STEPS = [
    *((step, when, 1) for step in ("open", "fsync", "link", "rename", "close") for when in ("before", "after")),
    *(("write", when, 1) for when in ("before", "within", "after")),
    ("fsync", "before", 2),
    ("fsync", "after", 2),
]


@pytest.mark.parametrize(("step", "when", "count"), STEPS)
@pytest.mark.parametrize("old", [None, OLD], ids=["new file", "over an old one"])
def test_a_kill_at_each_step_leaves_no_part_of_a_report(
    step: str, when: str, count: int, old: bytes | None, tmp_path: Path
) -> None:
    found = _after_a_kill(tmp_path, old, step, when, count, "nameless")
    report = found.pop("card.md", None)
    assert report in (old, NEW)
    if (step, when, count) in (("open", "before", 1), ("fsync", "before", 1), ("write", "within", 1)):
        assert report == old
    if (step, count) == ("fsync", 2):
        assert report == NEW
    # Between its two names, for a moment: a whole report.
    assert list(found.values()) in ([], [NEW] if old is not None else [])


@pytest.mark.parametrize(("step", "when", "count"), [item for item in STEPS if item[0] != "link"])
def test_a_system_without_nameless_files_leaves_at_most_a_hidden_part(
    step: str, when: str, count: int, tmp_path: Path
) -> None:
    found = _after_a_kill(tmp_path, OLD, step, when, count, "named")
    assert found.pop("card.md") in (OLD, NEW)
    assert len(found) <= 1 and all(name.startswith(".onnx-autodoc.") for name in found)


def _after_a_kill(folder: Path, old: bytes | None, step: str, when: str, count: int, way: str) -> dict[str, bytes]:
    if old is not None:
        (folder / "card.md").write_bytes(old)
    code = DYING.replace("{count}", str(count))
    done = subprocess.run([sys.executable, "-c", code, step, when, way], cwd=folder, capture_output=True)
    reached = step != "rename" or old is not None or way == "named"  # a new file needs no second name
    assert done.returncode == (-signal.SIGKILL if reached else 0), done.stderr
    return {name: (folder / name).read_bytes() for name in os.listdir(folder)}


def test_the_command_killed_at_random_moments_leaves_whole_reports() -> None:
    """Its whole group, only the parent, only the child. `make fuzz` has ten times as many."""
    seen = trials(graph("resnet50-ts-op17"), 18)
    assert sum(seen.values()) == 18
    assert any("old" in what for what in seen), seen  # some came in time
