"""Run the command line in this process, or in another one if the process is the subject of the test."""

import io
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc.cli import main

TIMEOUT_SECONDS = 60
Completed = subprocess.CompletedProcess[str]


def run_command(*words: object, cwd: Path | None = None, **environment: str) -> Completed:
    """Return exit code and output of a command, run by `main`. A command that waits fails after a minute."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(out), redirect_stderr(err):
        patched.delenv("GITHUB_STEP_SUMMARY", raising=False)
        for name, value in _environment(environment).items():
            patched.setenv(name, value)
        if cwd is not None:
            patched.chdir(cwd)
        before = signal.signal(signal.SIGALRM, _time_out)
        signal.alarm(TIMEOUT_SECONDS)
        try:
            status = main([*map(str, words)])
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Completed([*map(str, words)], status, *texts)


def run_process(
    *words: object, cwd: Path | None = None, stdout: Any = subprocess.PIPE, **environment: str
) -> Completed:
    """Return exit code and output of a command, run as a user runs it."""
    inherited = {key: value for key, value in os.environ.items() if key != "GITHUB_STEP_SUMMARY"}
    return subprocess.run(
        command_line(*words),
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=TIMEOUT_SECONDS,
        check=False,
        cwd=cwd,
        env={**inherited, **_environment(environment)},
    )


def command_line(*words: object) -> list[str]:
    return [sys.executable, "-m", "onnx_autodoc", *map(str, words)]


def error_line(done: Completed, status: int) -> str:
    """Check that a command failed with the exit code and one line. Return that line."""
    assert done.returncode == status, done.stderr
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("\n") and "Traceback" not in done.stderr
    return done.stderr[:-1]


def _environment(variables: dict[str, str]) -> dict[str, str]:
    return {"SOURCE_DATE_EPOCH": "0", **variables}


def _time_out(*_: object) -> None:
    pytest.fail(f"the command was not done after {TIMEOUT_SECONDS} s")
