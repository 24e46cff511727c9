"""Contents of a chart, read from its SVG: texts with their boxes, bars with their exact numbers."""

import re
from functools import cache
from itertools import combinations
from typing import NamedTuple
from xml.etree import ElementTree as ET

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts import Chart
from onnx_autodoc.render.charts.svg import BOLD_WIDTH_FACTOR, FONT_SIZE, SMALL_FONT_SIZE, text_width
from tests._corpus import load_report


@cache
def card(name: str) -> Card:
    return load_report(name).card


class TextBox(NamedTuple):
    text: str
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, box: "TextBox") -> bool:
        is_beside = self.right <= box.left or box.right <= self.left
        return not (is_beside or self.bottom <= box.top or box.bottom <= self.top)


def parse_svg(chart: Chart) -> ET.Element:
    return ET.fromstring(chart.svg)


def read_size(chart: Chart) -> tuple[float, float]:
    _, _, width, height = map(float, parse_svg(chart).attrib["viewBox"].split())
    return width, height


def list_text_boxes(chart: Chart) -> list[TextBox]:
    """Return the box of each text, from the height of letters and an upper bound of the width."""
    return [_measure_text(text) for text in parse_svg(chart).iter("text") if "".join(text.itertext())]


def _measure_text(text: ET.Element) -> TextBox:
    small = text.get("class") == "small"
    letters = SMALL_FONT_SIZE if small else FONT_SIZE
    main, soft = text.text or "", "".join(span.text or "" for span in text)
    width = text_width(main, letters) * (BOLD_WIDTH_FACTOR if text.get("class") == "head" else 1) + text_width(
        soft, letters
    )
    left = float(text.attrib["x"]) - width * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor", "start")]
    line = float(text.attrib["y"])
    return TextBox(main + soft, left, line - letters * 0.8, left + width, line + letters * 0.2)


def list_texts(chart: Chart) -> list[str]:
    return [box.text.replace("\u00a0", " ") for box in list_text_boxes(chart)]


def find_overlaps(chart: Chart) -> list[tuple[str, str]]:
    return [
        (first.text, second.text) for first, second in combinations(list_text_boxes(chart), 2) if first.overlaps(second)
    ]


def find_outside(chart: Chart) -> list[TextBox]:
    """Return texts outside of the chart; coordinates have one decimal, so half of it is tolerated."""
    width, height = (edge + 0.05 for edge in read_size(chart))
    return [box for box in list_text_boxes(chart) if min(box[1:]) < -0.05 or box.right > width or box.bottom > height]


def find_overflowing(chart: Chart) -> list[dict[str, str]]:
    """Return the attributes of bars and dots that are partly outside of the chart."""
    width, height = read_size(chart)
    result = []
    for mark in parse_svg(chart).iter():
        if mark.tag in ("rect", "circle"):
            left, top, right, bottom = _extent(mark.tag, {key: float(mark.get(key, "0")) for key in _PLACES})
            result += [mark.attrib] if min(left, top) < 0 or right > width + 0.1 or bottom > height + 0.1 else []
    return result


_PLACES = ("x", "y", "width", "height", "cx", "cy", "r")


def _extent(tag: str, at: dict[str, float]) -> tuple[float, float, float, float]:
    if tag == "rect":
        return at["x"], at["y"], at["x"] + at["width"], at["y"] + at["height"]
    return at["cx"] - at["r"], at["cy"] - at["r"], at["cx"] + at["r"], at["cy"] + at["r"]


def list_tooltips(chart: Chart, *tags: str) -> list[str]:
    """Return the tooltips of all marks with these tags."""
    return [
        mark.findtext("title") or ""
        for mark in parse_svg(chart).iter()
        if mark.tag in tags and mark.find("title") is not None
    ]


def read_amounts(chart: Chart, unit: str) -> dict[str, list[int]]:
    """Return the exact numbers of bars in this unit, by the names of the bars."""
    result: dict[str, list[int]] = {}
    for title in list_tooltips(chart, "rect"):
        if match := re.fullmatch(rf"(.*): ([\d,]+) {unit}, .*", title):
            result.setdefault(match[1], []).append(int(match[2].replace(",", "")))
    return result


def sum_amounts(chart: Chart, unit: str) -> int:
    return sum(sum(numbers) for numbers in read_amounts(chart, unit).values())
