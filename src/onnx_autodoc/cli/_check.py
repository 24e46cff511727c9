"""`onnx-autodoc check`: whether models pass a policy. The CI gate."""

import argparse
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from onnx_autodoc.cli._isolated_command import answered
from onnx_autodoc.cli._limits import limit_options
from onnx_autodoc.cli._options import asked_of, dimension_options, hardware_files, hardware_options, request_of
from onnx_autodoc.cli._places import check_once, file_at, keep_apart, size_of
from onnx_autodoc.errors import BadInput

if TYPE_CHECKING:
    from onnx_autodoc.api import Beside
    from onnx_autodoc.cli._answer import Answer, Document
    from onnx_autodoc.policy import Named, Outcome, Policy

FORMAT_NAMES: Final = ("text", "json", "sarif", "junit", "github")
_SUFFIXES: Final = {".txt": "text", ".json": "json", ".sarif": "sarif", ".xml": "junit", ".md": "github"}
_SUMMARY: Final = "GITHUB_STEP_SUMMARY"


class _Once(argparse.Action):
    """Of two policies the second would quietly take the first one's place."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option_string} {values}: there is one already, {getattr(namespace, self.dest)}")
        setattr(namespace, self.dest, values)


def add(commands: Any) -> None:
    parser = commands.add_parser("check", help="whether models pass a policy: the CI gate")
    parser.add_argument("models", nargs="+", metavar="MODEL", help="ONNX files or JSON cards")
    parser.add_argument(
        "--policy",
        required=True,
        action=_Once,
        metavar="FILE",
        help="limits, changes and rules: TOML, YAML or JSON",
    )
    parser.add_argument(
        "--baseline",
        action=_Once,
        metavar="CARD",
        help="the JSON card or model that [changes] are measured against",
    )
    parser.add_argument(
        "-o",
        "--output",
        action="append",
        metavar="PATH",
        help="write to a file (.json .sarif .xml .md .txt), or to standard output (-); repeatable",
    )
    parser.add_argument("--format", choices=FORMAT_NAMES, help="default: by the suffix of -o, else text")
    parser.add_argument("--weights", action="store_true", help="also judge the numbers in the weights (reads them)")
    dimension_options(parser)
    hardware_options(parser)
    limit_options(parser)
    parser.set_defaults(run=answered(run))


def run(options: argparse.Namespace) -> "Answer":
    from onnx_autodoc.api import generated
    from onnx_autodoc.cli._answer import Answer, Sources
    from onnx_autodoc.policy import outcome, read_policy

    targets = _targets(options.output, options.format)
    check_once(path for path, _ in targets)
    keep_apart((path for path, _ in targets), _named(options))
    policy = read_policy(options.policy)
    _check_use(policy, options)
    cards = [(_name(model), _opened(model, options)) for model in dict.fromkeys(options.models)]
    baseline = _baseline(options) if options.baseline else None
    found = outcome(cards, policy, _name(options.policy), baseline, generated())
    made = [document for path, format_name in targets for document in _documents(found, path, format_name)]
    kept = _beside([*zip(dict.fromkeys(options.models), cards), (options.baseline, baseline)])
    return Answer(tuple(made), Sources.of(_named(options), kept), 0 if found.passed else 1)


def _beside(cards: "Iterable[tuple[str, Named | None]]") -> "Iterator[Beside]":
    """Files with weights, by the path of each model and its card."""
    from onnx_autodoc.api import beside

    for path, named in cards:
        yield from beside(path, named[1]) if named is not None else ()


def _named(options: argparse.Namespace) -> tuple[str | None, ...]:
    return (*options.models, options.policy, options.baseline, *hardware_files(options))


def _targets(outputs: list[str] | None, format_name: str | None) -> list[tuple[Path | None, str]]:
    """Where to, and as what: known to be sensible before any work is done."""
    if outputs and len(outputs) > 1 and format_name:
        raise BadInput("--format: each of several -o has the format of its suffix; leave out --format")
    return [_target(output, format_name) for output in outputs or ["-"]]


def _target(output: str, format_name: str | None) -> tuple[Path | None, str]:
    if output == "-":
        return None, format_name or "text"
    path = file_at(output)
    found = format_name or _SUFFIXES.get(path.suffix.lower())
    if found is None:
        known = " ".join(_SUFFIXES)
        raise BadInput(f"-o {output}: the suffix {path.suffix} is no known format; use one of {known}, or --format")
    return path, found


def _check_use(policy: "Policy", options: argparse.Namespace) -> None:
    from onnx_autodoc.api._check import check_asked

    check_asked(policy, asked_of(options), option=True)
    if policy.needs_baseline and not options.baseline:
        asks = "[changes]" if policy.changes else "[rules] only_new"
        raise BadInput(f"{options.policy}: {asks} is measured against a card; give it with --baseline")
    if options.baseline and not policy.needs_baseline:
        raise BadInput(
            f"--baseline {options.baseline}: the policy has no [changes] and no only_new, so nothing uses it"
        )


def _opened(path: str, options: argparse.Namespace) -> Any:
    from onnx_autodoc.api import opened

    return opened(path, request_of(options), options.weights, asked_of(options))


def _baseline(options: argparse.Namespace) -> "Named":
    """At the sizes that were asked for. A JSON card has its own: whether they fit, the gate says."""
    from onnx_autodoc.api import opened
    from onnx_autodoc.api._check import asked_of_baseline
    from onnx_autodoc.shapes import Request

    path, asked = options.baseline, asked_of_baseline(options.baseline, asked_of(options))
    try:
        return _name(path), opened(path, request_of(options), options.weights, asked)
    except BadInput:
        return _name(path), opened(path, Request(), asked=asked)


def _name(path: str) -> str:
    """As seen from here, where it is below: what CI calls a file."""
    name = path
    with suppress(OSError, ValueError):  # it is elsewhere, or where we are is gone
        name = str(Path(path).relative_to(Path.cwd())) if Path(path).is_absolute() else path
    return os.fsencode(name).decode(errors="replace")  # a file's name need not be text


def _documents(found: "Outcome", path: Path | None, format_name: str) -> "tuple[Document, ...]":
    from onnx_autodoc.cli._answer import Document
    from onnx_autodoc.render import render_outcome

    if format_name == "github":
        return (*_summary(found, path), Document.of(render_outcome(found, "github")))
    made = render_outcome(found, format_name)
    return (Document.of(made, path),)


def _summary(found: "Outcome", path: Path | None) -> "tuple[Document, ...]":
    """To the file that was named, else behind what other steps wrote where the job keeps its own.

    Together it stays below what GitHub shows. The annotations go to the log."""
    from onnx_autodoc.cli._answer import Document
    from onnx_autodoc.render import render_outcome

    if path is not None:
        return (Document.of(render_outcome(found, "summary"), path),)
    kept = os.environ.get(_SUMMARY)
    if not kept:
        return ()
    made = render_outcome(found, "summary", size_of(Path(kept)))
    return (Document.of(made, Path(kept), behind=True),)
