"""Ways through the page: from a node to its box and back, the drawing by other measures, the card at other sizes."""

from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc.render.html.page import render_html
from tests._corpus import reported
from tests.browser._pages import visit

pytestmark = pytest.mark.browser

LAYERED = "all-minilm-l6-v2-ts-op14"
CHAIN = "yolov8l-nc1"
LAYERS = ("smollm2-135m-kv-op17", "resnet50-qdq-int8")
NARROW = {"viewport": {"width": 400, "height": 800}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("pages")
    for name in (LAYERED, CHAIN, *LAYERS):
        (found / f"{name}.html").write_text(render_html(reported(name)), encoding="utf-8")
    return found


def seen(folder: Path, name: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = visit([{"name": name, "file": str(folder / f"{name}.html"), **more}])[name]
    assert "failed" not in found, found["failed"]
    assert (found["console"], found["requests"], found["stopped"]) == ([], [], [])
    return found


@pytest.mark.parametrize("name", [LAYERED, *LAYERS])
def test_main_layer_is_initially_open(name: str, folder: Path) -> None:
    first = seen(folder, name, graph=True)["graph"]["first"]
    assert len(first["open"]) == 1
    assert first["legible"]


def test_long_diagram_is_initially_legible(folder: Path) -> None:
    run = """(() => {
      Graph.show(Boxes.root.children[0]);
      const { left, right } = document.getElementById("graph-canvas").getBoundingClientRect();
      return { zoom: Canvas.zoomed(), xs: Graph.places().map((box) => box.at.x), width: right - left };
    })()"""
    found = seen(folder, CHAIN, options={"viewport": {"width": 1280, "height": 900}}, run=run)["run"]
    assert found["zoom"] >= 0.58
    assert 0 < min(found["xs"]) < max(found["xs"]) < found["width"]


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
               norm: Boxes.holder("layer-norm"), layer: Boxes.holder("encoder-layer[3]").label };
    })()"""
    found = seen(folder, LAYERED, run=run)["run"]
    assert found["chosen"].startswith("Attention")
    assert len(found["open"]) == 1
    assert 0 <= found["top"] < found["high"]
    assert found["links"]
    assert all(block.endswith("]/attention") for block in found["links"])
    assert found["layer"] == "Encoder layer"
    assert found["norm"] is None, "the norm of the embedding is in no box of its own"


def test_diagram_is_colored_by_selected_quantity(folder: Path) -> None:
    run = """(() => {
      Graph.show(Boxes.root.children[0]);
      const found = {};
      for (const by of ["macs", "params", "bytes"]) {
        const field = document.getElementById("graph-colour");
        field.value = by;
        field.dispatchEvent(new Event("change"));
        const most = Boxes.drawn().filter((box) => Boxes.part(box, by) === Boxes.top());
        const lines = most.map((box) => Boxes.lines(box).at(-1));
        found[by] = { top: Boxes.top(), fill: most.map((box) => Boxes.colour(box, Boxes.top()).fill), lines,
                      legend: document.getElementById("graph-legend").innerText };
      }
      return found;
    })()"""
    found = seen(folder, CHAIN, run=run)["run"]
    for by, words in {"macs": "MACs", "params": "parameters", "bytes": "weight bytes"}.items():
        assert set(found[by]["fill"]) == {"rgb(9,94,156)"}
        assert words in found[by]["legend"]
        assert f"{found[by]['top'] * 100:.0f} %" in found[by]["legend"]
        assert all(f"{found[by]['top'] * 100:.0f} %" in line for line in found[by]["lines"])
    assert "MiB" in found["bytes"]["lines"][0]


def test_fixed_figures_are_marked_at_other_sizes(folder: Path) -> None:
    run = """(() => {
      const set = (value) => {
        const field = document.getElementById("size-0");
        field.value = value;
        field.dispatchEvent(new Event("change"));
      };
      const tag = (place) => getComputedStyle(place, "::before").content;
      const look = () => ({ banner: document.getElementById("away").checkVisibility(),
        graph: tag(document.getElementById("graph")), picture: tag(document.querySelector(".picture")),
        moving: tag(document.querySelector("#key-numbers .table")) });
      const before = look();
      set(8);
      const away = { ...look(), words: document.getElementById("away").innerText };
      document.querySelector("#away button").click();
      return { before, away, after: look() };
    })()"""
    found = seen(folder, LAYERED, run=run)["run"]
    assert found["before"] == found["after"] == {"banner": False, "graph": "none", "picture": "none", "moving": "none"}
    assert "batch_size 8" in found["away"]["words"]
    assert found["away"]["banner"]
    assert "card’s sizes" in found["away"]["graph"]
    assert "card’s sizes" in found["away"]["picture"]
    assert found["away"]["moving"] == "none", "all of its numbers follow"


def test_search_finds_boxes(folder: Path) -> None:
    run = """(() => {
      const field = document.getElementById("search");
      field.value = "attention";
      field.dispatchEvent(new Event("input"));
      const lines = [...document.querySelectorAll("#found-list button")];
      lines.find((one) => one.innerText.includes("in the drawing")).click();
      return document.querySelector("#graph-tree [aria-selected=true]").innerText;
    })()"""
    assert seen(folder, LAYERED, run=run)["run"].startswith("Attention")


@pytest.mark.parametrize("name", [LAYERED, CHAIN])
def test_narrow_screen_is_usable(name: str, folder: Path) -> None:
    found = seen(folder, name, graph=True, axe=True, options=NARROW)
    assert found["axe"] == []
