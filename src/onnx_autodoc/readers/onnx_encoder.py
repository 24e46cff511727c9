"""Encode a model file again for a runtime, so that what runs is what was read.

Each field has the value that the reader gives it, and is written once. Fields without a meaning for a run are left out,
and so are the names of external files: their data become part of the model, or remain where they are as
`StoredWeight`.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.ir import BITS, Model, Tensor, to_int64
from onnx_autodoc.readers.onnx_messages import MODEL
from onnx_autodoc.readers.protobuf import INT32, Field, Message, decode
from onnx_autodoc.readers.wire import I32, LEN, VARINT, Cursor, encode_varint, tag_bytes
from onnx_autodoc.storage import AccessRefused, Storage
from onnx_autodoc.text import sanitize

# Fields without a meaning for a run
_DROPPED_FIELDS: Final = frozenset(
    (
        *("configuration", "device_configurations", "doc_string", "metadata_props"),
        *("quantization_annotation", "segment", "training_info"),
    )
)
_DATA_FIELDS: Final = frozenset(
    (
        *("raw_data", "float_data", "double_data", "int32_data", "int64_data", "uint64_data", "string_data"),
        *("external_data", "data_location"),
    )
)
_RAW_DATA_TAG: Final = tag_bytes(9 << 3 | LEN)
# The fields external_data, with an entry "location" that names no file, and data_location, EXTERNAL.
_STORED_MARK: Final = b"\x6a\x13\x0a\x08location\x12\x07weights\x70\x01"
_MAX_INLINE_BYTES: Final = 1 << 16  # of a weight; smaller ones may determine shapes
_SIZE_TYPES: Final = ("int32", "int64")  # of lists of sizes, however long, which onnxruntime reads from the model only
_DROPPED: Final = "dropped"
_MAX_NAME_CHARS: Final = 1024  # of a stored weight; the reader shortens long names
_MAX_MODEL_BYTES: Final = (1 << 31) - 1  # the limit of protobuf
_MAX_QUOTED_CHARS: Final = 80

Piece = range | bytes  # bytes of the model file by their offsets, or new ones


class StoredWeight(NamedTuple):
    """An initializer of the main graph whose bytes remain in a file: the model file (None) or one in its folder."""

    name: str
    dtype: str
    dims: tuple[int, ...]
    path: str | None
    offset: int
    nbytes: int


class EncodedModel(NamedTuple):
    """A model that refers to no file. Its stored weights are external tensors, whose values the caller provides."""

    data: bytes
    weights: tuple[StoredWeight, ...]


def encode_onnx(storage: Storage) -> EncodedModel:
    """Read a model file and encode it. Raises what reading raises, and `BadInput` for what no runtime loads."""
    if storage.open().size > _MAX_MODEL_BYTES:
        advice = "store the weights in a separate file"
        raise BadInput(f"{storage.path}: cannot be run: it exceeds 2 GiB, the limit of protobuf; {advice}")
    decoded = decode(storage.open(), MODEL)
    assert isinstance(decoded.value, Model)
    return _Encoder(storage, decoded.value, decoded.collected).encode()


class _Encoder:
    """A second pass over a decoded file. `tensors` has every tensor in the order of the file."""

    def __init__(self, storage: Storage, model: Model, tensors: Iterable[object]) -> None:
        self._storage, self._source = storage, storage.open()
        self._cursor = Cursor(self._source)
        self._tensors = iter(tensors)
        self._initializers = Counter(tensor.name for tensor in model.graph.initializers)
        index = model.graph.index
        self._used = index.uses.keys() | index.captured | index.outputs
        self._weights: list[StoredWeight] = []

    def encode(self) -> EncodedModel:
        pieces = self._message(MODEL, self._source.size, "model")
        if sum(map(len, pieces)) > _MAX_MODEL_BYTES:
            what = "its graph with the weights of subgraphs, attributes and types narrower than a byte"
            raise LimitReached(
                f"{self._storage.path}: cannot be run: {what} has more than 2 GiB, the limit of protobuf"
            )
        data = b"".join(
            self._source.read(piece[0], len(piece)) if isinstance(piece, range) else piece for piece in pieces
        )
        return EncodedModel(data, tuple(self._weights))

    def _message(self, message: Message, end: int, place: str) -> list[Piece]:
        """Return the content of a message. `place` names the model, the main graph, its initializers or `_DROPPED`."""
        parts: list[tuple[str, list[Piece]]] = []
        latest: dict[int, int] = {}  # field without repetition -> its part
        while self._cursor.pos < end:
            start, tag = self._cursor.pos, self._cursor.tag()
            field = message.fields.get(tag >> 3)
            if field is None:
                self._cursor.skip(tag & 7, end)
                continue
            part = (
                self._leaf(field, start, tag, end) if field.message is None else self._nested(field, start, tag, place)
            )
            if not part or field.name in _DROPPED_FIELDS:
                continue
            if not field.repeated:
                if tag in latest:
                    parts[latest[tag]] = "", []
                latest[tag] = len(parts)
            parts.append((field.name, part))
        if message.collected:
            tensor = next(self._tensors)
            assert isinstance(tensor, Tensor)
            return [] if place == _DROPPED else self._tensor(tensor, parts, is_initializer=place == "initializer")
        return _merge(piece for _, part in parts for piece in part)

    def _leaf(self, field: Field, start: int, tag: int, end: int) -> list[Piece]:
        """Return a field that is no message, with the elements of the same list that follow it."""
        cursor, wire = self._cursor, tag & 7
        if field.defined in (None, INT32):
            cursor.skip(wire, end)
        elif to_int64(cursor.varint()) not in field.defined:  # protobuf does not set the field
            return []
        if field.repeated and wire == VARINT:
            cursor.int_run(tag_bytes(tag), end)
        elif field.repeated and wire == I32:
            cursor.float_run(tag_bytes(tag), end)
        elif field.repeated and wire == LEN and tag < 0x80:
            cursor.skip_strings(tag, end)
        return [range(start, cursor.pos)]

    def _nested(self, field: Field, start: int, tag: int, place: str) -> list[Piece]:
        assert field.message is not None
        length = self._cursor.length()
        first = self._cursor.pos
        inner = {("model", "graph"): "graph", ("graph", "initializer"): "initializer"}.get((place, field.name), "")
        if place == _DROPPED or field.name in _DROPPED_FIELDS:
            inner = _DROPPED
        content = self._message(field.message, first + length, inner)
        size = sum(map(len, content))
        header: Piece = range(start, first) if size == length else tag_bytes(tag) + encode_varint(size)
        return [header, *content]

    def _tensor(self, tensor: Tensor, parts: list[tuple[str, list[Piece]]], *, is_initializer: bool) -> list[Piece]:
        """Return a tensor whose data are inside of the model, or stored."""
        place, nbytes = tensor.location, tensor.nbytes or 0
        storable = is_initializer and nbytes > _MAX_INLINE_BYTES and self._is_storable(tensor)
        if place is None or (place.path is None and not storable):
            return _merge(piece for _, part in parts for piece in part)
        if place.path is not None and tensor.defects:
            name = sanitize(tensor.name, _MAX_QUOTED_CHARS)
            raise BadInput(f"{self._storage.path}: cannot be run: the tensor {name} is malformed: {tensor.defects[0]}")
        header = [piece for name, part in parts if name not in _DATA_FIELDS for piece in part]
        if storable:
            assert tensor.dtype is not None
            weight = StoredWeight(tensor.name, tensor.dtype, tensor.dims, place.path, place.offset, nbytes)
            self._weights.append(weight)
            return _merge([*header, _STORED_MARK])
        data = self._read_external(place.path or "", place.offset, nbytes)
        return _merge([*header, _RAW_DATA_TAG + encode_varint(len(data)), data])

    def _is_storable(self, tensor: Tensor) -> bool:
        if tensor.dtype in _SIZE_TYPES:
            return False
        bits = BITS.get(tensor.dtype or "", 0)
        has_numpy_type = bits >= 8 and bits % 8 == 0 and not (tensor.dtype or "").startswith("complex")
        is_raw = tensor.payload is None or tensor.payload.encoding == "raw"
        is_unique = self._initializers[tensor.name] == 1 and len(tensor.name) <= _MAX_NAME_CHARS
        # onnxruntime removes initializers that nothing reads before it takes the values of stored ones.
        is_used = bool(tensor.name) and tensor.name in self._used
        return has_numpy_type and is_raw and is_unique and is_used and not tensor.defects

    def _read_external(self, path: str, offset: int, nbytes: int) -> bytes:
        where = f"{self._storage.path}: the weights file {sanitize(path, _MAX_QUOTED_CHARS)}"
        if nbytes > _MAX_MODEL_BYTES:
            raise LimitReached(f"{where}: cannot be loaded into the model: a tensor has more than 2 GiB")
        try:
            with self._storage.sibling(path) as source:
                data = source.read(offset, nbytes)
        except AccessRefused as refused:
            raise BadInput(f"{where} {refused}") from None
        if len(data) < nbytes:
            raise BadInput(f"{where} is incomplete: {source.size:,} of {offset + nbytes:,} bytes (truncated download?)")
        return data


def _merge(pieces: Iterable[Piece]) -> list[Piece]:
    """Join pieces that follow each other in the file."""
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if isinstance(piece, range) and isinstance(last, range) and last.stop == piece.start:
            merged[-1] = range(last.start, piece.stop)
        else:
            merged.append(piece)
    return merged
