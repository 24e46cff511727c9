"""A process killed at any moment leaves the old file or the new one, never a part of one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.kill import OLD, run_trials
from tests._corpus import graph

NEW = b"new" * 100_000
# One process that kills itself right before or right after the n-th call of one function of the system.
KILLING = """
import os, signal, sys
from pathlib import Path
from onnx_autodoc.storage import OutputFile, write_files
step, when = sys.argv[1:]
real, done = getattr(os, step), [0]
def killing(*args, **options):
    done[0] += 1
    is_step = done[0] == {count}
    if is_step and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    if is_step and when == "within" and step == "write":
        real(args[0], args[1][:1000])
        os.kill(os.getpid(), signal.SIGKILL)
    result = real(*args, **options)
    if is_step and when == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return result
setattr(os, step, killing)
with write_files([OutputFile(Path("card.md"), b"new" * 100_000)]):
    pass
"""
STEPS = [
    *((step, when, 1) for step in ("fsync", "replace") for when in ("before", "after")),
    *(("write", when, 1) for when in ("before", "within", "after")),
    ("open", "after", 2),
    ("fsync", "before", 2),
    ("fsync", "after", 2),
]


@pytest.mark.parametrize(("step", "when", "count"), STEPS)
@pytest.mark.parametrize("old", [None, OLD], ids=["new file", "replaced file"])
def test_kill_at_each_step_leaves_the_old_or_the_new_file(
    step: str, when: str, count: int, old: bytes | None, tmp_path: Path
) -> None:
    if old is not None:
        (tmp_path / "card.md").write_bytes(old)
    code = KILLING.replace("{count}", str(count))
    done = subprocess.run([sys.executable, "-c", code, step, when], cwd=tmp_path, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    files = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    is_replaced = (step, when) == ("replace", "after") or (step, count) == ("fsync", 2)
    assert files.pop("card.md", None) == (NEW if is_replaced else old)
    assert all(name.startswith(".onnx-autodoc.") for name in files)  # the temporary file
    assert len(files) == (0 if is_replaced else 1)


def test_command_killed_at_random_moments_leaves_whole_files() -> None:
    """Kill the process group, the parent or the worker. `make fuzz` does ten times as many."""
    outcomes = run_trials(graph("local-functions-mlp"), 18)
    assert sum(outcomes.values()) == 18
    assert any("old" in outcome for outcome in outcomes), outcomes  # some were killed in time
