"""Decode protobuf files by tables: one loop for every message, with bounded memory and no recursion.

The decoder keeps its own stack and never loads the payload of a tensor: it skips the payload and records where it is.
Lists in attributes are kept up to `_MAX_LIST_ITEMS` and counted beyond that. The file is read through one small window.
"""

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import decode_varints, to_int64
from onnx_autodoc.limits import current_limits, limit_error
from onnx_autodoc.storage import Source

_WINDOW_BYTES: Final = 1 << 16
_MAX_VARINT_BYTES: Final = 10
_MAX_INTERNED_BYTES: Final = 128  # strings up to this length are stored once, however often they occur
_CONTINUATION_BYTES: Final = bytes(range(0x80, 0x100))
_INT_RUNS: dict[bytes, re.Pattern[bytes]] = {}
_MAX_LIST_ITEMS: Final = 4096
_MAX_NAME_CHARS: Final = 4096
_MAX_PAYLOAD_BYTES: Final = 1 << 16
_MAX_OTHER_NESTING: Final = 40  # nested messages that are no subgraphs; protobuf's own libraries stop at 100
_VARINT, _I64, _LEN, _I32 = 0, 1, 2, 5


class Cursor:
    """A position in a file from which protobuf's primitives are read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.pos = 0
        self._base = 0
        self._buffer = b""
        self._safe = 0  # before this index of the buffer a whole varint can be read
        self._interned: dict[bytes, str] = {}
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
                self.pos += shift // 7
                return result & 0xFFFFFFFFFFFFFFFF
        raise self.error("an unterminated varint")

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

    def short_string(self, end: int) -> str | None:
        """Read a length below 128 and the text that follows; None if these are not in the window or beyond `end`.

        Most of a graph are such strings, so that one call reads the whole field.
        """
        start = self.pos - self._base
        if not 0 <= start < self._safe:
            return None
        length = self._buffer[start]
        stop = start + 1 + length
        if length >= 0x80 or stop > len(self._buffer) or self._base + stop > end or length > self._max_string:
            return None
        raw = self._buffer[start + 1 : stop]
        self.pos += 1 + length
        text = self._interned.get(raw)
        if text is None:
            text = self._interned[raw] = raw.decode("utf-8", "backslashreplace")
        return text

    def string(self, length: int) -> str:
        if length > self._max_string:
            where = f"{self.source.path}: a string at byte {self.pos:,} has {length:,} bytes"
            raise limit_error("string", f"{where}, more than {self._max_string:,}")
        raw = self.take(length)
        text = self._interned.get(raw)
        if text is None:
            text = raw.decode("utf-8", "backslashreplace")
            if length <= _MAX_INTERNED_BYTES:
                self._interned[raw] = text
        return text

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
        self.pos += len(run)
        return run

    def skip_strings(self, tag: int, end: int) -> int:
        """Skip the short strings of one field that follow in the window; return their number."""
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
        return BadInput(f"{self.source.path}: not a valid ONNX model, at byte {self.pos:,}: {what}")


def _count_varints(run: bytes) -> int:
    """Return the number of varints in `run`; each ends with a byte below 128."""
    return len(run.translate(None, _CONTINUATION_BYTES))


def _floats(data: bytes, limit: int) -> list[float]:
    """Return the first `limit` little-endian floats."""
    count = min(len(data) // 4, limit)
    return list(struct.unpack(f"<{count}f", data[: count * 4]))


Fields = dict[str, Any]  # the fields of a message by name


class Field(Struct, frozen=True):
    """A field of a message: either `read` decodes its value, or it is a nested `message`."""

    name: str
    read: "Callable[[Cursor, Field, int, _Frame], None] | None"
    repeated: bool = False
    message: "Message | None" = None


class Message(Struct):
    """A message type: its fields by number, and the function that builds a value from the decoded fields."""

    name: str
    fields: Mapping[int, Field]
    build: Callable[[Fields], object]
    limit: str = ""  # the limit that counts these messages ("nodes") or their nesting ("depth")
    collected: bool = False  # whether `decode` also returns every message of this type


class RepeatedField:
    """A list of numbers or strings: its first items and its length."""

    __slots__ = ("count", "first")

    def __init__(self) -> None:
        self.first: list[Any] = []
        self.count = 0

    @property
    def free(self) -> int:
        """The number of further items that are kept."""
        return _MAX_LIST_ITEMS - len(self.first)

    def add(self, items: list[Any], count: int) -> None:
        self.first.extend(items[: self.free])
        self.count += count


class Span(Struct, frozen=True):
    """The location of a payload in the file, and its bytes if it is small."""

    offset: int
    length: int
    data: bytes | None


class _Frame:
    """A message that is being decoded."""

    __slots__ = ("end", "field", "fields", "message")

    def __init__(self, message: Message, field: Field | None, end: int) -> None:
        self.message = message
        self.field = field
        self.end = end
        self.fields: Fields = {}

    def put(self, field: Field, item: object) -> None:
        if field.repeated:
            if field.name in self.fields:
                self.fields[field.name].append(item)
            else:
                self.fields[field.name] = [item]
        else:
            self.fields[field.name] = item


class _NestingLimits:
    """Limits on the number of nodes and on nesting."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.nodes, self.depth = current_limits().nodes, current_limits().depth
        self.nodes_left = self.nodes
        self.messages = 3 * self.depth + _MAX_OTHER_NESTING  # a level is a node, its attribute and the graph in it

    def check(self, stack: list[_Frame]) -> None:
        """Check the innermost message; called once for each message."""
        limit = stack[-1].message.limit
        if limit == "nodes":
            self.nodes_left -= 1
            if self.nodes_left < 0:
                raise limit_error("nodes", f"{self.path}: more than {self.nodes:,} nodes")
            return
        graphs = sum(frame.message.limit == "depth" for frame in stack) - 1 if limit == "depth" else 0
        if graphs > self.depth or len(stack) > self.messages:
            raise limit_error("depth", f"{self.path}: graphs or types are nested more than {self.depth:,} levels deep")


