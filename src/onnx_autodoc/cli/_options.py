"""Options that several commands share, and what is a valid value of them."""

import argparse
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_autodoc.resolve import Request


def request_of(options: argparse.Namespace) -> "Request":
    """What the options ask for of open dimensions."""
    from onnx_autodoc.resolve import Request

    return Request(tuple(options.dim), options.batch, options.seq, options.size, tuple(options.value))


def dimension_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("open dimensions", "sizes that the file leaves open; the card states each one")
    group.add_argument(
        "--dim",
        action="append",
        default=[],
        metavar="NAME=N",
        help="the size of an open dimension, by its name or as INPUT.AXIS=N (repeatable)",
    )
    group.add_argument("--batch", type=_positive, metavar="N", help="the batch size (default 1)")
    group.add_argument("--seq", type=_positive, metavar="N", help="the sequence length (default 128)")
    group.add_argument("--size", type=_size, metavar="HxW", help="the height and width of images (default 224x224)")
    group.add_argument(
        "--value",
        action="append",
        default=[],
        metavar="INPUT=V",
        help="the value of a single-number input that steers branches, loops or shapes (repeatable)",
    )


def _positive(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9][0-9]{0,17})[x×]([1-9][0-9]{0,17})", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not HEIGHTxWIDTH, for example 224x224")
    return int(found[1]), int(found[2])
