"""`onnx-autodoc verify` and `calibrate`: run models with onnxruntime."""

import argparse
from typing import TYPE_CHECKING, Any, Final

from onnx_autodoc.cli.isolated_command import isolate
from onnx_autodoc.cli.options import (
    add_dimension_options,
    add_limit_options,
    add_logging_options,
    build_request,
    positive_int,
)

if TYPE_CHECKING:
    from onnx_autodoc.api.calibration import CalibrationResult
    from onnx_autodoc.cli.result import CommandResult

VERIFY_FORMAT_NAMES: Final = ("text", "json")
_VERIFY_SECONDS: Final = 600


def add_verify(commands: Any) -> None:
    parser = commands.add_parser(
        "verify",
        help="run a model to verify its card and measure latency and memory",
        description="Run the model with onnxruntime in a separate process. Exit code 0: all shapes equal those of the "
        "card; 1: some differ. Requires pip install 'onnx-autodoc[run]'.",
    )
    parser.add_argument("model", metavar="MODEL", help="an ONNX file")
    parser.add_argument("--format", choices=VERIFY_FORMAT_NAMES, default="text", help="default: text")
    parser.add_argument("--runs", type=positive_int, metavar="N", help="timed runs (default: at least 10, about 2 s)")
    parser.add_argument("--threads", type=positive_int, metavar="N", help="threads (default: chosen by onnxruntime)")
    parser.add_argument(
        "--provider", default="CPU", metavar="NAME", help="execution provider of onnxruntime (default: CPU)"
    )
    parser.add_argument("--force", action="store_true", help="measure latency even if the machine is busy")
    add_dimension_options(parser)
    add_limit_options(parser, f"{_VERIFY_SECONDS} for the runs")
    add_logging_options(parser)
    parser.set_defaults(run=isolate(run_verify))


def run_verify(options: argparse.Namespace) -> "CommandResult":
    from onnx_autodoc.cli.result import CommandResult, OutputDocument, SourceFiles
    from onnx_autodoc.runtime import Options, verify
    from onnx_autodoc.text import sanitize_text

    run_options = Options(
        options.threads, options.runs, options.provider, options.timeout or _VERIFY_SECONDS, options.force
    )
    verified = verify(options.model, build_request(options), run_options)
    if options.format == "json":
        from onnx_autodoc.render import format_result

        text = format_result(verified)
    else:
        from onnx_autodoc.render.verification import format_verification

        text = sanitize_text(format_verification(verified))
    return CommandResult((OutputDocument.of(text),), SourceFiles.of([options.model]), 0 if verified.agrees else 1)


def add_calibrate(commands: Any) -> None:
    parser = commands.add_parser(
        "calibrate",
        help="benchmark this machine once, for better estimates",
        description="Run small benchmark graphs with onnxruntime on this machine's CPU and store a profile; "
        "`--device auto` then has calibrated times. Requires pip install 'onnx-autodoc[run]'.",
    )
    parser.add_argument(
        "models", nargs="*", metavar="MODEL", help="your models, to improve the profile and measure its error"
    )
    parser.add_argument("--quick", action="store_true", help="shorter runs, less accurate")
    parser.add_argument("--threads", type=positive_int, metavar="N", help="threads (default: chosen by onnxruntime)")
    parser.add_argument("--profile", metavar="FILE", help="file to write (default: in your data folder)")
    parser.add_argument("--force", action="store_true", help="run even if the machine is busy")
    add_limit_options(parser, "depends on the benchmarks and models")
    add_logging_options(parser)
    parser.set_defaults(run=isolate(run_calibrate, "calibrate"))


def run_calibrate(options: argparse.Namespace) -> "CommandResult":
    from onnx_autodoc.api import generation_stamp
    from onnx_autodoc.api.calibration import calibrate
    from onnx_autodoc.cli.result import CommandResult, OutputDocument, SourceFiles
    from onnx_autodoc.runtime.calibration import check_profile_path, encode_profile, profile_path
    from onnx_autodoc.text import sanitize_text

    path = profile_path(options.profile)
    check_profile_path(path)
    result = calibrate(
        options.models, generation_stamp().at, quick=options.quick, threads=options.threads, force=options.force
    )
    text = sanitize_text(_format_calibration(result) + f"Written to {path}; `--device auto` uses it.\n")
    documents = (OutputDocument.of(encode_profile(result.profile), path), OutputDocument.of(text))
    return CommandResult(documents, SourceFiles.of(options.models))


def _format_calibration(result: "CalibrationResult") -> str:
    from onnx_autodoc.runtime import describe_access
    from onnx_autodoc.text import format_bytes, format_number, format_percent, pluralize, sanitize

    profile, spread = result.profile, result.profile.spread
    load = "" if result.load is None else f", {format_percent(result.load)} of it used by other processes before"
    graphs, cache = pluralize(spread.graphs, "graph"), format_bytes(round(profile.cache_bytes))
    lines = [
        f"Machine     {sanitize(profile.machine)}, {pluralize(profile.threads, 'thread')}{load}",
        f"Runtime     {sanitize(profile.runtime)}",
        f"Memory      {format_number(profile.bandwidth / 1e9)} GB/s copy bandwidth; {cache} cache",
        f"Benchmarks  {pluralize(len(profile.kernels), 'kernel kind')} timed",
        f"Error       {format_percent(spread.median_error)} median over {graphs}, each left out of the fit",
        f"Range       {format_number(spread.low)} to {format_number(spread.high)} times the expected time",
    ]
    lines += [f"  {format_number(ratio):>6} × measured  {sanitize(name, 60)}" for name, ratio in result.ratios.items()]
    lines += [f"Note        {note}" for note in describe_access(result.accessible)]
    return "\n".join(lines) + "\n"
