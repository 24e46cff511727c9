"""One loop that decodes every message of a protobuf file, told by tables what each field is.

It keeps its own stack, so nesting costs no recursion, and it never takes a tensor's payload into memory: the payload
is stepped over, and its place is kept. Lists in attributes are kept up to `KEEP_ITEMS` and counted beyond that.
"""

import hashlib
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import signed, varints
from onnx_autodoc.limits import limits, reached
from onnx_autodoc.readers._cursor import Cursor, count_varints, floats
from onnx_autodoc.readers._source import Source

KEEP_ITEMS: Final = 4096
KEEP_NAME: Final = 4096  # letters
KEEP_PAYLOAD: Final = 1 << 16
_BESIDES: Final = 40  # messages in each other that are no subgraphs; protobuf's own libraries stop at 100
_VARINT, _I64, _LEN, _I32 = 0, 1, 2, 5

Found = dict[str, Any]


class Field(Struct, frozen=True):
    """A field by name. `read` takes what it holds off the wire; a field with a `message` is entered instead."""

    name: str
    read: "Callable[[Cursor, Field, int, _Frame], None] | None"
    many: bool = False
    message: "Message | None" = None


class Message(Struct):
    """The fields of one kind of message by number, and how to build a value of what was found."""

    name: str
    fields: Mapping[int, Field]
    build: Callable[[Found], object]
    limit: str = ""  # on how many there may be ("nodes"), or how many in each other ("depth")
    listed: bool = False  # whether each of them is wanted, wherever it stands and whatever becomes of it


class Items:
    """A list of numbers or texts: its beginning and its length."""

    __slots__ = ("count", "first")

    def __init__(self) -> None:
        self.first: list[Any] = []
        self.count = 0

    @property
    def room(self) -> int:
        """How many more are kept."""
        return KEEP_ITEMS - len(self.first)

    def add(self, items: list[Any], count: int) -> None:
        self.first.extend(items[: self.room])
        self.count += count


class Piece(Struct, frozen=True):
    """Where a payload lies in the file, and its bytes if they are few."""

    offset: int
    length: int
    data: bytes | None


class _Frame:
    __slots__ = ("end", "field", "found", "message")

    def __init__(self, message: Message, field: Field | None, end: int) -> None:
        self.message = message
        self.field = field
        self.end = end
        self.found: Found = {}

    def put(self, field: Field, item: object) -> None:
        if field.many:
            self.found.setdefault(field.name, []).append(item)
        else:
            self.found[field.name] = item


class _Room:
    """How many nodes there may be, and how deep they may lie."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.nodes, self.depth = limits().nodes, limits().depth
        self.left, self.messages = self.nodes, 3 * self.depth + _BESIDES  # a node, its attribute, the graph in it

    def check(self, stack: list[_Frame]) -> None:
        """Called with each message that is entered."""
        what = stack[-1].message.limit
        if what == "nodes":
            self.left -= 1
            if self.left < 0:
                raise reached("nodes", f"{self.path}: has over {self.nodes:,} nodes")
        elif (what == "depth" and self._inside(stack) > self.depth) or len(stack) > self.messages:
            raise reached("depth", f"{self.path}: has graphs or types in each other, over {self.depth:,} deep")

    @staticmethod
    def _inside(stack: list[_Frame]) -> int:
        return sum(frame.message.limit == "depth" for frame in stack) - 1


def decode(source: Source, root: Message) -> tuple[object, list[object]]:
    """The whole file as one message of kind `root`, and every message in it of a kind that is listed."""
    cursor, listed = Cursor(source), list[object]()
    stack = [_Frame(root, None, source.size)]
    room = _Room(source.path)
    while True:
        frame = stack[-1]
        while cursor.pos < frame.end:
            tag = cursor.varint()
            field = frame.message.fields.get(tag >> 3)
            if field is None:
                _skip(cursor, tag & 7, frame)
            elif field.read is None:
                frame = _enter(cursor, field, tag & 7, stack)
                room.check(stack)
            else:
                field.read(cursor, field, tag, frame)
        if cursor.pos > frame.end:
            raise cursor.error(f"a field of {frame.message.name} runs over its end")
        stack.pop()
        built = _built(frame, source)
        if frame.message.listed:
            listed.append(built)
        if not stack or frame.field is None:
            return built, listed
        stack[-1].put(frame.field, built)


def _built(frame: _Frame, source: Source) -> object:
    try:
        return frame.message.build(frame.found)
    except BadInput as wrong:  # who builds does not know of which file
        raise BadInput(f"{source.path}: {wrong}") from None


def _enter(cursor: Cursor, field: Field, wire: int, stack: list[_Frame]) -> _Frame:
    length = _length(cursor, field.name, wire, stack[-1])
    if not field.many and field.name in stack[-1].found:
        raise cursor.error(f"{stack[-1].message.name} has two fields {field.name}")
    assert field.message is not None  # a field is read or entered
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
        raise cursor.error(f"{frame.message.name}.{name} claims {length:,} bytes, {ends} after {max(rest, 0):,}{hint}")
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
        raise cursor.error(f"{frame.message.name} has a field of wire type {wire}")


def read_text(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    frame.put(field, cursor.text(_length(cursor, field.name, tag & 7, frame)))


def read_name(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """A name that is as long as a book is not said again with every value that it is part of."""
    name = cursor.text(_length(cursor, field.name, tag & 7, frame))
    frame.put(field, name if len(name) <= KEEP_NAME else _short(name))


def _short(name: str) -> str:
    """As unlike others as the whole one."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name[:KEEP_NAME]}… ({len(name):,} letters, {digest[:16]})"


