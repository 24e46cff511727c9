"""`onnx-autodoc calibrate`: measures this machine once, so that estimates for it need no run."""

import argparse
from typing import TYPE_CHECKING, Any

from onnx_autodoc.cli._isolated_command import answered
from onnx_autodoc.cli._limits import limit_options
from onnx_autodoc.cli._options import positive

if TYPE_CHECKING:
    from onnx_autodoc.api._calibrate import Calibrated
    from onnx_autodoc.cli._answer import Answer


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "calibrate",
        help="measure this machine once, for better estimates",
        description="Runs small benchmark graphs with onnxruntime on this machine's CPU and keeps what they say; "
        "`--device auto` then has a range. Needs pip install 'onnx-autodoc[run]'.",
    )
    parser.add_argument(
        "models", nargs="*", metavar="MODEL", help="models of your own, to learn from and to be judged by"
    )
    parser.add_argument("--quick", action="store_true", help="shorter runs, rougher numbers")
    parser.add_argument("--threads", type=positive, metavar="N", help="threads (default: onnxruntime's own choice)")
    parser.add_argument("--profile", metavar="FILE", help="where to keep it (default: in your folder for data)")
    parser.add_argument("--force", action="store_true", help="also on a busy machine")
    limit_options(parser, usual="by the benchmarks and the models")
    parser.set_defaults(run=answered(run, "calibrate"))


def run(options: argparse.Namespace) -> "Answer":
    from onnx_autodoc.api import generated
    from onnx_autodoc.api._calibrate import calibrate
    from onnx_autodoc.cli._answer import Answer, Document, Sources
    from onnx_autodoc.runtime.calibration import check_place, encoded, place
    from onnx_autodoc.text import quiet

    path = place(options.profile)
    check_place(path)
    found = calibrate(options.models, generated().at, quick=options.quick, threads=options.threads, force=options.force)
    text = quiet(_said(found) + f"Kept in {path}; `--device auto` uses it.\n")
    return Answer((Document.of(encoded(found.profile), path), Document.of(text)), Sources.of(options.models))


def _said(found: "Calibrated") -> str:
    from onnx_autodoc.text import clean, memory, percent, plural, three

    made, spread = found.profile, found.profile.spread
    load = "" if found.load is None else f", {percent(found.load)} of it used by others before"
    lines = [
        f"Machine     {clean(made.machine)}, {plural(made.threads, 'thread')}{load}",
        f"Runtime     {clean(made.runtime)}",
        f"Memory      {three(made.bandwidth / 1e9)} GB/s copied; {memory(round(made.cache))} of cache",
        f"Benchmarks  {plural(len(made.paces), 'kind')} of kernels timed",
        f"Error       {percent(spread.median_error)} in the median of {plural(spread.graphs, 'graph')}, each left out",
        f"Range       {three(spread.low)} to {three(spread.high)} times the expected time",
    ]
    lines += [f"  {three(ratio):>6} × measured  {clean(name, 60)}" for name, ratio in found.ratios.items()]
    return "\n".join(lines) + "\n"
