"""Pages of models with hostile strings: no script runs, no request is made, no content security violation."""

from pathlib import Path

import pytest

from onnx_autodoc.api import make_card
from onnx_autodoc.compare import compare
from onnx_autodoc.render import COMPARISON_FORMATS, FORMATS
from onnx_autodoc.shapes import Request
from tests._corpus import load_report
from tests.browser._pages import visit
from tests.render._poison import model

pytestmark = pytest.mark.browser

FIRST = (0, 5, 11, 17)


def test_hostile_strings_cause_no_script_and_no_request(tmp_path: Path) -> None:
    pages = []
    for first in FIRST:
        report = make_card(model(tmp_path, first), Request())
        comparison = compare(
            [load_report("all-minilm-l6-v2-ts-op14").card, report.card], ["a.onnx", "<img src=x>.onnx"]
        )
        texts = {"card": str(FORMATS["html"].render(report)), "diff": COMPARISON_FORMATS["html"].render(comparison)}
        for kind, text in texts.items():
            file = tmp_path / f"{kind}{first}.html"
            file.write_text(text, encoding="utf-8")
            pages.append({"name": file.stem, "file": str(file), "graph": kind == "card"})
    results = visit(pages)
    assert len(results) == 2 * len(FIRST)
    for name, result in results.items():
        assert "failed" not in result, (name, result)
        assert (result["console"], result["requests"], result["stopped"]) == ([], [], []), name
