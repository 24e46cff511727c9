"""Pages of models whose every string tries to run: nothing does, nothing is asked for, and the policy is not needed."""

from pathlib import Path

import pytest

from onnx_autodoc.api import make_card
from onnx_autodoc.compare import compare
from onnx_autodoc.render import COMPARISON_FORMATS, FORMATS
from onnx_autodoc.shapes import Request
from tests._corpus import reported
from tests.browser._pages import visit
from tests.render._poison import model

pytestmark = pytest.mark.browser

FIRST = (0, 5, 11, 17)


def test_hostile_strings_cause_no_script_and_no_request(tmp_path: Path) -> None:
    pages = []
    for first in FIRST:
        found = make_card(model(tmp_path, first), Request())
        compared = compare([reported("all-minilm-l6-v2-ts-op14").card, found.card], ["a.onnx", "<img src=x>.onnx"])
        texts = {"card": str(FORMATS["html"].render(found)), "diff": COMPARISON_FORMATS["html"].render(compared)}
        for kind, text in texts.items():
            file = tmp_path / f"{kind}{first}.html"
            file.write_text(text, encoding="utf-8")
            pages.append({"name": file.stem, "file": str(file), "graph": kind == "card"})
    seen = visit(pages)
    assert len(seen) == 2 * len(FIRST)
    for name, one in seen.items():
        assert "failed" not in one, (name, one)
        assert (one["console"], one["requests"], one["stopped"]) == ([], [], []), name
