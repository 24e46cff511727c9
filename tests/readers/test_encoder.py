"""Encoding a model for a runtime: protobuf reads the same model, without what does not run and without file names."""

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from onnx import ModelProto, TensorProto

from fuzz import hostile
from fuzz._reference import strip_message
from onnx_autodoc.errors import AutodocError, BadInput
from onnx_autodoc.readers import EncodedModel, encode_onnx
from onnx_autodoc.storage import open_storage
from tests._corpus import graph
from tests._wire import chunk, integer, model, node, value, varint

DEMO = Path(__file__).parents[2] / "src" / "onnx_autodoc" / "data" / "demo.onnx"
LARGE = 20_000  # elements of a float weight that is not put into the encoded model


def encode(path: Path) -> EncodedModel:
    with open_storage(path) as storage:
        return encode_onnx(storage)


def encode_bytes(folder: Path, content: bytes) -> EncodedModel:
    path = folder / "model.onnx"
    path.write_bytes(content)
    return encode(path)


def parsed(content: bytes) -> bytes:
    message = ModelProto.FromString(content)
    strip_message(message)
    return message.SerializeToString(deterministic=True)


@pytest.mark.parametrize("path", [DEMO, graph("onnx-light-squeezenet"), graph("onnx-light-densenet121")], ids=str)
def test_exported_model_is_the_same_to_protobuf(path: Path) -> None:
    encoded = encode(path)
    assert not encoded.weights
    assert parsed(encoded.data) == parsed(path.read_bytes())


def hostile_files() -> Iterator[tuple[str, bytes]]:
    for name, build in hostile.hostile_files().items():
        case = build()
        if not case.siblings and not case.links and len(case.data) < 1 << 20:
            yield name, case.data


def test_hostile_files_are_the_same_to_protobuf(tmp_path: Path) -> None:
    """Or they are rejected; weights that stay in the file are compared in another test."""
    compared, different = 0, []
    for name, content in hostile_files():
        try:
            encoded = encode_bytes(tmp_path, content)
        except AutodocError:
            continue
        if not encoded.weights:
            compared += 1
            different += [name] * (parsed(encoded.data) != parsed(content))
    assert compared > 300
    assert different == []


def test_field_has_the_value_that_was_read(tmp_path: Path) -> None:
    """The last one of several, none for a number that the enumeration does not define."""
    attribute = chunk(1, "alpha") + b"\x15" + struct.pack("<f", 2) + b"\x15" + struct.pack("<f", 3) + integer(20, 77)
    call = chunk(1, chunk(1, "x") + chunk(2, "y") + chunk(4, "Conv") + chunk(4, "Elu") + chunk(5, attribute))
    unknown = chunk(500, "unknown") + integer(501, 9)
    encoded = encode_bytes(tmp_path, model(value(11, "x", (2,)) + call + value(12, "y", (2,)), extra=unknown))
    assert b"Conv" not in encoded.data and b"unknown" not in encoded.data
    (result,) = ModelProto.FromString(encoded.data).graph.node
    assert result.op_type == "Elu" and result.attribute[0].f == 3 and result.attribute[0].type == 0
    assert varint(77) not in result.SerializeToString()


def test_order_of_list_elements_is_kept_across_encodings(tmp_path: Path) -> None:
    """Packed and single elements of one list, with another field between them."""
    numbers = integer(8, 1) * 3 + chunk(8, varint(2) + varint(1 << 40)) + chunk(1, "axes") + integer(8, 3) * 2
    call = chunk(1, chunk(1, "x") + chunk(2, "y") + chunk(4, "Squeeze") + chunk(5, numbers + integer(20, 7)))
    encoded = encode_bytes(tmp_path, model(value(11, "x", (2,)) + call + value(12, "y", (2,))))
    (result,) = ModelProto.FromString(encoded.data).graph.node
    assert list(result.attribute[0].ints) == [1, 1, 1, 2, 1 << 40, 3, 3]


# -- weights


def tensor(name: str, elements: int, *fields: bytes, dtype: int = TensorProto.FLOAT) -> bytes:
    return integer(1, elements) + integer(2, dtype) + chunk(8, name) + b"".join(fields)


def external(location: str, offset: int) -> bytes:
    entries = (("location", location), ("offset", str(offset)))
    return b"".join(chunk(13, chunk(1, key) + chunk(2, text)) for key, text in entries) + integer(14, 1)


def with_tensor(initializers: bytes = b"", attribute: bytes = b"") -> bytes:
    call = node("Constant", "", "c", attribute) if attribute else node("Add", "x w", "c")
    return model(value(11, "x", (2,)) + initializers + call + value(12, "c", (2,)))


def test_large_external_initializer_stays_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(LARGE * 4 + 8))
    encoded = encode_bytes(tmp_path, with_tensor(chunk(5, tensor("w", LARGE, external("./w.bin", 8)))))
    assert encoded.weights == (("w", "float32", (LARGE,), "w.bin", 8, LARGE * 4),)
    (result,) = ModelProto.FromString(encoded.data).graph.initializer
    assert (result.name, list(result.dims), result.data_type, result.data_location) == ("w", [LARGE], 1, 1)
    assert [(entry.key, entry.value) for entry in result.external_data] == [("location", "weights")]


