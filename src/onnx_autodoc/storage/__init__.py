"""Files: bounded reads of models, of the files next to them and of configuration files; atomic writes of outputs.

Readers and analyses access files through `Storage` and `Source` only, so that a model may also be in an object store
that is read by ranges.
"""

from os import PathLike, fspath

from onnx_autodoc.storage.config_files import parse_toml, read_config_bytes, read_config_text
from onnx_autodoc.storage.local import FileSource, LocalStorage
from onnx_autodoc.storage.output_files import OutputFile, write_files
from onnx_autodoc.storage.safe_open import AccessRefused, FileMissing, normalize_path
from onnx_autodoc.storage.source import CannotOpen, Source, Storage

__all__ = [
    "AccessRefused",
    "CannotOpen",
    "FileMissing",
    "FileSource",
    "LocalStorage",
    "OutputFile",
    "Source",
    "Storage",
    "normalize_path",
    "open_storage",
    "parse_toml",
    "read_config_bytes",
    "read_config_text",
    "write_files",
]


def open_storage(path: str | PathLike[str]) -> Storage:
    """Return the storage that holds the model file at `path`."""
    return LocalStorage(fspath(path))