def decode(source: Source, root: Message) -> tuple[object, list[object]]:
    """Decode the file as one message of type `root`; return its value and the values of all collected messages."""
    cursor, collected = Cursor(source), list[object]()
    stack = [_Frame(root, None, source.size)]
    nesting = _NestingLimits(source.path)
    while True:
        frame = stack[-1]
        fields, end = frame.message.fields, frame.end
        while cursor.pos < end:
            tag = cursor.varint()
            field = fields.get(tag >> 3)
            if field is None:
                _skip(cursor, tag & 7, frame)
            elif field.read is None:
                frame = _enter(cursor, field, tag & 7, stack)
                fields, end = frame.message.fields, frame.end
                nesting.check(stack)
            else:
                field.read(cursor, field, tag, frame)
        if cursor.pos > frame.end:
            raise cursor.error(f"a field of {frame.message.name} extends beyond the end of its message")
        stack.pop()
        try:
            value = frame.message.build(frame.fields)
        except BadInput as error:  # builders do not know the file
            raise BadInput(f"{source.path}: {error}") from None
        if frame.message.collected:
            collected.append(value)
        if not stack or frame.field is None:
            return value, collected
        stack[-1].put(frame.field, value)


def _enter(cursor: Cursor, field: Field, wire: int, stack: list[_Frame]) -> _Frame:
    length = _length(cursor, field.name, wire, stack[-1])
    if not field.repeated and field.name in stack[-1].fields:
        raise cursor.error(f"{stack[-1].message.name} has more than one field {field.name}")
    assert field.message is not None
    stack.append(_Frame(field.message, field, cursor.pos + length))
    return stack[-1]


def _length(cursor: Cursor, name: str, wire: int, frame: _Frame) -> int:
    if wire != _LEN:
        raise cursor.error(f"{frame.message.name}.{name} has the wrong wire type {wire}")
    length, rest = cursor.varint(), frame.end - cursor.pos
    if length > rest:
        whole = frame.end == cursor.source.size
        ends = "the file ends" if whole else f"its {frame.message.name} ends"
        hint = " (truncated download?)" if whole else ""
        raise cursor.error(
            f"{frame.message.name}.{name} declares {length:,} bytes, but {ends} after {max(rest, 0):,}{hint}"
        )
    return length


def _skip(cursor: Cursor, wire: int, frame: _Frame) -> None:
    if wire == _VARINT:
        cursor.varint()
    elif wire == _LEN:
        length = _length(cursor, "unknown field", wire, frame)  # moves the cursor: not inside the +=
        cursor.pos += length
    elif wire in (_I64, _I32):
        cursor.pos += 8 if wire == _I64 else 4
    else:
        raise cursor.error(f"{frame.message.name} has a field of unknown wire type {wire}")


