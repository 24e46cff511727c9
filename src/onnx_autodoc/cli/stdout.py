"""Standard output, which may be closed, full, or unable to encode a character."""

import os
import sys
from typing import TYPE_CHECKING, cast

from onnx_autodoc.errors import BadInput, LimitReached

if TYPE_CHECKING:
    from io import TextIOWrapper


def is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def has_color() -> bool:
    return is_terminal() and "NO_COLOR" not in os.environ


def write_stdout(content: str | bytes) -> None:
    """Write to standard output. A reader that is gone (`| head`) changes no verdict, so it is no error."""
    if sys.stdout is None:
        raise BadInput("standard output is closed; write to a file with -o")
    try:
        if isinstance(content, bytes):
            sys.stdout.buffer.write(content)
        else:
            _write_text(content)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # discard the data that Python would flush at exit
        if not isinstance(error, BrokenPipeError):
            raise LimitReached(f"standard output: could not be written: {error.strerror}") from None


def _write_text(text: str) -> None:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        cast("TextIOWrapper", sys.stdout).reconfigure(encoding="utf-8")  # as files are
    sys.stdout.write(text)
