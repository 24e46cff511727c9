"""Plots: memory over the run, and arithmetic against bytes, with recorded numbers."""

import re

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import with_uncertainty
from onnx_autodoc.render.charts import draw_chart
from onnx_autodoc.render.charts.roofline import LabelledDot, place_labels
from onnx_autodoc.render.charts.svg import log_scale, memory_scale, strip_zeros
from tests._corpus import GRAPH_NAMES
from tests.render.charts._look import card, list_texts, list_tooltips, parse_svg


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_peak_dot_is_at_maximum(name: str) -> None:
    chart = draw_chart("memory", card(name))
    assert chart is not None
    curve = next(path for path in parse_svg(chart).iter("path") if path.get("class") == "curve")
    places = [tuple(map(float, point.split())) for point in re.split("[ML]", curve.attrib["d"])[1:]]
    (dot,) = parse_svg(chart).iter("circle")
    assert float(dot.attrib["cy"]) == min(y for _, y in places)
    assert len(places) == 2 * len(card(name).memory.timeline)


def test_peak_label_has_size_and_node() -> None:
    chart = draw_chart("memory", card("all-minilm-l6-v2-ts-op14"))
    assert chart is not None
    assert "peak 2.50 MiB at /m/encoder/layer.0/intermediate/intermediate_act_fn/Erf" in list_texts(chart)
    assert {"0", "1 MiB", "2 MiB", "3 MiB", "first node", "last of 646 nodes"} <= set(list_texts(chart))
    assert (
        max(int(title.split(": ")[1].split()[0].replace(",", "")) for title in list_tooltips(chart, "rect"))
        == 2_621_440
    )


def test_peak_with_unsized_values_is_lower_bound() -> None:
    chart = draw_chart("memory", card("slanet-table-en"))
    assert chart is not None
    assert "peak at least 4.97 MiB at p2o.Concat.11" in list_texts(chart)
    assert "at least 4.97 MiB" in chart.alt


def test_short_or_flat_timeline_has_no_chart() -> None:
    original = card("bilstm-gru-tagger")
    short = replace(original.memory, timeline=original.memory.timeline[:3])
    flat = replace(original.memory, timeline=tuple(replace(moment, bytes=7) for moment in original.memory.timeline))
    assert draw_chart("memory", replace(original, memory=short)) is None
    assert draw_chart("memory", replace(original, memory=flat)) is None


def test_roofline_dots_are_placed_by_flops_and_bytes() -> None:
    chart = draw_chart("roofline", card("bilstm-gru-tagger"))
    assert chart is not None
    marks = {(dot.findtext("title") or "").split(":")[0]: dot for dot in parse_svg(chart).iter("circle")}
    assert set(marks) == {"LSTM", "GRU", "MatMul", "Add", "whole model"}
    across = {name: float(dot.attrib["cx"]) for name, dot in marks.items()}
    up = {name: float(dot.attrib["cy"]) for name, dot in marks.items()}
    assert across["Add"] < across["MatMul"] < across["GRU"] < across["whole model"] < across["LSTM"]
    assert up["whole model"] <= up["LSTM"] < up["GRU"] < up["MatMul"] < up["Add"]
    assert "5 operator types without FLOPs move 23% of the bytes." in list_texts(chart)
    assert "LSTM 90%" in list_texts(chart)


def test_dot_area_is_share_of_bytes() -> None:
    original = card("yolov8l-nc1")
    chart = draw_chart("roofline", original)
    assert chart is not None
    radius = {
        (dot.findtext("title") or "").split(":")[0]: float(dot.attrib["r"]) for dot in parse_svg(chart).iter("circle")
    }
    moved = {row.op: row.bytes_moved or 0 for row in original.graph.operators}
    assert (radius["Conv"] / radius["Sigmoid"]) ** 2 == pytest.approx(moved["Conv"] / moved["Sigmoid"], rel=0.03)


def test_two_arithmetic_types_have_no_roofline() -> None:
    original = card("yolov8l-nc1")
    rows = tuple(row for row in original.graph.operators if row.op in ("Conv", "Add", "Concat"))
    assert draw_chart("roofline", replace(original, graph=replace(original.graph, operators=rows))) is None


def test_uncounted_nodes_are_noted() -> None:
    original = card("yolov8l-nc1")
    gap = card("control-flow-loop-if").compute.coverage.gaps[0]
    coverage = replace(original.compute.coverage, gaps=(replace(gap, count=3),))
    uncounted = with_uncertainty(replace(original, compute=replace(original.compute, coverage=coverage)))
    chart = draw_chart("roofline", uncounted)
    assert chart is not None
    assert any("3 nodes not counted: the figures are lower bounds." in text for text in list_texts(chart))


@pytest.mark.parametrize(
    ("max_bytes", "marks"),
    [
        (649, (0, 200, 400, 600, 800)),
        (3, (0, 1, 2, 3)),
        (5 << 20, (0, 2 << 20, 4 << 20, 6 << 20)),
        (1 << 62, (0, 1 << 60, 2 << 60, 3 << 60, 4 << 60)),
    ],
)
def test_memory_ticks_are_round(max_bytes: int, marks: tuple[int, ...]) -> None:
    assert memory_scale(max_bytes, 0, 100).ticks[: len(marks)] == marks
    assert memory_scale(max_bytes, 0, 100).high >= max_bytes


@pytest.mark.parametrize(("low", "high"), [(1, 1), (0.3, 0.4), (1, 1e19), (1e-19, 1e-3), (3, 80)])
def test_log_ticks_are_inside_and_few(low: float, high: float) -> None:
    scale = log_scale(low, high, 0, 100)
    places = [scale.at(mark) for mark in scale.ticks]
    assert 1 <= len(places) <= 8
    assert min(places) >= 0
    assert max(places) <= 100
    assert 0 < scale.at(low) <= scale.at(high) < 100


@pytest.mark.parametrize(
    ("text", "label"), [("2.50 MiB", "2.5 MiB"), ("1.00 G", "1 G"), ("10.0 k", "10 k"), ("100", "100")]
)
def test_tick_labels_have_no_trailing_zeros(text: str, label: str) -> None:
    assert strip_zeros(text) == label


def test_labels_avoid_dots_and_each_other() -> None:
    dots = [LabelledDot(50, 50, 3, "first"), LabelledDot(60, 50, 3, "second"), LabelledDot(61, 54, 3, "third")]
    labels = list(place_labels(dots, (0, 0, 130, 100)))
    assert [dot.name for _, _, dot in labels] == ["first", "second", "third"]
    assert labels[0][0] + 26 < 47, "left of its dot, since another is on the right"
    assert list(place_labels(dots, (0, 0, 20, 20))) == []
