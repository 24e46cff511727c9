"""The commands and their options."""

import argparse
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from onnx_autodoc import __version__
from onnx_autodoc.cli import _calibrate, _check, _compare, _devices, _rules, _verify
from onnx_autodoc.cli._commands import run_card, run_demo, run_schema
from onnx_autodoc.cli._isolated_command import answered
from onnx_autodoc.cli._limits import limit_options
from onnx_autodoc.cli._options import dimension_options, hardware_options
from onnx_autodoc.errors import BadInput

# The names of render.FORMATS, written out because importing it would cost `--help` its speed (a test compares them).
FORMAT_NAMES: Final = (
    *("terminal", "markdown", "html", "json", "architecture", "nodes", "csv", "mermaid", "huggingface", "pdf"),
    *("cyclonedx", "sarif", "junit", "github"),
)
SCHEMA_NAMES: Final = ("card", "comparison", "policy", "verdict")  # of schema.SCHEMAS
COMMANDS: Final = ("card", "compare", "check", "verify", "calibrate", "devices", "rules", "explain", "demo", "schema")


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as every other error does, and guesses no option from its beginning."""

    def __init__(self, *words: Any, **settings: Any) -> None:
        super().__init__(*words, **{"allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message} (see {self.prog} --help)")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """`onnx-autodoc MODEL` is short for `onnx-autodoc card MODEL`."""
    words = list(argv)
    if words and words[0] not in (*COMMANDS, "-h", "--help", "--version"):
        words.insert(0, "card")
    return _parser().parse_args(words or ["--help"])


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="onnx-autodoc",
        description="A model file goes in, a document that a person can trust comes out.",
        epilog="onnx-autodoc MODEL is short for onnx-autodoc card MODEL.",
    )
    parser.add_argument("--version", action="version", version=f"onnx-autodoc {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)

    card = commands.add_parser("card", help="the card of a model", description="The card of a model file.")
    card.add_argument("model", metavar="MODEL", help="an ONNX file")
    _output_options(card)
    dimension_options(card)
    hardware_options(card)
    card.add_argument("--sha256", action="store_true", help="also hash the file (reads all of it, weights too)")
    card.add_argument("--weights", action="store_true", help="also read the numbers in the weights, and judge them")
    card.add_argument("--verify", action="store_true", help="also run the model: shapes, latency, memory (extra [run])")
    limit_options(card)
    card.set_defaults(run=answered(run_card))

    _compare.add(commands)
    _check.add(commands)
    _verify.add(commands)
    _calibrate.add(commands)
    _devices.add(commands)
    _rules.add(commands)

    demo = commands.add_parser("demo", help="the card of a small real model that comes with the tool")
    _output_options(demo)
    demo.set_defaults(run=answered(run_demo, "demo"))

    schema = commands.add_parser("schema", help="print a JSON Schema")
    schema.add_argument("what", nargs="?", choices=SCHEMA_NAMES, default="card", help="whose (default: the card's)")
    schema.set_defaults(run=run_schema)
    return parser


def _output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="write to a file, whose suffix chooses the format (.md .html .json .csv .jsonl .mmd .pdf .cdx.json .sarif "
        ".xml .txt); to a folder, which gets Markdown, HTML, JSON, the nodes as CSV and pictures; or to standard "
        "output (-)",
    )
    parser.add_argument("--format", choices=FORMAT_NAMES, help="default: by the suffix of -o, else terminal")
    parser.add_argument("--pictures", choices=("svg", "png"), help="the charts beside Markdown (default svg)")
