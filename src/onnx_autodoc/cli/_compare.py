"""`onnx-autodoc compare`: what differs between models, or between cards of them."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_autodoc.cli._options import dimension_options, request_of
from onnx_autodoc.cli._places import file_at, has_color, keep_apart, put
from onnx_autodoc.errors import BadInput, LimitReached

if TYPE_CHECKING:
    from onnx_autodoc.diff import Comparison, Figures

FORMAT_NAMES = ("terminal", "markdown", "html", "json")
_LARGEST = 1 << 24  # bytes of a file of figures


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
    from onnx_autodoc.api._compare import compared

    if len(options.models) < 2:
        raise BadInput(f"compare: {options.models[0]} alone has nothing to be compared with; name two or more")
    path, format_name = _target(options.output, options.format)
    keep_apart([path], (*options.models, options.figures))
    figures = _figures(options.figures)
    _emit(compared(options.models, request_of(options), options.weights, figures), path, format_name)
    return 0


def _figures(path: str | None) -> "Figures | None":
    from onnx_autodoc.diff import read_figures

    if path is None:
        return None
    if not Path(path).is_file():
        raise BadInput(f"{path}: there is no such file")
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
    path = file_at(output)
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
        put(render_comparison_terminal(comparison, has_color()))
    else:
        put(COMPARISONS[format_name].render(comparison))
