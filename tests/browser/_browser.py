"""Mermaid texts drawn by the real mermaid in a real Chromium. `make test-browser` brings both."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent
MODULES = ROOT / ".venv" / "browser" / "node_modules"


def draw(
    diagrams: Mapping[str, str], folder: Path | None = None, themes: Sequence[str] = ("default",), scale: float = 1
) -> dict[str, Any]:
    """Draw Mermaid texts; return the observations of each by its name, and the requests that left the page.

    In another theme than the default, the name ends in the theme's. `folder` receives a picture of each diagram.
    """
    request = {"diagrams": dict(diagrams), "folder": folder and str(folder), "themes": list(themes), "scale": scale}
    drawings: dict[str, Any] = json.loads(_run("draw.cjs", request))
    return drawings


def photograph(pages: Mapping[str, str], dark: bool = False, width: int = 1280, height: int = 1600) -> None:
    """Save a screenshot of the top of each page under the file name it is mapped to."""
    _run("photo.cjs", {"pages": dict(pages), "dark": dark, "width": width, "height": height, "wait": 1500})


def _run(script: str, request: Mapping[str, Any]) -> str:
    environment = {**os.environ, "NODE_PATH": str(MODULES)}
    process = subprocess.run(
        ["node", HERE / script],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
        env=environment,
    )
    if process.returncode:
        raise RuntimeError(process.stderr)
    return process.stdout
