"""The Markdown renderer (GitHub flavor): long tables collapsed, diagrams as mermaid, charts as linked files.

Text of a model file is escaped so that it is nothing but text: no markup, link, mention, formula or entity.
"""

import html
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from onnx_autodoc.card import Card
from onnx_autodoc.render import content as doc
from onnx_autodoc.render.mermaid import draw_mermaid
from onnx_autodoc.text import format_count, sanitize

if TYPE_CHECKING:
    from onnx_autodoc.render.charts import Chart

# At the start of a line: lists, headings, quotes, rules, and workflow commands in a CI log.
_LINE_START: Final = re.compile(r"^(\s*)([-+=>]|:(?=:)|#{1,6}(?=\s)|\d{1,9}[.)](?=\s|$))")
_MAX_NAME_LENGTH: Final = 600
_ACTIVE: Final = re.compile(r"[\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])")
_ENTITY: Final = re.compile(r"&(?=[#a-zA-Z])|<(?=[a-zA-Z/!?])|\$|:(?=//)|(?<=mailto):|(?<=xmpp):|w(?=ww\.)", re.I)
_ADDRESS: Final = re.compile(r"@(?=[\w.+-])")
BREAK_ADDRESS: Final = "<!-- -->"  # renderers look for addresses and mentions after they decode entities
_MAX_TEXT_LENGTH: Final = 20_000


def render_markdown(report: doc.Report) -> str:
    from onnx_autodoc.render.sections import card_sections  # so that annotations load without sections and charts

    sections = write_sections(card_sections(report.card), report.card, report.charts)
    return f"# {escape_markdown(sanitize(report.card.model.name))}\n\n{sections}"


def write_sections(
    sections: tuple[doc.Section, ...], card: Card | None = None, links: doc.ChartLinks | None = None
) -> str:
    """Return sections from heading level two on. `links` states where the charts of `card` are."""
    charts: dict[str, Chart] = {}
    if links is not None and card is not None:
        from onnx_autodoc.render.charts import draw_charts

        charts = draw_charts(card)
    texts = []
    for section in sections:
        texts.append(f"## {escape_markdown(section.title)}")
        texts += filter(None, (_write_block(block, charts, links) for block in section.blocks))
    return "\n\n".join(texts) + "\n"


def _write_block(block: doc.Block, charts: "dict[str, Chart]", links: doc.ChartLinks | None) -> str:
    match block:
        case doc.Paragraph():
            return _write_line(block.text)
        case doc.Note():
            return f"> {_write_line(block.text)}"
        case doc.Heading():
            return f"### {escape_markdown(block.text)}"
        case doc.Bullets():
            return "\n".join(f"- {_write_line(item)}" for item in block.items)
        case doc.Table():
            return _write_table(block)
        case doc.Code():
            return _write_fence(block.language, block.text)
        case doc.Diagram():
            return _write_fence("mermaid", draw_mermaid(block.tree))
        case doc.Question():
            return f"*{escape_markdown(block.text)}*\n\n*to be completed*"
        case doc.ChartRef():
            return _write_chart(charts.get(block.name), links)


def _write_chart(chart: "Chart | None", links: doc.ChartLinks | None) -> str:
    if chart is None or links is None:
        return ""
    return f"![{escape_plain(chart.alt)}]({quote(links.folder)}/{chart.name}{links.suffix})"


def _write_line(text: doc.Spans) -> str:
    """Join spans; a sign that would start a list, heading or quote is escaped."""
    line = "".join(map(_write_span, doc.to_spans(text)))
    match = _LINE_START.match(line)
    if match is None:
        return line
    sign = match[2]  # of a numbered list, the point makes it one
    escaped = f"{sign[:-1]}\\{sign[-1]}" if sign[0].isdigit() else f"\\{sign}"
    return match[1] + escaped + line[match.end() :]


def _write_span(span: doc.Span) -> str:
    match span:
        case str():
            return escape_markdown(span)
        case doc.Name():
            return code_span(span.text)
        case doc.Number():
            return escape_markdown(span.text)
        case doc.Strong():
            return f"**{escape_markdown(span.text.rstrip())}**{' ' * span.text.endswith(' ')}"


def code_span(text: str) -> str:
    """Return a code span whose fence is longer than any run of backticks inside."""
    text = sanitize(text, _MAX_NAME_LENGTH)
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    edge = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{fence}{edge}{text}{edge}{fence}" if text else "(no name)"


def _write_fence(language: str, text: str) -> str:
    fence = "`" * (max((len(run) for run in re.findall("`{3,}", text)), default=2) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _write_table(table: doc.Table) -> str:
    is_full = [column.numeric and table.total is not None for column in table.columns]
    titles = []
    for index, column in enumerate(table.columns):
        spans = (span for row in table.rows for span in doc.to_spans(row[index])) if is_full[index] else ()
        has_bytes = any(isinstance(span, doc.Number) and span.unit == "bytes" for span in spans)
        titles.append(escape_markdown(column.title) + (", bytes" if has_bytes else ""))  # numbers in full need a unit
    lines = [titles, ["--:" if column.numeric else "---" for column in table.columns]]
    lines += [_write_cells(row, is_full) for row in table.rows]
    if table.total is not None:
        lines.append([f"**{cell}**" if cell else "" for cell in _write_cells(table.total, is_full)])
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    if table.summary is None:
        return text
    return f"<details>\n<summary>{html.escape(table.summary)}</summary>\n\n{text}\n\n</details>"


def _write_cells(row: tuple[doc.Spans, ...], is_full: list[bool]) -> list[str]:
    cells = zip(row, is_full, strict=True)
    return ["".join(_write_cell_span(span, full) for span in doc.to_spans(text)) for text, full in cells]


def _write_cell_span(span: doc.Span, is_full: bool) -> str:
    """Write a span; whole numbers in full where the table has a total, so that rows can be summed."""
    if is_full and isinstance(span, doc.Number) and type(span.exact) is int:
        return "at least " * span.text.startswith("at least") + format_count(span.exact)
    if isinstance(span, doc.Name) and "|" in span.text:  # a pipe ends a cell even in code
        text = sanitize(span.text, _MAX_NAME_LENGTH)
        entities = "".join(char if char.isalnum() or char == " " else f"&#{ord(char)};" for char in text)
        return f"<code>{entities.replace('&#64;', f'&#64;{BREAK_ADDRESS}')}</code>"
    return _write_span(span)


def escape_markdown(text: str) -> str:
    """Return text on one line without active Markdown."""
    return _ADDRESS.sub(f"@{BREAK_ADDRESS}", escape_plain(text))


def escape_plain(text: str) -> str:
    """Return text for the alternative text of an image, which holds no links."""
    text = sanitize(" ".join(text.split()) if "\n" in text else text, _MAX_TEXT_LENGTH)
    text = _ACTIVE.sub(r"\\\g<0>", text)
    return _ENTITY.sub(lambda match: f"&#{ord(match[0])};", text)
