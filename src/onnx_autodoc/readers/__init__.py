"""Reading a model file: its structure whole, its weights never.

A format is a file here with one function from a `Source` to a `Model`, and a line in `FORMATS`. The content decides
which format a file is, not its suffix.
"""

from collections.abc import Callable
from os import PathLike, fspath
from typing import Final

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import Model
from onnx_autodoc.readers._config_files import parse_toml, side_file, side_text
from onnx_autodoc.readers._external import held
from onnx_autodoc.readers._sniff import sniff
from onnx_autodoc.readers._source import FileSource, Source
from onnx_autodoc.readers.onnx import read_onnx

__all__ = ["FORMATS", "FileSource", "held", "parse_toml", "read", "side_file", "side_text"]

FORMATS: Final[dict[str, Callable[[Source], Model]]] = {"onnx": read_onnx}
_HEAD: Final = 512


def read(path: str | PathLike[str]) -> Model:
    """The model in a file, without its weights."""
    with FileSource(fspath(path)) as source:
        stranger = sniff(source.read(0, _HEAD))
        if stranger:
            raise BadInput(f"{source.path}: not an ONNX model: the file is {stranger}")
        return FORMATS["onnx"](source)
