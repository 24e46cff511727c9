"""Mutations of a file: edits of its bytes, and of the fields of one of its messages."""

import struct
from collections.abc import Callable
from random import Random
from typing import Final

from msgspec import Struct

from fuzz._message_tree import Piece, split
from fuzz.wire import varint

EXTREMES: Final = (
    *(0, 1, 2, 3, 7, 63, 64, 65, 127, 128, 255, 4095, 4096, 65_535, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32),
    *(1 << 40, 1 << 53, 1 << 62, (1 << 63) - 1, -1, -2, -7, -(1 << 31), -(1 << 62), -(1 << 63)),
)
_FLOATS: Final = (0.0, -0.0, 1e-40, 1e30, 3e38, -1.0, float("nan"), float("inf"), -float("inf"))
_TEXTS: Final = (
    b"",
    b"\0",
    b"\xff\xfe",
    b"\x1b[2J",
    b"\xe2\x80\xae",
    b"<script>",
    b"=1+1",
    b"a" * 70_000,
    b"NaN",
    b"../x",
)


class Pool(Struct, frozen=True):
    """The parts of real models that mutations reuse: models, nodes, value names, operators."""

    models: list[bytes]
    nodes: list[bytes]
    names: list[bytes]
    ops: list[bytes]

    @classmethod
    def of(cls, models: list[bytes]) -> "Pool":
        graphs = [content for data in models for tag, content in split(data) if tag >> 3 == 7]
        nodes = [content for graph in graphs for tag, content in split(graph)[:4000] if tag == 10][::11]
        fields = [piece for replacement in nodes for piece in split(replacement)]
        names = sorted({content for tag, content in fields if tag in (10, 18)})
        return cls(models, nodes, names, sorted({content for tag, content in fields if tag == 34}))


def _flip(data: bytes, random: Random, pool: Pool) -> bytes:
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 3, 20)) if out else 0):
        out[random.randrange(len(out))] ^= 1 << random.randrange(8)
    return bytes(out)


def _cut(data: bytes, random: Random, pool: Pool) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + data[at + random.choice((1, 2, 8, 100, 5_000)) :]


def _insert(data: bytes, random: Random, pool: Pool) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.randbytes(random.choice((1, 2, 8, 100))) + data[at:]


def _truncate(data: bytes, random: Random, pool: Pool) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _splice(data: bytes, random: Random, pool: Pool) -> bytes:
    other = random.choice(pool.models)
    return data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other)) :][:200_000]


def _overwrite(data: bytes, random: Random, pool: Pool) -> bytes:
    at, number = random.randrange(len(data) + 1), varint(random.choice(EXTREMES))
    return data[:at] + number + data[at + len(number) :]


BYTES: Final[dict[str, Callable[[bytes, Random, Pool], bytes]]] = {
    "flip": _flip,
    "cut": _cut,
    "insert": _insert,
    "truncate": _truncate,
    "splice": _splice,
    "overwrite": _overwrite,
}

Fields = list[Piece]


def _pick_index(fields: Fields, random: Random) -> int:
    return random.randrange(len(fields)) if fields else 0


def _delete(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    at = _pick_index(fields, random)
    return fields[:at] + fields[at + 1 :]


def _delete_all(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    """Delete all values of one field: all initializers of a graph, all inputs of a node."""
    tag = random.choice(fields)[0] if fields else 0
    return [piece for piece in fields if piece[0] != tag]


def _duplicate(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    at = _pick_index(fields, random)
    return fields[:at] + fields[at : at + 1] * random.choice((2, 2, 3, 50)) + fields[at + 1 :]


def _swap(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    """Swap the contents of two fields."""
    if len(fields) > 1:
        one, two = random.sample(range(len(fields)), 2)
        (first, first_content), (second, second_content) = fields[one], fields[two]
        if first & 7 == second & 7:
            fields[one], fields[two] = (first, second_content), (second, first_content)
    return fields


def _move(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    if fields:
        fields.insert(_pick_index(fields, random), fields.pop(_pick_index(fields, random)))
    return fields


def _shuffle(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    random.shuffle(fields)
    return fields


def _retag(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    """Change the number of a field."""
    if fields:
        at = _pick_index(fields, random)
        fields[at] = (
            random.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 20, 25)) << 3 | fields[at][0] & 7,
            fields[at][1],
        )
    return fields


def _extreme(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    """Replace a number by an extreme one, a text or a message by another text."""
    if not fields:
        return [(random.randrange(1, 22) << 3, varint(random.choice(EXTREMES)))]
    at = _pick_index(fields, random)
    tag, content = fields[at]
    replacement = {
        0: varint(random.choice(EXTREMES)),
        1: struct.pack("<d", random.choice(_FLOATS)),
        5: struct.pack("<f", random.choice(_FLOATS)) if content is not None else content,
        2: random.choice((*_TEXTS, random.choice(pool.names))),
    }
    fields[at] = tag, replacement[tag & 7]
    return fields


def _numbers(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    """Replace every number of the message: all dims, a whole perm, type and axis."""
    return [(tag, varint(random.choice(EXTREMES)) if tag & 7 == 0 else content) for tag, content in fields]


def _one_input(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    """Make all inputs of a node the same value."""
    if kind != "node":
        return _extreme(kind, fields, random, pool)
    name = random.choice([content for tag, content in fields if tag in (10, 18)] or pool.names)
    return [(tag, name if tag == 10 else content) for tag, content in fields]


def _rename(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    """Rename a value to another name of this model or of another one."""
    places = [at for at, (tag, _) in enumerate(fields) if tag in (10, 18)]
    if kind != "node" or not places:
        return _swap(kind, fields, random, pool)
    at = random.choice(places)
    fields[at] = (
        fields[at][0],
        random.choice([content for tag, content in fields if tag in (10, 18)] + pool.names[:1] + [b""]),
    )
    return fields


def _other_operator(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    op = random.choice(pool.ops)
    return [(tag, op if kind == "node" and tag == 34 else content) for tag, content in fields]


def _graft(kind: str, fields: Fields, random: Random, pool: Pool) -> Fields:
    """Insert a node of another model, here or as a subgraph of an attribute."""
    replacement = random.choice(pool.nodes)
    if kind == "attribute":
        return [*fields, (6 << 3 | 2, b"\x0a" + varint(len(replacement)) + replacement)]
    at = _pick_index(fields, random)
    return [*fields[:at], ((7 if kind == "function" else 1) << 3 | 2, replacement), *fields[at:]]


MESSAGES: Final[dict[str, Callable[[str, Fields, Random, Pool], Fields]]] = {
    "delete": _delete,
    "delete all": _delete_all,
    "duplicate": _duplicate,
    "swap": _swap,
    "move": _move,
    "shuffle": _shuffle,
    "retag": _retag,
    "extreme": _extreme,
    "numbers": _numbers,
    "one input": _one_input,
    "rename": _rename,
    "other operator": _other_operator,
    "graft": _graft,
}
