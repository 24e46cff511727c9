"""`onnx-autodoc verify`: runs the model, and says whether the card's shapes are what really happened."""

import argparse
from typing import TYPE_CHECKING, Any, Final

from onnx_autodoc.cli._isolated_command import answered
from onnx_autodoc.cli._limits import limit_options
from onnx_autodoc.cli._options import dimension_options, positive, request_of

if TYPE_CHECKING:
    from onnx_autodoc.cli._answer import Answer

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
    parser.add_argument("--force", action="store_true", help="print a latency also from a busy machine")
    dimension_options(parser)
    limit_options(parser, f"{_LONGEST} for the runs")
    parser.set_defaults(run=answered(run))


def run(options: argparse.Namespace) -> "Answer":
    from onnx_autodoc.cli._answer import Answer, Document, Sources
    from onnx_autodoc.runtime import Options, said, verify
    from onnx_autodoc.text import quiet

    asked = Options(options.threads, options.runs, options.provider, options.timeout or _LONGEST, options.force)
    found = verify(options.model, request_of(options), asked)
    if options.format == "json":
        from onnx_autodoc.render import as_json

        text = as_json(found)
    else:
        text = quiet(said(found))
    return Answer((Document.of(text),), Sources.of([options.model]), 0 if found.agrees else 1)
