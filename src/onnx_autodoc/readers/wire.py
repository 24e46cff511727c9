"""Protobuf's wire format: tags, varints, lengths and strings, read from a file through one small window."""

import re
import struct
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import decode_varints, to_int64
from onnx_autodoc.limits import current_limits, limit_error
from onnx_autodoc.storage import Source

VARINT, I64, LEN, I32 = 0, 1, 2, 5  # wire types
_GROUPS: Final = (3, 4)
_WINDOW_BYTES: Final = 1 << 16
_MAX_VARINT_BYTES: Final = 10
_MAX_LENGTH_BYTES: Final = 5  # of a varint that is a length
_MAX_TAG: Final = (1 << 32) - 1
_MAX_INTERNED_BYTES: Final = 128  # strings up to this length are stored once, however often they occur
_CONTINUATION_BYTES: Final = bytes(range(0x80, 0x100))
_CLASSES: Final = b"  " + b"x" * 0x7E + b"+" * 0x80  # of a varint's bytes: the last one, up to 1 or above; another one
_OVERFLOWS: Final = (b"+" * 9 + b"x", b"+" * 10)  # a varint of more than 64 bits
# Varints of int32 fields: up to 31 bits, or the 64 bits of a negative number.
_INT32_RUN: Final = re.compile(
    rb"(?:[\x80-\xff]{0,3}[\x00-\x7f]|[\x80-\xff]{4}[\x00-\x07]|[\x80-\xff]{4}[\xf8-\xff]\xff{4}\x01)*+"
)
_INT_RUNS: Final[dict[bytes, re.Pattern[bytes]]] = {}
_TOO_LARGE: Final = "a varint of more than 64 bits"
_TOO_LARGE_INT32: Final = "an integer of more than 32 bits in an int32 field"
_UNTERMINATED: Final = "an unterminated varint"


