"""The command line, run as a user does, in surroundings that a test chooses."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

COMMAND = (sys.executable, "-P", "-m", "onnx_autodoc")
PLAIN = {"PATH": "/usr/bin:/bin", "SOURCE_DATE_EPOCH": "1700000000", "HOME": "/nonexistent"}
TEXTS = ("markdown", "html", "json", "architecture", "nodes", "csv", "mermaid", "huggingface")
REPORTS = ("cyclonedx", "sarif", "junit", "github")


def ran(
    words: Sequence[str | Path],
    around: Mapping[str, str] = PLAIN,
    cwd: str | Path | None = None,
    command: Sequence[str] = COMMAND,
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*command, *map(os.fspath, words)], env={**around}, cwd=cwd, capture_output=True, check=False, timeout=120
    )


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
