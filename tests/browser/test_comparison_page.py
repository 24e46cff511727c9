"""The page of a comparison in a real browser: silent, and good to read for everyone, in any light and on a phone."""

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
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("comparisons")
    for key, names in SETS.items():
        made = compare([of_corpus(name) for name in names], [f"{name}.onnx" for name in names])
        (folder / f"{key}.html").write_text(COMPARISON_FORMATS["html"].render(made), encoding="utf-8")
    return visit([asked(folder, key, theme) for key in SETS for theme in THEMES])


def asked(folder: Path, key: str, theme: str) -> dict[str, Any]:
    page = {"name": f"{key} {theme}", "file": str(folder / f"{key}.html"), "options": THEMES[theme]}
    return {**page, "axe": True, "run": WIDTHS}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("key", SETS)
def test_page_has_no_accessibility_violations(key: str, theme: str, seen: dict[str, Any]) -> None:
    found = seen[f"{key} {theme}"]
    assert "failed" not in found, found["failed"]
    assert (found["console"], found["requests"], found["stopped"]) == ([], [], [])
    assert found["axe"] == []
    page, window = found["run"]
    assert page <= window, "the page does not scroll sideways"
