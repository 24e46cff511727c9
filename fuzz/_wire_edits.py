"""Edits of a model's encoding that no library would make.

An edit changes the pieces of one message and leaves all other bytes as they are, so that several edits add up.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from msgspec import Struct

from fuzz._wire_models import (
    BYTES,
    END_GROUP,
    EXTREMES,
    I32,
    I64,
    LEN,
    SCHEMA,
    START_GROUP,
    STRING,
    VARINT,
    Piece,
    Pieces,
    branch,
    encode_tag,
    join,
    junk,
    leaf,
    make_field,
    make_scalar,
)
from fuzz.wire import overlong, varint

_MAX_NESTING: Final = 100  # of protobuf's parsers
_BAD_TEXTS: Final = (
    *(b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"x\0", b"\0", b"", b"\xef\xbb\xbfx"),
    *(b"x" * 127, b"x" * 128, b"\\xff", b"\xc1\xbf", b"\xf8\x88\x80\x80\x80", b"e\xcc\x81", b"w.bin\xff"),
)


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
        return overlong(random.choice(EXTREMES), random.choice((0, 0, 0, 1, 4)))
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
        return encode_tag(piece.number, LEN) + overlong(len(piece.content), extra) + piece.content

    return _replace(fields, random, change)


def wrong_length(fields: Pieces, random: Random, place: Place) -> Pieces:
    delta = random.choice((-2, -1, 1, 2, 3, 5, 20, 1 << 31, 1 << 32, 1 << 63, 1 << 64, (1 << 31) - 1, (1 << 64) - 1))

    def change(piece: Piece) -> bytes:
        return encode_tag(piece.number, LEN) + overlong(max(len(piece.content) + delta, 0), 0) + piece.content

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
        value = overlong(random.choice(EXTREMES), random.choice((0, 0, 0, 0, 1, 2, 5)))
    fields[at] = leaf(fields[at].number, VARINT, value)
    return fields


def extreme_field(fields: Pieces, random: Random, place: Place) -> Pieces:
    """Add an integer field with an extreme value, or a packed list of such values."""
    numbers = [field for field in SCHEMA.get(place.kind, {}).values() if field.wire == VARINT]
    if not numbers:
        return extra_field(fields, random, place)
    field = random.choice(numbers)
    values = [overlong(random.choice((*EXTREMES, *field.values)), random.choice((0, 0, 0, 1, 4))) for _ in range(3)]
    if field.repeated and random.random() < 0.6:
        return _insert(fields, random, leaf(field.number, LEN, b"".join(values[: random.randrange(4)])))
    return _insert(fields, random, leaf(field.number, VARINT, values[0]))


def zero_number(fields: Pieces, random: Random, place: Place) -> Pieces:
    wire = random.randrange(8)
    return _insert(fields, random, junk(overlong(wire, random.choice((0, 0, 1))) + _any_content(wire, random)))


def wrong_wire(fields: Pieces, random: Random, place: Place) -> Pieces:
    wire = random.randrange(8)
    number = _field_number(random, place)
    return _insert(fields, random, junk(encode_tag(number, wire) + _any_content(wire, random)))


def unknown_field(fields: Pieces, random: Random, place: Place) -> Pieces:
    wire, number = random.choice((VARINT, I64, LEN, I32)), random.choice((17, 18, 24, 99, 2047, 2048, 1 << 20))
    return _insert(fields, random, junk(encode_tag(number, wire) + _any_content(wire, random)))


def group(fields: Pieces, random: Random, place: Place) -> Pieces:
    """Put fields into a group: complete, nested, empty, mismatched, without an end or without a beginning."""
    number, other = _field_number(random, place), _field_number(random, place)
    inner = random.choice(fields).encoded if fields and random.random() < 0.6 else random.choice((b"", b"\x08\x01"))
    start, end = encode_tag(number, START_GROUP), encode_tag(number, END_GROUP)
    variants = (
        start + inner + end,
        start + inner + end,
        start + start + inner + end + end,
        start + inner,
        inner + end,
        end,
        start + inner + encode_tag(other, END_GROUP),
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
    items = [make_scalar(field, random) for _ in range(random.randrange(4))]
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
    texts = [field.number for field in SCHEMA.get(place.kind, {}).values() if field.type in (STRING, BYTES)]
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
