"""Small models of every construct in onnx.proto, and edits of their encoding that no library would write.

A model is a tree of `Piece`. An edit changes the pieces of one message and leaves all other bytes as they are, so that
several edits add up. The fields of a message come from onnx's own descriptors, not from the tables of the reader.
"""

import struct
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Final

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from msgspec import Struct
from onnx import ModelProto

from fuzz.wire import overlong, varint

VARINT, I64, LEN, START_GROUP, END_GROUP, I32 = range(6)
_DOUBLE, _FLOAT, _STRING, _MESSAGE, _BYTES, _ENUM = 1, 2, 9, 11, 12, 14  # FieldDescriptorProto.Type
_WIRES: Final = {_DOUBLE: I64, _FLOAT: I32, _STRING: LEN, _MESSAGE: LEN, _BYTES: LEN}
_MAX_NESTING: Final = 100  # of protobuf's parsers


class FieldInfo(Struct, frozen=True):
    number: int
    name: str
    type: int
    repeated: bool
    kind: str  # of a message
    values: tuple[int, ...]  # of an enumeration

    @property
    def wire(self) -> int:
        return _WIRES.get(self.type, VARINT)


def _read_schema() -> dict[str, dict[int, FieldInfo]]:
    """Return the fields of every message type by number."""
    file = FileDescriptorProto()
    ModelProto.DESCRIPTOR.file.CopyToProto(file)
    schema: dict[str, dict[int, FieldInfo]] = {}
    enums: dict[str, tuple[int, ...]] = {}
    pending: list[tuple[str, DescriptorProto]] = [(f".{file.package}", item) for item in file.message_type]
    messages = []
    while pending:
        scope, message = pending.pop()
        name = f"{scope}.{message.name}"
        messages.append((name, message))
        enums.update({f"{name}.{enum.name}": tuple(value.number for value in enum.value) for enum in message.enum_type})
        pending += [(name, inner) for inner in message.nested_type]
    for name, message in messages:
        schema[_short(name)] = {field.number: _field_info(field, enums) for field in message.field}
    return schema


def _field_info(field: FieldDescriptorProto, enums: dict[str, tuple[int, ...]]) -> FieldInfo:
    repeated = field.label == FieldDescriptorProto.LABEL_REPEATED
    kind = _short(field.type_name) if field.type == _MESSAGE else ""
    return FieldInfo(field.number, field.name, field.type, repeated, kind, enums.get(field.type_name, ()))


def _short(name: str) -> str:
    return name.rpartition(".")[2] if name.count(".") == 2 else ".".join(name.split(".")[-2:])


SCHEMA: Final = _read_schema()


class Piece(Struct, frozen=True):
    """A field of a message, encoded. A message that can be edited has its `fields`."""

    encoded: bytes
    number: int = 0
    wire: int = -1
    content: bytes = b""  # without tag and length
    kind: str = ""
    fields: "tuple[Piece, ...] | None" = None


Pieces = list[Piece]


def leaf(number: int, wire: int, content: bytes) -> Piece:
    return Piece(_tag(number, wire) + (varint(len(content)) if wire == LEN else b"") + content, number, wire, content)


def branch(number: int, kind: str, fields: Sequence[Piece]) -> Piece:
    content = join(fields)
    encoded = _tag(number, LEN) + varint(len(content)) + content
    return Piece(encoded, number, LEN, content, kind, tuple(fields))


def junk(data: bytes) -> Piece:
    """Bytes that are not one field."""
    return Piece(data)


