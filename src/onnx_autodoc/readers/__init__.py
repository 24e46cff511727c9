"""Model files to `Model`: the structure is read whole, the weights never.

A format is one module and one line in `READERS`. A file's content decides its format, not its suffix.
"""

from collections.abc import Callable
from contextlib import suppress
from os import PathLike
from typing import Final, NamedTuple

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import Model
from onnx_autodoc.readers.file_types import identify_foreign_file
from onnx_autodoc.readers.onnx import is_onnx, read_onnx
from onnx_autodoc.readers.onnx_encoder import EncodedModel, StoredWeight, encode_onnx
from onnx_autodoc.storage import AccessRefused, Storage, open_storage

__all__ = ["READERS", "EncodedModel", "Reader", "StoredWeight", "encode_onnx", "read_model", "stored_bytes"]

_HEAD_BYTES: Final = 512


class Reader(NamedTuple):
    """A file format. `match` takes the first bytes of a file and its path."""

    name: str
    match: Callable[[bytes, str], bool]
    read: Callable[[Storage], Model]


READERS: Final = (Reader("onnx", is_onnx, read_onnx),)  # in the order in which they are tried


def read_model(path: str | PathLike[str]) -> Model:
    """Read the model in a file, without its weights."""
    with open_storage(path) as storage:
        head = storage.open().read(0, _HEAD_BYTES)
        for reader in READERS:
            if reader.match(head, storage.path):
                return reader.read(storage)
        raise BadInput(f"{storage.path}: not an ONNX model: the file is {identify_foreign_file(head)}")


def stored_bytes(model: Model) -> int:
    """Return the bytes that a model's files occupy on disk, without holes: deadlines grow with these."""
    total = 0
    with open_storage(model.path) as storage:
        with suppress(OSError):
            total = storage.stored_size()
        for file in model.external:
            with suppress(AccessRefused):
                total += storage.stored_size(file.path)
    return total
