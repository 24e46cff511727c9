"""`onnx-autodoc compare`: what differs between models, or between cards of them."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_autodoc.cli._options import dimension_options, request_of
from onnx_autodoc.errors import BadInput, LimitReached

if TYPE_CHECKING:
    from onnx_autodoc.diff import Comparison, Figures

FORMAT_NAMES = ("terminal", "markdown", "html", "json")
_LARGEST = 1 << 24  # bytes of a file of figures
_BEGINNING = 64  # bytes, white space and all


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
    if len(options.models) < 2:
        raise BadInput(f"compare: {options.models[0]} alone has nothing to be compared with; name two or more")
    path, format_name = _target(options.output, options.format)
    figures = _figures(options.figures)
    _emit(_compared(options, figures), path, format_name)
    return 0


def _compared(options: argparse.Namespace, figures: "Figures | None") -> "Comparison":
    """Sizes are for models; a card keeps its own, and the comparison says so where they differ."""
    from onnx_autodoc.api import generated, opened
    from onnx_autodoc.diff import compare
    from onnx_autodoc.resolve import Request

    asked, kept = request_of(options), list(map(_is_card, options.models))
    requests = [Request() if card and not all(kept) else asked for card in kept]
    cards = [opened(path, request, options.weights) for path, request in zip(options.models, requests)]
    return compare(cards, options.models, figures, generated=generated(), weights=options.weights)


def _is_card(path: str) -> bool:
    """Whether it begins as JSON does. What cannot be read is told by who reads it."""
    try:
        with Path(path).open("rb") as file:
            return file.read(_BEGINNING).lstrip().startswith(b"{")
    except OSError:
        return False


def _figures(path: str | None) -> "Figures | None":
    from onnx_autodoc.diff import read_figures

    if path is None:
        return None
    try:
        if Path(path).stat().st_size > _LARGEST:
            raise LimitReached(f"{path}: figures of over {_LARGEST:,} bytes are not read")
        return read_figures(Path(path).read_text(encoding="utf-8-sig"), path)
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None


def _target(output: str | None, format_name: str | None) -> tuple[Path | None, str]:
    """Where to, and in which format: known to be sensible before any work is done."""
    from onnx_autodoc.render.comparison import COMPARISONS

    if output is None or output == "-":
        return None, format_name or "terminal"
    path = Path(output)
    if path.is_dir() or output.endswith(os.sep):
        raise BadInput(f"-o {output}: a folder; a comparison is one file, name it")
    if not path.parent.is_dir():
        raise BadInput(f"-o {output}: there is no folder {path.parent}")
    known = {entry.suffix: name for name, entry in COMPARISONS.items()}
    if format_name is None and path.suffix.lower() not in known:
        raise BadInput(f"-o {output}: the suffix {path.suffix!r} is no known format; use one of {' '.join(known)}")
    return path, format_name or known[path.suffix.lower()]


def _emit(comparison: "Comparison", path: Path | None, format_name: str) -> None:
    from onnx_autodoc.cli._output import write
    from onnx_autodoc.render.comparison import COMPARISONS, render_comparison_terminal

    if path is not None:
        write(path, COMPARISONS[format_name].render(comparison))
    elif format_name == "terminal":
        color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        sys.stdout.write(render_comparison_terminal(comparison, color))
    else:
        sys.stdout.write(COMPARISONS[format_name].render(comparison))
