"""The bytes of tensors in pieces, from the model's own file and from those beside it."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from onnx_autodoc.analysis.weights._open import Opened, external_file, own_file
from onnx_autodoc.analysis.weights._progress import Progress
from onnx_autodoc.analysis.weights._types import Unread
from onnx_autodoc.ir import Model
from onnx_autodoc.readers._safe_open import Beneath

PIECE: Final = 1 << 20  # a multiple of every element's size; small enough to stay in the processor's cache
MOST_TIMES: Final = 8  # that the same bytes are read, on average: tensors of an honest file do not overlap


class Files:
    """One file is open at a time, since some models have one for each tensor. All pieces share one buffer."""

    def __init__(self, model: Model) -> None:
        self._path, self._nbytes = model.path, model.nbytes
        self._folder = Beneath(str(Path(model.path).parent))
        self._buffer = memoryview(bytearray(PIECE))
        self._named: str | None = ""
        self._opened: Opened | None = None
        total = model.nbytes + sum(file.nbytes or 0 for file in model.external)
        self._left = MOST_TIMES * total
        self.bytes_read = 0
        self.progress = Progress(total)

    def pieces(self, path: str | None, offset: int, length: int, most: int = PIECE) -> Iterator[memoryview]:
        """So many bytes of a file (None: the model's own), each piece good until the next one is asked for."""
        opened = self._open(path)
        if offset + length > opened.size:
            raise Unread(f"its file ends after {opened.size:,} bytes, its numbers after {offset + length:,}")
        if length > self._left:
            raise Unread(f"the tensors of this file lie over each other more than {MOST_TIMES} times")
        self._left -= length
        end = offset + length
        while offset < end:
            got = self._read(opened, offset, min(end - offset, most))
            offset += got
            yield self._buffer[:got]

    def kept(self, data: bytes, most: int = PIECE) -> Iterator[memoryview]:
        """The same of bytes that were read with the graph."""
        self.bytes_read += len(data)
        view = memoryview(data)
        return (view[at : at + most] for at in range(0, len(data), most))

    def sha256(self, path: str) -> str | None:
        """Of a whole external file; None where it cannot be read."""
        digest = hashlib.sha256()
        try:
            for piece in self.pieces(path, 0, self._open(path).size):
                digest.update(piece)
        except Unread:
            return None
        return digest.hexdigest()

    def _read(self, opened: Opened, offset: int, length: int) -> int:
        """Fill the buffer to `length`: half an element at the end of a piece would be a wrong number."""
        filled = 0
        while filled < length:
            try:
                got = os.preadv(opened.handle, [self._buffer[filled:length]], offset + filled)
            except OSError as error:
                raise Unread(f"its file cannot be read: {error.strerror}") from None
            if got == 0:
                raise Unread("its file became shorter while it was read")
            filled += got
        self.bytes_read += length
        self.progress.add(length)
        return length

    def _open(self, path: str | None) -> Opened:
        if self._opened is None or path != self._named:
            self.close()
            self._opened = self._other(path)
            self._named = path
        return self._opened

    def _other(self, path: str | None) -> Opened:
        return own_file(self._path, self._nbytes) if path is None else external_file(self._folder, path)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def __enter__(self) -> "Files":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._folder.close()
        self.progress.close()
