"""The commands."""

import argparse
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, NoReturn

from onnx_autodoc import __version__
from onnx_autodoc.cli.card import add_card, add_demo
from onnx_autodoc.cli.check import add_check
from onnx_autodoc.cli.compare import add_compare
from onnx_autodoc.cli.reference import add_devices, add_rules, add_schema
from onnx_autodoc.cli.runtime import add_calibrate, add_verify
from onnx_autodoc.cli.stdout import write_stdout
from onnx_autodoc.errors import BadInput

COMMANDS: Final = (
    *("card", "compare", "check", "verify", "calibrate", "devices", "rules", "explain", "demo", "schema"),
    *("help", "version"),
)
_PROGRAM_OPTIONS: Final = ("-h", "--help", "-V", "--version")


class _Parser(argparse.ArgumentParser):
    """Raises `BadInput` with one line for a wrong argument, and accepts no abbreviated options."""

    def __init__(self, *words: Any, **settings: Any) -> None:
        super().__init__(*words, **{"allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message} (see {self.prog} --help)")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; `onnx-autodoc MODEL` is short for `onnx-autodoc card MODEL`."""
    words = list(argv)
    if words and words[0] not in (*COMMANDS, *_PROGRAM_OPTIONS):
        words.insert(0, "card")
    return _create_parser().parse_args(words or ["--help"])


def _create_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="onnx-autodoc",
        description="Write model documentation from ONNX files.",
        epilog="onnx-autodoc MODEL is short for onnx-autodoc card MODEL.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"onnx-autodoc {__version__}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_Parser, prog=parser.prog
    )
    for add in (
        *(add_card, add_compare, add_check, add_verify, add_calibrate, add_devices, add_rules, add_demo, add_schema),
        _add_help,
    ):
        add(commands)
    commands.add_parser("version", help="print the version of the tool").set_defaults(run=_run_version)
    return parser


def _add_help(commands: Any) -> None:
    parser = commands.add_parser("help", help="print the help of a command")
    parser.add_argument("command", nargs="?", choices=COMMANDS, metavar="COMMAND", help="default: all commands")
    parser.set_defaults(run=_run_help)


def _run_help(options: argparse.Namespace) -> int:
    words = [options.command] if options.command else []
    with suppress(SystemExit):  # argparse exits after printing
        parse([*words, "--help"])
    return 0


def _run_version(_: argparse.Namespace) -> int:
    write_stdout(f"onnx-autodoc {__version__}\n")
    return 0
