"""Model files on a local file system."""

import errno
import mmap
import os
import stat
from pathlib import Path
from typing import Final, Self

from onnx_autodoc.errors import BadInput
from onnx_autodoc.storage.safe_open import READ_FLAGS, SafeFolder, stored_bytes
from onnx_autodoc.storage.source import CannotOpen

_KINDS: Final = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


class FileSource:
    """A regular file, opened once and read in pieces.

    Mapping it would count its pages as memory of the process; reading it whole would read the weights.
    """

    def __init__(self, path: str, handle: int, size: int) -> None:
        self.path, self.size, self._handle = path, size, handle
        self.fingerprint = self.read_fingerprint()

    @classmethod
    def open(cls, path: str) -> Self:
        """Open a file that the user named. A pipe, a device or a folder is refused before it is opened."""
        try:
            _check_kind(path, os.stat(path))  # noqa: PTH116
            handle = os.open(path, READ_FLAGS)
        except FileNotFoundError as error:
            raise CannotOpen(f"{path}: file not found", error.strerror) from None
        except (OSError, ValueError) as error:
            reason = str(getattr(error, "strerror", None) or error)
            raise CannotOpen(f"{path}: cannot be opened: {reason}", reason) from None
        try:
            status = os.fstat(handle)
            _check_kind(path, status)  # it may have been replaced since `stat`
        except BaseException:
            os.close(handle)
            raise
        return cls(path, handle, status.st_size)

    def read_fingerprint(self) -> str:
        """Return what changes when the file is written or another one takes its place."""
        status = os.fstat(self._handle)
        return f"{status.st_dev}-{status.st_ino}-{status.st_size}-{status.st_mtime_ns}"

    def read(self, offset: int, length: int) -> bytes:
        try:
            data = os.pread(self._handle, length, offset)
            while len(data) < length and (more := os.pread(self._handle, length - len(data), offset + len(data))):
                data += more  # Linux reads up to 2 GiB at once
            return data
        except OSError as error:
            raise BadInput(f"{self.path}: cannot be read at byte {offset:,}: {error.strerror}") from None

    def read_into(self, offset: int, buffer: memoryview) -> int:
        return os.preadv(self._handle, [buffer], offset)

    def next_data(self, offset: int) -> int:
        if not hasattr(os, "SEEK_DATA"):
            return offset
        try:
            return os.lseek(self._handle, offset, os.SEEK_DATA)
        except OSError as error:  # ENXIO: no data from `offset` on; others: holes are not reported
            is_hole = error.errno == errno.ENXIO
            return max(min(self.size, os.fstat(self._handle).st_size), offset) if is_hole else offset

    def map(self) -> mmap.mmap:
        """Return the content of a file that is not empty, mapped into memory; it outlives this source."""
        return mmap.mmap(self._handle, self.size, access=mmap.ACCESS_READ)

    def close(self) -> None:
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LocalStorage:
    """A model file and its folder. Both are opened on first use and kept open; see `safe_open`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._source: FileSource | None = None
        self._opened_folder: SafeFolder | None = None

    @property
    def _folder(self) -> SafeFolder:
        if self._opened_folder is None:
            self._opened_folder = SafeFolder(str(Path(self.path).parent))
        return self._opened_folder

    def open(self) -> FileSource:
        if self._source is None:
            self._source = FileSource.open(self.path)
        return self._source

    def sibling(self, name: str) -> FileSource:
        return FileSource(name, *self._folder.open(name))

    def size(self, name: str) -> int:
        return self._folder.status(name).st_size

    def stored_size(self, name: str | None = None) -> int:
        return stored_bytes(Path(self.path).stat() if name is None else self._folder.status(name))

    def list(self) -> list[str]:
        folder = Path(self.path).parent
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))

    def close(self) -> None:
        for opened in (self._source, self._opened_folder):
            if opened is not None:
                opened.close()
        self._source = self._opened_folder = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_kind(path: str, status: os.stat_result) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind != stat.S_IFREG:
        raise CannotOpen(f"{path}: is {_KINDS.get(kind, 'a device')}; pass the path of an .onnx file")