def read_string(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    frame.put(field, cursor.string(_length(cursor, field.name, tag & 7, frame)))


def read_name(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """Read a name, which is shortened if it is huge: it is stored once for every value that refers to it."""
    short = cursor.short_string(frame.end) if tag & 7 == _LEN else None
    name = cursor.string(_length(cursor, field.name, tag & 7, frame)) if short is None else short
    if len(name) > _MAX_NAME_CHARS:  # with a hash, so that it stays unique
        import hashlib  # loads OpenSSL

        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{name[:_MAX_NAME_CHARS]}… ({len(name):,} characters, {digest[:16]})"
    frame.put(field, name)


def read_payload(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    if tag & 7 != _LEN:  # one element, not packed
        start = cursor.pos
        _skip(cursor, tag & 7, frame)
        length, cursor.pos = cursor.pos - start, start
    else:
        length = _length(cursor, field.name, _LEN, frame)
    if cursor.pos + length > frame.end:
        raise cursor.error(f"{field.name} extends beyond the end of its message")
    start = cursor.pos
    data = cursor.take(length) if length <= _MAX_PAYLOAD_BYTES else None
    cursor.pos = start + length
    frame.put(field, Span(start, length, data))


def read_int(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    if tag & 7 != _VARINT:
        raise _wire_type_error(cursor, field, tag, frame)
    frame.fields[field.name] = to_int64(cursor.varint())


def read_float(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    if tag & 7 != _I32 or cursor.pos + 4 > frame.end:
        raise _wire_type_error(cursor, field, tag, frame)
    frame.fields[field.name] = struct.unpack("<f", cursor.take(4))[0]


def read_ints(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """Read a list of integers, packed into one field or one field each."""
    items: RepeatedField = frame.fields.setdefault(field.name, RepeatedField())
    if tag & 7 == _LEN:
        for data in _chunks(cursor, field, frame):
            items.add(_integers(data, items.free), _count_varints(data))
        return
    if tag & 7 != _VARINT:
        raise _wire_type_error(cursor, field, tag, frame)
    items.add([to_int64(cursor.varint())], 1)
    run = cursor.int_run(_tag_bytes(tag), frame.end)
    # Each item is a tag and a value, both varints: every second one is a value.
    items.add(_integers(run, 2 * items.free)[1::2], _count_varints(run) // 2)


def _integers(data: bytes, limit: int) -> list[int]:
    return [to_int64(number) for number in decode_varints(data, limit)]


def read_floats(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """Read a list of floats, packed into one field or one field each."""
    items: RepeatedField = frame.fields.setdefault(field.name, RepeatedField())
    if tag & 7 == _LEN:
        for data in _chunks(cursor, field, frame):
            items.add(_floats(data, items.free), len(data) // 4)
        return
    if tag & 7 != _I32 or cursor.pos + 4 > frame.end:
        raise _wire_type_error(cursor, field, tag, frame)
    items.add(_floats(cursor.take(4), 1), 1)
    width = len(_tag_bytes(tag))
    run = cursor.float_run(_tag_bytes(tag), frame.end)
    kept = run[: items.free * (width + 4)]
    items.add([item for (item,) in struct.iter_unpack(f"<{width}xf", kept)], len(run) // (width + 4))


def read_strings(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """Read a list of strings, which may have one for each node of a tree ensemble."""
    items: RepeatedField = frame.fields.setdefault(field.name, RepeatedField())
    items.add([cursor.string(_length(cursor, field.name, tag & 7, frame))], 1)
    if not items.free:
        items.count += cursor.skip_strings(tag, frame.end)


def _chunks(cursor: Cursor, field: Field, frame: _Frame) -> Iterator[bytes]:
    """Yield packed numbers in chunks, since the declared length may be huge."""
    end = _length(cursor, field.name, _LEN, frame) + cursor.pos
    while cursor.pos < end:
        yield cursor.take(min(end - cursor.pos, _MAX_PAYLOAD_BYTES))


def _wire_type_error(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> BadInput:
    return cursor.error(f"{frame.message.name}.{field.name} has the wrong wire type {tag & 7}")


def _tag_bytes(tag: int) -> bytes:
    """Return a tag as it is encoded in the file. All fields of ONNX have numbers below 2,048."""
    return bytes((tag,)) if tag < 0x80 else bytes((tag & 0x7F | 0x80, tag >> 7))
