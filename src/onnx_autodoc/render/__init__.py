"""Renderers: each turns a `Report` into one document. None of them sees the graph.

An output format is a module with one function, and a row in `FORMATS`. Modules are loaded on first use, so that the
command line can list the formats without them.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from onnx_autodoc.text import sanitize_json, sanitize_text

if TYPE_CHECKING:
    from onnx_autodoc.compare import Comparison
    from onnx_autodoc.policy import Outcome
    from onnx_autodoc.render.content import ChartLinks, Report

__all__ = [
    "COMPARISON_FORMATS",
    "FORMATS",
    "OUTCOME_FORMATS",
    "ChartLinks",
    "Format",
    "Report",
    "chart_files",
    "format_result",
    "render_comparison_terminal",
    "render_outcome",
    "render_terminal",
]


class Format(NamedTuple):
    render: Callable[["Report"], str | bytes]
    suffix: str  # of the file for `-o`; the first format with a suffix is its default
    file: str | None = None  # name of the file in an output folder; None: not written to folders
    has_charts: bool = False  # links charts, which are files in the same folder
    merge: Callable[[str, str], str] | None = None  # combines an existing file with the new text
    needs_hardware: bool = False  # contains run times: estimates and measurements
    needs_hash: bool = False  # of little use without the hash of the model, which reads the whole file
    extra_seconds: float = 0  # time allowed besides that of every card


class ComparisonFormat(NamedTuple):
    render: Callable[["Comparison"], str]
    suffix: str


def __getattr__(name: str) -> Any:
    if name in ("ChartLinks", "Report"):
        return getattr(import_module("onnx_autodoc.render.content"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _load(module: str, function: str) -> Any:
    return getattr(import_module(f"onnx_autodoc.render.{module}"), function)


def _lazy(module: str, function: str, clean: Callable[[str], str] = str) -> Callable[[Any], Any]:
    """Return a renderer that is imported on first use; `clean` checks its text last."""

    def render(content: object) -> str | bytes:
        document: str | bytes = _load(module, function)(content)
        return clean(document) if isinstance(document, str) else document

    return render


def _lazy_outcome(name: str) -> Callable[["Report"], str]:
    """Return a renderer of the outcome of a check against the default policy."""

    def render(report: "Report") -> str:
        return render_outcome(_load("outcome", "check_report")(report), name)

    return render


FORMATS: Final[dict[str, Format]] = {
    "terminal": Format(_lazy("terminal", "render_terminal", sanitize_text), ".txt", needs_hardware=True),
    "markdown": Format(
        *(_lazy("markdown", "render_markdown", sanitize_text), ".md", "card.md"), has_charts=True, needs_hardware=True
    ),
    "html": Format(_lazy("html.page", "render_html"), ".html", "card.html", needs_hardware=True),
    "json": Format(_lazy("json", "render_json", sanitize_json), ".json", "card.json", needs_hardware=True),
    "architecture": Format(_lazy("architecture", "render_architecture", sanitize_text), ".md", "architecture.md"),
    "nodes": Format(_lazy("json", "render_nodes", sanitize_json), ".jsonl"),
    "csv": Format(_lazy("csv", "render_csv", sanitize_text), ".csv", "nodes.csv"),
    "mermaid": Format(_lazy("mermaid", "render_mermaid", sanitize_text), ".mmd"),
    "huggingface": Format(
        *(_lazy("huggingface", "render_huggingface", sanitize_text), ".md", None),
        has_charts=True,
        merge=lambda old, new: str(_load("huggingface", "merge_readme")(old, new)),
        needs_hardware=True,
    ),
    "pdf": Format(_lazy("html.page", "render_pdf"), ".pdf", needs_hardware=True, extra_seconds=120),
    "cyclonedx": Format(_lazy("cyclonedx", "render_cyclonedx", sanitize_json), ".cdx.json", needs_hash=True),
    "sarif": Format(_lazy_outcome("sarif"), ".sarif"),
    "junit": Format(_lazy_outcome("junit"), ".xml"),
    "github": Format(_lazy_outcome("github"), ".log"),
}
COMPARISON_FORMATS: Final = {
    "terminal": ComparisonFormat(_lazy("comparison.terminal", "render_terminal", sanitize_text), ".txt"),
    "markdown": ComparisonFormat(_lazy("comparison.sections", "render_markdown", sanitize_text), ".md"),
    "html": ComparisonFormat(_lazy("comparison.page", "render_html"), ".html"),
    "json": ComparisonFormat(_lazy("json", "format_json", sanitize_json), ".json"),
}
OUTCOME_FORMATS: Final = {
    "text": ("outcome", "render_outcome_text"),
    "json": ("outcome", "render_outcome_json"),
    "sarif": ("sarif", "render_outcome_sarif"),
    "junit": ("junit", "render_outcome_junit"),
    "github": ("github", "render_annotations"),
}


def render_terminal(report: "Report", color: bool = False) -> str:
    return str(_load("terminal", "render_terminal")(report, color))


def render_comparison_terminal(comparison: "Comparison", color: bool = False) -> str:
    return str(_load("comparison.terminal", "render_terminal")(comparison, color))


def format_result(result: object) -> str:
    """Return the result of any command as JSON."""
    return sanitize_json(_load("json", "format_json")(result))


def render_outcome(result: "Outcome", format_name: str, used_bytes: int = 0) -> str:
    """Render a policy check as text, json, sarif, junit, github, or as job summary after `used_bytes` of it."""
    if format_name == "summary":
        from onnx_autodoc.render.github import MAX_SUMMARY_BYTES, render_job_summary

        return render_job_summary(result, MAX_SUMMARY_BYTES - used_bytes)
    return str(_load(*OUTCOME_FORMATS[format_name])(result))


def chart_files(report: "Report", suffix: str) -> dict[str, str | bytes]:
    """Return the charts of a card as files, by name."""
    files: dict[str, str | bytes] = _load("charts", "chart_files")(report.card, suffix)
    return files
