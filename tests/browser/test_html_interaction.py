"""Interaction with the HTML card: links between nodes and boxes, coloring, other sizes, search, narrow screens."""

from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc.render.html.page import render_html
from tests._corpus import load_report
from tests.browser._pages import visit

pytestmark = pytest.mark.browser

LAYERED = "all-minilm-l6-v2-ts-op14"
CHAIN = "yolov8l-nc1"
LAYERS = ("smollm2-135m-kv-op17", "resnet50-qdq-int8")
NARROW = {"viewport": {"width": 400, "height": 800}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages_folder = tmp_path_factory.mktemp("pages")
    for name in (LAYERED, CHAIN, *LAYERS):
        (pages_folder / f"{name}.html").write_text(render_html(load_report(name)), encoding="utf-8")
    return pages_folder


def visit_page(folder: Path, name: str, **more: Any) -> dict[str, Any]:
    page: dict[str, Any] = visit([{"name": name, "file": str(folder / f"{name}.html"), **more}])[name]
    assert "failed" not in page, page["failed"]
    assert (page["console"], page["requests"], page["stopped"]) == ([], [], [])
    return page


@pytest.mark.parametrize("name", [LAYERED, *LAYERS])
def test_main_layer_is_initially_open(name: str, folder: Path) -> None:
    first = visit_page(folder, name, graph=True)["graph"]["first"]
    assert len(first["open"]) == 1
    assert first["legible"]


def test_long_diagram_is_initially_legible(folder: Path) -> None:
    run = """(() => {
      Graph.show(Boxes.root.children[0]);
      const { left, right } = document.getElementById("graph-canvas").getBoundingClientRect();
      return { zoom: Canvas.zoomed(), xs: Graph.places().map((box) => box.at.x), width: right - left };
    })()"""
    result = visit_page(folder, CHAIN, options={"viewport": {"width": 1280, "height": 900}}, run=run)["run"]
    assert result["zoom"] >= 0.58
    assert 0 < min(result["xs"]) < max(result["xs"]) < result["width"]


def test_node_and_box_link_to_each_other(folder: Path) -> None:
    run = """(() => {
      Boxes.open.clear();
      const at = Nodes.search("layer.3 softmax")[0];
      NodeTable.reveal(at);
      document.querySelector(".to-box").click();
      const chosen = document.querySelector("#graph-tree [aria-selected=true]");
      const blockOf = (link) => Nodes.block(Number(link.hash.slice(6)));
      const links = [...document.querySelectorAll("#graph-panel a")].map(blockOf);
      const box = document.getElementById("graph").getBoundingClientRect();
      return { chosen: chosen.innerText, open: [...Boxes.open], links, top: box.top, high: innerHeight,
               norm: Boxes.boxOfBlock("layer-norm"), layer: Boxes.boxOfBlock("encoder-layer[3]").label };
    })()"""
    result = visit_page(folder, LAYERED, run=run)["run"]
    assert result["chosen"].startswith("Attention")
    assert len(result["open"]) == 1
    assert 0 <= result["top"] < result["high"]
    assert result["links"]
    assert all(block.endswith("]/attention") for block in result["links"])
    assert result["layer"] == "Encoder layer"
    assert result["norm"] is None, "the norm of the embedding has no box"


def test_diagram_is_colored_by_selected_quantity(folder: Path) -> None:
    run = """(() => {
      Graph.show(Boxes.root.children[0]);
      const found = {};
      for (const by of ["macs", "params", "bytes"]) {
        const field = document.getElementById("graph-color");
        field.value = by;
        field.dispatchEvent(new Event("change"));
        const most = Boxes.visible().filter((box) => Boxes.part(box, by) === Boxes.maxShare());
        const lines = most.map((box) => Boxes.lines(box).at(-1));
        found[by] = { top: Boxes.maxShare(), fill: most.map((box) => Boxes.color(box, Boxes.maxShare()).fill), lines,
                      legend: document.getElementById("graph-legend").innerText };
      }
      return found;
    })()"""
    result = visit_page(folder, CHAIN, run=run)["run"]
    for by, words in {"macs": "MACs", "params": "parameters", "bytes": "weight bytes"}.items():
        assert set(result[by]["fill"]) == {"rgb(9,94,156)"}
        assert words in result[by]["legend"]
        assert f"{result[by]['top'] * 100:.0f}%" in result[by]["legend"]
        assert all(f"{result[by]['top'] * 100:.0f}%" in line for line in result[by]["lines"])
    assert "MiB" in result["bytes"]["lines"][0]


def test_fixed_figures_are_marked_at_other_sizes(folder: Path) -> None:
    run = """(() => {
      const set = (value) => {
        const field = document.getElementById("size-0");
        field.value = value;
        field.dispatchEvent(new Event("change"));
      };
      const tag = (place) => getComputedStyle(place, "::before").content;
      const look = () => ({ banner: document.getElementById("resized-banner").checkVisibility(),
        graph: tag(document.getElementById("graph")), picture: tag(document.querySelector(".picture")),
        moving: tag(document.querySelector("#at-a-glance .table")) });
      const before = look();
      set(8);
      const away = { ...look(), words: document.getElementById("resized-banner").innerText };
      document.querySelector("#resized-banner button").click();
      return { before, away, after: look() };
    })()"""
    result = visit_page(folder, LAYERED, run=run)["run"]
    assert (
        result["before"] == result["after"] == {"banner": False, "graph": "none", "picture": "none", "moving": "none"}
    )
    assert "batch_size 8" in result["away"]["words"]
    assert result["away"]["banner"]
    assert "card’s sizes" in result["away"]["graph"]
    assert "card’s sizes" in result["away"]["picture"]
    assert result["away"]["moving"] == "none", "its figures follow the sliders"


def test_search_finds_boxes(folder: Path) -> None:
    run = """(() => {
      const field = document.getElementById("search");
      field.value = "attention";
      field.dispatchEvent(new Event("input"));
      const lines = [...document.querySelectorAll("#search-results-list button")];
      lines.find((one) => one.innerText.includes("in the diagram")).click();
      return document.querySelector("#graph-tree [aria-selected=true]").innerText;
    })()"""
    assert visit_page(folder, LAYERED, run=run)["run"].startswith("Attention")


@pytest.mark.parametrize("name", [LAYERED, CHAIN])
def test_narrow_screen_is_usable(name: str, folder: Path) -> None:
    result = visit_page(folder, name, graph=True, axe=True, options=NARROW)
    assert result["axe"] == []
