"""`onnx-autodoc check`: the CI gate, whether models pass a policy."""

import argparse
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from onnx_autodoc.cli.isolated_command import isolate
from onnx_autodoc.cli.options import (
    add_dimension_options,
    add_hardware_options,
    add_limit_options,
    add_logging_options,
    build_hardware_options,
    build_request,
    hardware_files,
)
from onnx_autodoc.cli.paths import appendable_size, check_distinct, check_file, check_not_source
from onnx_autodoc.errors import BadInput
from onnx_autodoc.render import OUTCOME_FORMATS

if TYPE_CHECKING:
    from onnx_autodoc.cli.result import CommandResult, OutputDocument
    from onnx_autodoc.policy import NamedCard, Outcome, Policy

_SUFFIXES: Final = {".txt": "text", ".json": "json", ".sarif": "sarif", ".xml": "junit", ".md": "github"}
_STEP_SUMMARY_VARIABLE: Final = "GITHUB_STEP_SUMMARY"


class _StoreOnce(argparse.Action):
    """Refuse a second value, which argparse would let replace the first."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option_string} {values}: given twice, first as {getattr(namespace, self.dest)}")
        setattr(namespace, self.dest, values)


def add_check(commands: Any) -> None:
    parser = commands.add_parser("check", help="check models against a policy (CI gate)")
    parser.add_argument("models", nargs="+", metavar="MODEL", help="ONNX files or JSON cards")
    parser.add_argument(
        "--policy",
        required=True,
        action=_StoreOnce,
        metavar="FILE",
        help="policy with limits, changes and rules: TOML, YAML or JSON",
    )
    parser.add_argument(
        "--baseline",
        action=_StoreOnce,
        metavar="CARD",
        help="JSON card or model that [changes] compare with",
    )
    parser.add_argument(
        "-o",
        "--output",
        action="append",
        metavar="PATH",
        help="a file (.json .sarif .xml .md .txt), or - for standard output; repeatable",
    )
    parser.add_argument("--format", choices=tuple(OUTCOME_FORMATS), help="default: from the suffix of -o, else text")
    parser.add_argument(
        "--weights", action="store_true", help="read the weights and run the lint rules on their values"
    )
    add_dimension_options(parser)
    add_hardware_options(parser)
    add_limit_options(parser)
    add_logging_options(parser)
    parser.set_defaults(run=isolate(run_check))


def run_check(options: argparse.Namespace) -> "CommandResult":
    from onnx_autodoc.api import external_paths, generation_stamp, load_or_make_card
    from onnx_autodoc.cli.result import CommandResult, SourceFiles
    from onnx_autodoc.policy import check_cards, read_policy

    targets = _resolve_outputs(options.output, options.format)
    sources = (*options.models, options.policy, options.baseline, *hardware_files(options))
    check_distinct(path for path, _ in targets)
    check_not_source((path for path, _ in targets), sources)
    policy = read_policy(options.policy)
    _check_options_used(policy, options)
    request, hardware = build_request(options), build_hardware_options(options)
    models = list(dict.fromkeys(options.models))
    cards = [(_display_path(model), load_or_make_card(model, request, options.weights, hardware)) for model in models]
    baseline = _load_baseline(options) if options.baseline else None
    result = check_cards(cards, policy, _display_path(options.policy), baseline, generation_stamp())
    documents = [document for path, format_name in targets for document in _render(result, path, format_name)]
    external = [file for model, (_, card) in zip(models, cards) for file in external_paths(model, card)]
    if baseline is not None:
        external += external_paths(options.baseline, baseline[1])
    return CommandResult(tuple(documents), SourceFiles.of(sources, external), 0 if result.passed else 1)


def _resolve_outputs(outputs: list[str] | None, format_name: str | None) -> list[tuple[Path | None, str]]:
    """Return the path and the format of each output, checked before any work is done."""
    if outputs and len(outputs) > 1 and format_name:
        raise BadInput("--format: not allowed with several -o, whose suffixes select the formats")
    return [_resolve_output(output, format_name) for output in outputs or ["-"]]


def _resolve_output(output: str, format_name: str | None) -> tuple[Path | None, str]:
    if output == "-":
        return None, format_name or "text"
    path = check_file(output)
    format_name = format_name or _SUFFIXES.get(path.suffix.lower())
    if format_name is None:
        known = " ".join(_SUFFIXES)
        raise BadInput(f"-o {output}: unknown suffix {path.suffix!r}; use one of {known}, or --format")
    return path, format_name


def _check_options_used(policy: "Policy", options: argparse.Namespace) -> None:
    from onnx_autodoc.api.gate import check_options_used

    check_options_used(policy, build_hardware_options(options), from_command_line=True)
    if policy.needs_baseline and not options.baseline:
        section = "[changes]" if policy.changes else "[rules] only_new"
        raise BadInput(f"{options.policy}: {section} requires a baseline; name it with --baseline")
    if options.baseline and not policy.needs_baseline:
        raise BadInput(
            f"--baseline {options.baseline}: has no effect, as the policy has neither [changes] nor only_new"
        )


def _load_baseline(options: argparse.Namespace) -> "NamedCard":
    """Return the baseline at the requested sizes; a JSON card has fixed ones, which the policy compares."""
    from onnx_autodoc.api import load_or_make_card
    from onnx_autodoc.api.gate import baseline_options
    from onnx_autodoc.shapes import Request

    path, hardware = options.baseline, baseline_options(options.baseline, build_hardware_options(options))
    try:
        card = load_or_make_card(path, build_request(options), options.weights, hardware)
    except BadInput:
        card = load_or_make_card(path, Request(), hardware=hardware)
    return _display_path(path), card


def _display_path(path: str) -> str:
    """Return a path relative to the current folder if it is below, as CI systems display files."""
    name = path
    with suppress(OSError, ValueError):  # it is elsewhere, or the current folder is deleted
        name = str(Path(path).relative_to(Path.cwd())) if Path(path).is_absolute() else path
    return os.fsencode(name).decode(errors="replace")  # a file name need not be text


def _render(result: "Outcome", path: Path | None, format_name: str) -> "tuple[OutputDocument, ...]":
    from onnx_autodoc.cli.result import OutputDocument
    from onnx_autodoc.render import render_outcome

    if format_name != "github":
        return (OutputDocument.of(render_outcome(result, format_name), path),)
    annotations = OutputDocument.of(render_outcome(result, "github"))  # always to the log
    if path is not None:
        return OutputDocument.of(render_outcome(result, "summary"), path), annotations
    variable = os.environ.get(_STEP_SUMMARY_VARIABLE)
    if not variable:
        return (annotations,)
    step_summary = Path(variable)  # shared with other steps, with a limit on its size
    text = render_outcome(result, "summary", appendable_size(step_summary))
    return OutputDocument.of(text, step_summary, append=True), annotations
