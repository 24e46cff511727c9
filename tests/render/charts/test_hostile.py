"""Cards that mean harm, or hold nothing: charts are well-formed, bounded and quick, or they are not there."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import Box, Card
from onnx_autodoc.render.charts import CHARTS, draw_chart, draw_charts, standalone
from tests.render.charts._look import card, collisions, outside, parsed

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


def _changed(value: Any, change: Callable[[str, Any], Any], key: str = "") -> Any:
    """The same document with all its leaves changed."""
    if isinstance(value, Struct):
        fields = value.__struct_fields__
        return replace(value, **{name: _changed(getattr(value, name), change, name) for name in fields})
    if isinstance(value, dict):
        return {name: _changed(each, change, key) for name, each in value.items()}
    if isinstance(value, tuple):
        return tuple(_changed(each, change, key) for each in value)
    return change(key, value)


def _card(change: Callable[[str, Any], Any]) -> Card:
    found = _changed(card("smollm2-135m-genai-int4"), change)
    assert isinstance(found, Card)
    return found


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_hostile_names_are_text_in_charts(name: str) -> None:
    def change(key: str, value: Any) -> Any:
        return name if isinstance(value, str) and key != "kind" else value

    found = _card(change)
    found = replace(found, assumptions=replace(found.assumptions, dims={name: 1}))
    start = time.perf_counter()
    drawn = draw_charts(found).values()
    assert time.perf_counter() - start < 2
    assert len(drawn) >= 6
    for chart in drawn:
        tags = {element.tag for element in parsed(chart).iter()}
        assert tags <= {"svg", "title", "desc", "text", "tspan", "rect", "line", "path", "circle"}
        assert collisions(chart) == [], chart.name
        assert outside(chart) == [], chart.name
        assert len(chart.svg) < 200_000
        assert "\u202e" not in chart.svg + chart.alt
        assert "\x1b" not in chart.svg + chart.alt
        chart.svg.encode()
        standalone(chart).encode()


@pytest.mark.parametrize("enlarged", [lambda _: HUGE, lambda number: number << 34], ids=["alike", "in proportion"])
def test_huge_numbers_are_drawn(enlarged: Callable[[int], int]) -> None:
    def change(key: str, value: Any) -> Any:
        return enlarged(value) if type(value) is int and key != "count" else value

    drawn = draw_charts(_card(change))
    assert {"operators", "roofline", "cache"} <= set(drawn)
    for chart in drawn.values():
        assert collisions(chart) == [], chart.name
        assert outside(chart) == [], chart.name


def test_unknown_quantities_have_no_chart() -> None:
    found = card("bilstm-gru-tagger")
    rows = tuple(replace(row, params=0, macs=None, flops=None, bytes_moved=None) for row in found.graph.operators)
    unknown = replace(
        found,
        graph=replace(found.graph, operators=rows),
        compute=replace(found.compute, macs=None, flops=None, bytes_moved=None, arithmetic_intensity=None),
        memory=replace(found.memory, peak_activation_bytes=None, peak_node=None, timeline=(), kv_cache=None),
        structure=replace(found.structure, tree=None, work=()),
        scaling=tuple(
            replace(row, macs=None, flops=None, arithmetic_intensity=None, memory_bytes=None) for row in found.scaling
        ),
        hardware=None,
    )
    assert list(draw_charts(unknown)) == ["operators"]


def test_empty_graph_has_no_charts() -> None:
    found = card("bilstm-gru-tagger")
    empty = replace(
        found,
        graph=replace(found.graph, nodes=0, nodes_total=0, operators=()),
        parameters=replace(found.parameters, total=0, bytes=0),
        compute=replace(found.compute, macs=0, flops=0, bytes_moved=0),
        memory=replace(found.memory, timeline=(), weights_bytes=0, peak_activation_bytes=0),
        structure=replace(found.structure, tree=None, work=()),
        scaling=(),
        hardware=None,
    )
    assert draw_charts(empty) == {}
    assert [draw_chart(name, empty) for name in CHARTS] == [None] * len(CHARTS)


def test_boxes_exceeding_the_total_are_not_drawn() -> None:
    found = card("bilstm-gru-tagger")
    tree = found.structure.tree
    assert tree is not None
    boxes = tuple(_heavier(box) for box in tree.children)
    wrong = replace(found, structure=replace(found.structure, tree=replace(tree, children=boxes)))
    drawn = draw_charts(wrong)
    assert "overview" not in drawn
    assert "by block" not in drawn["parameters"].svg
    assert "by operator" in drawn["parameters"].svg


def _heavier(box: Box) -> Box:
    return replace(box, params=box.params * 2)