def read_payload(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    if tag & 7 != _LEN:  # one element, not packed
        start = cursor.pos
        _skip(cursor, tag & 7, frame)
        length, cursor.pos = cursor.pos - start, start
    else:
        length = _length(cursor, field.name, _LEN, frame)
    if cursor.pos + length > frame.end:
        raise cursor.error(f"{field.name} runs over its end")
    start = cursor.pos
    data = cursor.take(length) if length <= KEEP_PAYLOAD else None
    cursor.pos = start + length
    frame.put(field, Piece(start, length, data))


def read_int(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    if tag & 7 != _VARINT:
        raise _wrong_type(cursor, field, tag, frame)
    frame.found[field.name] = signed(cursor.varint())


def read_float(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    if tag & 7 != _I32 or cursor.pos + 4 > frame.end:
        raise _wrong_type(cursor, field, tag, frame)
    frame.found[field.name] = struct.unpack("<f", cursor.take(4))[0]


def read_ints(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """A list of integers, packed into one field or one field each."""
    items: Items = frame.found.setdefault(field.name, Items())
    if tag & 7 == _LEN:
        for data in _pieces(cursor, field, frame):
            items.add(_integers(data, items.room), count_varints(data))
        return
    if tag & 7 != _VARINT:
        raise _wrong_type(cursor, field, tag, frame)
    items.add([signed(cursor.varint())], 1)
    run = cursor.int_run(_tag_bytes(tag), frame.end)
    # Each item is its tag and its value, both varints: every second one is a value.
    items.add(_integers(run, 2 * items.room)[1::2], count_varints(run) // 2)


def _integers(data: bytes, most: int) -> list[int]:
    return [signed(number) for number in varints(data, most)]


def read_floats(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """A list of floats, packed into one field or one field each."""
    items: Items = frame.found.setdefault(field.name, Items())
    if tag & 7 == _LEN:
        for data in _pieces(cursor, field, frame):
            items.add(floats(data, items.room), len(data) // 4)
        return
    if tag & 7 != _I32 or cursor.pos + 4 > frame.end:
        raise _wrong_type(cursor, field, tag, frame)
    items.add(floats(cursor.take(4), 1), 1)
    width = len(_tag_bytes(tag))
    run = cursor.float_run(_tag_bytes(tag), frame.end)
    kept = run[: items.room * (width + 4)]
    items.add([item for (item,) in struct.iter_unpack(f"<{width}xf", kept)], len(run) // (width + 4))


def read_texts(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> None:
    """A list of texts that may be as long as a tree ensemble has nodes."""
    items: Items = frame.found.setdefault(field.name, Items())
    items.add([cursor.text(_length(cursor, field.name, tag & 7, frame))], 1)
    if not items.room:
        items.count += cursor.skip_texts(tag, frame.end)


def _pieces(cursor: Cursor, field: Field, frame: _Frame) -> Iterator[bytes]:
    """Packed numbers, in pieces: the length is only the file's claim."""
    end = _length(cursor, field.name, _LEN, frame) + cursor.pos
    while cursor.pos < end:
        yield cursor.take(min(end - cursor.pos, KEEP_PAYLOAD))


def _wrong_type(cursor: Cursor, field: Field, tag: int, frame: _Frame) -> BadInput:
    return cursor.error(f"{frame.message.name}.{field.name} has the wrong wire type {tag & 7}")


def _tag_bytes(tag: int) -> bytes:
    """A tag as it stands in the file (all of ONNX's fields have numbers below 2,048)."""
    return bytes((tag,)) if tag < 0x80 else bytes((tag & 0x7F | 0x80, tag >> 7))
