"""Decode protobuf files by tables: one loop for every message, with bounded memory and no recursion.

The decoder keeps its own stack and never keeps a large payload of a tensor: it skips the payload and records where it
is. Only the encoding of packed integers is checked on the way. Lists in attributes are kept up to `_MAX_LIST_ITEMS` and
counted beyond that.

The model that is read must be the model that runs. An encoding to which protobuf's parsers give different meanings, or
one that no writer intends, is rejected; every other encoding has the meaning that they give it. docs/safety.md ("The
model that is read is the model that runs") lists both; `fuzz.differential` compares this decoder with these parsers.
"""

import struct
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from msgspec import Struct

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import to_int64
from onnx_autodoc.limits import current_limits, limit_error
from onnx_autodoc.readers.wire import (
    I32,
    I64,
    LEN,
    VARINT,
    Cursor,
    count_varints,
    floats,
    integers,
    tag_bytes,
)
from onnx_autodoc.storage import Source

_MAX_LIST_ITEMS: Final = 4096
_MAX_NAME_CHARS: Final = 4096
MAX_PAYLOAD_BYTES: Final = 1 << 16
_MAX_NESTING: Final = 100  # messages inside messages, as in protobuf's parsers
_ELEMENT_BYTES: Final = {I32: 4, I64: 8}
INT32: Final = range(-(1 << 31), 1 << 31)

Fields = dict[str, Any]  # the fields of a message by name


class Field(Struct, frozen=True):
    """A field of a message: either `read` decodes its value, or it is a nested `message`.

    A field that occurs again replaces its value, unless it is `repeated`.
    """

    name: str
    read: "Callable[[Cursor, Field, int, _Frame], None] | None"
    repeated: bool = False
    message: "Message | None" = None
    wire: int = LEN  # of one element of a list
    defined: range | None = None  # of an int32 field its range, of an enumeration its values


class Message(Struct):
    """A message type: its fields by number, and the function that builds a value from the decoded fields."""

    name: str
    fields: Mapping[int, Field]
    build: Callable[[Fields], object]
    limit: str = ""  # the limit that counts these messages ("nodes") or their nesting ("depth")
    collected: bool = False  # whether `decode` also returns every message of this type


class Decoded(NamedTuple):
    """A decoded file. `repeats` counts the fields that replaced another value, by name."""

    value: object
    collected: list[object]
    repeats: dict[str, int]


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

    __slots__ = ("end", "field", "fields", "message", "repeats")

    def __init__(self, message: Message, field: Field | None, end: int, repeats: dict[str, int]) -> None:
        self.message = message
        self.field = field
        self.end = end
        self.fields: Fields = {}
        self.repeats = repeats

    def put(self, field: Field, item: object) -> None:
        if field.name not in self.fields:
            self.fields[field.name] = [item] if field.repeated else item
        elif field.repeated:
            self.fields[field.name].append(item)
        else:
            self.replace(field, item)

    def replace(self, field: Field, item: object) -> None:
        """Replace a value, and count that if it is another one."""
        if repr(self.fields[field.name]) != repr(item):  # 0.0 equals -0.0, which is another value
            name = f"{self.message.name}.{field.name}"
            self.repeats[name] = self.repeats.get(name, 0) + 1
            self.fields[field.name] = item


