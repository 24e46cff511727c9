"""The comparison page in Chromium: no requests, no accessibility violations, usable on a narrow screen."""

from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc.compare import compare
from onnx_autodoc.render import COMPARISON_FORMATS
from tests.browser._pages import visit
from tests.compare._cards import of_corpus

pytestmark = pytest.mark.browser

MINILM = "all-minilm-l6-v2-ts-op14"
SETS = {
    "two": ("resnet50-ts-op17", "resnet50-qdq-int8"),
    "three": (MINILM, "all-minilm-l6-v2-fp16", "bert-base-qa-dynamo"),
    "same": (MINILM, MINILM),
}
THEMES: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"colorScheme": "dark"},
    "narrow": {"viewport": {"width": 400, "height": 800}},
}
WIDTHS = "[document.documentElement.scrollWidth, innerWidth]"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("comparisons")
    for key, names in SETS.items():
        comparison = compare([of_corpus(name) for name in names], [f"{name}.onnx" for name in names])
        (folder / f"{key}.html").write_text(COMPARISON_FORMATS["html"].render(comparison), encoding="utf-8")
    return visit([page_request(folder, key, theme) for key in SETS for theme in THEMES])


def page_request(folder: Path, key: str, theme: str) -> dict[str, Any]:
    request = {"name": f"{key} {theme}", "file": str(folder / f"{key}.html"), "options": THEMES[theme]}
    return {**request, "axe": True, "run": WIDTHS}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("key", SETS)
def test_page_has_no_accessibility_violations(key: str, theme: str, pages: dict[str, Any]) -> None:
    page = pages[f"{key} {theme}"]
    assert "failed" not in page, page["failed"]
    assert (page["console"], page["requests"], page["stopped"]) == ([], [], [])
    assert page["axe"] == []
    width, window = page["run"]
    assert width <= window, "the page does not scroll sideways"
