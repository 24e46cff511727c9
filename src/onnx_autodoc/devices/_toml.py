"""A stranger's TOML file as plain data: bounded, and wrong in one line."""

import tomllib
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.say import clean

_LARGEST: Final = 1 << 20  # bytes


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    where = clean(fspath(path), 200)
    if not where:
        raise BadInput("the name of a file is empty")
    try:
        return tomllib.loads(_text(Path(path), where))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where}: not TOML: {clean(str(error), 200)}") from None


def _text(path: Path, where: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise BadInput(f"{where}: cannot be read: {error.strerror}") from None
    except ValueError:  # a NUL in its name
        raise BadInput(f"{where}: not a path") from None
    if len(data) > _LARGEST:
        raise LimitReached(f"{where}: a file of over {_LARGEST:,} bytes is not read")
    try:
        return data.decode().removeprefix("\ufeff")  # which some editors put before a text
    except UnicodeDecodeError:
        raise BadInput(f"{where}: not UTF-8 text") from None
