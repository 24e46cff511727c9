"""The bar chart: panels of horizontal bars, one below the other or side by side with shared names."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.render.charts import svg

_ROW_HEIGHT: Final = 20.0
_HEAD_HEIGHT: Final = 26.0
_BAR_HEIGHT: Final = 12.0
_COLUMN_GAP: Final = 18.0
_GAP: Final = 6.0
_MAX_NAME_WIDTH: Final = 300.0
_MAX_SHARED_NAME_WIDTH: Final = 270.0  # where several columns follow
_MIN_BAR_WIDTH: Final = 1.0


class Bar(Struct, frozen=True):
    """One bar. `value` None is unknown, which `label` states. The first `solid` of the value has the solid color."""

    name: str
    value: int | None
    label: str
    tooltip: str
    kind: str = "bar"
    detail: str = ""
    solid: int = 0


class BarPanel(Struct, frozen=True):
    """Bars of one scale. `note` follows the title in a lighter color."""

    title: str
    note: str
    bars: tuple[Bar, ...]


def draw_bars(
    name: str, title: str, alt: str, panels: Sequence[BarPanel], side_by_side: bool = False, footnote: str = ""
) -> svg.Chart:
    """Draw panels below each other; or side by side, where all panels have the same rows and names appear once."""
    elements: list[str] = []
    if not side_by_side:
        left, top = _name_width(panels, _MAX_NAME_WIDTH) + _GAP, 0.0
        for panel in panels:
            elements += _draw_panel(panel, left, top, svg.WIDTH)
            top += _panel_height(panel) + svg.MARGIN
        return svg.frame_chart(name, title, alt, top - svg.MARGIN, elements)
    left, height = _name_width(panels[:1], _MAX_SHARED_NAME_WIDTH) + _GAP, _panel_height(panels[0])
    width = (svg.WIDTH - left - _COLUMN_GAP * (len(panels) - 1)) / len(panels)
    for row, bar in enumerate(panels[0].bars):
        elements.append(_draw_name(bar, left - _GAP, _HEAD_HEIGHT + _ROW_HEIGHT * row))
    for index, panel in enumerate(panels):
        x = left + (width + _COLUMN_GAP) * index
        elements += _draw_panel(panel, x, 0, x + width, with_names=False)
    if footnote:
        elements.append(svg.text(svg.WIDTH, height + 12, footnote, "small", "end"))
        height += _ROW_HEIGHT
    return svg.frame_chart(name, title, alt, height, elements)


def _panel_height(panel: BarPanel) -> float:
    return _HEAD_HEIGHT + _ROW_HEIGHT * len(panel.bars)


def _name_width(panels: Sequence[BarPanel], max_width: float) -> float:
    """Return the width of the longest name, so that all bars of a chart start at one line."""
    names = [svg.text_width(" ".join(filter(None, (bar.name, bar.detail)))) for panel in panels for bar in panel.bars]
    return min(max_width, max(names, default=0.0)) + svg.MARGIN


def _draw_panel(panel: BarPanel, left: float, top: float, right: float, with_names: bool = True) -> list[str]:
    """Draw bars from `left` on, with their names before it."""
    elements = [svg.heading(panel.title, panel.note, 0.0 if with_names else left, top + 14, right)]
    label_width = max((svg.text_width(bar.label) for bar in panel.bars), default=0.0) + _GAP + 2
    longest = max((bar.value or 0 for bar in panel.bars), default=0)
    for row, bar in enumerate(panel.bars):
        y = top + _HEAD_HEIGHT + _ROW_HEIGHT * row
        if with_names:
            elements.append(_draw_name(bar, left - _GAP, y))
        length = (right - left - label_width) * (bar.value / longest if bar.value and longest else 0.0)
        elements += _draw_bar(bar, left, y, length)
    elements.append(svg.line(left, top + _HEAD_HEIGHT - 3, left, top + _panel_height(panel) - 3, "axis"))
    return elements


def _draw_name(bar: Bar, right: float, y: float) -> str:
    """Draw the name up to `right`, and the detail in the remaining width."""
    name = svg.fit_text(bar.name, right)
    width = right - svg.text_width(name + " ")
    detail = svg.fit_text(bar.detail, width, cut_end=True) if width > 3 * _ROW_HEIGHT else ""
    return svg.text(right, y + 10, name, anchor="end", soft=detail)


def _draw_bar(bar: Bar, x: float, y: float, length: float) -> list[str]:
    if bar.value is None:
        return [svg.text(x + _GAP, y + 10, bar.label, "soft")]
    end = max(length, _MIN_BAR_WIDTH) if bar.value else 0.0
    elements = [svg.rect(x, y, end, _BAR_HEIGHT, bar.kind, bar.tooltip)] if end else []
    if end and bar.solid:
        solid = end * (min(bar.solid, bar.value) / bar.value)
        elements.append(svg.rect(x, y, solid, _BAR_HEIGHT, "bar", bar.tooltip))
    return [*elements, svg.text(x + end + _GAP, y + 10, bar.label)]
