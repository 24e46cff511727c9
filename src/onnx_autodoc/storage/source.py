"""The interfaces between readers and files."""

from typing import Protocol, Self

from onnx_autodoc.errors import BadInput


class CannotOpen(BadInput):
    """A file cannot be opened. `reason` is the system's, or None if it is not a regular file."""

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class Source(Protocol):
    """One file, open for random access.

    `size` is the size at opening: data appended later are not read, and data cut off later are missing bytes.
    `fingerprint` differs for another content of the file, as far as the system tells without reading it.
    """

    path: str
    size: int
    fingerprint: str

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes at `offset`; raises `BadInput` if they cannot be read."""

    def read_into(self, offset: int, buffer: memoryview) -> int:
        """Fill `buffer` from `offset` and return the number of bytes read; raises `OSError`."""

    def next_data(self, offset: int) -> int:
        """Return the offset of the first stored byte from `offset` on: zeros before it are a hole of a sparse file."""

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class Storage(Protocol):
    """A model file and the files in and below its folder, by names relative to that folder.

    Names come from untrusted files. `AccessRefused` is raised for a name that leads out of the folder, through a link
    or to anything but a regular file; `FileMissing` if there is no such file.
    """

    path: str

    def open(self) -> Source:
        """Return the model file, which is opened once and closed with the storage; raises `CannotOpen`."""

    def sibling(self, name: str) -> Source:
        """Open another file of the folder, which the caller closes."""

    def size(self, name: str) -> int:
        """Return the size of another file in bytes, without opening it."""

    def stored_size(self, name: str | None = None) -> int:
        """Return the bytes that reading a file transfers, without the holes of a sparse file. None: the model file."""

    def list(self) -> list[str]:
        """Return the names of the files in the folder, sorted."""

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
