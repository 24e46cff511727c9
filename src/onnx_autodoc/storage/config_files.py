"""Files that a user names next to the model: cards, policies, figures, devices, prices, profiles.

They may be untrusted too: each one is opened like a model, as a regular file and without blocking, and read up to
a limit. Every failure is one line.
"""

import os
import re
import stat
from os import PathLike
from typing import Any, Final

from onnx_autodoc.errors import BadInput
from onnx_autodoc.limits import current_limits, limit_error
from onnx_autodoc.storage.safe_open import READ_FLAGS
from onnx_autodoc.text import sanitize

_MAX_BYTES: Final = 1 << 28
_MAX_PATH_CHARS: Final = 300  # in messages
# Python's TOML parser takes memory by the square of a dotted key's parts: 200 KB of `a.a.a` took over 20 GB.
_LONG_KEY: Final = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.){0,100}+"|'[^'\n]{0,100}+')[ \t]*+\.[ \t]*+){32}"""
)


def read_config_bytes(path: str | PathLike[str], kind: str, max_bytes: int = _MAX_BYTES) -> bytes:
    """Return the content of a configuration file. `kind` names it in messages, such as "a policy".

    `max_bytes` holds unless the user chose a limit; formats that are slow to parse have a lower one.
    """
    where = sanitize(os.fspath(path), _MAX_PATH_CHARS) or "a file with an empty name"
    limit = current_limits().text or max_bytes
    try:
        handle = os.open(path, READ_FLAGS)
    except FileNotFoundError:
        raise BadInput(f"{where}: file not found") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{where}: cannot be opened: {getattr(error, 'strerror', None) or error}") from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            what = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device"
            raise BadInput(f"{where}: is {what}, not a regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(min(status.st_size, limit) + 1)
    except OSError as error:
        raise BadInput(f"{where}: cannot be read: {error.strerror or error}") from None
    finally:
        os.close(handle)
    if len(data) > limit:
        raise limit_error("text", f"{where}: {kind} may have at most {limit:,} bytes")
    return data


def read_config_text(path: str | PathLike[str], kind: str, max_bytes: int = _MAX_BYTES) -> str:
    """Return the content of a text file in UTF-8, without a byte order mark."""
    data = read_config_bytes(path, kind, max_bytes)
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        where = sanitize(os.fspath(path), _MAX_PATH_CHARS)
        raise BadInput(f"{where}: not UTF-8 text: invalid byte at offset {error.start:,}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raises `ValueError` for everything that `tomllib` cannot parse in bounded memory."""
    import tomllib  # few commands read TOML

    long_key = _LONG_KEY.search(text)
    if long_key:
        line = text.count("\n", 0, long_key.start()) + 1
        raise ValueError(f"a dotted key has more than 32 parts (at line {line:,})")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
