"""The system calls of a command, recorded by strace."""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import onnx_autodoc
from tests._command import command_line

# Folders that Python, its libraries and the system load from.
OWN = (
    *(
        str(Path(path).resolve())
        for path in (sys.prefix, sys.base_prefix, Path(onnx_autodoc.__file__).parent.parent, *filter(None, sys.path))
    ),
    *(path for path in sys.path if path.endswith("site-packages")),
    *("/proc", "/sys", "/usr", "/lib", "/etc", "/dev/null", "/dev/urandom"),
)
_STRACE = ["strace", "-f", "-y", "-v", "-qq", "-s", "500", "-e", "trace=%file,%network,fstat", "-e", "signal=none"]
_LINE = re.compile(r"^\d+ +(?P<call>\w+)\((?P<given>.*)\) += (?P<result>-?\d+)(?:<(?P<where>[^>]*)>)?")


class Call:
    def __init__(self, found: re.Match[str]) -> None:
        self.name, self.given, self.where = found["call"], found["given"], found["where"]
        self.done = int(found["result"]) >= 0

    @property
    def opened(self) -> str | None:
        """The path that was opened for reading or writing; O_PATH handles do not count."""
        return self.where if self.done and self.name.startswith("open") and "O_PATH" not in self.given else None

    def __repr__(self) -> str:
        return f"{self.name}({self.given}) = {self.where}"


def traced(tmp_path: Path, *words: object) -> list[Call]:
    """Return every call on files or the network of a command and its child processes."""
    if not _can_trace():
        pytest.skip("strace is not there, or not allowed (Debian: apt-get install strace)")
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    out = tmp_path / "trace"
    strace = [*_STRACE, "-o", str(out)]
    kept = {"env": {**os.environ, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}, "cwd": home, "timeout": 120}
    done = subprocess.run([*strace, *command_line(*words)], capture_output=True, text=True, **kept)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    return [Call(found) for found in map(_LINE.match, _whole_lines(out.read_text(errors="replace"))) if found]


@cache
def _can_trace() -> bool:
    return bool(shutil.which("strace")) and not subprocess.run(["strace", "-f", "true"], capture_output=True).returncode


def _whole_lines(text: str) -> list[str]:
    """Join calls that strace splits because another process made a call meanwhile."""
    begun: dict[str, str] = {}
    lines = []
    for line in text.splitlines():
        process, _, rest = line.partition(" ")
        if rest.endswith("<unfinished ...>"):
            begun[process] = line.removesuffix("<unfinished ...>").rstrip()
        elif "resumed>" in rest:
            lines.append(begun.pop(process, process) + rest.partition("resumed>")[2])
        else:
            lines.append(line)
    return lines
