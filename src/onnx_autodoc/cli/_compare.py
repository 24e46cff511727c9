"""`onnx-autodoc compare`: what differs between models, or between cards of them."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_autodoc.cli._isolated_command import answered
from onnx_autodoc.cli._limits import limit_options
from onnx_autodoc.cli._options import dimension_options, request_of
from onnx_autodoc.cli._places import file_at, has_color, keep_apart
from onnx_autodoc.errors import BadInput

if TYPE_CHECKING:
    from onnx_autodoc.cli._answer import Answer, Document
    from onnx_autodoc.compare import Comparison, Figures

FORMAT_NAMES = ("terminal", "markdown", "html", "json")
_LARGEST = 1 << 24  # bytes of a file of figures


def add(commands: Any) -> None:
    parser = commands.add_parser("compare", help="what differs between models or JSON cards")
    parser.add_argument(
        "models", nargs="+", metavar="MODEL", help="ONNX files or JSON cards, the first to compare with"
    )
    parser.add_argument("-o", "--output", metavar="PATH", help="write to a file (.md .html .json .txt)")
    parser.add_argument("--format", choices=FORMAT_NAMES, help="default: by the suffix of -o, else terminal")
    parser.add_argument("--weights", action="store_true", help="also compare the numbers in the weights (reads them)")
    parser.add_argument("--figures", metavar="FILE", help="accuracy, latency and the like, from a JSON or CSV file")
    dimension_options(parser)
    limit_options(parser)
    parser.set_defaults(run=answered(run))


def run(options: argparse.Namespace) -> "Answer":
    from onnx_autodoc.api import beside
    from onnx_autodoc.api._compare import carded_all, compared
    from onnx_autodoc.cli._answer import Answer, Sources

    if len(options.models) < 2:
        raise BadInput(f"compare: {options.models[0]} alone has nothing to be compared with; name two or more")
    path, format_name = _target(options.output, options.format)
    named = (*options.models, options.figures)
    keep_apart([path], named)
    figures = _figures(options.figures)
    cards = carded_all(options.models, request_of(options), options.weights)
    made = compared(options.models, cards, options.weights, figures)
    kept = (file for model, card in zip(options.models, cards) for file in beside(model, card))
    return Answer((_document(made, path, format_name),), Sources.of(named, kept))


def _figures(path: str | None) -> "Figures | None":
    from onnx_autodoc.compare import read_figures
    from onnx_autodoc.readers import side_text

    if path is None:
        return None
    return read_figures(side_text(path, "a table of figures", _LARGEST), path)


def _target(output: str | None, format_name: str | None) -> tuple[Path | None, str]:
    """Where to, and in which format: known to be sensible before any work is done."""
    from onnx_autodoc.render.comparison import COMPARISONS

    if output is None or output == "-":
        return None, format_name or "terminal"
    path = file_at(output)
    known = {entry.suffix: name for name, entry in COMPARISONS.items()}
    if format_name is None and path.suffix.lower() not in known:
        raise BadInput(f"-o {output}: the suffix {path.suffix!r} is no known format; use one of {' '.join(known)}")
    return path, format_name or known[path.suffix.lower()]


def _document(comparison: "Comparison", path: Path | None, format_name: str) -> "Document":
    from onnx_autodoc.cli._answer import Document
    from onnx_autodoc.render.comparison import COMPARISONS, render_comparison_terminal

    if path is None and format_name == "terminal":
        return Document.of(render_comparison_terminal(comparison, has_color()))
    made = COMPARISONS[format_name].render(comparison)
    return Document.of(made, path)
