"""Pages of the html format opened by a real Chromium. `make test-browser` brings it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.browser._browser import MODULES

SCRIPT = Path(__file__).parent / "page.cjs"


def visit(pages: list[dict[str, Any]], folder: Path | None = None, jobs: int = 2) -> dict[str, Any]:
    """Open pages in Chromium and return the observations of each by its name; screenshots go to `folder`."""
    request = json.dumps({"pages": pages, "folder": folder and str(folder), "jobs": jobs})
    environment = {**os.environ, "NODE_PATH": str(MODULES)}
    process = subprocess.run(
        ["node", SCRIPT], input=request, capture_output=True, text=True, check=False, timeout=900, env=environment
    )
    if process.returncode:
        raise RuntimeError(process.stderr)
    observations: dict[str, Any] = json.loads(process.stdout)
    return observations
