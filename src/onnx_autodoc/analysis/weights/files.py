"""The bytes of tensors in pieces, from the model file and from external files."""

import sys
import time
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Model
from onnx_autodoc.storage import AccessRefused, CannotOpen, Source, open_storage

PIECE_BYTES: Final = 1 << 20  # a multiple of every element's size, small enough for the processor's cache
MAX_TIMES_READ: Final = 8  # on average over all bytes: tensors do not overlap in well-formed files
_PROGRESS_DELAY_SECONDS: Final = 1.0  # before the first line
_PROGRESS_INTERVAL_SECONDS: Final = 0.2
_CHANGED: Final = "the model file was changed after its graph was read"


class Unread(Exception):
    """Why the elements of a tensor could not be read."""


class Progress:
    """One line on how much was read, on a terminal only, and only if it takes long."""

    def __init__(self, total: int) -> None:
        self._total, self._done = max(total, 1), 0
        self._shown = False
        self._next = (
            time.monotonic() + _PROGRESS_DELAY_SECONDS if sys.stderr is not None and sys.stderr.isatty() else None
        )

    def add(self, nbytes: int) -> None:
        self._done += nbytes
        if self._next is not None and time.monotonic() >= self._next:
            share = min(self._done / self._total, 1)
            sys.stderr.write(f"\rreading weights: {share:4.0%} of {self._total / (1 << 30):.1f} GiB ")
            sys.stderr.flush()
            self._shown, self._next = True, time.monotonic() + _PROGRESS_INTERVAL_SECONDS

    def close(self) -> None:
        """Erase the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


class Files:
    """The files of a model. One external file is open at a time, since some models have one for each tensor."""

    def __init__(self, model: Model) -> None:
        self._nbytes = model.nbytes
        self._storage = open_storage(model.path)
        self._buffer = memoryview(bytearray(PIECE_BYTES))
        self._external: Source | None = None
        total = model.nbytes + sum(file.nbytes or 0 for file in model.external)
        self._bytes_left = MAX_TIMES_READ * total
        self.bytes_read = 0
        self.progress = Progress(total)

    def pieces(self, path: str | None, offset: int, length: int, max_bytes: int = PIECE_BYTES) -> Iterator[memoryview]:
        """Yield `length` bytes of a file (None: the model file); each piece is valid until the next one is read."""
        source = self._open(path)
        if offset + length > source.size:
            raise Unread(f"its file ends after {source.size:,} bytes, but its data end after {offset + length:,}")
        if length > self._bytes_left:
            raise Unread(f"the tensors of this file overlap so that it would be read more than {MAX_TIMES_READ} times")
        self._bytes_left -= length
        end = offset + length
        while offset < end:
            size = min(end - offset, max_bytes)
            self._fill(source, offset, size)
            offset += size
            yield self._buffer[:size]

    def stored_pieces(self, data: bytes, max_bytes: int = PIECE_BYTES) -> Iterator[memoryview]:
        """Yield pieces of bytes that were read with the graph."""
        self.bytes_read += len(data)
        view = memoryview(data)
        return (view[at : at + max_bytes] for at in range(0, len(data), max_bytes))

    def sha256(self, path: str) -> str | None:
        """Return the hash of a whole external file; None if it cannot be read."""
        import hashlib  # loads OpenSSL

        digest = hashlib.sha256()
        try:
            for piece in self.pieces(path, 0, self._open(path).size):
                digest.update(piece)
        except Unread:
            return None
        return digest.hexdigest()

    def _fill(self, source: Source, offset: int, length: int) -> None:
        """Fill the buffer to `length`: a piece must not end inside an element."""
        filled = 0
        while filled < length:
            try:
                count = source.read_into(offset + filled, self._buffer[filled:length])
            except OSError as error:
                raise Unread(f"its file cannot be read: {error.strerror}") from None
            if count == 0:
                raise Unread("its file was truncated while it was read")
            filled += count
        self.bytes_read += length
        self.progress.add(length)

    def _open(self, path: str | None) -> Source:
        if path is None:
            return self._open_model()
        if self._external is None or path != self._external.path:
            self._close_external()
            try:
                self._external = self._storage.sibling(path)
            except AccessRefused as refused:
                raise Unread(f"its external file {refused}") from None
        return self._external

    def _open_model(self) -> Source:
        """Open the model file again. It must still be the one whose graph was read."""
        try:
            source = self._storage.open()
        except CannotOpen as error:
            if error.reason is None:
                raise Unread(_CHANGED) from None
            raise Unread(f"the model file cannot be reopened: {error.reason}") from None
        if source.size != self._nbytes:
            raise Unread(_CHANGED)
        return source

    def _close_external(self) -> None:
        if self._external is not None:
            self._external.close()
            self._external = None

    def __enter__(self) -> "Files":
        return self

    def __exit__(self, *_: object) -> None:
        self._close_external()
        self._storage.close()
        self.progress.close()
