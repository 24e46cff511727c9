"""Options that raise or lower what a file may ask for."""

import argparse
import re
from typing import Final

from onnx_autodoc.cli._options import positive
from onnx_autodoc.errors import LimitReached
from onnx_autodoc.limits import OPTIONS, Limits

_UNITS: Final = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_MOST_DEPTH: Final = 200
_MOST_BYTES: Final = 1 << 62  # the system counts in 64 bits
_LEAST_MEMORY: Final = 200_000_000
_USUAL: Final = Limits()


def limit_options(parser: argparse.ArgumentParser, usual: str = "by the graph") -> None:
    group = parser.add_argument_group("limits", "how much a file may ask for; a limit that is reached is exit code 3")
    group.add_argument(
        "--timeout",
        type=_seconds,
        metavar="S",
        help=f"seconds for everything together (default: {usual})",
    )
    group.add_argument("--max-memory", type=_memory, metavar="SIZE", help="of the tool itself (default 1GB)")
    for option, metavar, text in (
        ("--max-nodes", "N", f"nodes in a file, with subgraphs and functions (default {_USUAL.nodes:,})"),
        ("--max-steps", "N", f"rules applied to find shapes, besides 8 for each node (default {_USUAL.steps:,})"),
        ("--max-rows", "N", "nodes listed, a function's at each call (default 100,000, and 8 for each node)"),
    ):
        group.add_argument(option, type=positive, metavar=metavar, help=text)
    group.add_argument(
        "--max-depth", type=_depth, metavar="N", help=f"graphs or functions in each other (default {_USUAL.depth})"
    )
    group.add_argument("--max-string", type=_bytes, metavar="SIZE", help="of a name or a note (default 16MiB)")
    group.add_argument(
        "--max-text",
        type=_bytes,
        metavar="SIZE",
        help="of a JSON card (default 256MiB), a policy or another file of text (less)",
    )
    group.add_argument(
        "--follow-links", action="store_true", help="external data may lie behind links, as in a Hugging Face cache"
    )


def limits_of(options: argparse.Namespace) -> Limits:
    """Those that were given, the others as usual."""
    names = {field: option.removeprefix("--").replace("-", "_") for field, option in OPTIONS.items()}
    given = {field: getattr(options, name, None) for field, name in names.items()}
    return Limits(**{field: value for field, value in given.items() if value is not None})


def _bytes(text: str) -> int:
    found = re.fullmatch(r"([0-9]{1,15})\s*([kmg]i?b|)", text.lower())
    if found is None or not int(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no size, for example 500MB or 2GiB")
    return min(int(found[1]) * _UNITS[found[2]], _MOST_BYTES)


def _memory(text: str) -> int:
    if _bytes(text) < _LEAST_MEMORY:
        raise argparse.ArgumentTypeError(
            f"{text!r} is too little: Python and its libraries take {_LEAST_MEMORY:,} bytes"
        )
    return _bytes(text)


def check_memory() -> None:
    """Where the system gives less than the libraries take, these die in ways of their own."""
    try:
        import resource
    except ImportError:  # not on every system
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= soft < _LEAST_MEMORY:
        least = f"Python and its libraries take {_LEAST_MEMORY:,} (ulimit -v)"
        raise LimitReached(f"this process may have {soft:,} bytes of memory, and {least}")


def _depth(text: str) -> int:
    if positive(text) > _MOST_DEPTH:
        raise argparse.ArgumentTypeError(f"{text!r}: at most {_MOST_DEPTH:,}")
    return int(text)


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,3})?", text) or float(text) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return float(text)
