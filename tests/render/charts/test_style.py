"""Colors: charts on a page use its theme, standalone files have their own."""

import re
from xml.etree import ElementTree as ET

import pytest

from onnx_autodoc.render.charts import STYLE, draw_charts, standalone
from onnx_autodoc.render.charts.style import ROLE_COLORS
from tests.render.charts._look import card, read_size

SVG = "{http://www.w3.org/2000/svg}"


def test_svg_file_is_self_contained() -> None:
    for chart in draw_charts(card("bilstm-gru-tagger")).values():
        alone = ET.fromstring(standalone(chart))
        style = alone.findtext(f"{SVG}style") or ""
        assert alone.tag == f"{SVG}svg"
        assert "var(" not in style, "converters do not know variables"
        assert "$" not in style
        assert "prefers-color-scheme:dark" in style
        assert alone.findtext(f"{SVG}title") == chart.title
        wide, high = read_size(chart)
        assert float(alone.attrib["width"]) == wide + 16
        assert float(alone.attrib["height"]) == high + 16


def test_svg_file_has_all_elements() -> None:
    chart = draw_charts(card("bilstm-gru-tagger"))["overview"]
    alone = ET.fromstring(standalone(chart))
    inline = ET.fromstring(chart.svg)
    assert [text.get("x") for text in alone.iter(f"{SVG}text")] == [text.get("x") for text in inline.iter("text")]
    assert len(list(alone.iter(f"{SVG}rect"))) == len(list(inline.iter("rect"))) + 1, "and its paper"


def test_style_variables_are_set_for_all_themes() -> None:
    used = set(re.findall(r"var\((--[a-z-]+)\)", STYLE))
    blocks = re.findall(r":root[^{]*\{([^}]*)\}", STYLE)
    assert len(blocks) == 4
    for block in blocks:
        assert used <= set(re.findall(r"(--[a-z-]+):", block))
    assert blocks[0] == blocks[3], "paper is light"
    assert blocks[1] == blocks[2] != blocks[0]


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize(("role", "least"), [("ink", 12), ("soft", 4.5), ("accent", 3), ("mark", 3)])
def test_text_contrast_is_sufficient(role: str, least: float, theme: int) -> None:
    darker, lighter = sorted((_luminance(ROLE_COLORS[role][theme]), _luminance(ROLE_COLORS["paper"][theme])))
    assert (lighter + 0.05) / (darker + 0.05) >= least
