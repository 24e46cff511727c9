"""The still diagram: every box is drawn, no two overlap, and names are escaped."""

import re
from functools import cache
from xml.etree import ElementTree as ET

import pytest

from onnx_autodoc import card
from onnx_autodoc.card import Box
from onnx_autodoc.render.diagram import MAX_BOXES, draw_diagram, draw_main_layer
from tests._corpus import graph
from tests.render._trees import TREES, box, chain, long_chain, root

SOME = ("yolov8l-nc1", "all-minilm-l6-v2-ts-op14", "silero-vad", "slanet-table-en")


ALL = (*TREES, *SOME)


@cache
def read_tree(name: str) -> Box:
    if name in TREES:
        return TREES[name]()
    tree = card(graph(name)).structure.tree
    assert isinstance(tree, Box)
    return tree


def list_rectangles(svg: str) -> list[tuple[float, float, float, float]]:
    """Return the front rectangle of each box; a stack has another one, 4 pixels to the right and below."""
    rects = [
        tuple(float(item.attrib[key]) for key in ("x", "y", "width", "height")) for item in parse_svg(svg).iter("rect")
    ]
    behind = {(x + 4, y + 4, w, h) for x, y, w, h in rects}
    return [item for item in rects if item not in behind]


def parse_svg(svg: str) -> ET.Element:
    return ET.fromstring(svg)


@pytest.mark.parametrize("name", ALL)
def test_every_box_is_drawn_without_overlap(name: str) -> None:
    svg = draw_diagram(read_tree(name))
    boxes = list_rectangles(svg)
    assert len(boxes) == min(len(read_tree(name).children), MAX_BOXES)
    for at, (x, y, wide, high) in enumerate(boxes):
        for other_x, other_y, _, _ in boxes[at + 1 :]:
            assert abs(x - other_x) >= wide or abs(y - other_y) >= high
    left, top, width, height = map(float, parse_svg(svg).attrib["viewBox"].split())
    assert all(left <= x and x + w <= left + width and top <= y and y + h <= top + height for x, y, w, h in boxes)


@pytest.mark.parametrize("name", ALL)
def test_each_pair_of_boxes_has_one_edge(name: str) -> None:
    tree = read_tree(name)
    drawn = {item.id for item in tree.children[:MAX_BOXES]}
    pairs = {(edge.source, edge.target) for edge in tree.edges if {edge.source, edge.target} <= drawn}
    lines = [item for item in parse_svg(draw_diagram(tree)).iter("path") if item.attrib["class"] == "line"]
    assert len(lines) == len(pairs)


def test_long_chain_continues_in_next_column() -> None:
    svg = draw_diagram(long_chain(30))
    width, height = map(float, re.findall(r'(?:width|height)="(\d+)"', svg)[:2])
    assert 0.6 < width / height < 2.5


def test_box_is_below_all_its_inputs() -> None:
    boxes = (box("a"), box("b"), box("c"))
    svg = draw_diagram(root(boxes, (*chain(boxes), *chain((boxes[0], boxes[2])))))
    heights = [y for _, y, _, _ in list_rectangles(svg)]
    assert heights == sorted(heights)
    assert len(set(heights)) == 3


def test_excess_boxes_are_merged() -> None:
    boxes = tuple(box(f"b{at}") for at in range(50))
    svg = draw_diagram(root(boxes, chain(boxes)))
    assert "21 more blocks" in svg
    assert len(list_rectangles(svg)) == MAX_BOXES


def test_diagram_is_deterministic() -> None:
    assert draw_diagram(read_tree("yolov8l-nc1")) == draw_diagram(read_tree("yolov8l-nc1"))


def test_main_layer_is_drawn_open() -> None:
    tree = read_tree("all-minilm-l6-v2-ts-op14")
    layer = draw_main_layer(tree)
    assert layer is not None
    assert layer.title == "One of 6 × Encoder layer"
    assert len(list_rectangles(layer.svg)) == 7
    assert draw_main_layer(read_tree("yolov8l-nc1")) is None, "no repeated box has a large share of the work"
