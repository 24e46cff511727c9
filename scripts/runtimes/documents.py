"""Runtimes with documentation only: `python -m scripts.runtimes.documents NAME VERSION DATE DOCUMENT...`.

NAME is one of `HEADS`. The documents of CoreML and of phones are in the onnxruntime package (tools/mobile_helpers),
that of TensorRT in the repository onnx/onnx-tensorrt (docs).
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onnx_autodoc.ops import OPERATORS
from scripts.runtimes._models import versions
from scripts.runtimes._table import DOMAINS, Ranges, write

LONGEST = 160  # of a remark
HEADS: dict[str, dict[str, Any]] = {
    "coreml": {
        "title": "onnxruntime's CoreML provider",
        "source": "github.com/microsoft/onnxruntime tools/ci_build/github/apple/coreml_supported_mlprogram_ops.md and "
        "coreml_supported_neuralnetwork_ops.md, as in the onnxruntime package (tools/mobile_helpers)",
        "fallback": "onnxruntime runs such nodes on the CPU",
    },
    "onnxruntime-mobile": {
        "title": "onnxruntime's NNAPI provider for Android",
        "source": "github.com/microsoft/onnxruntime tools/ci_build/github/android/nnapi_supported_ops.md, as in the "
        "onnxruntime package (tools/mobile_helpers)",
        "fallback": "onnxruntime runs such nodes on the phone's CPU",
    },
    "tensorrt": {
        "title": "TensorRT",
        "source": "github.com/onnx/onnx-tensorrt docs/operators.md",
        "fallback": "they require plugins, or onnxruntime's TensorRT provider, "
        "which leaves such nodes to CUDA or the CPU",
        "newest": {"": 24},
    },
}
Row = tuple[str, str, str]  # domain, operator, remark


def rows(text: str) -> Iterator[Row]:
    """Yield the lines of the documents that state that an operator is supported."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if listed := re.fullmatch(r"(ai\.onnx|com\.microsoft)[:.](\w+)", cells[0]):
            yield _domain(listed[1]), _specification_name(listed[2]), cells[1] if len(cells) > 1 else ""
        elif len(cells) > 1 and re.fullmatch(r"Y\b.*", cells[1]):
            yield "", cells[0], cells[3] if len(cells) > 3 else ""


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _specification_name(name: str) -> str:
    """Return the spelling of the specification: ArgMax for `Argmax`."""
    return {op.lower(): op for domain, op in versions() if not domain}.get(name.lower(), name)


def main(name: str, version: str, date: str, *documents: str) -> None:
    head = {"id": name, **HEADS[name], "version": version, "date": date, "basis": "document", "complete": list(DOMAINS)}
    found: Ranges = {}
    notes: dict[str, dict[str, str]] = {}
    for document in documents:
        for domain, op, remark in rows(Path(document).read_text(encoding="utf-8")):
            found.setdefault(domain, {})[op] = [1]
            plain = " ".join(re.sub(r"<br ?/?>", " ", remark).split())
            if plain and len(plain) <= LONGEST and "http" not in plain and len(documents) == 1:
                notes.setdefault(domain, {})[op] = plain
    if name == "tensorrt":  # its parser looks an operator up by its name, whatever the domain; two mean something else
        own = {op for domain, op in OPERATORS if domain == "com.microsoft"} - {"Attention", "RotaryEmbedding"}
        found["com.microsoft"] = {op: [1] for op in found[""] if op in own}
    write(head, found, notes)


if __name__ == "__main__":
    main(*sys.argv[1:])
