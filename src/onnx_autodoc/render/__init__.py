"""Renderers: each turns a `Report` into one document. None of them can reach the graph.

A format is a file here with one function, and a line in `FORMATS`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from onnx_autodoc.render._report import Beside, Report
from onnx_autodoc.text import quiet, quiet_json

if TYPE_CHECKING:
    from onnx_autodoc.policy import Outcome

__all__ = ["FORMATS", "Beside", "Format", "Report", "as_json", "pictures", "render_outcome", "render_terminal"]


def render_terminal(report: Report, color: bool = False) -> str:
    """The terminal card. Its library is loaded only when it is drawn."""
    from onnx_autodoc.render import terminal

    return terminal.render_terminal(report, color)


def as_json(found: object) -> str:
    """Any other result of a command."""
    from onnx_autodoc.render._within import pretty

    return quiet_json(pretty(found))


def render_outcome(found: "Outcome", format_name: str, taken: int = 0) -> str:
    """What a gate says, as text, json, sarif, junit, github; or as a job's summary, where `taken` bytes are used."""
    if format_name == "summary":
        from onnx_autodoc.render import github

        return github.summary(found, github.MOST_BYTES - taken)
    module, name = _OUTCOMES[format_name]
    made: str = getattr(import_module(f"onnx_autodoc.render.{module}"), name)(found)
    return made


_OUTCOMES: Final = {
    "text": ("_verdict", "render_text"),
    "json": ("_verdict", "render_json"),
    "sarif": ("sarif", "sarif"),
    "junit": ("junit", "junit"),
    "github": ("github", "annotations"),
}


def pictures(report: Report, suffix: str) -> dict[str, str | bytes]:
    """The charts of a card as files, by name."""
    from onnx_autodoc.render import _pictures

    return _pictures.pictures(report.card, suffix)


class Format(Struct, frozen=True):
    render: Callable[[Report], str | bytes]
    suffix: str  # of the file that `-o` recognises; the first format of a suffix is meant by it
    file: str | None = None  # the file's name in a folder; None: a folder does without it
    illustrated: bool = False  # shows the charts, which stand as files beside it
    merged: Callable[[str, str], str] | None = None  # the text to write where there is one already
    estimated: bool = False  # has what a run takes: on devices, and where it was measured
    hashed: bool = False  # of little use without the hash of the model, which reads all of the file
    seconds: float = 0  # that it may take, besides those of every card


def _late(module: str, name: str, last: Callable[[str], str] | None = None) -> Callable[[Report], str | bytes]:
    """A renderer that is loaded when it is used: a card as JSON needs no templates. `last` looks at what it wrote."""

    def render(report: Report) -> str | bytes:
        made: str | bytes = getattr(import_module(f"onnx_autodoc.render.{module}"), name)(report)
        return last(made) if last is not None and isinstance(made, str) else made

    return render


def _merged(old: str, new: str) -> str:
    from onnx_autodoc.render import huggingface

    return huggingface.merge(old, new)


FORMATS: Final[dict[str, Format]] = {
    "terminal": Format(_late("terminal", "render_terminal", quiet), ".txt", estimated=True),
    "markdown": Format(_late("markdown", "render_markdown", quiet), ".md", "card.md", illustrated=True, estimated=True),
    "html": Format(_late("html", "render_html"), ".html", "card.html", estimated=True),
    "json": Format(_late("json", "render_json", quiet_json), ".json", "card.json", estimated=True),
    "architecture": Format(_late("architecture", "render_architecture", quiet), ".md", "architecture.md"),
    "nodes": Format(_late("nodes", "render_nodes", quiet_json), ".jsonl"),
    "csv": Format(_late("csv", "render_csv", quiet), ".csv", "nodes.csv"),
    "mermaid": Format(_late("mermaid", "render_mermaid", quiet), ".mmd"),
    "huggingface": Format(
        _late("huggingface", "render_huggingface", quiet), ".md", illustrated=True, merged=_merged, estimated=True
    ),
    "pdf": Format(_late("pdf", "render_pdf"), ".pdf", estimated=True, seconds=120),
    "cyclonedx": Format(_late("cyclonedx", "render_cyclonedx", quiet_json), ".cdx.json", hashed=True),
    "sarif": Format(_late("sarif", "render_sarif"), ".sarif"),
    "junit": Format(_late("junit", "render_junit"), ".xml"),
    "github": Format(_late("github", "render_github"), ".log"),
}
