"""The page's scripts run by node, without a browser."""

import json
import shutil
import subprocess
from typing import Any

import pytest

SAY = "process.stdout.write(JSON.stringify({}, (_, value) => typeof value === 'bigint' ? String(value) : value));"


def run(*parts: str) -> Any:
    """The value of the last part, after the others ran."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    *before, last = parts
    script = "\n".join((*before, SAY.format(last)))
    done = subprocess.run(["node", "-"], input=script, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
