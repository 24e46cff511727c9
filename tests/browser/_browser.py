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
    """What was seen of each text (in another theme than the default, its name ends in the theme's), and what `left`.

    With a folder, it gets a picture of each.
    """
    asked = {"diagrams": dict(diagrams), "folder": folder and str(folder), "themes": list(themes), "scale": scale}
    seen: dict[str, Any] = json.loads(_run("draw.cjs", asked))
    return seen


def photograph(pages: Mapping[str, str], dark: bool = False, width: int = 1280, height: int = 1600) -> None:
    """Pictures of the top of pages, by their files."""
    _run("photo.cjs", {"pages": dict(pages), "dark": dark, "width": width, "height": height, "wait": 1500})


def _run(script: str, asked: Mapping[str, Any]) -> str:
    around = {**os.environ, "NODE_PATH": str(MODULES)}
    done = subprocess.run(
        ["node", HERE / script],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
        env=around,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout
