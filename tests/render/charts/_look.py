"""What is in a picture, read back from its SVG: texts with the room they take, bars with the numbers behind them."""

import re
from functools import cache
from itertools import combinations
from typing import NamedTuple
from xml.etree import ElementTree as ET

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts import Chart
from onnx_autodoc.render.charts.svg import BOLD_WIDTH_FACTOR, FONT_SIZE, SMALL_FONT_SIZE, text_width
from tests._corpus import reported


@cache
def card(name: str) -> Card:
    return reported(name).card


class Room(NamedTuple):
    text: str
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Room") -> bool:
        beside = self.right <= other.left or other.right <= self.left
        return not (beside or self.bottom <= other.top or other.bottom <= self.top)


def parsed(chart: Chart) -> ET.Element:
    return ET.fromstring(chart.svg)


def size(chart: Chart) -> tuple[float, float]:
    _, _, wide, high = map(float, parsed(chart).attrib["viewBox"].split())
    return wide, high


def rooms(chart: Chart) -> list[Room]:
    """The box of each text, from the letters' height and a careful width."""
    return [_room(text) for text in parsed(chart).iter("text") if "".join(text.itertext())]


def _room(text: ET.Element) -> Room:
    small = text.get("class") == "small"
    letters = SMALL_FONT_SIZE if small else FONT_SIZE
    own, rest = text.text or "", "".join(span.text or "" for span in text)
    wide = text_width(own, letters) * (BOLD_WIDTH_FACTOR if text.get("class") == "head" else 1) + text_width(
        rest, letters
    )
    left = float(text.attrib["x"]) - wide * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor", "start")]
    line = float(text.attrib["y"])
    return Room(own + rest, left, line - letters * 0.8, left + wide, line + letters * 0.2)


def texts(chart: Chart) -> list[str]:
    return [room.text.replace("\u00a0", " ") for room in rooms(chart)]


def collisions(chart: Chart) -> list[tuple[str, str]]:
    return [(one.text, two.text) for one, two in combinations(rooms(chart), 2) if one.meets(two)]


def outside(chart: Chart) -> list[Room]:
    """Places have one decimal, so half of it is not out."""
    wide, high = (edge + 0.05 for edge in size(chart))
    return [room for room in rooms(chart) if min(room[1:]) < -0.05 or room.right > wide or room.bottom > high]


def overflowing(chart: Chart) -> list[dict[str, str]]:
    """Bars and dots that are not wholly in the picture."""
    wide, high = size(chart)
    found = []
    for mark in parsed(chart).iter():
        if mark.tag in ("rect", "circle"):
            left, top, right, bottom = _extent(mark.tag, {key: float(mark.get(key, "0")) for key in _PLACES})
            found += [mark.attrib] if min(left, top) < 0 or right > wide + 0.1 or bottom > high + 0.1 else []
    return found


_PLACES = ("x", "y", "width", "height", "cx", "cy", "r")


def _extent(tag: str, at: dict[str, float]) -> tuple[float, float, float, float]:
    if tag == "rect":
        return at["x"], at["y"], at["x"] + at["width"], at["y"] + at["height"]
    return at["cx"] - at["r"], at["cy"] - at["r"], at["cx"] + at["r"], at["cy"] + at["r"]


def titles(chart: Chart, *tags: str) -> list[str]:
    """What a pointer over the marks shows."""
    return [
        mark.findtext("title") or ""
        for mark in parsed(chart).iter()
        if mark.tag in tags and mark.find("title") is not None
    ]


def amounts(chart: Chart, unit: str) -> dict[str, list[int]]:
    """The exact numbers of a unit behind the bars, by the bars' names."""
    found: dict[str, list[int]] = {}
    for title in titles(chart, "rect"):
        if match := re.fullmatch(rf"(.*): ([\d,]+) {unit}, .*", title):
            found.setdefault(match[1], []).append(int(match[2].replace(",", "")))
    return found


def total(chart: Chart, unit: str) -> int:
    return sum(sum(numbers) for numbers in amounts(chart, unit).values())
