"""The page in a real browser: it opens from disk, asks nothing of anyone, and does what it offers."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc import card
from onnx_autodoc.api import make_card
from onnx_autodoc.render import Report
from onnx_autodoc.render.content import Number
from onnx_autodoc.render.html.data import make_sliders
from onnx_autodoc.render.html.page import render_html, slider_figures
from onnx_autodoc.shapes import Request
from tests._corpus import KEPT, graph, reported
from tests._hostile_names import hostile
from tests.browser._pages import visit

pytestmark = pytest.mark.browser

LARGEST = "smollm2-135m-kv-op17"
JUDGED = ("all-minilm-l6-v2-ts-op14", "control-flow-loop-if", "yolov8l-nc1")
LOOKS = [*((name, theme) for name in JUDGED for theme in ("light", "dark")), (JUDGED[2], "narrow")]
SLOWEST = 1_000  # milliseconds until everything on the page answers
AWAY = 2  # steps from the sizes of the card


@cache
def made(name: str) -> Report:
    return reported(name)


def sizes_of(name: str) -> list[int]:
    """Above the card's sizes; below them where the model does not run above."""
    found = make_sliders(made(name).card)
    above = [slider.most is None or slider.at + AWAY * slider.step <= slider.most for slider in found]
    return [slider.at + (AWAY if up else -AWAY) * slider.step for slider, up in zip(found, above)]


