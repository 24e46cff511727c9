"""A file as bounded reads. Mapping it would count its pages as memory; reading it whole would read the weights."""

import os
import stat
from typing import Final, Protocol

from onnx_autodoc.errors import BadInput

# Non-blocking, so that a FIFO without a writer is refused rather than waited for.
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)
_KINDS: Final = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


class Source(Protocol):
    """Whatever can be read in pieces: a file here, a range of a remote object elsewhere."""

    path: str
    size: int

    def read(self, offset: int, length: int) -> bytes: ...


class FileSource:
    """A regular file, opened once. A pipe, a device or a folder is refused before a byte is asked for.

    `size` is that at the start: what is appended meanwhile is not read, and what is cut off is missing bytes.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:  # looked at before it is opened: opening a device can already do something
            _check_kind(path, os.stat(path))  # noqa: PTH116
            self._handle = os.open(path, _FLAGS)
        except FileNotFoundError:
            raise BadInput(f"{path}: there is no such file") from None
        except (OSError, ValueError) as error:
            raise BadInput(f"{path}: cannot be opened: {getattr(error, 'strerror', None) or error}") from None
        self.size = self._checked_size()

    def _checked_size(self) -> int:
        status = os.fstat(self._handle)
        try:
            _check_kind(self.path, status)  # again: it may be another one by now
        except BadInput:
            self.close()
            raise
        return status.st_size

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


def _check_kind(path: str, status: os.stat_result) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind != stat.S_IFREG:
        raise BadInput(f"{path}: is {_KINDS.get(kind, 'a device')}; give the path of an .onnx file")
