"""Files that a user names beside the model: cards, policies, figures, devices, prices, profiles.

They may come from strangers too, so each of them is opened as a model is, a regular file and never waited for, is read
only up to a limit, and is wrong in one line.
"""

import os
import re
import stat
import tomllib
from os import PathLike
from typing import Any, Final

from onnx_autodoc.errors import BadInput
from onnx_autodoc.limits import limits, reached
from onnx_autodoc.text import clean

_USUAL: Final = 1 << 28  # bytes
_LONGEST_PATH: Final = 300  # letters of its path in messages
# Python's TOML parser takes memory by the square of a dotted key's parts: 200 KB of `a.a.a` took over 20 GB.
_LONG_KEY: Final = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.){0,100}+"|'[^'\n]{0,100}+')[ \t]*+\.[ \t]*+){32}"""
)


def side_file(path: str | PathLike[str], what: str, most: int = _USUAL) -> bytes:
    """The content of a file that is said to be `what`, such as "a policy".

    At most `most` bytes, as long as the user has not chosen a limit: slow notations have a lower one.
    """
    where = clean(os.fspath(path), _LONGEST_PATH) or "a file without a name"
    allowed = limits().text or most
    handle = _opened(path, where)
    try:
        data = _content(handle, where, allowed)
    except OSError as error:
        raise BadInput(f"{where}: cannot be read: {error.strerror or error}") from None
    finally:
        os.close(handle)
    if len(data) > allowed:
        raise reached("text", f"{where}: {what} of over {allowed:,} bytes is not read")
    return data


def side_text(path: str | PathLike[str], what: str, most: int = _USUAL) -> str:
    """The same of text, which is UTF-8, without the mark that some editors put before it."""
    data = side_file(path, what, most)
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        where = clean(os.fspath(path), _LONGEST_PATH)
        raise BadInput(f"{where}: not UTF-8 text: byte {error.start:,} begins no letter") from None


def parse_toml(text: str) -> dict[str, Any]:
    """As `tomllib` does; whatever it cannot take is a ValueError."""
    long = _LONG_KEY.search(text)
    if long:
        line = text.count("\n", 0, long.start()) + 1
        raise ValueError(f"a key has over 32 parts (at line {line:,})")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _opened(path: str | PathLike[str], where: str) -> int:
    try:
        # Non-blocking, so that a FIFO without a writer is refused rather than waited for.
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except FileNotFoundError:
        raise BadInput(f"{where}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{where}: cannot be opened: {getattr(error, 'strerror', None) or error}") from None


def _content(handle: int, where: str, most: int) -> bytes:
    """Up to one byte more than there may be."""
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device"
        raise BadInput(f"{where}: is {kind}; give the path of a file")
    with os.fdopen(handle, "rb", closefd=False) as file:
        return file.read(min(status.st_size, most) + 1)