class _NestingLimits:
    """Limits on the number of nodes and on nesting."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self.nodes, self.depth = current_limits().nodes, current_limits().depth
        self.nodes_left = self.nodes

    def check(self, stack: list[_Frame]) -> None:
        """Check the innermost message; called once for each message."""
        path, limit = self._cursor.source.path, stack[-1].message.limit
        if limit == "nodes":
            self.nodes_left -= 1
            if self.nodes_left < 0:
                raise limit_error("nodes", f"{path}: more than {self.nodes:,} nodes")
        elif limit == "depth" and sum(frame.message.limit == "depth" for frame in stack) - 1 > self.depth:
            raise limit_error("depth", f"{path}: graphs are nested more than {self.depth:,} levels deep")
        if len(stack) > _MAX_NESTING:  # protobuf reads one more, but not with an entry in it, which has no frame
            raise self._cursor.error(f"messages nested {_MAX_NESTING} levels deep, the limit of protobuf")


def decode(source: Source, root: Message) -> Decoded:
    """Decode the file as one message of type `root`, with the values of all collected messages."""
    cursor, collected, repeats = Cursor(source), list[object](), dict[str, int]()
    stack = [_Frame(root, None, source.size, repeats)]
    nesting = _NestingLimits(cursor)
    while True:
        frame = stack[-1]
        fields, end = frame.message.fields, frame.end
        while cursor.pos < end:
            tag = cursor.tag()
            field = fields.get(tag >> 3)
            if field is None:
                cursor.skip(tag & 7, end)
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
            return Decoded(value, collected, repeats)
        stack[-1].put(frame.field, value)


def _enter(cursor: Cursor, field: Field, wire: int, stack: list[_Frame]) -> _Frame:
    length = _length(cursor, field, wire, stack[-1])
    if not field.repeated and field.name in stack[-1].fields:
        raise cursor.error(f"{stack[-1].message.name} has more than one field {field.name}")
    assert field.message is not None
    stack.append(_Frame(field.message, field, cursor.pos + length, stack[-1].repeats))
    return stack[-1]


def _length(cursor: Cursor, field: Field, wire: int, frame: _Frame) -> int:
    if wire != LEN:
        raise _wire_type_error(cursor, field, wire, frame)
    length, rest = cursor.length(), frame.end - cursor.pos
    if length > rest:
        whole = frame.end == cursor.source.size
        ends = "the file ends" if whole else f"its {frame.message.name} ends"
        hint = " (truncated download?)" if whole else ""
        raise cursor.error(
            f"{frame.message.name}.{field.name} declares {length:,} bytes, but {ends} after {max(rest, 0):,}{hint}"
        )
    return length


def read_text(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """Read a string that is only shown, or bytes; what is not UTF-8 is escaped."""
    frame.put(field, cursor.text(_length(cursor, field, tag & 7, frame)))


def read_exact(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """Read a string whose every character counts."""
    frame.put(field, cursor.name(_length(cursor, field, tag & 7, frame)))


def read_name(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """Read a name, which is shortened if it is huge: it is stored once for every value that refers to it."""
    short = cursor.short_name(frame.end) if tag & 7 == LEN else None
    name = cursor.name(_length(cursor, field, tag & 7, frame)) if short is None else short
    if len(name) > _MAX_NAME_CHARS:  # with a hash, so that it stays unique
        import hashlib  # loads OpenSSL

        name = f"{name[:_MAX_NAME_CHARS]}… ({len(name):,} characters, {hashlib.sha256(name.encode()).hexdigest()})"
    frame.put(field, name)


def check_entry(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """Check the encoding of a message of strings that nothing uses: most of a file may be such messages."""
    end = _length(cursor, field, tag & 7, frame) + cursor.pos
    cursor.skip_short_strings(end)
    while cursor.pos < end:
        cursor.skip(cursor.tag() & 7, end)


def read_payload(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """Record where data of a tensor are: a packed list, or one element of it."""
    start, wire = cursor.pos, tag & 7
    if wire == field.wire != LEN:
        cursor.skip(wire, frame.end)
        length, cursor.pos = cursor.pos - start, start
    else:
        length = _length(cursor, field, wire, frame)
        if not length and field.wire != LEN:
            return  # an empty packed list has no elements
    span = Span(cursor.pos, length, cursor.take(length) if length <= MAX_PAYLOAD_BYTES else None)
    end, int32 = span.offset + length, field.defined == INT32
    if field.wire != VARINT:
        if length % _ELEMENT_BYTES.get(field.wire, 1):
            raise cursor.error(f"{frame.message.name}.{field.name} ends inside an element")
    elif span.data is not None:
        cursor.check_varints(span.data, int32=int32)
    else:
        deque(cursor.varint_chunks(end, int32=int32), maxlen=0)
    cursor.pos = end
    if field.repeated or field.name not in frame.fields:
        frame.fields.setdefault(field.name, []).append(span)
    elif span.data is None or span.data != frame.fields[field.name][0].data:
        frame.replace(field, [span])


def read_int(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    if tag & 7 != VARINT:
        raise _wire_type_error(cursor, field, tag & 7, frame)
    number = to_int64(cursor.varint())
    if field.defined is not None and number not in field.defined:
        if number not in INT32:
            raise cursor.error(f"{frame.message.name}.{field.name} has more than 32 bits")
        frame.fields[f"undefined {field.name}"] = number  # protobuf does not set the field
    elif field.name in frame.fields:
        frame.replace(field, number)
    else:
        frame.fields[field.name] = number


def read_float(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    if tag & 7 != I32 or cursor.pos + 4 > frame.end:
        raise _wire_type_error(cursor, field, tag & 7, frame)
    frame.put(field, struct.unpack("<f", cursor.take(4))[0])


def read_ints(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """Read a list of integers, packed into one field or one field each."""
    if tag & 7 == LEN:
        end = _length(cursor, field, LEN, frame) + cursor.pos
        for data, count in cursor.varint_chunks(end):
            items = _list(frame, field)
            items.add(integers(data, items.free), count)
        return
    if tag & 7 != VARINT:
        raise _wire_type_error(cursor, field, tag & 7, frame)
    items = _list(frame, field)
    items.add([to_int64(cursor.varint())], 1)
    run = cursor.int_run(tag_bytes(tag), frame.end)
    # Each item is a tag and a value, both varints: every second one is a value.
    items.add(integers(run, 2 * items.free)[1::2], count_varints(run) // 2)


def read_floats(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """Read a list of floats, packed into one field or one field each."""
    if tag & 7 == LEN:
        length = _length(cursor, field, LEN, frame)
        if length % 4:
            raise cursor.error(f"{frame.message.name}.{field.name} ends inside an element")
        end = cursor.pos + length
        if length:
            items = _list(frame, field)
            items.add(floats(cursor.take(min(length, 4 * items.free)), items.free), length // 4)
        cursor.pos = end
        return
    if tag & 7 != I32 or cursor.pos + 4 > frame.end:
        raise _wire_type_error(cursor, field, tag & 7, frame)
    items = _list(frame, field)
    items.add(floats(cursor.take(4), 1), 1)
    width = len(tag_bytes(tag))
    run = cursor.float_run(tag_bytes(tag), frame.end)
    kept = run[: items.free * (width + 4)]
    items.add([item for (item,) in struct.iter_unpack(f"<{width}xf", kept)], len(run) // (width + 4))


def _list(frame: _Frame, field: Field) -> RepeatedField:
    items: RepeatedField = frame.fields.setdefault(field.name, RepeatedField())
    return items


def read_strings(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """Read a list of strings, which may have one for each node of a tree ensemble."""
    items = _list(frame, field)
    items.add([cursor.text(_length(cursor, field, tag & 7, frame))], 1)
    if not items.free:
        items.count += cursor.skip_strings(tag, frame.end)


def _wire_type_error(cursor: Cursor, field: Field, wire: int, frame: _Frame) -> BadInput:
    return cursor.error(f"{frame.message.name}.{field.name} has the wrong wire type {wire}")
