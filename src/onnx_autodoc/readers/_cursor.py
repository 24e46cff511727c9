"""A place in a file from which protobuf's primitives are read, through one small window at a time."""

import re
import struct
from typing import Final

from onnx_autodoc.errors import BadInput
from onnx_autodoc.limits import limits, reached
from onnx_autodoc.readers._source import Source

WINDOW: Final = 1 << 16
_LONGEST_VARINT: Final = 10
_INTERNED: Final = 128  # names up to this length are kept once, however often they occur
_HIGH: Final = bytes(range(0x80, 0x100))
_INT_RUNS: dict[bytes, re.Pattern[bytes]] = {}


class Cursor:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.pos = 0
        self._base = 0
        self._buffer = b""
        self._safe = 0  # before this index of the buffer a whole varint can be read
        self._texts: dict[bytes, str] = {}
        self._longest = limits().string

    def _refill(self) -> int:
        """Move the window to `pos`; gives the index of `pos` in it."""
        if self.pos >= self.source.size:
            raise self.error("the file ends in the middle of a number (truncated download?)")
        self._base = self.pos
        self._buffer = self.source.read(self.pos, WINDOW)
        at_end = self._base + len(self._buffer) >= self.source.size
        self._safe = len(self._buffer) - (0 if at_end else _LONGEST_VARINT)
        if self._safe <= 0:
            raise self.error("the file became shorter while it was read")
        return 0

    def varint(self) -> int:
        at = self.pos - self._base
        if at < 0 or at >= self._safe:
            at = self._refill()
        byte = self._buffer[at]
        if byte < 0x80:
            self.pos += 1
            return byte
        return self._long_varint(at)

    def _long_varint(self, at: int) -> int:
        result = shift = 0
        for byte in self._buffer[at : at + _LONGEST_VARINT]:
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                self.pos += shift // 7
                return result & 0xFFFFFFFFFFFFFFFF
        raise self.error("a number that never ends")

    def take(self, length: int) -> bytes:
        """The next bytes. The caller has checked that they lie inside the file."""
        at = self.pos - self._base
        if at >= 0 and at + length <= len(self._buffer):
            piece = self._buffer[at : at + length]
        else:
            piece = self.source.read(self.pos, length)
            if len(piece) != length:
                raise self.error("the file became shorter while it was read")
        self.pos += length
        return piece

    def text(self, length: int) -> str:
        if length > self._longest:
            where = f"{self.source.path}: a text of {length:,} bytes at byte {self.pos:,}"
            raise reached("string", f"{where}, more than {self._longest:,}")
        raw = self.take(length)
        known = self._texts.get(raw)
        if known is None:
            known = raw.decode("utf-8", "backslashreplace")
            if length <= _INTERNED:
                self._texts[raw] = known
        return known

    def float_run(self, tag: bytes, end: int) -> bytes:
        """All directly following floats of one field that lie in the window, tags included: 4 bytes after each tag."""
        stride = len(tag) + 4
        view = self._view(end)
        run = len(view) // stride
        for at, byte in enumerate(tag):
            column = view[at : run * stride : stride]
            run = len(column) - len(column.lstrip(bytes((byte,))))
        self.pos += run * stride
        return view[: run * stride]

    def int_run(self, tag: bytes, end: int) -> bytes:
        """The same for integers: a tag and a varint each."""
        pattern = _INT_RUNS.get(tag)
        if pattern is None:
            pattern = _INT_RUNS[tag] = re.compile(b"(?:" + re.escape(tag) + rb"[\x80-\xff]{0,9}[\x00-\x7f])*+")
        found = pattern.match(self._view(end))
        run = found.group() if found else b""
        self.pos += len(run)
        return run

    def skip_texts(self, tag: int, end: int) -> int:
        """Step over directly following short texts of one field that lie in the window; gives how many they are."""
        view = self._view(end)
        at = count = 0
        last = len(view) - 1
        while at < last and view[at] == tag and view[at + 1] < 0x80 and at + 2 + view[at + 1] <= last + 1:
            at += 2 + view[at + 1]
            count += 1
        self.pos += at
        return count

    def _view(self, end: int) -> bytes:
        at = self.pos - self._base
        return self._buffer[at : end - self._base] if at >= 0 else b""

    def error(self, what: str) -> BadInput:
        return BadInput(f"{self.source.path}: not a readable ONNX model: {what}, at byte {self.pos:,}")


def count_varints(run: bytes) -> int:
    """How many varints lie in these bytes: each ends with a byte below 128."""
    return len(run.translate(None, _HIGH))


def floats(data: bytes, most: int) -> list[float]:
    """The first little-endian floats of some bytes."""
    count = min(len(data) // 4, most)
    return list(struct.unpack(f"<{count}f", data[: count * 4]))
