"""GitHub-flavoured Markdown: long tables folded, the drawing as mermaid, charts as files beside the text."""

import html
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from onnx_autodoc.card import Card
from onnx_autodoc.render._blocks import (
    Blank,
    Block,
    Code,
    Column,
    Diagram,
    Figure,
    Heading,
    Inline,
    Items,
    Name,
    Note,
    Paragraph,
    Picture,
    Section,
    Strong,
    Table,
    Text,
)
from onnx_autodoc.render._escape import APART, escaped, plain
from onnx_autodoc.render._report import Beside, Report
from onnx_autodoc.render.charts import Chart, charts
from onnx_autodoc.render.mermaid import diagrams
from onnx_autodoc.render.sections import card_sections
from onnx_autodoc.text import clean, count

# At the beginning of a line: lists, headings, quotes, rules, and commands to whoever reads a log.
_LEADING: Final = re.compile(r"^(\s*)([-+=>]|:(?=:)|#{1,6}(?=\s)|\d{1,9}[.)](?=\s|$))")
_LONGEST_NAME: Final = 600


def render_markdown(report: Report) -> str:
    card = report.card
    return f"# {escaped(clean(card.model.name))}\n\n{written(card_sections(card), card, report.beside)}"


def written(sections: tuple[Section, ...], card: Card | None, pictures: Beside | None) -> str:
    """Some sections, from the second level on. `pictures`: where the charts of the card stand, if they do."""
    drawn = {chart.name: chart for chart in charts(card)} if pictures is not None and card is not None else {}
    writer = _Writer(drawn, pictures)
    return "\n\n".join(text for section in sections for text in writer.section(section)) + "\n"


class _Writer:
    def __init__(self, drawn: dict[str, Chart], beside: Beside | None) -> None:
        self._drawn, self._beside = drawn, beside

    def section(self, section: Section) -> Iterator[str]:
        yield f"## {escaped(section.title)}"
        for block in section.blocks:
            yield from filter(None, (self._block(block),))

    def _block(self, block: Block) -> str:
        match block:
            case Paragraph():
                return _line(block.text)
            case Note():
                return f"> {_line(block.text)}"
            case Heading():
                return f"### {escaped(block.text)}"
            case Items():
                return "\n".join(f"- {_line(row)}" for row in block.rows)
            case Table():
                return _table(block)
            case Code():
                return _fenced(block.language, block.text)
            case Diagram():
                return _fenced("mermaid", diagrams(block.tree))
            case Blank():
                return f"*{escaped(block.question)}*\n\n*not filled in*"
            case Picture():
                return self._picture(block)

    def _picture(self, block: Picture) -> str:
        chart = self._drawn.get(block.chart)
        if chart is None or self._beside is None:
            return ""
        return f"![{plain(chart.alt)}]({quote(self._beside.folder)}/{chart.name}{self._beside.suffix})"


def _line(text: Text) -> str:
    """Beginning a line, a dash or a number would begin a list."""
    return _LEADING.sub(_held, "".join(map(_inline, text)))


def _held(found: re.Match[str]) -> str:
    """A number's point is what makes it a list, any other sign itself."""
    sign = found[2]
    return found[1] + (f"{sign[:-1]}\\{sign[-1]}" if sign[0].isdigit() else f"\\{sign}")


def _inline(part: Inline) -> str:
    match part:
        case str():
            return escaped(part)
        case Name():
            return code(part.text)
        case Figure():
            return escaped(part.shown)
        case Strong():
            return f"**{escaped(part.text.rstrip())}**{' ' * part.text.endswith(' ')}"


def code(text: str) -> str:
    """A code span, whatever is in it: its fence is longer than any run of backticks inside."""
    text = clean(text, _LONGEST_NAME)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{fence}{edge}{text}{edge}{fence}" if text else "(no name)"


def _fenced(language: str, text: str) -> str:
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _table(table: Table) -> str:
    full = [column.numeric and table.total is not None for column in table.columns]
    lines = [_row([_title(column, at, table) for at, column in enumerate(table.columns)])]
    lines.append(_row(["--:" if column.numeric else "---" for column in table.columns]))
    lines += [_row(_cells(row, full)) for row in table.rows]
    if table.total is not None:
        lines.append(_row([f"**{cell}**" if cell else "" for cell in _cells(table.total, full)]))
    text = "\n".join(lines)
    if table.folded is None:
        return text
    return f"<details>\n<summary>{html.escape(table.folded)}</summary>\n\n{text}\n\n</details>"


def _title(column: Column, at: int, table: Table) -> str:
    """Where numbers stand in full, their unit stands above them."""
    parts = [part for row in table.rows for part in row[at]] if table.total and column.numeric else []
    bytes_ = any(isinstance(part, Figure) and part.unit == "bytes" for part in parts)
    return escaped(column.title) + (", bytes" if bytes_ else "")


def _cells(row: tuple[Text, ...], full: list[bool]) -> list[str]:
    return ["".join(_part(part, whole) for part in text) for text, whole in zip(row, full, strict=True)]


def _part(part: Inline, full: bool) -> str:
    """Where there is a total, whole numbers stand in full: the rows can be summed. A pipe ends a cell even in code."""
    if full and isinstance(part, Figure):
        return _full(part)
    if isinstance(part, Name) and "|" in part.text:
        return f"<code>{_spelled(clean(part.text, _LONGEST_NAME))}</code>"
    return _inline(part)


def _spelled(text: str) -> str:
    """Every character that is no letter or digit as an entity; addresses are sought once entities are read."""
    spelled = (char if char.isalnum() or char == " " else f"&#{ord(char)};" for char in text)
    return "".join(spelled).replace("&#64;", f"&#64;{APART}")


def _full(figure: Figure) -> str:
    if type(figure.exact) is not int:
        return escaped(figure.shown)
    least = "at least " if figure.shown.startswith("at least") else ""
    return least + count(figure.exact)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
