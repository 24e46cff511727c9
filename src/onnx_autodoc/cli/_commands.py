"""What the commands on one model do, from parsed options to an answer."""

from argparse import Namespace
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from onnx_autodoc.cli._places import keep_apart, put
from onnx_autodoc.errors import BadInput

if TYPE_CHECKING:
    from onnx_autodoc.cli._answer import Answer


def run_card(options: Namespace) -> "Answer":
    from onnx_autodoc.api import beside, report
    from onnx_autodoc.cli._answer import Answer, Sources
    from onnx_autodoc.cli._options import asked_of, hardware_files, hardware_option, request_of
    from onnx_autodoc.cli._output import Target, documents

    target = Target.of(options.output, options.format, options.pictures)
    named = (options.model, *hardware_files(options))
    keep_apart([target.path], named)
    given = "--verify" if options.verify else hardware_option(options)
    if given and not target.estimated:
        raise BadInput(f"{given}: nothing in --format {target.format} depends on it; leave it out")
    hashed = options.sha256 or target.hashed
    made = report(options.model, request_of(options), hashed, options.weights, asked_of(options), options.verify)
    return Answer(documents(made, target), Sources.of(named, beside(options.model, made.card)))


def run_demo(options: Namespace) -> "Answer":
    """The card of the bundled model on the terminal; with -o also as files."""
    from onnx_autodoc.api import report
    from onnx_autodoc.cli._answer import Answer, Sources
    from onnx_autodoc.cli._output import Target, documents
    from onnx_autodoc.shapes import Request

    target = Target.of(options.output, options.format, options.pictures)
    with as_file(files("onnx_autodoc") / "data" / "demo.onnx") as path:
        found = report(path, Request(), target.hashed)
        shown = target.path is not None and not options.format
        first = documents(found, Target.of(None, None)) if shown else ()
        return Answer((*first, *documents(found, target)), Sources.of([str(path)]))


def run_schema(options: Namespace) -> int:
    from onnx_autodoc.schema import SCHEMAS

    put(SCHEMAS[options.what]())
    return 0
