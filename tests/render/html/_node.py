"""Run scripts of the page in Node.js, without a browser."""

import json
import shutil
import subprocess
from typing import Any

import pytest

PRINT = "process.stdout.write(JSON.stringify({}, (_, value) => typeof value === 'bigint' ? String(value) : value));"


def run(*parts: str) -> Any:
    """Return the value of the last part, after running the others."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    *before, last = parts
    script = "\n".join((*before, PRINT.format(last)))
    process = subprocess.run(["node", "-"], input=script, capture_output=True, text=True, check=False, timeout=120)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)
