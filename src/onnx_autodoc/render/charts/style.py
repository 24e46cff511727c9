"""CSS of charts: one table of colors, one of rules, for pages with themes and for SVG files."""

import re
from typing import Final

from onnx_autodoc.render.charts.svg import MARGIN, Chart, coordinate
from onnx_autodoc.render.palette import COLORS, TEXT_COLOR

# By role, on a light and on a dark page. The accents are Okabe and Ito's blue and vermilion.
ROLE_COLORS: Final[dict[str, tuple[str, str]]] = {
    "paper": ("#ffffff", "#0d1117"),
    "ink": (TEXT_COLOR, "#e6edf3"),
    "soft": ("#57606a", "#9ba5b0"),
    "grid": ("#e1e4e8", "#2b323b"),
    "axis": ("#8c959f", "#6e7781"),
    "accent": ("#0072b2", "#56b4e9"),
    "mark": ("#c24e00", "#f0a16b"),
}
# Blocks keep the colors of the diagram: pale fills with dark borders; on a dark page the reverse.
_BLOCK_COLORS: Final = {
    f"{role}-{name}": (color.fill, color.border) if role == "fill" else (color.border, color.fill)
    for name, color in COLORS.items()
    for role in ("fill", "edge")
}
_ALL_COLORS: Final = {**ROLE_COLORS, **_BLOCK_COLORS}
_FONT: Final = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif'
_RULES: Final = (
    f".chart text{{font-family:{_FONT};font-size:12px;fill:$ink}}",
    ".chart .soft{fill:$soft}",
    ".chart .small{font-size:11px;fill:$soft}",
    ".chart .bubble~.small{paint-order:stroke;stroke:$paper;stroke-width:3px;stroke-linejoin:round}",  # over lines
    ".chart .head{font-weight:600}",
    ".chart .head .soft{font-weight:400}",
    ".chart .grid{stroke:$grid}",
    ".chart .axis{stroke:$axis}",
    ".chart .bar{fill:$accent}",
    ".chart .rest{fill:none;stroke:$axis;stroke-dasharray:3 2}",
    ".chart .pale{fill:$accent;fill-opacity:.3;stroke:$accent}",
    ".chart .none{fill:none;stroke:none;pointer-events:all}",
    ".chart .thread{stroke:$mark}",
    ".chart .area{fill:$accent;fill-opacity:.18}",
    ".chart .curve{fill:none;stroke:$accent;stroke-width:1.5}",
    ".chart .curve-2{fill:none;stroke:$mark;stroke-width:1.5;stroke-dasharray:6 3}",
    ".chart .curve-3{fill:none;stroke:$soft;stroke-width:1.5;stroke-dasharray:2 3}",
    ".chart .spot{fill:$accent}",
    ".chart .spot-2{fill:$mark}",
    ".chart .spot-3{fill:$soft}",
    ".chart .band{fill:$accent;fill-opacity:.14}",
    ".chart .band-2{fill:$mark;fill-opacity:.14}",
    ".chart .band-3{fill:$soft;fill-opacity:.14}",
    ".chart .bubble{fill:$accent;fill-opacity:.35;stroke:$accent}",
    ".chart .peak{fill:$mark}",
    ".chart .ring{fill:none;stroke:$mark;stroke-width:2}",
    *(f".chart .of-{name}{{fill:$fill-{name};stroke:$edge-{name}}}" for name in COLORS),
)


def _rules(colors: dict[str, str]) -> str:
    return re.sub(r"\$([a-z-]+)", lambda match: colors[match[1]], "\n".join(_RULES))


_LIGHT, _DARK = ({role: pair[theme] for role, pair in _ALL_COLORS.items()} for theme in (0, 1))


def _variables(colors: dict[str, str]) -> str:
    return "".join(f"--chart-{role}:{color};" for role, color in colors.items())


# Light unless the page or the reader's system is dark; prints are light.
STYLE: Final = "\n".join(
    (
        f":root{{{_variables(_LIGHT)}}}",
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme]){{{_variables(_DARK)}}}}}",
        f":root[data-theme=dark]{{{_variables(_DARK)}}}",
        f"@media print{{:root,:root[data-theme],:root:not([data-theme]){{{_variables(_LIGHT)}}}}}",
        ".chart{display:block;width:100%;max-width:880px;height:auto}",
        _rules({role: f"var(--chart-{role})" for role in _ALL_COLORS}),
    )
)
_FILE_STYLE: Final = (
    f".chart .paper{{fill:{_LIGHT['paper']}}}\n{_rules(_LIGHT)}\n"
    f"@media (prefers-color-scheme:dark){{\n.chart .paper{{fill:{_DARK['paper']}}}\n{_rules(_DARK)}\n}}"
)


def standalone(chart: Chart) -> str:
    """Return the chart as an SVG file with style and background: a viewer's theme need not be the page's."""
    opening, inside = chart.svg.split(">\n", 1)
    described, drawn = inside.split("\n", 1)
    left, top, width, height = (float(part) for part in re.findall(r"-?[\d.]+", opening.split("viewBox=")[1]))
    x, y = coordinate(left - MARGIN), coordinate(top - MARGIN)
    w, h = coordinate(width + 2 * MARGIN), coordinate(height + 2 * MARGIN)
    size = f'width="{w}" height="{h}"'
    paper = f'<rect class="paper" x="{x}" y="{y}" {size} rx="6"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" {size} viewBox="{x} {y} {w} {h}">'
    return "\n".join((head, described, f"<style>{_FILE_STYLE}</style>", paper, drawn)) + "\n"
