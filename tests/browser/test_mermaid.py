"""Mermaid output drawn by mermaid itself: every diagram renders, and names from a model stay text."""

import re
from typing import Any

import pytest

from onnx_autodoc import card
from onnx_autodoc.card import Box
from onnx_autodoc.render.mermaid import MAX_BOXES, draw_layer, draw_mermaid, draw_model
from onnx_autodoc.text import sanitize
from tests._corpus import GRAPH_NAMES, graph
from tests.browser._browser import draw
from tests.render._trees import HOSTILE, TREES

pytestmark = pytest.mark.browser

THEMES = ("default", "dark")
MAX_WIDTH_PX = 1100  # a column of 880 pixels shows it at 80%


def drawn_boxes(text: str) -> int:
    return len(re.findall(r"^    [nm]\d+x?[(\[]", text, re.M))


def drawn_edges(text: str) -> int:
    return len(re.findall(r"^    [nm]\d+ -", text, re.M))


def assert_drawn(text: str, drawing: dict[str, Any]) -> None:
    assert drawing["error"] is None
    assert len(drawing["boxes"]) == drawn_boxes(text)
    assert drawing["edges"] == drawn_edges(text)
    assert drawing["foreign"] == [], "a label became something other than text"


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    whole = {name: draw_mermaid(tree()) for name, tree in TREES.items()}
    models = {f"{name}-model": draw_model(tree()) for name, tree in TREES.items()}
    layers = {f"{name}-layer": draw_layer(tree()) for name, tree in TREES.items()}
    return whole | models | {name: text for name, text in layers.items() if text is not None}


@pytest.fixture(scope="module")
def drawings(texts: dict[str, str]) -> dict[str, Any]:
    return draw(texts, themes=THEMES)


@pytest.mark.parametrize("name", TREES)
def test_diagrams_are_drawn_in_both_themes(name: str, texts: dict[str, str], drawings: dict[str, Any]) -> None:
    for kind in (name, f"{name}-model", f"{name}-layer"):
        for theme in ("", "-dark"):
            if kind in texts:
                assert_drawn(texts[kind], drawings["seen"][kind + theme])
    assert drawings["seen"][name]["width"] <= MAX_WIDTH_PX


def test_diagram_stays_inside_the_page(drawings: dict[str, Any]) -> None:
    assert drawings["left"] == []


def test_layer_is_framed_and_skips_are_dotted(drawings: dict[str, Any]) -> None:
    assert drawings["seen"]["encoder"]["frames"] == ["one of 6 × Encoder layer"]
    assert drawings["seen"]["unet"]["dotted"] == 4
    assert "1×512×32×32" in drawings["seen"]["unet"]["shapes"]
    (title,) = drawings["seen"]["hostile-layer"]["frames"]
    assert "".join(title.split()) == "oneof2×]ˋtˋ*b*$$x$$<imgsrc=x>fa:fa-car"


@pytest.mark.parametrize("at", range(len(HOSTILE)))
def test_names_are_drawn_unchanged(at: int, drawings: dict[str, Any]) -> None:
    """Compare without white space, up to the length limit; a backtick is replaced by its lookalike."""
    expected = "".join(sanitize(HOSTILE[at]).replace("`", "ˋ").split()) or "other"
    shown = "".join(drawings["seen"]["hostile"]["boxes"][at].split())
    assert shown.startswith(expected[:28]), shown


def test_checks_detect_bad_pages() -> None:
    bad = {
        "broken": "flowchart TB\n    n0[",
        "picture": 'flowchart TB\n    n0["<img src=https://picture.invalid/x.png>"]',
        "formula": 'flowchart TB\n    n0["$$x^2$$"]',
    }
    result = draw(bad)
    assert result["seen"]["broken"]["error"]
    assert result["seen"]["picture"]["foreign"] or result["left"]
    assert result["seen"]["formula"]["foreign"]


def tree_of(name: str) -> Box:
    structure = card(graph(name)).structure
    tree: Box = structure.tree
    return tree


@pytest.fixture(scope="module")
def corpus() -> dict[str, Box]:
    return {name: tree_of(name) for name in GRAPH_NAMES}


@pytest.fixture(scope="module")
def corpus_drawings(corpus: dict[str, Box]) -> dict[str, Any]:
    return draw({name: draw_mermaid(tree) for name, tree in corpus.items()})


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_corpus_diagrams_are_drawn(name: str, corpus: dict[str, Box], corpus_drawings: dict[str, Any]) -> None:
    assert_drawn(draw_mermaid(corpus[name]), corpus_drawings["seen"][name])
    assert 0 < len(corpus[name].children) <= MAX_BOXES
    assert corpus_drawings["left"] == []