def name_of_a_node(name: str) -> str | None:
    """One from the middle, which no list shows by itself."""
    names = [row.name for row in made(name).nodes() if row.name and not row.scope]
    return names[len(names) // 2] if names else None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("pages")
    for name in KEPT:
        (found / f"{name}.html").write_text(render_html(made(name)), encoding="utf-8")
    return found


def asked(folder: Path, name: str, key: str = "", **more: Any) -> dict[str, Any]:
    return {"name": key or name, "file": str(folder / f"{name}.html"), **more}


@pytest.fixture(scope="module")
def seen(folder: Path) -> dict[str, Any]:
    """Every model of the corpus, visited by one browser."""
    return visit(
        [asked(folder, name, graph=True, sizes=sizes_of(name) or None, search=name_of_a_node(name)) for name in KEPT]
    )


def quiet(found: dict[str, Any]) -> None:
    assert "failed" not in found, found["failed"]
    assert found["console"] == []
    assert found["requests"] == []
    assert found["stopped"] == [], "the policy had nothing to stop"


@pytest.mark.parametrize("name", KEPT)
def test_corpus_pages_open_without_errors_or_requests(name: str, seen: dict[str, Any]) -> None:
    quiet(seen[name])
    assert seen[name]["interactive"] is not None


@pytest.mark.parametrize("name", KEPT)
def test_box_opens_by_click_and_folds_by_key(name: str, seen: dict[str, Any]) -> None:
    found, tree = seen[name]["graph"], made(name).card.structure.tree
    assert tree is not None
    assert found["boxes"] == found["tree"] == len(tree.children)
    if any(box.children for box in tree.children):
        assert found["clicked"] == found["boxes"] + found["inside"]
        assert found["panel"] == 1
        assert found["folded"] == found["boxes"]


@pytest.mark.parametrize("name", KEPT)
def test_search_finds_a_node_and_shows_its_row(name: str, seen: dict[str, Any]) -> None:
    node = name_of_a_node(name)
    if node is None:
        pytest.skip("no node of it has a name")
    found = seen[name]["search"]
    assert any(node in line for line in found["list"])
    assert node in found["focused"]
    assert "Bytes written" in found["row"]


@pytest.mark.parametrize("name", KEPT)
def test_sliders_match_card_at_other_sizes(name: str, seen: dict[str, Any]) -> None:
    formula = made(name).card.compute.formula
    if not sizes_of(name):
        pytest.skip("no formula in open sizes")
    asked_for = zip(formula.variables, sizes_of(name))
    other = card(graph(name), dims={dim: size for variable, size in asked_for for dim in formula.dims[variable]})
    found = seen[name]["moved"]
    figures = [key.text for key in slider_figures(other) if isinstance(key.text, Number)]
    truth = {figure.quantity: figure.text for figure in figures}
    shown = {key: text for key, text in found["away"].items() if text != "not known at this size"}
    assert shown, "some number moved"
    assert shown == {key: truth[key] for key in shown}
    assert set(found["away"]) - set(shown) <= {
        "flops",
        "bytes_moved",
        "peak_activation_bytes",
        "arithmetic_intensity",
        "memory_bytes",
    }
    assert found["left"] == 0, "the card's own numbers come back"
    assert found["back"] != found["away"]


def test_dynamic_models_have_sliders() -> None:
    assert sum(bool(sizes_of(name)) for name in KEPT) >= 20


def test_large_page_responds_within_a_second(folder: Path) -> None:
    visits = visit([asked(folder, LARGEST, f"visit-{at}") for at in range(3)], jobs=1)
    assert min(found["interactive"] for found in visits.values()) < SLOWEST


@pytest.fixture(scope="module")
def judged(folder: Path) -> dict[str, Any]:
    themes = {"light": {}, "dark": {"colorScheme": "dark"}, "narrow": {"viewport": {"width": 360, "height": 740}}}
    return visit(
        [
            asked(folder, name, f"{name}-{theme}", axe=True, graph=theme != "narrow", options=options, run=LOOK)
            for name, theme in LOOKS
            for options in (themes[theme],)
        ]
    )


LOOK = """(() => {
  const light = (text) => text.match(/\\d+/g).slice(0, 3).reduce((sum, one) => sum + Number(one), 0) / 765;
  const style = getComputedStyle(document.body);
  const shown = (selector) => [...document.querySelectorAll(selector)].some((one) => one.checkVisibility());
  const overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  return { paper: light(style.backgroundColor), ink: light(style.color), overflow, nav: shown(".side nav"),
           nodes: shown("#nodes"), tools: shown(".tools, .bar button, .sizes"), still: shown("#graph-still svg") };
})()"""


@pytest.mark.parametrize(("name", "theme"), LOOKS)
def test_page_has_no_accessibility_violations(name: str, theme: str, judged: dict[str, Any]) -> None:
    found = judged[f"{name}-{theme}"]
    quiet(found)
    assert found["axe"] == []
    assert found["run"]["overflow"] <= 0
    assert (found["run"]["paper"] < 0.15 < 0.8 < found["run"]["ink"]) == (theme == "dark")


def test_print_is_white_without_controls(folder: Path) -> None:
    dark = {"colorScheme": "dark"}
    found = visit([asked(folder, JUDGED[0], graph=True, media="print", options=dark, run=LOOK)])[JUDGED[0]]["run"]
    assert (found["paper"], found["ink"]) == (1, 0)
    assert found["still"]
    assert not (found["nav"] or found["nodes"] or found["tools"])


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    bad = make_card(hostile(tmp_path), Request())
    (tmp_path / "hostile.html").write_text(render_html(bad), encoding="utf-8")
    found = visit([asked(tmp_path, "hostile", graph=True, axe=True, search="onmouseover")])["hostile"]
    quiet(found)
    assert found["axe"] == []
    assert "alert(4)" in found["search"]["focused"]


def test_checks_detect_bad_pages(folder: Path, tmp_path: Path) -> None:
    text = (folder / f"{JUDGED[1]}.html").read_text(encoding="utf-8")
    bad = {
        "script": text.replace("</body>", "<script>window.evil = 1</script></body>"),
        "changed": text.replace('performance.mark("interactive")', 'performance.mark("interactive"); evil()'),
        "picture": text.replace("</body>", '<img src="https://picture.invalid/x.png" alt=""></body>'),
        "handler": text.replace("</body>", '<button onclick="1">x</button></body>'),
        "style": text.replace("</body>", '<p style="color: red">x</p></body>'),
        "unnamed": text.replace("</body>", "<button></button></body>"),
    }
    for name, page in bad.items():
        (tmp_path / f"{name}.html").write_text(page, encoding="utf-8")
    found = visit([asked(tmp_path, name, axe=name == "unnamed") for name in bad])
    for name in ("script", "changed", "picture", "handler", "style"):
        assert found[name]["stopped"], name
        assert found[name]["console"], name
    assert found["changed"]["interactive"] is None
    assert found["unnamed"]["axe"] != []


TABLES = """(async () => {
  const table = document.querySelector("#operators table[data-sortable]");
  table.closest("details")?.setAttribute("open", "");
  const column = [...table.tHead.rows[0].cells].findIndex((cell) => cell.classList.contains("number"));
  const head = table.tHead.rows[0].cells[column];
  const values = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[column].querySelector("data").value));
  const found = { before: values(), ways: [head.getAttribute("aria-sort")] };
  for (const way of ["down", "up", "back"]) {
    head.querySelector("button").click();
    found[way] = values();
    found.ways.push(head.getAttribute("aria-sort"));
  }
  found.total = table.tFoot ? table.rows[table.rows.length - 1].parentElement.tagName : "TFOOT";
  const key = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  head.querySelector("button").focus();
  key("ArrowDown");
  const tip = document.getElementById("tip");
  found.tip = tip.hidden ? null : tip.innerText;
  found.described = document.activeElement.getAttribute("aria-describedby");
  key("Escape");
  found.closed = tip.hidden;
  return found;
})()"""


def test_tables_sort_and_numbers_have_tooltips(folder: Path) -> None:
    name = JUDGED[0]
    found = visit([asked(folder, name, run=TABLES)])[name]["run"]
    assert found["ways"] == ["none", "descending", "ascending", "none"]
    assert found["down"] == sorted(found["before"], reverse=True)
    assert found["up"] == sorted(found["before"])
    assert found["back"] == found["before"]
    assert found["total"] == "TFOOT"
    assert found["tip"] is not None
    assert f"{found['before'][0]:,}" in found["tip"]
    assert found["described"] == "tip"
    assert found["closed"]


def test_screenshots_of_all_themes(folder: Path, tmp_path: Path) -> None:
    """For people to look at: the drawing is on it, so it is no empty sheet."""
    visit([asked(folder, JUDGED[0], shots=["light", "dark", "narrow", "print"])], tmp_path)
    sizes = {path.stem.rsplit("-", 1)[1]: path.stat().st_size for path in tmp_path.glob("*.png")}
    assert set(sizes) == {"light", "dark", "narrow", "print"}
    assert min(sizes.values()) > 50_000
