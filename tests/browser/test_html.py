"""The HTML card in Chromium: it opens from disk without requests, and its controls work."""

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
from tests._corpus import GRAPH_NAMES, graph, load_report
from tests._hostile_names import hostile
from tests.browser._pages import visit

pytestmark = pytest.mark.browser

LARGEST = "smollm2-135m-kv-op17"
SAMPLES = ("all-minilm-l6-v2-ts-op14", "control-flow-loop-if", "yolov8l-nc1")
SAMPLE_THEMES = [*((name, theme) for name in SAMPLES for theme in ("light", "dark")), (SAMPLES[2], "narrow")]
MAX_INTERACTIVE_MS = 1_000  # until all controls of the page respond
STEPS_AWAY = 2  # steps from the sizes of the card


@cache
def report_of(name: str) -> Report:
    return load_report(name)


def moved_sizes(name: str) -> list[int]:
    """Return a size per slider: above the card's, or below it if the model does not run above."""
    sliders = make_sliders(report_of(name).card)
    above = [slider.limit is None or slider.value + STEPS_AWAY * slider.step <= slider.limit for slider in sliders]
    return [slider.value + (STEPS_AWAY if up else -STEPS_AWAY) * slider.step for slider, up in zip(sliders, above)]


def middle_node_name(name: str) -> str | None:
    """Return the name of a node in the middle of the graph, which no list of the page shows before a search."""
    names = [row.name for row in report_of(name).nodes() if row.name and not row.scope]
    return names[len(names) // 2] if names else None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages_folder = tmp_path_factory.mktemp("pages")
    for name in GRAPH_NAMES:
        (pages_folder / f"{name}.html").write_text(render_html(report_of(name)), encoding="utf-8")
    return pages_folder


def page_request(folder: Path, name: str, key: str = "", **more: Any) -> dict[str, Any]:
    return {"name": key or name, "file": str(folder / f"{name}.html"), **more}


@pytest.fixture(scope="module")
def pages(folder: Path) -> dict[str, Any]:
    """Open the page of every corpus model in one browser."""
    return visit(
        [
            page_request(folder, name, graph=True, sizes=moved_sizes(name) or None, search=middle_node_name(name))
            for name in GRAPH_NAMES
        ]
    )


def assert_no_violations(page: dict[str, Any]) -> None:
    assert "failed" not in page, page["failed"]
    assert page["console"] == []
    assert page["requests"] == []
    assert page["stopped"] == [], "the content security policy blocked something"


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_corpus_pages_open_without_errors_or_requests(name: str, pages: dict[str, Any]) -> None:
    assert_no_violations(pages[name])
    assert pages[name]["interactive"] is not None


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_box_opens_by_click_and_folds_by_key(name: str, pages: dict[str, Any]) -> None:
    result, tree = pages[name]["graph"], report_of(name).card.structure.tree
    assert tree is not None
    assert result["boxes"] == result["tree"] == len(tree.children)
    if any(box.children for box in tree.children):
        assert result["clicked"] == result["boxes"] + result["inside"]
        assert result["panel"] == 1
        assert result["folded"] == result["boxes"]


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_search_finds_a_node_and_shows_its_row(name: str, pages: dict[str, Any]) -> None:
    node = middle_node_name(name)
    if node is None:
        pytest.skip("no node has a name")
    result = pages[name]["search"]
    assert any(node in line for line in result["list"])
    assert node in result["focused"]
    assert "Bytes written" in result["row"]


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_sliders_match_card_at_other_sizes(name: str, pages: dict[str, Any]) -> None:
    formula = report_of(name).card.compute.formula
    if not moved_sizes(name):
        pytest.skip("no formula in dynamic dimensions")
    chosen = zip(formula.variables, moved_sizes(name))
    other = card(graph(name), dims={dim: size for variable, size in chosen for dim in formula.dims[variable]})
    result = pages[name]["moved"]
    figures = [key.text for key in slider_figures(other) if isinstance(key.text, Number)]
    truth = {figure.quantity: figure.text for figure in figures}
    shown = {key: text for key, text in result["away"].items() if text != "unknown at this size"}
    assert shown, "no figure changed"
    assert shown == {key: truth[key] for key in shown}
    assert set(result["away"]) - set(shown) <= {
        "flops",
        "bytes_moved",
        "peak_activation_bytes",
        "arithmetic_intensity",
        "memory_bytes",
    }
    assert result["left"] == 0, "the card's figures are not restored"
    assert result["back"] != result["away"]


def test_dynamic_models_have_sliders() -> None:
    assert sum(bool(moved_sizes(name)) for name in GRAPH_NAMES) >= 20


def test_large_page_responds_within_a_second(folder: Path) -> None:
    visits = visit([page_request(folder, LARGEST, f"visit-{at}") for at in range(3)], jobs=1)
    assert min(page["interactive"] for page in visits.values()) < MAX_INTERACTIVE_MS


@pytest.fixture(scope="module")
def sample_pages(folder: Path) -> dict[str, Any]:
    themes = {"light": {}, "dark": {"colorScheme": "dark"}, "narrow": {"viewport": {"width": 360, "height": 740}}}
    return visit(
        [
            page_request(
                folder, name, f"{name}-{theme}", axe=True, graph=theme != "narrow", options=options, run=READ_STYLE
            )
            for name, theme in SAMPLE_THEMES
            for options in (themes[theme],)
        ]
    )


READ_STYLE = """(() => {
  const light = (text) => text.match(/\\d+/g).slice(0, 3).reduce((sum, one) => sum + Number(one), 0) / 765;
  const style = getComputedStyle(document.body);
  const shown = (selector) => [...document.querySelectorAll(selector)].some((one) => one.checkVisibility());
  const overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  return { paper: light(style.backgroundColor), ink: light(style.color), overflow, nav: shown(".side nav"),
           nodes: shown("#nodes"), tools: shown(".tools, .bar button, .sizes"), still: shown("#graph-still svg") };
})()"""


@pytest.mark.parametrize(("name", "theme"), SAMPLE_THEMES)
def test_page_has_no_accessibility_violations(name: str, theme: str, sample_pages: dict[str, Any]) -> None:
    result = sample_pages[f"{name}-{theme}"]
    assert_no_violations(result)
    assert result["axe"] == []
    assert result["run"]["overflow"] <= 0
    assert (result["run"]["paper"] < 0.15 < 0.8 < result["run"]["ink"]) == (theme == "dark")


def test_print_is_white_without_controls(folder: Path) -> None:
    dark = {"colorScheme": "dark"}
    result = visit([page_request(folder, SAMPLES[0], graph=True, media="print", options=dark, run=READ_STYLE)])[
        SAMPLES[0]
    ]["run"]
    assert (result["paper"], result["ink"]) == (1, 0)
    assert result["still"]
    assert not (result["nav"] or result["nodes"] or result["tools"])


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    bad = make_card(hostile(tmp_path), Request())
    (tmp_path / "hostile.html").write_text(render_html(bad), encoding="utf-8")
    result = visit([page_request(tmp_path, "hostile", graph=True, axe=True, search="onmouseover")])["hostile"]
    assert_no_violations(result)
    assert result["axe"] == []
    assert "alert(4)" in result["search"]["focused"]


def test_checks_detect_bad_pages(folder: Path, tmp_path: Path) -> None:
    text = (folder / f"{SAMPLES[1]}.html").read_text(encoding="utf-8")
    bad = {
        "script": text.replace("</body>", "<script>window.evil = 1</script></body>"),
        "changed": text.replace('performance.mark("interactive")', 'performance.mark("interactive"); evil()'),
        "picture": text.replace("</body>", '<img src="https://picture.invalid/x.png" alt=""></body>'),
        "handler": text.replace("</body>", '<button onclick="1">x</button></body>'),
        "style": text.replace("</body>", '<p style="color: red">x</p></body>'),
        "unnamed": text.replace("</body>", "<button></button></body>"),
    }
    for name, html in bad.items():
        (tmp_path / f"{name}.html").write_text(html, encoding="utf-8")
    result = visit([page_request(tmp_path, name, axe=name == "unnamed") for name in bad])
    for name in ("script", "changed", "picture", "handler", "style"):
        assert result[name]["stopped"], name
        assert result[name]["console"], name
    assert result["changed"]["interactive"] is None
    assert result["unnamed"]["axe"] != []


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
    name = SAMPLES[0]
    result = visit([page_request(folder, name, run=TABLES)])[name]["run"]
    assert result["ways"] == ["none", "descending", "ascending", "none"]
    assert result["down"] == sorted(result["before"], reverse=True)
    assert result["up"] == sorted(result["before"])
    assert result["back"] == result["before"]
    assert result["total"] == "TFOOT"
    assert result["tip"] is not None
    assert f"{result['before'][0]:,}" in result["tip"]
    assert result["described"] == "tip"
    assert result["closed"]


def test_screenshots_of_all_themes(folder: Path, tmp_path: Path) -> None:
    """Screenshots are for reviewers; the size shows that the diagram is drawn."""
    visit([page_request(folder, SAMPLES[0], shots=["light", "dark", "narrow", "print"])], tmp_path)
    sizes = {path.stem.rsplit("-", 1)[1]: path.stat().st_size for path in tmp_path.glob("*.png")}
    assert set(sizes) == {"light", "dark", "narrow", "print"}
    assert min(sizes.values()) > 50_000
