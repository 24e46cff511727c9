"""What the real mermaid makes of our texts: it draws every one of them, and names from a model stay names."""

import re
from typing import Any

import pytest

from onnx_autodoc import card
from onnx_autodoc.card import Box
from onnx_autodoc.render.mermaid import MAX_BOXES, draw_layer, draw_mermaid, draw_model
from onnx_autodoc.text import sanitize
from tests._corpus import KEPT, graph
from tests.browser._browser import draw
from tests.render._trees import HOSTILE, TREES

pytestmark = pytest.mark.browser

THEMES = ("default", "dark")
WIDEST = 1100  # pixels: a column of 880 shows it at four fifths


def drawn_boxes(text: str) -> int:
    return len(re.findall(r"^    [nm]\d+x?[(\[]", text, re.M))


def drawn_edges(text: str) -> int:
    return len(re.findall(r"^    [nm]\d+ -", text, re.M))


def check(text: str, seen: dict[str, Any]) -> None:
    assert seen["error"] is None
    assert len(seen["boxes"]) == drawn_boxes(text)
    assert seen["edges"] == drawn_edges(text)
    assert seen["foreign"] == [], "no word of a label became anything but text"


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    made = {name: draw_mermaid(tree()) for name, tree in TREES.items()}
    alone = {f"{name}-model": draw_model(tree()) for name, tree in TREES.items()}
    inside = {f"{name}-layer": draw_layer(tree()) for name, tree in TREES.items()}
    return made | alone | {name: text for name, text in inside.items() if text is not None}


@pytest.fixture(scope="module")
def seen(texts: dict[str, str]) -> dict[str, Any]:
    return draw(texts, themes=THEMES)


@pytest.mark.parametrize("name", TREES)
def test_diagrams_are_drawn_in_both_themes(name: str, texts: dict[str, str], seen: dict[str, Any]) -> None:
    for kind in (name, f"{name}-model", f"{name}-layer"):
        for theme in ("", "-dark"):
            if kind in texts:
                check(texts[kind], seen["seen"][kind + theme])
    assert seen["seen"][name]["width"] <= WIDEST


def test_diagram_stays_inside_the_page(seen: dict[str, Any]) -> None:
    assert seen["left"] == []


def test_layer_is_framed_and_skips_are_dotted(seen: dict[str, Any]) -> None:
    assert seen["seen"]["encoder"]["frames"] == ["one of 6 × Encoder layer"]
    assert seen["seen"]["unet"]["dotted"] == 4
    assert "1×512×32×32" in seen["seen"]["unet"]["shapes"]
    (title,) = seen["seen"]["hostile-layer"]["frames"]
    assert "".join(title.split()) == "oneof2×]ˋtˋ*b*$$x$$<imgsrc=x>fa:fa-car"


@pytest.mark.parametrize("at", range(len(HOSTILE)))
def test_names_are_drawn_unchanged(at: int, seen: dict[str, Any]) -> None:
    """Up to where it is shortened, white space and the one letter that has a lookalike."""
    words = "".join(sanitize(HOSTILE[at]).replace("`", "ˋ").split()) or "other"
    shown = "".join(seen["seen"]["hostile"]["boxes"][at].split())
    assert shown.startswith(words[:28]), shown


def test_checks_detect_bad_pages() -> None:
    bad = {
        "broken": "flowchart TB\n    n0[",
        "picture": 'flowchart TB\n    n0["<img src=https://picture.invalid/x.png>"]',
        "formula": 'flowchart TB\n    n0["$$x^2$$"]',
    }
    found = draw(bad)
    assert found["seen"]["broken"]["error"]
    assert found["seen"]["picture"]["foreign"] or found["left"]
    assert found["seen"]["formula"]["foreign"]


def tree_of(name: str) -> Box:
    structure = card(graph(name)).structure
    tree: Box = structure.tree
    return tree


@pytest.fixture(scope="module")
def corpus() -> dict[str, Box]:
    return {name: tree_of(name) for name in KEPT}


@pytest.fixture(scope="module")
def corpus_seen(corpus: dict[str, Box]) -> dict[str, Any]:
    return draw({name: draw_mermaid(tree) for name, tree in corpus.items()})


@pytest.mark.parametrize("name", KEPT)
def test_corpus_diagrams_are_drawn(name: str, corpus: dict[str, Box], corpus_seen: dict[str, Any]) -> None:
    check(draw_mermaid(corpus[name]), corpus_seen["seen"][name])
    assert 0 < len(corpus[name].children) <= MAX_BOXES
    assert corpus_seen["left"] == []