class Cursor:
    """A position in a file from which protobuf's primitives are read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.pos = 0
        self._base = 0
        self._buffer = b""
        self._safe = 0  # before this index of the buffer a whole varint can be read
        self._names: dict[bytes, str] = {}
        self._texts: dict[bytes, str] = {}
        self._max_string = current_limits().string

    def _refill(self) -> int:
        """Move the window to `pos`; return the index of `pos` in it."""
        if self.pos >= self.source.size:
            raise self.error("the file ends where a varint is expected (truncated download?)")
        self._base = self.pos
        self._buffer = self.source.read(self.pos, _WINDOW_BYTES)
        at_end = self._base + len(self._buffer) >= self.source.size
        self._safe = len(self._buffer) - (0 if at_end else _MAX_VARINT_BYTES)
        if self._safe <= 0:
            raise self.error("the file was truncated while it was read")
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
        for byte in self._buffer[at : at + _MAX_VARINT_BYTES]:
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                if result >> 64:
                    raise self.error(_TOO_LARGE)
                self.pos += shift // 7
                return result
        raise self.error(_UNTERMINATED)

    def tag(self) -> int:
        """Read a tag. It must have its shortest encoding: protobuf's parsers differ in others."""
        at = self.pos - self._base
        if at < 0 or at >= self._safe:
            at = self._refill()
        byte = self._buffer[at]
        if 8 <= byte < 0x80:  # a field with a number from 1 to 15
            self.pos += 1
            return byte
        tag = self._long_varint(at)
        if tag < 8:
            raise self.error("a field with number 0")
        if tag > _MAX_TAG or not self._buffer[self.pos - self._base - 1]:
            raise self.error("a tag with leading zeros or more than 32 bits")
        return tag

    def length(self) -> int:
        start = self.pos
        length = self.varint()
        if self.pos - start > _MAX_LENGTH_BYTES:
            raise self.error("a length of more than five bytes")
        return length

    def take(self, length: int) -> bytes:
        """Return the next bytes. The caller has checked that they are inside the file."""
        at = self.pos - self._base
        if at >= 0 and at + length <= len(self._buffer):
            data = self._buffer[at : at + length]
        else:
            data = self.source.read(self.pos, length)
            if len(data) != length:
                raise self.error("the file was truncated while it was read")
        self.pos += length
        return data

    def short_name(self, end: int) -> str | None:
        """Read a length below 128 and the name that follows; None if these are not in the window or beyond `end`.

        Most of a graph are such names, so that one call reads the whole field.
        """
        start = self.pos - self._base
        if not 0 <= start < self._safe:
            return None
        length = self._buffer[start]
        stop = start + 1 + length
        if length >= 0x80 or stop > len(self._buffer) or self._base + stop > end or length > self._max_string:
            return None
        raw = self._buffer[start + 1 : stop]
        name = self._names.get(raw)
        if name is None:
            name = self._names[raw] = self._decode_name(raw)
        self.pos += 1 + length
        return name

    def name(self, length: int) -> str:
        """Read a string that identifies something. Bytes that are not UTF-8 have no unique text."""
        raw = self._take_string(length)
        name = self._names.get(raw)
        if name is None:
            name = self._decode_name(raw)
            if length <= _MAX_INTERNED_BYTES:
                self._names[raw] = name
        return name

    def _decode_name(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise self.error("a name that is not valid UTF-8") from None

    def text(self, length: int) -> str:
        """Read a string that is only shown; bytes that are not UTF-8 are escaped."""
        raw = self._take_string(length)
        text = self._texts.get(raw)
        if text is None:
            text = raw.decode("utf-8", "backslashreplace")
            if length <= _MAX_INTERNED_BYTES:
                self._texts[raw] = text
        return text

    def _take_string(self, length: int) -> bytes:
        if length > self._max_string:
            where = f"{self.source.path}: a string at byte {self.pos:,} has {length:,} bytes"
            raise limit_error("string", f"{where}, more than {self._max_string:,}")
        return self.take(length)

    def float_run(self, tag: bytes, end: int) -> bytes:
        """Consume the unpacked floats of one field that follow in the window; return them with their tags."""
        stride = len(tag) + 4
        view = self._view(end)
        run = len(view) // stride
        for at, byte in enumerate(tag):
            column = view[at : run * stride : stride]
            run = len(column) - len(column.lstrip(bytes((byte,))))
        self.pos += run * stride
        return view[: run * stride]

    def int_run(self, tag: bytes, end: int) -> bytes:
        """Consume the unpacked integers of one field that follow in the window; return them with their tags."""
        pattern = _INT_RUNS.get(tag)
        if pattern is None:
            pattern = _INT_RUNS[tag] = re.compile(b"(?:" + re.escape(tag) + rb"[\x80-\xff]{0,9}[\x00-\x7f])*+")
        match = pattern.match(self._view(end))
        run = match.group() if match else b""
        self.check_varints(run)
        self.pos += len(run)
        return run

    def skip_short_strings(self, end: int) -> None:
        """Skip strings of less than 2^14 bytes, in fields with numbers below 16, as far as the window has them."""
        at, buffer = self.pos - self._base, self._buffer
        last = min(end - self._base, len(buffer))
        while 0 <= at < last - 2 and buffer[at] < 0x80 and buffer[at] & 7 == LEN and buffer[at] != LEN:
            length = buffer[at + 1]
            start = at + 2
            if length >= 0x80:
                if buffer[start] >= 0x80:
                    break
                length += (buffer[start] - 1) << 7
                start += 1
            if start + length > last:
                break
            at = start + length
        self.pos = max(at + self._base, self.pos)

    def skip_strings(self, tag: int, end: int) -> int:
        """Skip the short strings of one field that follow in the window; return their number.

        The tag has one byte.
        """
        view = self._view(end)
        at = count = 0
        last = len(view) - 1
        while at < last and view[at] == tag and view[at + 1] < 0x80 and at + 2 + view[at + 1] <= last + 1:
            at += 2 + view[at + 1]
            count += 1
        self.pos += at
        return count

    def skip(self, wire: int, end: int) -> None:
        """Skip a field that nothing uses, up to `end` at most."""
        if wire == VARINT:
            self.varint()
        elif wire == LEN:
            length = self.length()  # moves the cursor: not inside the +=
            self.pos += length
        elif wire in (I64, I32):
            self.pos += 8 if wire == I64 else 4
        else:
            raise self.error("a group" if wire in _GROUPS else f"a field of unknown wire type {wire}")
        if self.pos > end:
            raise self.error("a field extends beyond the end of its message")

    def check_varints(self, data: bytes, *, int32: bool = False) -> None:
        """Reject varints that protobuf would truncate or reject. `data` has varints, or tags and varints."""
        if data[-1:] > b"\x7f":
            raise self.error(_UNTERMINATED)
        classes = data.translate(_CLASSES)  # found faster in them than by a pattern
        if any(overflow in classes for overflow in _OVERFLOWS):
            raise self.error(_TOO_LARGE)
        if int32 and b"++++" in classes and not _INT32_RUN.fullmatch(data):
            raise self.error(_TOO_LARGE_INT32)

    def varint_chunks(self, end: int, *, int32: bool = False) -> Iterator[tuple[bytes, int]]:
        """Yield the varints up to `end`, checked: the bytes of whole ones, and their number.

        A hole of a sparse file is zeros, each a varint. It is skipped, and of its bytes only the first are yielded.
        """
        while self.pos < end:
            hole = min(self.source.next_data(self.pos), end) - self.pos
            if hole >= _WINDOW_BYTES:
                self.pos += hole
                yield bytes(_WINDOW_BYTES), hole
                continue
            data = self.take(min(end - self.pos, _WINDOW_BYTES))
            whole = whole_varints(data) if self.pos < end else data
            self.pos -= len(data) - len(whole)
            yield whole, self.check_chunk(whole or data, int32=int32)

    def check_chunk(self, data: bytes, *, int32: bool) -> int:
        """Check varints as `check_varints` does, but faster if they are many; return their number."""
        if data.isascii():
            return len(data)
        if data[-1] > 0x7F:
            raise self.error(_UNTERMINATED)
        from onnx_autodoc.readers.varint_arrays import count_array_varints, is_any_above_32_bits, is_any_above_64_bits

        if (is_any_above_32_bits if int32 else is_any_above_64_bits)(data):
            raise self.error(_TOO_LARGE if is_any_above_64_bits(data) else _TOO_LARGE_INT32)
        return count_array_varints(data)

    def _view(self, end: int) -> bytes:
        at = self.pos - self._base
        return self._buffer[at : end - self._base] if at >= 0 else b""

    def error(self, what: str) -> BadInput:
        return BadInput(f"{self.source.path}: not a valid ONNX model, at byte {self.pos:,}: {what}")


def tag_bytes(tag: int) -> bytes:
    """Return a tag as it is encoded in the file. All fields of ONNX have numbers below 2,048."""
    return bytes((tag,)) if tag < 0x80 else bytes((tag & 0x7F | 0x80, tag >> 7))


def encode_varint(number: int) -> bytes:
    """Return the shortest encoding of an unsigned number."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def count_varints(data: bytes) -> int:
    """Return the number of varints; each ends with a byte below 128."""
    return len(data.translate(None, _CONTINUATION_BYTES))


def whole_varints(data: bytes) -> bytes:
    """Return the data without an unterminated varint at its end."""
    return data.rstrip(_CONTINUATION_BYTES)


def integers(data: bytes, limit: int) -> list[int]:
    """Return the first `limit` varints as signed integers."""
    return [to_int64(number) for number in decode_varints(data, limit)]


def floats(data: bytes, limit: int) -> list[float]:
    """Return the first `limit` little-endian floats."""
    count = min(len(data) // 4, limit)
    return list(struct.unpack(f"<{count}f", data[: count * 4]))
