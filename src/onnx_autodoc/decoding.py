"""Typed values from JSON, MessagePack and plain data.

The only place that gives types to msgspec: it stores what it derives from a type while it is still incomplete, and a
second thread that decodes the same type at that moment crashes with a segmentation fault (msgspec 0.22).
"""

from threading import Lock
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_LOCK = Lock()


def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return a decoder of JSON documents of type `kind`, for many documents."""
    with _LOCK:
        return msgspec.json.Decoder(kind)


def decode_json(data: bytes | str, kind: type[T]) -> T:
    result: T = json_decoder(kind).decode(data)
    return result


def decode_msgpack(data: bytes | bytearray, kind: type[T]) -> T:
    with _LOCK:
        decoder = msgspec.msgpack.Decoder(kind)
    return decoder.decode(data)


def convert(value: Any, kind: type[T]) -> T:
    """Convert dicts, lists and scalars to `kind`."""
    json_decoder(kind)  # completes what `msgspec.convert` looks up
    return msgspec.convert(value, kind)