def test_large_initializer_that_nothing_reads_becomes_part_of_the_model(tmp_path: Path) -> None:
    """onnxruntime removes it before it takes the values of stored ones."""
    data = bytes(range(256)) * 400
    encoded = encode_bytes(tmp_path, with_tensor(chunk(5, tensor("unread", len(data) // 4, chunk(9, data)))))
    assert not encoded.weights
    assert data in encoded.data


def test_training_graphs_are_left_out_with_their_files(tmp_path: Path) -> None:
    training = chunk(20, chunk(2, chunk(5, tensor("t", 2, external("missing.bin", 0)))))
    content = with_tensor(chunk(5, tensor("w", 2, chunk(9, bytes(8)))))
    assert encode_bytes(tmp_path, content + training).data == encode_bytes(tmp_path, content).data


def test_large_initializer_stays_in_the_model_file(tmp_path: Path) -> None:
    data = bytes(range(256)) * (LARGE * 4 // 256 + 1)
    encoded = encode_bytes(tmp_path, with_tensor(chunk(5, tensor("w", LARGE, chunk(9, data[: LARGE * 4])))))
    (weight,) = encoded.weights
    content = (tmp_path / "model.onnx").read_bytes()
    assert weight.path is None
    assert content[weight.offset : weight.offset + weight.nbytes] == data[: LARGE * 4]
    assert len(encoded.data) < 300


@pytest.mark.parametrize(
    ("initializers", "dtype"),
    [
        (("w", "w"), TensorProto.FLOAT),  # a name that identifies two
        (("n" * 2000,), TensorProto.FLOAT),  # a name that the reader may shorten
        (("w",), TensorProto.INT4),  # no numpy type
        (("w",), TensorProto.COMPLEX64),
    ],
)
def test_weight_that_cannot_be_mapped_becomes_part_of_the_model(
    initializers: tuple[str, ...], dtype: int, tmp_path: Path
) -> None:
    data = bytes(range(256)) * 800
    (tmp_path / "w.bin").write_bytes(b"12" + data)
    bits = {TensorProto.INT4: 4, TensorProto.COMPLEX64: 64}.get(dtype, 32)
    count = 150_000 * 8 // bits
    tensors = (chunk(5, tensor(name, count, external("w.bin", 2), dtype=dtype)) for name in initializers)
    encoded = encode_bytes(tmp_path, with_tensor(b"".join(tensors)))
    assert not encoded.weights
    for result in ModelProto.FromString(encoded.data).graph.initializer:
        assert result.raw_data == data[: (count * bits + 7) // 8]
        assert not result.external_data and not result.HasField("data_location")


def test_external_tensors_anywhere_become_part_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(range(32)))
    stored = tensor("w", 2, external("w.bin", 4))
    constant = chunk(1, "value") + chunk(5, stored) + integer(20, 4)
    subgraph = chunk(1, "body") + chunk(6, chunk(5, stored)) + integer(20, 5)
    sparse = chunk(15, chunk(1, stored) + chunk(2, tensor("i", 2, chunk(7, b"\0\1"), dtype=7)) + integer(3, 4))
    for content in (with_tensor(attribute=constant), with_tensor(attribute=subgraph), with_tensor(chunk(5, stored))):
        encoded = encode_bytes(tmp_path, content)
        assert bytes(range(4, 12)) in encoded.data and b"w.bin" not in encoded.data
    encoded = encode_bytes(tmp_path, with_tensor(sparse))
    (result,) = ModelProto.FromString(encoded.data).graph.sparse_initializer
    assert result.values.raw_data == bytes(range(4, 12))
    assert list(result.indices.int64_data) == [0, 1]


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("../w.bin", "the weights file ../w.bin is outside the model's folder"),
        ("none.bin", "the weights file none.bin was not found"),
        ("short.bin", r"the weights file short.bin is incomplete: 5 of 12 bytes \(truncated download\?\)"),
    ],
)
def test_external_data_that_cannot_be_read_end_with_one_line(location: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "short.bin").write_bytes(b"short")
    with pytest.raises(BadInput, match=f"model.onnx: {reason}$"):
        encode_bytes(tmp_path, with_tensor(chunk(5, tensor("w", 2, external(location, 4)))))


def test_file_beyond_the_limit_of_protobuf_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(with_tensor())
    with path.open("r+b") as file:
        file.truncate(1 << 31)
    with pytest.raises(BadInput, match=r"cannot be run: it exceeds 2 GiB, the limit of protobuf; store the weights"):
        encode(path)


def test_malformed_external_tensor_is_not_encoded(tmp_path: Path) -> None:
    entry = chunk(13, chunk(1, "offset") + chunk(2, "many")) + external("w.bin", 4)
    with pytest.raises(
        BadInput, match=r"cannot be run: the tensor w is malformed: its external_data has duplicate keys"
    ):
        encode_bytes(tmp_path, with_tensor(chunk(5, tensor("w", 2, entry))))
