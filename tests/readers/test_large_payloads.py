"""Reading does not slow down with the bytes of weights, and long lists of varints are checked like short ones."""

import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from onnx_autodoc.api import make_card
from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.ir import Model, TruncatedList
from onnx_autodoc.readers import read_model
from onnx_autodoc.readers.wire import Cursor
from onnx_autodoc.shapes import Request
from onnx_autodoc.storage import FileSource
from tests._sparse_file import Pieces, size_of, sparse_chunk, write_sparse
from tests._wire import chunk, integer, node, value, varint

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="holes of files, and units of memory, are Linux's")

SIZE = 20_000_000_000
SMALL_SIZE = 1_000_000
SLACK_SECONDS = 1.0  # of CPU time; reading 20 GB takes more than ten
INPUT, RELU, OUTPUT = value(11, "x", (2, 3)), node("Relu", "x", "y"), value(12, "y", (2, 3))


def build(*graph: bytes | int, extra: Pieces = ()) -> Pieces:
    body = sparse_chunk(7, INPUT, *graph, RELU, OUTPUT)
    return (integer(1, 8), *body, chunk(8, integer(2, 17)), *extra)


def encode_tensor(dtype: int, elements: int, *payload: bytes | int) -> Pieces:
    return (integer(1, elements) + integer(2, dtype) + chunk(8, "w"), *payload)


def encode_attribute(kind: int, *payload: bytes | int) -> Pieces:
    attribute = sparse_chunk(5, chunk(1, "a"), *payload, integer(20, kind))
    return sparse_chunk(1, chunk(1, "x") + chunk(2, "z") + chunk(4, "Relu"), *attribute)


def with_tensor(dtype: int, field: int, element_bytes: int) -> Callable[[int], Pieces]:
    return lambda size: build(
        *sparse_chunk(5, *encode_tensor(dtype, size // element_bytes, *sparse_chunk(field, size)))
    )


FILES: dict[str, Callable[[int], Pieces]] = {
    "raw_data": with_tensor(1, 9, 4),
    "float_data": with_tensor(1, 4, 4),
    "double_data": with_tensor(11, 10, 8),
    "int32_data of fp16": with_tensor(10, 5, 1),
    "int64_data": with_tensor(7, 7, 1),
    "uint64_data": with_tensor(13, 11, 1),
    "integers of an attribute": lambda size: build(*encode_attribute(7, *sparse_chunk(8, size))),
    "floats of an attribute": lambda size: build(*encode_attribute(6, *sparse_chunk(7, size))),
    "an unknown field": lambda size: build(extra=sparse_chunk(99, size)),
    "indices of a sparse tensor": lambda size: build(
        *sparse_chunk(
            15,
            *sparse_chunk(1, *encode_tensor(1, 2, chunk(9, bytes(8)))),
            *sparse_chunk(2, *encode_tensor(7, size, *sparse_chunk(7, size))),
            integer(3, size),
        )
    ),
    "training_info": lambda size: build(
        extra=sparse_chunk(20, *sparse_chunk(2, *sparse_chunk(5, *encode_tensor(1, size // 4, *sparse_chunk(9, size)))))
    ),
}


def measure_seconds(path: Path) -> float:
    before = time.process_time()
    make_card(path, Request())
    return time.process_time() - before


@pytest.mark.parametrize("name", FILES)
def test_time_and_memory_do_not_grow_with_weight_bytes(name: str, tmp_path: Path) -> None:
    small = write_sparse(tmp_path / "small.onnx", FILES[name](SMALL_SIZE))
    large = write_sparse(tmp_path / "large.onnx", FILES[name](SIZE))
    assert large.stat().st_size > SIZE
    seconds = measure_seconds(small)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert measure_seconds(large) < seconds + SLACK_SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 << 10


def test_string_of_gigabytes_is_refused_at_once(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "m.onnx", build(extra=sparse_chunk(6, SIZE)))
    before = time.process_time()
    with pytest.raises(LimitReached, match="--max-string"):
        read_model(path)
    assert time.process_time() - before < SLACK_SECONDS


@pytest.mark.parametrize("pieces", [(SIZE,), (*build(), SIZE)], ids=["only zeros", "zeros after a model"])
def test_zeros_are_no_model(pieces: Pieces, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="field with number 0"):
        read_model(write_sparse(tmp_path / "m.onnx", pieces))


def test_list_with_a_hole_keeps_its_items_and_count(tmp_path: Path) -> None:
    hole, last = 10_000_000, varint(-7)
    ints = sparse_chunk(8, varint(300) * 100_000, hole, last * 100_000)
    items = read_attribute(read_model(write_sparse(tmp_path / "m.onnx", build(*encode_attribute(7, *ints)))))
    assert items.count == 100_000 + hole + 100_000
    assert items.first[:3] == (300, 300, 300)
    ints = sparse_chunk(8, varint(300), hole, last)
    items = read_attribute(read_model(write_sparse(tmp_path / "m.onnx", build(*encode_attribute(7, *ints)))))
    assert items.count == hole + 2
    assert items.first[:3] == (300, 0, 0)


def read_attribute(model: Model) -> TruncatedList:
    (items,) = model.graph.nodes[0].attributes.values()
    assert isinstance(items, TruncatedList)
    return items


@pytest.mark.parametrize("bad", [b"\xff" * 9 + b"\x02", b"\xff" * 10 + b"\x01", b"\x80"], ids=["bits", "bytes", "end"])
def test_invalid_varint_after_a_hole_is_found(bad: bytes, tmp_path: Path) -> None:
    payload = sparse_chunk(7, bytes(100), 10_000_000, bad)
    pieces = build(*sparse_chunk(5, *encode_tensor(7, size_of(payload), *payload)))
    with pytest.raises(BadInput, match="varint"):
        read_model(write_sparse(tmp_path / "m.onnx", pieces))


def test_long_lists_of_varints_are_checked_like_short_ones(tmp_path: Path) -> None:
    """A list longer than the window is checked with numpy."""
    source, random_ = FileSource.open(str(write_sparse(tmp_path / "f", (b"x",)))), random.Random(0)
    edges = (0, 1, 2, 7, 8, 0x7F, 0x80, 0xF7, 0xF8, 0xFF, 0xFF, 0xFF)
    messages = set()
    for _ in range(5_000):
        data = bytes(random_.choices(edges, k=random_.randrange(1, 25))) + bytes((random_.choice((0, 1, 2, 0x80)),))
        for int32 in (False, True):
            fault = find_fault(Cursor(source).check_varints, data, int32)
            assert find_fault(Cursor(source).check_chunk, data, int32) == fault, data.hex()
            messages.add(fault)
    assert len(messages) == 4  # valid, and three faults


def find_fault(check: Callable[..., object], data: bytes, int32: bool) -> str:
    """Return the message of a check; "" for valid varints."""
    try:
        check(data, int32=int32)
    except BadInput as error:
        return str(error)
    return ""


def test_truncation_during_reading_is_no_hole(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "f", (b"x", 10_000_000, b"x"))
    with FileSource.open(str(path)) as source:
        assert source.next_data(0) == 0
        assert source.next_data(1 << 20) > 1 << 20
        with path.open("r+b") as file:
            file.truncate(100)
        assert source.next_data(1 << 20) == 1 << 20
