"""How charts look: one table of colours, one of rules; for a page with its themes, and for a file that stands alone."""

import re
from typing import Final

from onnx_autodoc.render._palette import COLOURS, TEXT
from onnx_autodoc.render.charts._chart import MARGIN, Chart
from onnx_autodoc.render.charts._svg import number

# By role, on a light page and on a dark one. The accents are Okabe and Ito's blue and vermilion.
_ROLES: Final[dict[str, tuple[str, str]]] = {
    "paper": ("#ffffff", "#0d1117"),
    "ink": (TEXT, "#e6edf3"),
    "soft": ("#57606a", "#9ba5b0"),
    "grid": ("#e1e4e8", "#2b323b"),
    "axis": ("#8c959f", "#6e7781"),
    "accent": ("#0072b2", "#56b4e9"),
    "mark": ("#c24e00", "#f0a16b"),
}
# Families keep the colours of the diagram: pale fills with borders of their hue; on a dark page the other way round.
_FAMILIES: Final = {
    f"{role}-{name}": (colour.fill, colour.border) if role == "fill" else (colour.border, colour.fill)
    for name, colour in COLOURS.items()
    for role in ("fill", "edge")
}
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
    *(f".chart .of-{name}{{fill:$fill-{name};stroke:$edge-{name}}}" for name in COLOURS),
)
_ALL: Final = {**_ROLES, **_FAMILIES}


def _rules(colour: dict[str, str]) -> str:
    return "\n".join(re.sub(r"\$([a-z-]+)", lambda found: colour[found[1]], rule) for rule in _RULES)


def _themed(which: int) -> dict[str, str]:
    return {role: pair[which] for role, pair in _ALL.items()}


def _variables(which: int) -> str:
    return "".join(f"--chart-{role}:{colour};" for role, colour in _themed(which).items())


# Light unless the page or the reader's system says dark; paper is white.
STYLE: Final = "\n".join(
    (
        f":root{{{_variables(0)}}}",
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme]){{{_variables(1)}}}}}",
        f":root[data-theme=dark]{{{_variables(1)}}}",
        f"@media print{{:root,:root[data-theme],:root:not([data-theme]){{{_variables(0)}}}}}",
        ".chart{display:block;width:100%;max-width:880px;height:auto}",
        _rules({role: f"var(--chart-{role})" for role in _ALL}),
    )
)
_DARK: Final = (
    f"@media (prefers-color-scheme:dark){{\n.chart .paper{{fill:{_ROLES['paper'][1]}}}\n{_rules(_themed(1))}\n}}"
)
_ALONE: Final = f".chart .paper{{fill:{_ROLES['paper'][0]}}}\n{_rules(_themed(0))}\n{_DARK}"


def standalone(chart: Chart) -> str:
    """The picture as a file. It brings its own paper, since a viewer's idea of dark need not be that of the page."""
    opening, inside = chart.svg.split(">\n", 1)
    named, drawn = inside.split("\n", 1)
    left, top, wide, high = (float(part) for part in re.findall(r"-?[\d.]+", opening.split("viewBox=")[1]))
    wide, high = wide + 2 * MARGIN, high + 2 * MARGIN
    view = f'viewBox="{number(left - MARGIN)} {number(top - MARGIN)} {number(wide)} {number(high)}"'
    size = f'width="{number(wide)}" height="{number(high)}"'
    paper = f'<rect class="paper" x="{number(left - MARGIN)}" y="{number(top - MARGIN)}" {size} rx="6"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" {size} {view}>'
    return "\n".join((head, named, f"<style>{_ALONE}</style>", paper, drawn)) + "\n"
