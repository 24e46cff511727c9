"""A table of one runtime, written as a file of `src/onnx_autodoc/data/runtimes`."""

import json
import re
from pathlib import Path
from typing import Any

# Those of ONNX, and onnxruntime's own; its optimizer writes the last two for one kind of device
SPECIFIED = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")
DOMAINS = (*SPECIFIED, "com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc")
FOLDER = Path(__file__).parents[2] / "src/onnx_autodoc/data/runtimes"

Ranges = dict[str, dict[str, list[int]]]  # domain -> operator -> [first opset] or [first opset, last opset]


def write(head: dict[str, Any], operators: Ranges, notes: dict[str, dict[str, str]] | None = None) -> None:
    """Write one operator per line, sorted, for readable diffs between releases."""
    body = {**head, "operators": _sorted(operators), "notes": _sorted(notes or {})}
    text = json.dumps(body, indent=1, ensure_ascii=False)
    (FOLDER / f"{head['id']}.json").write_text(_short(text) + "\n", encoding="utf-8")


def _sorted(table: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {domain: dict(sorted(rows.items())) for domain, rows in sorted(table.items()) if rows}


def _short(text: str) -> str:
    """Write lists on one line."""
    return re.sub(
        r"\[[^\[\]{}]*\]", lambda found: " ".join(found[0].split()).replace("[ ", "[").replace(" ]", "]"), text
    )


def spans(defined: list[int], supported: list[bool]) -> list[int]:
    """Return the opset range from the first supported definition to the last one, or without an end."""
    first = supported.index(True)
    last = len(supported) - supported[::-1].index(True)
    assert all(supported[first:last]), (defined, supported)
    return [defined[first]] if last == len(supported) else [defined[first], defined[last] - 1]
