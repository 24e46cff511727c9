"""`onnx-autodoc check`: whether models pass a policy. The CI gate."""

import argparse
from typing import Any

from onnx_autodoc.cli._options import dimension_options
from onnx_autodoc.errors import BadInput

FORMAT_NAMES = ("text", "json", "sarif", "junit", "github")


def add(commands: Any) -> None:
    parser = commands.add_parser("check", help="whether models pass a policy: the CI gate")
    parser.add_argument("models", nargs="+", metavar="MODEL", help="ONNX files or JSON cards")
    parser.add_argument("--policy", required=True, metavar="FILE", help="limits, changes and rules, as TOML or YAML")
    parser.add_argument("--baseline", metavar="CARD", help="the JSON card or model that [changes] are measured against")
    parser.add_argument("-o", "--output", metavar="PATH", help="write to a file (.json .sarif .xml .md .txt)")
    parser.add_argument("--format", choices=FORMAT_NAMES, help="default: by the suffix of -o, else text")
    parser.add_argument("--weights", action="store_true", help="also judge the numbers in the weights (reads them)")
    dimension_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    raise BadInput("check: not built yet")
