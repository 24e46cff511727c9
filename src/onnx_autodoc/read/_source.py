"""A file as bounded reads. Mapping it would count its pages as memory; reading it whole would read the weights."""

import os
import stat
from typing import Protocol

from onnx_autodoc.errors import BadInput


class Source(Protocol):
    """Whatever can be read in pieces: a file here, a range of a remote object elsewhere."""

    path: str
    size: int

    def read(self, offset: int, length: int) -> bytes: ...


class FileSource:
    """A regular file, opened once. A pipe, a device or a folder is refused before a byte is asked for."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            # Non-blocking, so that a FIFO without a writer is refused rather than waited for.
            self._handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            raise BadInput(f"{path}: there is no such file") from None
        except (OSError, ValueError) as error:
            raise BadInput(f"{path}: cannot be opened: {getattr(error, 'strerror', None) or error}") from None
        self.size = self._checked_size()

    def _checked_size(self) -> int:
        status = os.fstat(self._handle)
        if stat.S_ISREG(status.st_mode):
            return status.st_size
        self.close()
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device"
        raise BadInput(f"{self.path}: is {kind}; give the path of an .onnx file")

    def read(self, offset: int, length: int) -> bytes:
        try:
            return os.pread(self._handle, length, offset)
        except OSError as error:
            raise BadInput(f"{self.path}: cannot be read at byte {offset:,}: {error.strerror}") from None

    def close(self) -> None:
        os.close(self._handle)

    def __enter__(self) -> "FileSource":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
