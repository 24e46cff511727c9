"""The charts of real models: readable, inside their frames, and equal to the numbers of the card."""

import re

import pytest
from msgspec.structs import replace

from onnx_autodoc.render.charts import CHARTS, STYLE, draw_charts
from tests._corpus import GRAPH_NAMES
from tests.render.charts._look import (
    card,
    find_outside,
    find_overflowing,
    find_overlaps,
    list_text_boxes,
    list_texts,
    parse_svg,
    sum_amounts,
)


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_chart_texts_are_inside_and_do_not_overlap(name: str) -> None:
    charts = draw_charts(card(name)).values()
    assert charts
    for chart in charts:
        assert find_overlaps(chart) == [], chart.name
        assert find_outside(chart) == [], chart.name
        assert find_overflowing(chart) == [], chart.name


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_bars_sum_to_model_totals(name: str) -> None:
    """Each quantity is shared out once for every panel that shows it."""
    original = card(name)
    charts = draw_charts(original)
    weights, work = ("parameters", original.parameters.total), ("MACs", original.compute.macs)
    for chart, (unit, whole) in (("overview", weights), ("overview", work), ("parameters", weights), ("work", work)):
        if chart in charts:
            panels = sum(" by " in text for text in list_texts(charts[chart])) if chart != "overview" else 1
            assert panels >= 1
            assert sum_amounts(charts[chart], unit) == panels * (whole or 0), (chart, unit)


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_charts_have_no_ids_and_only_styled_classes(name: str) -> None:
    """No ids that could collide, no colours but those of the style, every class has a rule."""
    for chart in draw_charts(card(name)).values():
        for element in parse_svg(chart).iter():
            assert not {"id", "style", "fill", "stroke"} & set(element.attrib)
            kind = element.get("class", "chart")
            assert f".{kind}{{" in STYLE, kind


def test_charts_have_title_and_description() -> None:
    for chart in draw_charts(card("bilstm-gru-tagger")).values():
        picture = parse_svg(chart)
        assert picture.get("role") == "img"
        assert [child.tag for child in picture][:2] == ["title", "desc"]
        assert picture.findtext("title") == chart.title
        assert picture.findtext("desc") == chart.alt
        assert re.search(r"\d", chart.alt)
        assert chart.alt.endswith(".")


def test_charts_are_deterministic() -> None:
    original = card("bilstm-gru-tagger")
    assert draw_charts(original) == draw_charts(original)
    assert list(draw_charts(replace(original, hardware=None))) == [
        "overview",
        "operators",
        "parameters",
        "work",
        "memory",
        "roofline",
        "scaling",
    ]


def test_font_sizes_are_readable() -> None:
    sizes = [int(pixels) for pixels in re.findall(r"font(?:-size)?:(\d+)px", STYLE)]
    assert sizes
    assert min(sizes) >= 11
    for chart in draw_charts(card("bilstm-gru-tagger")).values():
        assert len(list_text_boxes(chart)) > 3


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_charts_have_the_names_of_their_rows(name: str) -> None:
    charts = draw_charts(card(name))
    assert charts.keys() <= CHARTS.keys()
    assert [chart.name for chart in charts.values()] == list(charts)