@cache
def _tag(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


def join(fields: Sequence[Piece]) -> bytes:
    return b"".join([piece.encoded for piece in fields])


_NAMES: Final = ("x", "y", "w", "z", "b", "", "x", "y", "é", "a b", "a\0b", "n")
_TEXTS: Final[dict[str, tuple[str, ...]]] = {
    "op_type": ("Relu", "Conv", "If", "Add", "Constant", "f"),
    "domain": ("", "ai.onnx", "f", "ai.onnx.ml"),
    "key": ("location", "offset", "length", "k", "checksum"),
    "value": ("w.bin", "0", "8", "../w.bin", "a/b", "x", ""),
}
_BAD_TEXTS: Final = (
    *(b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"x\0", b"\0", b"", b"\xef\xbb\xbfx"),
    *(b"x" * 127, b"x" * 128, b"\\xff", b"\xc1\xbf", b"\xf8\x88\x80\x80\x80", b"e\xcc\x81", b"w.bin\xff"),
)
_NUMBERS: Final = (0, 1, 1, 2, 3, 4, 7, 8, 17, 127, 128, 300)
_EXTREMES: Final = (
    *(0, 1, 127, 128, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, (1 << 32) + 7, 1 << 35),
    *((1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 2, (1 << 64) - (1 << 31), (1 << 64) - (1 << 31) - 1),
    *((1 << 64) - (1 << 32) + 1, 1 << 64, (1 << 64) + 1, (1 << 65) - 1, (1 << 70) - 1, 5, 99),
)
_FLOATS: Final = (0.0, -0.0, 1.0, -1.5, 1e-40, float("nan"), float("inf"))
# The fields that a message of a plausible model has; most others are added with a probability that falls with depth.
_USUAL: Final[dict[str, tuple[int, ...]]] = {
    "ModelProto": (1, 8, 7),
    "GraphProto": (1, 2, 11, 12),
    "NodeProto": (1, 2, 4),
    "ValueInfoProto": (1, 2),
    "TypeProto.Tensor": (1, 2),
    "TypeProto.Sequence": (1,),
    "TypeProto.Optional": (1,),
    "TypeProto.Map": (1, 2),
    "TensorShapeProto": (1,),
    "OperatorSetIdProto": (2,),
    "StringStringEntryProto": (1, 2),
    "SparseTensorProto": (1, 2, 3),
    "FunctionProto": (1, 4, 5, 7, 9, 10),
    "TrainingInfoProto": (2,),
    "TensorAnnotation": (1, 2),
    "NodeDeviceConfigurationProto": (1, 2),
    "ShardingSpecProto": (2, 3, 4),
    "IntIntListEntryProto": (1, 2),
    "ShardedDimProto": (2,),
}
_ONE_OF: Final[dict[str, tuple[int, ...]]] = {  # oneofs, and data of a tensor
    "TypeProto": (1, 1, 1, 4, 5, 7, 8, 9),
    "TensorShapeProto.Dimension": (1, 1, 2),
    "SimpleShardedDimProto": (1, 2),
}
_VALUE_FIELDS: Final = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 22, 23, 14, 15)  # by AttributeProto.type, from 1 on
_DATA_FIELDS: Final = {  # by TensorProto.data_type
    1: 4,
    6: 5,
    7: 7,
    8: 6,
    9: 5,
    10: 5,
    11: 10,
    13: 11,
    14: 4,
}
_MAX_DEPTH: Final = 9


def make_base(random: Random) -> Piece:
    """Return a small model, as a piece whose content is the file."""
    return branch(1, "ModelProto", make_message("ModelProto", random, 0))


def make_message(kind: str, random: Random, depth: int) -> Pieces:
    if kind == "AttributeProto":
        fields = _make_attribute(random, depth)
    elif kind == "TensorProto":
        fields = _make_tensor(random, depth)
    else:
        numbers = list(_USUAL.get(kind, ()))
        if kind in _ONE_OF and random.random() < 0.97:
            numbers.append(1 if depth > _MAX_DEPTH else random.choice(_ONE_OF[kind]))
        elif kind == "GraphProto" and random.random() < 0.6:
            numbers.append(5)
        fields = [make_field(kind, number, random, depth) for number in numbers]
    others = 0.1 if kind == "ModelProto" else 0.06 if depth < 5 else 0.02
    present = {piece.number for piece in fields}
    for number, field in SCHEMA[kind].items():
        if number not in present and kind not in _ONE_OF and random.random() < others:
            if not (depth > _MAX_DEPTH and field.kind):
                fields.append(make_field(kind, number, random, depth))
        elif field.repeated and random.random() < others:
            fields.append(make_field(kind, number, random, depth))
    if random.random() < 0.8:
        fields.sort(key=lambda piece: piece.number)
    return fields


def make_field(kind: str, number: int, random: Random, depth: int) -> Piece:
    field = SCHEMA[kind][number]
    if field.kind:
        inner = make_message(field.kind, random, depth + 1) if depth <= _MAX_DEPTH else []
        return branch(number, field.kind, inner)
    if field.repeated and field.wire != LEN and random.random() < 0.3:
        return leaf(number, LEN, b"".join(_make_scalar(field, random) for _ in range(random.randrange(4))))
    return leaf(number, field.wire, _make_scalar(field, random))


def _make_scalar(field: FieldInfo, random: Random) -> bytes:
    if field.type == _FLOAT:
        return struct.pack("<f", random.choice(_FLOATS))
    if field.type == _DOUBLE:
        return struct.pack("<d", random.choice(_FLOATS))
    if field.wire == LEN:
        return random.choice(_TEXTS.get(field.name, _NAMES)).encode()
    if field.values:
        return varint(random.choice(field.values))
    if field.name in ("data_type", "elem_type", "key_type"):
        return varint(random.choice((1, 1, 1, 7, 10, 8, 0, 29, random.randrange(30))))
    return varint(random.choice(_NUMBERS) * random.choice((1, 1, 1, 1, -1)))


def _make_attribute(random: Random, depth: int) -> Pieces:
    kind = random.choice((1, 2, 3, 6, 7, 8) if depth > 5 else range(1, 15))
    number = _VALUE_FIELDS[kind - 1]
    repeats = random.randrange(4) if SCHEMA["AttributeProto"][number].repeated else 1
    values = [make_field("AttributeProto", number, random, depth) for _ in range(repeats)]
    declared = [leaf(20, VARINT, varint(kind))] if random.random() < 0.9 else []
    return [leaf(1, LEN, random.choice((b"axis", b"value", b"body", b"a"))), *values, *declared]


def _make_tensor(random: Random, depth: int) -> Pieces:
    dims = [random.choice((1, 2, 3, 0)) for _ in range(random.randrange(3))]
    dtype = random.choice((1, 1, 7, 7, 6, 8, 9, 10, 11, 13, 14, random.randrange(29)))
    fields = [leaf(1, VARINT, varint(dim)) for dim in dims]
    if random.random() < 0.2:
        fields = [leaf(1, LEN, bytes(dims))]
    fields += [leaf(2, VARINT, varint(dtype)), leaf(8, LEN, random.choice((b"w", b"b", b"x")))]
    elements = max(1, dims[0] if dims else 1) * (dims[1] if len(dims) > 1 else 1)
    how = random.random()
    if how < 0.4:
        fields.append(leaf(9, LEN, random.randbytes(elements * random.choice((1, 2, 4, 8)))))
    elif how < 0.8:
        number = _DATA_FIELDS.get(dtype, 5) if random.random() < 0.9 else random.choice((4, 5, 6, 7, 10, 11))
        fields += [make_field("TensorProto", number, random, depth) for _ in range(random.choice((1, elements)))]
    else:
        fields += [make_field("TensorProto", 13, random, depth) for _ in range(random.randrange(1, 4))]
        fields.append(leaf(14, VARINT, b"\1"))
    return fields


class Place(Struct, frozen=True):
    """Where an edit applies: the message's type and depth, and messages to copy from."""

    kind: str
    depth: int
    donors: Sequence[Piece]


Edit = Callable[[Pieces, Random, Place], Pieces]


def _replace(fields: Pieces, random: Random, change: Callable[[Piece], bytes]) -> Pieces:
    """Replace the encoding of one field."""
    real = [at for at, piece in enumerate(fields) if piece.wire >= 0]
    if real:
        at = random.choice(real)
        fields[at] = junk(change(fields[at]))
    return fields


def _insert(fields: Pieces, random: Random, *pieces: Piece) -> Pieces:
    at = random.randrange(len(fields) + 1)
    return [*fields[:at], *pieces, *fields[at:]]


def _field_number(random: Random, place: Place) -> int:
    """Return the number of a field of the message, or of no field of it."""
    known = list(SCHEMA.get(place.kind, ())) or [1]
    return random.choice(known) if random.random() < 0.7 else random.choice((17, 19, 99, 1000, 1 << 20, (1 << 29) - 1))


def _any_content(wire: int, random: Random) -> bytes:
    if wire == VARINT:
        return overlong(random.choice(_EXTREMES), random.choice((0, 0, 0, 1, 4)))
    if wire == LEN:
        content = random.choice((b"", b"x", b"\x08\x01", b"\0", b"\xff", b"\x0b", b"\x0c", b"\x0a\x01x"))
        return varint(len(content)) + content
    return random.randbytes({I64: 8, I32: 4}.get(wire, 0))


def _body(piece: Piece) -> bytes:
    """Return what follows the tag."""
    return (varint(len(piece.content)) if piece.wire == LEN else b"") + piece.content


def overlong_tag(fields: Pieces, random: Random, place: Place) -> Pieces:
    extra = random.choice((1, 1, 2, 3, 4, 5, 8, 9, 10))
    return _replace(fields, random, lambda piece: overlong(piece.number << 3 | piece.wire, extra) + _body(piece))


def wide_tag(fields: Pieces, random: Random, place: Place) -> Pieces:
    high = 1 << random.choice((32, 32, 33, 34, 35, 40, 62, 63, 64, 66))
    return _replace(fields, random, lambda piece: overlong(piece.number << 3 | piece.wire | high, 0) + _body(piece))


def overlong_length(fields: Pieces, random: Random, place: Place) -> Pieces:
    extra = random.choice((1, 2, 3, 4, 5, 8, 9, 10))

    def change(piece: Piece) -> bytes:
        return _tag(piece.number, LEN) + overlong(len(piece.content), extra) + piece.content

    return _replace(fields, random, change)


def wrong_length(fields: Pieces, random: Random, place: Place) -> Pieces:
    delta = random.choice((-2, -1, 1, 2, 3, 5, 20, 1 << 31, 1 << 32, 1 << 63, 1 << 64, (1 << 31) - 1, (1 << 64) - 1))

    def change(piece: Piece) -> bytes:
        return _tag(piece.number, LEN) + overlong(max(len(piece.content) + delta, 0), 0) + piece.content

    return _replace(fields, random, change)


def extreme_value(fields: Pieces, random: Random, place: Place) -> Pieces:
    """Give an integer another value, with more bytes than it needs."""
    numbers = [at for at, piece in enumerate(fields) if piece.wire == VARINT]
    if not numbers:
        return extra_field(fields, random, place)
    at = random.choice(numbers)
    if random.random() < 0.3:
        value = overlong(int.from_bytes(fields[at].content, "little") & 0x7F, random.randrange(1, 11))
    else:
        value = overlong(random.choice(_EXTREMES), random.choice((0, 0, 0, 0, 1, 2, 5)))
    fields[at] = leaf(fields[at].number, VARINT, value)
    return fields


def extreme_field(fields: Pieces, random: Random, place: Place) -> Pieces:
    """Add an integer field with an extreme value, or a packed list of such values."""
    numbers = [field for field in SCHEMA.get(place.kind, {}).values() if field.wire == VARINT]
    if not numbers:
        return extra_field(fields, random, place)
    field = random.choice(numbers)
    values = [overlong(random.choice((*_EXTREMES, *field.values)), random.choice((0, 0, 0, 1, 4))) for _ in range(3)]
    if field.repeated and random.random() < 0.6:
        return _insert(fields, random, leaf(field.number, LEN, b"".join(values[: random.randrange(4)])))
    return _insert(fields, random, leaf(field.number, VARINT, values[0]))


def zero_number(fields: Pieces, random: Random, place: Place) -> Pieces:
    wire = random.randrange(8)
    return _insert(fields, random, junk(overlong(wire, random.choice((0, 0, 1))) + _any_content(wire, random)))


def wrong_wire(fields: Pieces, random: Random, place: Place) -> Pieces:
    wire = random.randrange(8)
    number = _field_number(random, place)
    return _insert(fields, random, junk(_tag(number, wire) + _any_content(wire, random)))


def unknown_field(fields: Pieces, random: Random, place: Place) -> Pieces:
    wire, number = random.choice((VARINT, I64, LEN, I32)), random.choice((17, 18, 24, 99, 2047, 2048, 1 << 20))
    return _insert(fields, random, junk(_tag(number, wire) + _any_content(wire, random)))


def group(fields: Pieces, random: Random, place: Place) -> Pieces:
    """Put fields into a group: complete, nested, empty, mismatched, without an end or without a beginning."""
    number, other = _field_number(random, place), _field_number(random, place)
    inner = random.choice(fields).encoded if fields and random.random() < 0.6 else random.choice((b"", b"\x08\x01"))
    start, end = _tag(number, START_GROUP), _tag(number, END_GROUP)
    variants = (
        start + inner + end,
        start + inner + end,
        start + start + inner + end + end,
        start + inner,
        inner + end,
        end,
        start + inner + _tag(other, END_GROUP),
        start * 101 + end * 101,
        start * (_MAX_NESTING - place.depth) + inner + end * (_MAX_NESTING - place.depth),
        start * (_MAX_NESTING + 1 - place.depth) + end * (_MAX_NESTING + 1 - place.depth),
    )
    data = junk(random.choice(variants))
    if random.random() < 0.3:  # inside a field that may be skipped
        return _insert(fields, random, leaf(_field_number(random, place), LEN, data.encoded))
    return _insert(fields, random, data)


def repack(fields: Pieces, random: Random, place: Place) -> Pieces:
    """Change between packed and single elements, with lists that are empty or cut off."""
    lists = [field for field in SCHEMA.get(place.kind, {}).values() if field.repeated and field.wire != LEN]
    if not lists:
        return extra_field(fields, random, place)
    field = random.choice(lists)
    items = [_make_scalar(field, random) for _ in range(random.randrange(4))]
    packed = b"".join(items)
    choice = random.random()
    if choice < 0.3:
        return _insert(fields, random, leaf(field.number, LEN, packed))
    if choice < 0.5:
        return _insert(fields, random, leaf(field.number, LEN, b""))
    if choice < 0.7:
        return _insert(fields, random, *(leaf(field.number, field.wire, item) for item in items))
    return _insert(fields, random, leaf(field.number, LEN, packed + random.choice((b"\x80", b"\0", b"\xff" * 10))))


def repeat(fields: Pieces, random: Random, place: Place) -> Pieces:
    return _insert(fields, random, random.choice(fields)) if fields else fields


def extra_field(fields: Pieces, random: Random, place: Place) -> Pieces:
    """Add a field of the message, which may be there already or exclude another one."""
    if place.kind not in SCHEMA or not SCHEMA[place.kind]:
        return fields
    number = random.choice(list(SCHEMA[place.kind]))
    return _insert(fields, random, make_field(place.kind, number, random, 6))


def bad_text(fields: Pieces, random: Random, place: Place) -> Pieces:
    texts = [field.number for field in SCHEMA.get(place.kind, {}).values() if field.type in (_STRING, _BYTES)]
    if not texts:
        return fields
    present = [at for at, piece in enumerate(fields) if piece.number in texts]
    if present and random.random() < 0.6:
        at = random.choice(present)
        fields[at] = leaf(fields[at].number, LEN, random.choice(_BAD_TEXTS))
        return fields
    return _insert(fields, random, leaf(random.choice(texts), LEN, random.choice(_BAD_TEXTS)))


def truncate(fields: Pieces, random: Random, place: Place) -> Pieces:
    """Cut the end of a field: its encoding, or its content with a correct length."""
    if random.random() < 0.5:
        return _replace(fields, random, lambda piece: piece.encoded[: random.randrange(len(piece.encoded) + 1)])
    chunks = [at for at, piece in enumerate(fields) if piece.wire == LEN]
    if chunks:
        at = random.choice(chunks)
        content = fields[at].content
        fields[at] = leaf(fields[at].number, LEN, content[: random.randrange(len(content) + 1)])
    return fields


def cut_message(fields: Pieces, random: Random, place: Place) -> Pieces:
    data = join(fields)
    at = random.randrange(len(data) + 1)
    return [junk(data[:at] + random.choice((b"", b"", data[at + 1 :], b"\x80", b"\0")))]


def delete(fields: Pieces, random: Random, place: Place) -> Pieces:
    if fields:
        del fields[random.randrange(len(fields))]
    return fields


def move(fields: Pieces, random: Random, place: Place) -> Pieces:
    if fields:
        fields.insert(random.randrange(len(fields)), fields.pop(random.randrange(len(fields))))
    return fields


def splice(fields: Pieces, random: Random, place: Place) -> Pieces:
    """Insert a piece of another model, as the same field or as another one."""
    piece = random.choice(place.donors)
    while piece.fields and random.random() < 0.7:
        piece = random.choice(piece.fields)
    if random.random() < 0.5:
        return _insert(fields, random, piece)
    return _insert(fields, random, leaf(_field_number(random, place), LEN, piece.content))


def empty_message(fields: Pieces, random: Random, place: Place) -> Pieces:
    return [] if random.random() < 0.5 else _insert(fields, random, leaf(_field_number(random, place), LEN, b""))


def flip(fields: Pieces, random: Random, place: Place) -> Pieces:
    data = bytearray(join(fields))
    if data:
        data[random.randrange(len(data))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
    return [junk(bytes(data))]


def deep(fields: Pieces, random: Random, place: Place) -> Pieces:
    """Nest messages up to protobuf's limit: types, graphs in attributes, or an unknown message."""
    rest = _MAX_NESTING - place.depth - random.choice((-2, -1, 0, 0, 1, 2, 3, 4, 5))
    if place.kind == "TypeProto":
        field, inner = random.choice((4, 5, 9)), _innermost_type(random)
        for _ in range((rest - 1) // 2):
            inner = join([leaf(field, LEN, join([leaf(2 if field == 5 else 1, LEN, inner)]))])
        return [junk(inner)]
    if place.kind == "NodeProto":
        inner = join([leaf(4, LEN, b"Relu"), random.choice((leaf(9, LEN, b"\x0a\x01k"), leaf(2, LEN, b"y")))])
        for _ in range((rest - 1) // 3):
            graph = leaf(6, LEN, join([leaf(1, LEN, inner)]))
            attribute = join([leaf(1, LEN, b"g"), graph, leaf(20, VARINT, b"\5")])
            inner = join([leaf(4, LEN, b"If"), leaf(5, LEN, attribute)])
        return [junk(inner)]
    inner = b""
    for _ in range(rest):
        inner = join([leaf(99, LEN, inner)])
    return _insert(fields, random, junk(inner))


def _innermost_type(random: Random) -> bytes:
    """Encode a tensor type with a shape that is two messages deep, or less."""
    shape = random.choice((b"", join([leaf(2, LEN, join([leaf(1, LEN, b"\x08\x02")]))]), join([leaf(2, LEN, b"")])))
    return random.choice((b"", join([leaf(1, LEN, b"\x08\x01" + shape)])))


EDITS: Final[tuple[Edit, ...]] = (
    *(overlong_tag, wide_tag, overlong_length, wrong_length, extreme_value, extreme_value, extreme_field, zero_number),
    *(wrong_wire, unknown_field, group, group, repack, repack, repeat, repeat, extra_field, extra_field, extra_field),
    *(bad_text, bad_text, truncate, cut_message, delete, move, splice, splice, empty_message, flip, deep),
)
_HARMLESS: Final[tuple[Edit, ...]] = (delete, extra_field, move, overlong_length, repack, unknown_field)


def edit_model(base: Piece, donors: Sequence[Piece], random: Random) -> bytes:
    """Return the base with some edits, most of them one: the more edits, the more files are rejected."""
    piece = base
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        piece = _edit_inside(piece, random, donors, 0, random.choice(_HARMLESS))
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        piece = _edit_inside(piece, random, donors, 0, random.choice(EDITS))
    return piece.content


def _edit_inside(piece: Piece, random: Random, donors: Sequence[Piece], depth: int, edit: Edit) -> Piece:
    assert piece.fields is not None
    fields = list(piece.fields)
    branches = [at for at, inner in enumerate(fields) if inner.fields is not None]
    if branches and random.random() < (0.93 if depth < 2 else 0.75):
        at = max(random.choice(branches), random.choice(branches), key=lambda at: len(fields[at].content))
        fields[at] = _edit_inside(fields[at], random, donors, depth + 1, edit)
    else:
        fields = edit(fields, random, Place(piece.kind, depth, donors))
    return branch(piece.number, piece.kind, fields)
