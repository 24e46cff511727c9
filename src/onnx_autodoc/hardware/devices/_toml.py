"""A stranger's TOML file as plain data: bounded, and wrong in one line."""

from os import PathLike, fspath
from typing import Any, Final

from onnx_autodoc.errors import BadInput
from onnx_autodoc.readers._config_files import parse_toml, side_text
from onnx_autodoc.text import clean

_LARGEST: Final = 1 << 20  # bytes


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    where = clean(fspath(path), 200)
    if not where:
        raise BadInput("the name of a file is empty")
    text = side_text(path, "TOML", _LARGEST)
    try:
        return parse_toml(text)
    except ValueError as error:
        raise BadInput(f"{where}: not TOML: {clean(str(error), 200)}") from None
