"""`onnx-autodoc verify`: runs the model, and says whether the card's shapes are what really happened."""

import argparse
import re
from typing import Any, Final

from onnx_autodoc.cli._options import dimension_options, positive, request_of
from onnx_autodoc.cli._places import put

FORMAT_NAMES: Final = ("text", "json")
_LONGEST: Final = 600  # seconds


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "verify",
        help="run a model: are the card's shapes what really happens, and how long does it take",
        description="Runs the model with onnxruntime, in a process of its own. Exit 0: every shape is as the card "
        "says; 1: some differ. Needs pip install 'onnx-autodoc[run]'.",
    )
    parser.add_argument("model", metavar="MODEL", help="an ONNX file")
    parser.add_argument("--format", choices=FORMAT_NAMES, default="text", help="default: text")
    parser.add_argument("--runs", type=positive, metavar="N", help="timed runs (default: at least 10, about 2 s)")
    parser.add_argument("--threads", type=positive, metavar="N", help="threads (default: onnxruntime's own choice)")
    parser.add_argument("--provider", default="CPU", metavar="NAME", help="of onnxruntime (default: CPU)")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=_LONGEST,
        metavar="S",
        help=f"seconds for everything together (default {_LONGEST})",
    )
    parser.add_argument("--force", action="store_true", help="print a latency also from a busy machine")
    dimension_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from onnx_autodoc.run import Options, said, verify

    asked = Options(options.threads, options.runs, options.provider, options.timeout, options.force)
    found = verify(options.model, request_of(options), asked)
    if options.format == "json":
        import msgspec

        put(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
    else:
        put(said(found))
    return 0 if found.agrees else 1


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,3})?", text) or float(text) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return float(text)
