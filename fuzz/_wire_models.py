"""Small random models of every construct in onnx.proto, as trees of encoded fields.

The fields of a message come from onnx's own descriptors, not from the tables of the reader.
"""

import struct
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Final

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from msgspec import Struct
from onnx import ModelProto

from fuzz.wire import varint

VARINT, I64, LEN, START_GROUP, END_GROUP, I32 = range(6)
_DOUBLE, _FLOAT, STRING, _MESSAGE, BYTES, _ENUM = 1, 2, 9, 11, 12, 14  # FieldDescriptorProto.Type
_WIRES: Final = {_DOUBLE: I64, _FLOAT: I32, STRING: LEN, _MESSAGE: LEN, BYTES: LEN}


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
    return Piece(
        encode_tag(number, wire) + (varint(len(content)) if wire == LEN else b"") + content, number, wire, content
    )


def branch(number: int, kind: str, fields: Sequence[Piece]) -> Piece:
    content = join(fields)
    encoded = encode_tag(number, LEN) + varint(len(content)) + content
    return Piece(encoded, number, LEN, content, kind, tuple(fields))


def junk(data: bytes) -> Piece:
    """Bytes that are not one field."""
    return Piece(data)


@cache
def encode_tag(number: int, wire: int) -> bytes:
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
_NUMBERS: Final = (0, 1, 1, 2, 3, 4, 7, 8, 17, 127, 128, 300)
EXTREMES: Final = (
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
        return leaf(number, LEN, b"".join(make_scalar(field, random) for _ in range(random.randrange(4))))
    return leaf(number, field.wire, make_scalar(field, random))


def make_scalar(field: FieldInfo, random: Random) -> bytes:
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
