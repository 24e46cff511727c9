"""The charts of real models: all of them read, fit, and say what the card says."""

import re

import pytest
from msgspec.structs import replace

from onnx_autodoc.render.charts import CHARTS, STYLE, draw_charts
from tests._corpus import KEPT
from tests.render.charts._look import card, collisions, outside, overflowing, parsed, rooms, texts, total


@pytest.mark.parametrize("name", KEPT)
def test_chart_texts_are_inside_and_do_not_overlap(name: str) -> None:
    drawn = draw_charts(card(name)).values()
    assert drawn
    for chart in drawn:
        assert collisions(chart) == [], chart.name
        assert outside(chart) == [], chart.name
        assert overflowing(chart) == [], chart.name


@pytest.mark.parametrize("name", KEPT)
def test_bars_sum_to_model_totals(name: str) -> None:
    """Each quantity is shared out once for every panel that shows it."""
    found = card(name)
    drawn = draw_charts(found)
    held, spent = ("parameters", found.parameters.total), ("MACs", found.compute.macs)
    for chart, (unit, whole) in (("overview", held), ("overview", spent), ("parameters", held), ("work", spent)):
        if chart in drawn:
            panels = sum(" by " in text for text in texts(drawn[chart])) if chart != "overview" else 1
            assert panels >= 1
            assert total(drawn[chart], unit) == panels * (whole or 0), (chart, unit)


@pytest.mark.parametrize("name", KEPT)
def test_charts_have_no_ids_and_only_styled_classes(name: str) -> None:
    """No ids that could collide, no colours but those of the style, every class has a rule."""
    for chart in draw_charts(card(name)).values():
        for element in parsed(chart).iter():
            assert not {"id", "style", "fill", "stroke"} & set(element.attrib)
            kind = element.get("class", "chart")
            assert f".{kind}{{" in STYLE, kind


def test_charts_have_title_and_description() -> None:
    for chart in draw_charts(card("bilstm-gru-tagger")).values():
        picture = parsed(chart)
        assert picture.get("role") == "img"
        assert [child.tag for child in picture][:2] == ["title", "desc"]
        assert picture.findtext("title") == chart.title
        assert picture.findtext("desc") == chart.alt
        assert re.search(r"\d", chart.alt)
        assert chart.alt.endswith(".")


def test_charts_are_deterministic() -> None:
    found = card("bilstm-gru-tagger")
    assert draw_charts(found) == draw_charts(found)
    assert list(draw_charts(replace(found, hardware=None))) == [
        "overview",
        "operators",
        "parameters",
        "work",
        "memory",
        "roofline",
        "scaling",
    ]


def test_font_sizes_are_readable() -> None:
    sizes = [int(found) for found in re.findall(r"font(?:-size)?:(\d+)px", STYLE)]
    assert sizes
    assert min(sizes) >= 11
    for chart in draw_charts(card("bilstm-gru-tagger")).values():
        assert len(rooms(chart)) > 3


@pytest.mark.parametrize("name", KEPT)
def test_charts_have_the_names_of_their_rows(name: str) -> None:
    drawn = draw_charts(card(name))
    assert drawn.keys() <= CHARTS.keys()
    assert [chart.name for chart in drawn.values()] == list(drawn)
