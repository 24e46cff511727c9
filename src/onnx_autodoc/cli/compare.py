"""`onnx-autodoc compare`: the differences between models or cards."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_autodoc.cli.isolated_command import isolate
from onnx_autodoc.cli.options import add_dimension_options, add_limit_options, add_logging_options, build_request
from onnx_autodoc.cli.paths import check_file, check_not_source
from onnx_autodoc.cli.stdout import has_color
from onnx_autodoc.errors import BadInput
from onnx_autodoc.render import COMPARISON_FORMATS

if TYPE_CHECKING:
    from onnx_autodoc.cli.result import CommandResult, OutputDocument
    from onnx_autodoc.compare import Comparison

_MAX_FIGURES_BYTES = 1 << 24


def add_compare(commands: Any) -> None:
    parser = commands.add_parser("compare", help="compare models or JSON cards")
    parser.add_argument(
        "models", nargs="+", metavar="MODEL", help="ONNX files or JSON cards; each is compared with the first"
    )
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="a file (.md .html .json .txt), or - for standard output"
    )
    parser.add_argument(
        "--format", choices=tuple(COMPARISON_FORMATS), help="default: from the suffix of -o, else terminal"
    )
    parser.add_argument("--weights", action="store_true", help="read the weights and compare their values")
    parser.add_argument("--figures", metavar="FILE", help="JSON or CSV file with accuracy, latency or other results")
    add_dimension_options(parser)
    add_limit_options(parser)
    add_logging_options(parser)
    parser.set_defaults(run=isolate(run_compare))


def run_compare(options: argparse.Namespace) -> "CommandResult":
    from onnx_autodoc.api import external_paths
    from onnx_autodoc.api.comparison import compare_sources, load_cards
    from onnx_autodoc.cli.result import CommandResult, SourceFiles
    from onnx_autodoc.compare import read_figures
    from onnx_autodoc.storage import read_config_text

    if len(options.models) < 2:
        raise BadInput(f"compare: {options.models[0]} is the only model; name two or more")
    path, format_name = _resolve_output(options.output, options.format)
    sources = (*options.models, options.figures)
    check_not_source([path], sources)
    figures = None
    if options.figures is not None:
        text = read_config_text(options.figures, "a table of figures", _MAX_FIGURES_BYTES)
        figures = read_figures(text, options.figures)
    cards = load_cards(options.models, build_request(options), options.weights)
    comparison = compare_sources(options.models, cards, options.weights, figures)
    external = (file for model, card in zip(options.models, cards) for file in external_paths(model, card))
    return CommandResult((_render(comparison, path, format_name),), SourceFiles.of(sources, external))


def _resolve_output(output: str | None, format_name: str | None) -> tuple[Path | None, str]:
    """Return the path and the format, checked before any work is done."""
    if output is None or output == "-":
        return None, format_name or "terminal"
    path = check_file(output)
    known = {entry.suffix: name for name, entry in COMPARISON_FORMATS.items()}
    if format_name is None and path.suffix.lower() not in known:
        raise BadInput(f"-o {output}: unknown suffix {path.suffix!r}; use one of {' '.join(known)}, or --format")
    return path, format_name or known[path.suffix.lower()]


def _render(comparison: "Comparison", path: Path | None, format_name: str) -> "OutputDocument":
    from onnx_autodoc.cli.result import OutputDocument
    from onnx_autodoc.render import render_comparison_terminal

    if path is None and format_name == "terminal":
        return OutputDocument.of(render_comparison_terminal(comparison, has_color()))
    return OutputDocument.of(COMPARISON_FORMATS[format_name].render(comparison), path)
