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
PROGRAM_FOLDERS = (
    *(
        str(Path(path).resolve())
        for path in (sys.prefix, sys.base_prefix, Path(onnx_autodoc.__file__).parent.parent, *filter(None, sys.path))
    ),
    *(path for path in sys.path if path.endswith("site-packages")),
    *("/proc", "/sys", "/usr", "/lib", "/etc", "/dev/null", "/dev/urandom"),
)
_STRACE = ["strace", "-f", "-y", "-v", "-qq", "-s", "500", "-e", "trace=%file,%network,fstat", "-e", "signal=none"]
_LINE = re.compile(r"^\d+ +(?P<call>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)(?:<(?P<where>[^>]*)>)?")


class Call:
    def __init__(self, match: re.Match[str]) -> None:
        self.name, self.arguments, self.where = match["call"], match["arguments"], match["where"]
        self.succeeded = int(match["result"]) >= 0

    @property
    def opened(self) -> str | None:
        """The path that was opened for reading or writing; O_PATH handles do not count."""
        return (
            self.where if self.succeeded and self.name.startswith("open") and "O_PATH" not in self.arguments else None
        )

    def __repr__(self) -> str:
        return f"{self.name}({self.arguments}) = {self.where}"


def trace_command(tmp_path: Path, *words: object) -> list[Call]:
    """Return every call on files or the network of a command and its child processes."""
    return trace_process(tmp_path, command_line(*words))


def trace_process(tmp_path: Path, command: list[str], **environment: str) -> list[Call]:
    if not _can_trace():
        pytest.skip("strace is not installed or not allowed (Debian: apt-get install strace)")
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    out = tmp_path / "trace"
    strace = [*_STRACE, "-o", str(out)]
    variables = {**os.environ, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    options = {"env": variables, "cwd": home, "timeout": 120}
    done = subprocess.run([*strace, *command], capture_output=True, text=True, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    return [Call(match) for match in map(_LINE.match, _join_split_calls(out.read_text(errors="replace"))) if match]


@cache
def _can_trace() -> bool:
    return bool(shutil.which("strace")) and not subprocess.run(["strace", "-f", "true"], capture_output=True).returncode


def _join_split_calls(text: str) -> list[str]:
    """Join calls that strace splits because of a concurrent call of another process."""
    unfinished: dict[str, str] = {}
    lines = []
    for line in text.splitlines():
        process, _, rest = line.partition(" ")
        if rest.endswith("<unfinished ...>"):
            unfinished[process] = line.removesuffix("<unfinished ...>").rstrip()
        elif "resumed>" in rest:
            lines.append(unfinished.pop(process, process) + rest.partition("resumed>")[2])
        else:
            lines.append(line)
    return lines
