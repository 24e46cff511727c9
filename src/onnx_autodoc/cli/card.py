"""`onnx-autodoc card` and `demo`: the card of a model, of a stored JSON card, or of the bundled model."""

import argparse
from typing import TYPE_CHECKING, Any

from onnx_autodoc.cli.isolated_command import isolate
from onnx_autodoc.cli.options import (
    add_dimension_options,
    add_hardware_options,
    add_limit_options,
    add_logging_options,
    build_hardware_options,
    build_request,
    first_hardware_option,
    hardware_files,
)
from onnx_autodoc.cli.paths import check_not_source
from onnx_autodoc.errors import BadInput
from onnx_autodoc.render import FORMATS

if TYPE_CHECKING:
    from onnx_autodoc.cli.result import CommandResult


def add_card(commands: Any) -> None:
    parser = commands.add_parser("card", help="write the card of a model", description="Write the card of a model.")
    parser.add_argument("model", metavar="MODEL", help="an ONNX file, or a JSON card to render again")
    _add_output_options(parser)
    add_dimension_options(parser)
    add_hardware_options(parser)
    parser.add_argument("--sha256", action="store_true", help="hash the model and its external files (reads all bytes)")
    parser.add_argument(
        "--weights", action="store_true", help="read the weights: statistics of their values and lint rules"
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="run the model to verify shapes and measure latency and memory (extra [run])",
    )
    add_limit_options(parser)
    add_logging_options(parser)
    parser.set_defaults(run=isolate(run_card))


def add_demo(commands: Any) -> None:
    parser = commands.add_parser("demo", help="write the card of a small bundled model")
    _add_output_options(parser)
    add_logging_options(parser)
    parser.set_defaults(run=isolate(run_demo, "demo"))


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="a file, whose suffix selects the format (.md .html .json .csv .jsonl .mmd .pdf .cdx.json .sarif .xml "
        ".txt); a folder, for Markdown, HTML, JSON, the nodes as CSV and charts; or - for standard output",
    )
    parser.add_argument("--format", choices=tuple(FORMATS), help="default: from the suffix of -o, else terminal")
    parser.add_argument(
        "--pictures", choices=("svg", "png"), help="format of the chart files of Markdown (default svg)"
    )


def run_card(options: argparse.Namespace) -> "CommandResult":
    from onnx_autodoc.api import external_paths, is_json_card, load_report, make_card
    from onnx_autodoc.cli.card_output import Target, render_documents
    from onnx_autodoc.cli.result import CommandResult, SourceFiles

    target = Target.of(options.output, options.format, options.pictures)
    sources = (options.model, *hardware_files(options))
    check_not_source([target.path], sources)
    unused = "--verify" if options.verify else first_hardware_option(options)
    if unused and not target.has_estimates:
        raise BadInput(f"{unused}: has no effect on --format {target.format}; remove it")
    make = load_report if is_json_card(options.model, strict=True) else make_card
    report = make(
        options.model,
        build_request(options),
        build_hardware_options(options),
        sha256=options.sha256 or target.needs_hash,
        weights=options.weights,
        verify=options.verify,
    )
    external = external_paths(options.model, report.card)
    return CommandResult(render_documents(report, target), SourceFiles.of(sources, external))


def run_demo(options: argparse.Namespace) -> "CommandResult":
    """Print the card of the bundled model; with -o write it too."""
    from importlib.resources import as_file, files

    from onnx_autodoc.api import make_card
    from onnx_autodoc.cli.card_output import Target, render_documents
    from onnx_autodoc.cli.result import CommandResult, SourceFiles
    from onnx_autodoc.shapes import Request

    target = Target.of(options.output, options.format, options.pictures)
    with as_file(files("onnx_autodoc") / "data" / "demo.onnx") as path:
        report = make_card(path, Request(), sha256=target.needs_hash)
        prints_card = target.path is not None and not options.format
        printed = render_documents(report, Target.of(None, None)) if prints_card else ()
        return CommandResult((*printed, *render_documents(report, target)), SourceFiles.of([str(path)]))
