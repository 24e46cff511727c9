"""`onnx-autodoc compare`: what differs between models, or between cards of them."""

import argparse
from typing import Any

from onnx_autodoc.cli._options import dimension_options
from onnx_autodoc.errors import BadInput

FORMAT_NAMES = ("terminal", "markdown", "html", "json")


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
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    raise BadInput("compare: not built yet")
