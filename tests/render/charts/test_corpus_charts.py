"""The charts of real models: all of them read, fit, and say what the card says."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from onnx_autodoc.render import charts as shelf
from onnx_autodoc.render.charts import CHARTS, STYLE, charts
from tests._corpus import KEPT
from tests.render.charts._look import card, collisions, outside, overflowing, parsed, rooms, texts, total


@pytest.mark.parametrize("name", KEPT)
def test_no_two_texts_of_a_chart_meet_and_all_is_inside(name: str) -> None:
    drawn = charts(card(name))
    assert drawn
    for chart in drawn:
        assert collisions(chart) == [], chart.name
        assert outside(chart) == [], chart.name
        assert overflowing(chart) == [], chart.name


@pytest.mark.parametrize("name", KEPT)
def test_the_bars_of_every_panel_sum_to_the_models_totals(name: str) -> None:
    """Each quantity is shared out once for every panel that shows it."""
    found = card(name)
    drawn = {chart.name: chart for chart in charts(found)}
    held, spent = ("parameters", found.parameters.total), ("MACs", found.compute.macs)
    for chart, (unit, whole) in (("overview", held), ("overview", spent), ("parameters", held), ("work", spent)):
        if chart in drawn:
            panels = sum(" by " in text for text in texts(drawn[chart])) if chart != "overview" else 1
            assert panels >= 1
            assert total(drawn[chart], unit) == panels * (whole or 0), (chart, unit)


@pytest.mark.parametrize("name", KEPT)
def test_a_page_can_hold_all_charts(name: str) -> None:
    """No ids that could collide, no colours but those of the style, every class has a rule."""
    for chart in charts(card(name)):
        for element in parsed(chart).iter():
            assert not {"id", "style", "fill", "stroke"} & set(element.attrib)
            kind = element.get("class", "chart")
            assert f".{kind}{{" in STYLE, kind


def test_a_chart_is_heard_as_it_is_seen() -> None:
    for chart in charts(card("bilstm-gru-tagger")):
        picture = parsed(chart)
        assert picture.get("role") == "img"
        assert [child.tag for child in picture][:2] == ["title", "desc"]
        assert picture.findtext("title") == chart.title
        assert picture.findtext("desc") == chart.alt
        assert re.search(r"\d", chart.alt)
        assert chart.alt.endswith(".")


def test_the_same_card_gives_the_same_charts() -> None:
    found = card("bilstm-gru-tagger")
    assert charts(found) == charts(found)
    assert [chart.name for chart in charts(replace(found, hardware=None))] == [
        "overview",
        "operators",
        "parameters",
        "work",
        "memory",
        "roofline",
        "scaling",
    ]


def test_letters_are_large_enough_to_read() -> None:
    sizes = [int(found) for found in re.findall(r"font(?:-size)?:(\d+)px", STYLE)]
    assert sizes
    assert min(sizes) >= 11
    for chart in charts(card("bilstm-gru-tagger")):
        assert len(rooms(chart)) > 3


def test_every_chart_is_on_its_shelf() -> None:
    files = {path.stem for path in Path(shelf.__file__).parent.glob("*.py") if not path.stem.startswith("_")}
    assert files == {draw.__name__ for draw in CHARTS}
