"""Pages of the html format opened by a real Chromium. `make test-browser` brings it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.browser._browser import MODULES

SCRIPT = Path(__file__).parent / "page.cjs"


def visit(pages: list[dict[str, Any]], folder: Path | None = None, jobs: int = 2) -> dict[str, Any]:
    """What was seen on each page, by its name; pictures go to the folder."""
    asked = json.dumps({"pages": pages, "folder": folder and str(folder), "jobs": jobs})
    around = {**os.environ, "NODE_PATH": str(MODULES)}
    done = subprocess.run(
        ["node", SCRIPT], input=asked, capture_output=True, text=True, check=False, timeout=900, env=around
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen
