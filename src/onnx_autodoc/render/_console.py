"""A console that writes into a text: 80 columns, no markup, and no control character but its own colours."""

import io
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from onnx_autodoc.text import tame, visible

WIDTH = 80


class TextConsole(Console):
    """What is printed is data: a terminal is told nothing by it."""

    def __init__(self, color: bool) -> None:
        self.text = io.StringIO()
        super().__init__(
            file=self.text, width=WIDTH, force_terminal=color, no_color=not color, highlight=False, markup=False
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def written(self) -> str:
        """Line by line, without blanks at the ends."""
        lines = self.text.getvalue().rstrip().split("\n")
        return tame("\n".join(line.rstrip() for line in lines) + "\n")
