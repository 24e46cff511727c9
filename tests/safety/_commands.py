"""The command line in a process with an environment that the test chooses."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

COMMAND = (sys.executable, "-P", "-m", "onnx_autodoc")
MINIMAL_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "SOURCE_DATE_EPOCH": "1700000000", "HOME": "/nonexistent"}
TEXTS = ("markdown", "html", "json", "architecture", "nodes", "csv", "mermaid", "huggingface")
REPORTS = ("cyclonedx", "sarif", "junit", "github")


def run_tool(
    words: Sequence[str | Path],
    environment: Mapping[str, str] = MINIMAL_ENVIRONMENT,
    cwd: str | Path | None = None,
    command: Sequence[str] = COMMAND,
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*command, *map(os.fspath, words)], env={**environment}, cwd=cwd, capture_output=True, check=False, timeout=120
    )


def read_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
