"""Files with weights, opened so that a model cannot make the tool read anything else."""

import os
import stat
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis.weights._types import Unread
from onnx_autodoc.readers._external_paths import Refused
from onnx_autodoc.readers._safe_open import Beneath

_OWN: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)


class Opened(Struct, frozen=True):
    """A regular file and its size."""

    handle: int
    size: int

    def close(self) -> None:
        os.close(self.handle)


def own_file(path: str, nbytes: int) -> Opened:
    """The model's own file, which was named by the user, who may name it by a link. It must still be the one read."""
    try:
        handle = os.open(path, _OWN)
    except OSError as error:
        raise Unread(f"the model's file cannot be opened again: {error.strerror}") from None
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode) or status.st_size != nbytes:
        os.close(handle)
        raise Unread("the model's file was changed after its graph was read")
    return Opened(handle, status.st_size)


def external_file(folder: Beneath, path: str) -> Opened:
    """The file that a model names, below its folder."""
    try:
        return Opened(*folder.open(path))
    except Refused as refused:
        raise Unread(f"its external file {refused}") from None
