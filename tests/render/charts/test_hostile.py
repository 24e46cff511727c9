"""Hostile and empty cards: charts are well-formed, bounded and fast, or absent."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import Box, Card
from onnx_autodoc.render.charts import CHARTS, draw_chart, draw_charts, standalone
from tests.render.charts._look import card, find_outside, find_overlaps, parse_svg

HUGE = 1 << 62
NAMES = [
    "</svg><script>alert(1)</script>",
    "</title></text><image href='x' onload='alert(1)'/>",
    "\x1b[31mred\x1b[0m\x00",
    "\u202egnp.exe\u2066",
    "\ud800\ufffe\uffff",
    "]]>&amp;<![CDATA[",
    "名" * 300,
    "W" * (1 << 20),
]


def _change_values(value: Any, change: Callable[[str, Any], Any], key: str = "") -> Any:
    """The same document with all its leaves changed."""
    if isinstance(value, Struct):
        fields = value.__struct_fields__
        return replace(value, **{name: _change_values(getattr(value, name), change, name) for name in fields})
    if isinstance(value, dict):
        return {name: _change_values(item, change, key) for name, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_change_values(item, change, key) for item in value)
    return change(key, value)


def _change_card(change: Callable[[str, Any], Any]) -> Card:
    original = _change_values(card("smollm2-135m-genai-int4"), change)
    assert isinstance(original, Card)
    return original


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_hostile_names_are_text_in_charts(name: str) -> None:
    def change(key: str, value: Any) -> Any:
        return name if isinstance(value, str) and key != "kind" else value

    original = _change_card(change)
    original = replace(original, assumptions=replace(original.assumptions, dims={name: 1}))
    start = time.perf_counter()
    charts = draw_charts(original).values()
    assert time.perf_counter() - start < 2
    assert len(charts) >= 6
    for chart in charts:
        tags = {element.tag for element in parse_svg(chart).iter()}
        assert tags <= {"svg", "title", "desc", "text", "tspan", "rect", "line", "path", "circle"}
        assert find_overlaps(chart) == [], chart.name
        assert find_outside(chart) == [], chart.name
        assert len(chart.svg) < 200_000
        assert "\u202e" not in chart.svg + chart.alt
        assert "\x1b" not in chart.svg + chart.alt
        chart.svg.encode()
        standalone(chart).encode()


@pytest.mark.parametrize("enlarged", [lambda _: HUGE, lambda number: number << 34], ids=["constant", "proportional"])
def test_huge_numbers_are_drawn(enlarged: Callable[[int], int]) -> None:
    def change(key: str, value: Any) -> Any:
        return enlarged(value) if type(value) is int and key != "count" else value

    charts = draw_charts(_change_card(change))
    assert {"operators", "roofline", "cache"} <= set(charts)
    for chart in charts.values():
        assert find_overlaps(chart) == [], chart.name
        assert find_outside(chart) == [], chart.name


def test_unknown_quantities_have_no_chart() -> None:
    original = card("bilstm-gru-tagger")
    rows = tuple(replace(row, params=0, macs=None, flops=None, bytes_moved=None) for row in original.graph.operators)
    unknown = replace(
        original,
        graph=replace(original.graph, operators=rows),
        compute=replace(original.compute, macs=None, flops=None, bytes_moved=None, arithmetic_intensity=None),
        memory=replace(original.memory, peak_activation_bytes=None, peak_node=None, timeline=(), kv_cache=None),
        structure=replace(original.structure, tree=None, work=()),
        scaling=tuple(
            replace(row, macs=None, flops=None, arithmetic_intensity=None, memory_bytes=None)
            for row in original.scaling
        ),
        hardware=None,
    )
    assert list(draw_charts(unknown)) == ["operators"]


def test_empty_graph_has_no_charts() -> None:
    original = card("bilstm-gru-tagger")
    empty = replace(
        original,
        graph=replace(original.graph, nodes=0, nodes_total=0, operators=()),
        parameters=replace(original.parameters, total=0, bytes=0),
        compute=replace(original.compute, macs=0, flops=0, bytes_moved=0),
        memory=replace(original.memory, timeline=(), weights_bytes=0, peak_activation_bytes=0),
        structure=replace(original.structure, tree=None, work=()),
        scaling=(),
        hardware=None,
    )
    assert draw_charts(empty) == {}
    assert [draw_chart(name, empty) for name in CHARTS] == [None] * len(CHARTS)


def test_boxes_exceeding_the_total_are_not_drawn() -> None:
    original = card("bilstm-gru-tagger")
    tree = original.structure.tree
    assert tree is not None
    boxes = tuple(_heavier(box) for box in tree.children)
    wrong = replace(original, structure=replace(original.structure, tree=replace(tree, children=boxes)))
    charts = draw_charts(wrong)
    assert "overview" not in charts
    assert "by block" not in charts["parameters"].svg
    assert "by operator" in charts["parameters"].svg


def _heavier(box: Box) -> Box:
    return replace(box, params=box.params * 2)
