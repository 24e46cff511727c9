"""Files that parsers may read as different models: the reader does what protobuf's parsers do, or rejects the file.

`protobuf` is what upb and the C++ parser do with a file: both accept and see the same model, both reject, or one of
them. The test fails if a new version of protobuf behaves differently.
"""

from pathlib import Path

import pytest
from msgspec.structs import replace

from fuzz import _reference, differential
from fuzz._memory_reader import MemoryStorage
from fuzz._reference import check, parse_cpp, parse_upb
from fuzz._wire_edits import EDITS
from fuzz._wire_models import SCHEMA
from fuzz.hostile.differentials import FILES
from onnx_autodoc import card
from onnx_autodoc.errors import BadInput
from onnx_autodoc.readers.onnx import read_onnx
from tests._wire import relu

# name of the file, protobuf, the reader: "same" model, a part of the line of a rejection, or the rule of a finding
EXPECTED = [
    ("data location 2^32 + 1", "accepted", "rejected: TensorProto.data_location has more than 32 bits"),
    ("data location -1", "accepted", "finding: malformed-tensor"),
    ("data location 5 after 1", "accepted", "finding: malformed-tensor"),
    ("element type 2^32 + 1", "accepted", "rejected: TensorProto.data_type has more than 32 bits"),
    ("element type 99", "accepted", "finding: malformed-tensor"),
    ("element type of an input 2^32 + 1", "accepted", "rejected: TypeProto.Tensor.elem_type has more than 32 bits"),
    ("key type of a map 2^32 + 7", "accepted", "rejected: TypeProto.Map.key_type has more than 32 bits"),
    ("attribute type 2^32 + 2", "accepted", "rejected: AttributeProto.type has more than 32 bits"),
    ("attribute type 99", "accepted", "finding: malformed-node"),
    ("attribute type 99 after INT", "accepted", "finding: malformed-node"),
    ("int32 element 2^32 + 1", "accepted", "rejected: an integer of more than 32 bits in an int32 field"),
    ("single int32 element 2^32 + 1", "accepted", "rejected: an integer of more than 32 bits in an int32 field"),
    (
        "int32 element 2^32 + 1 in a long list",
        "accepted",
        "rejected: an integer of more than 32 bits in an int32 field",
    ),
    ("int32 element -1", "accepted", "same"),
    ("dimension 2^64 + 1", "accepted", "rejected: a varint of more than 64 bits"),
    ("dimension -1", "accepted", "finding: contradictory-declaration"),
    ("opset version in ten bytes", "accepted", "same"),
    ("opset version in eleven bytes", "rejected", "rejected: an unterminated varint"),
    ("int64 element in eleven bytes", "rejected", "rejected: a varint of more than 64 bits"),
    ("int64 element in eleven bytes in a long list", "rejected", "rejected: a varint of more than 64 bits"),
    ("integer attribute in eleven bytes", "rejected", "rejected: a varint of more than 64 bits"),
    ("device number in eleven bytes", "rejected", "rejected: a varint of more than 64 bits"),
    ("device group that ends in a varint", "rejected", "rejected: an unterminated varint"),
    ("graph with a length of five bytes", "accepted", "same"),
    ("graph with a length of six bytes", "rejected", "rejected: a length of more than five bytes"),
    ("operator with a length of ten bytes", "rejected", "rejected: a length of more than five bytes"),
    ("operator with a tag of two bytes", "accepted", "rejected: a tag with leading zeros or more than 32 bits"),
    ("operator with a tag of six bytes", "rejected", "rejected: a tag with leading zeros or more than 32 bits"),
    ("data location with a tag of two bytes", "accepted", "rejected: a tag with leading zeros or more than 32 bits"),
    ("operator with a tag of 33 bits", "upb rejects", "rejected: a tag with leading zeros or more than 32 bits"),
    ("metadata key with a tag of two bytes", "accepted", "rejected: a tag with leading zeros or more than 32 bits"),
    ("field number 0 in a node", "rejected", "rejected: a field with number 0"),
    ("zero byte before the opset", "upb rejects", "rejected: a field with number 0"),
    ("opset version as text", "accepted", "rejected: OperatorSetIdProto.version has the wrong wire type 2"),
    ("operator as a number", "accepted", "rejected: NodeProto.op_type has the wrong wire type 0"),
    ("data location as fixed32", "accepted", "rejected: TensorProto.data_location has the wrong wire type 5"),
    ("raw data as a number", "accepted", "rejected: TensorProto.raw_data has the wrong wire type 0"),
    ("dims as fixed32", "accepted", "rejected: TensorProto.dims has the wrong wire type 5"),
    ("float attribute as fixed64", "accepted", "rejected: AttributeProto.f has the wrong wire type 1"),
    ("dims packed", "accepted", "same"),
    ("dims packed and single", "accepted", "same"),
    ("float data single", "accepted", "same"),
    ("float data of seven bytes", "rejected", "rejected: TensorProto.float_data ends inside an element"),
    ("no float data beside a location", "accepted", "finding: malformed-tensor"),
    ("no float data before int32 data", "accepted", "same"),
    ("no integers in an attribute without a type", "accepted", "same"),
    ("group for the initializer", "accepted", "rejected: GraphProto.initializer has the wrong wire type 3"),
    ("group for a node", "accepted", "rejected: GraphProto.node has the wrong wire type 3"),
    ("unknown group in a tensor", "accepted", "rejected: a group"),
    ("group for the doc string of a node", "accepted", "rejected: a group"),
    ("group in a metadata entry", "accepted", "rejected: a group"),
    ("group in an annotation", "accepted", "rejected: a group"),
    ("group in a group", "accepted", "rejected: a group"),
    ("group that does not end", "rejected", "rejected: a group"),
    ("end of another group", "rejected", "rejected: a group"),
    ("end of a group before the opset", "upb rejects", "rejected: a group"),
    ("second graph", "accepted", "rejected: ModelProto has more than one field graph"),
    ("second type of a value", "accepted", "rejected: ValueInfoProto has more than one field type"),
    ("second tensor type", "accepted", "rejected: TypeProto has more than one field tensor_type"),
    ("second shape", "accepted", "rejected: TypeProto.Tensor has more than one field shape"),
    ("second tensor of an attribute", "accepted", "rejected: AttributeProto has more than one field t"),
    ("second graph of an attribute", "accepted", "rejected: AttributeProto has more than one field g"),
    ("second values of a sparse tensor", "accepted", "rejected: SparseTensorProto has more than one field values"),
    ("second segment of a tensor", "accepted", "rejected: TensorProto has more than one field segment"),
    ("tensor type and sequence type", "accepted", "rejected: a type is declared as both tensor_type and sequence_type"),
    ("sequence type in a second type", "accepted", "rejected: ValueInfoProto has more than one field type"),
    ("dimension with size, then name", "accepted", "rejected: a dimension has both a size and a name"),
    ("dimension with name, then size", "accepted", "rejected: a dimension has both a size and a name"),
    ("operator again", "accepted", "finding: ambiguous-encoding"),
    ("domain of a node again", "accepted", "finding: ambiguous-encoding"),
    ("data location EXTERNAL, then DEFAULT", "accepted", "finding: ambiguous-encoding"),
    ("data location DEFAULT, then EXTERNAL", "accepted", "finding: ambiguous-encoding"),
    ("external path again in its entry", "accepted", "finding: ambiguous-encoding"),
    ("external key again in its entry", "accepted", "finding: ambiguous-encoding"),
    ("external path in two entries", "accepted", "finding: malformed-tensor"),
    ("element type again", "accepted", "finding: ambiguous-encoding"),
    ("element type of a value again", "accepted", "finding: ambiguous-encoding"),
    ("raw data again", "accepted", "finding: ambiguous-encoding"),
    ("name of an initializer again", "accepted", "finding: ambiguous-encoding"),
    ("attribute type again", "accepted", "finding: ambiguous-encoding"),
    ("attribute value again", "accepted", "finding: ambiguous-encoding"),
    ("float attribute again, from -0.0 to 0.0", "accepted", "finding: ambiguous-encoding"),
    ("attribute again", "accepted", "finding: malformed-node"),
    ("reference of an attribute again", "accepted", "finding: ambiguous-encoding"),
    ("dimension again", "accepted", "finding: ambiguous-encoding"),
    ("opset version again", "accepted", "finding: ambiguous-encoding"),
    ("opset again", "accepted", "finding: impossible-version"),
    ("format version again", "accepted", "finding: ambiguous-encoding"),
    ("metadata key again", "accepted", "finding: metadata-contradiction"),
    ("name of a function again", "accepted", "finding: ambiguous-encoding"),
    ("external path that is not UTF-8", "accepted", "rejected: a name that is not valid UTF-8"),
    ("external path with an overlong slash", "accepted", "rejected: a name that is not valid UTF-8"),
    ("external path with NUL", "accepted", "finding: missing-external-data"),
    ("operator that is not UTF-8", "accepted", "rejected: a name that is not valid UTF-8"),
    ("operator with a surrogate", "accepted", "rejected: a name that is not valid UTF-8"),
    ("domain that is not UTF-8", "accepted", "rejected: a name that is not valid UTF-8"),
    ("name of an input that is not UTF-8", "accepted", "rejected: a name that is not valid UTF-8"),
    ("opset domain that is not UTF-8", "accepted", "rejected: a name that is not valid UTF-8"),
    ("operator with NUL", "accepted", "finding: unknown-operator"),
    ("doc string that is not UTF-8", "accepted", "same"),
    ("metadata that are not UTF-8", "accepted", "same"),
    ("metadata of a node that are not UTF-8", "accepted", "same"),
    ("text attribute that is not UTF-8", "accepted", "same"),
    ("unknown fields of every wire type", "accepted", "same"),
    ("unknown field as an unterminated group in text", "accepted", "same"),
    ("empty messages", "accepted", "finding: malformed-tensor"),
    ("graph after its opset", "accepted", "same"),
    (
        "operator longer than its node",
        "rejected",
        "rejected: NodeProto.op_type declares 32 bytes, but its NodeProto ends after 4",
    ),
    ("metadata key longer than its entry", "rejected", "rejected: a field extends beyond the end of its message"),
    (
        "varint that ends behind its message",
        "rejected",
        "rejected: a field of TensorProto extends beyond the end of its message",
    ),
    ("types at the limit of nesting", "accepted", "same"),
    (
        "types beyond the limit of nesting",
        "rejected",
        "rejected: messages nested 100 levels deep, the limit of protobuf",
    ),
    (
        "metadata beyond the limit of nesting",
        "rejected",
        "rejected: messages nested 100 levels deep, the limit of protobuf",
    ),
    ("graphs below the limit of nesting", "accepted", "same"),
]


@pytest.mark.parametrize(("name", "protobuf", "reader"), EXPECTED, ids=[name for name, _, _ in EXPECTED])
def test_reader_sees_the_model_of_protobuf_or_rejects(name: str, protobuf: str, reader: str, tmp_path: Path) -> None:
    data = FILES[name]()
    assert describe_parsers(data) == protobuf
    verdict = check(data)
    assert verdict.differences == []
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    outcome, _, detail = reader.partition(": ")
    if outcome == "rejected":
        assert detail in verdict.rejection
        with pytest.raises(BadInput):
            card(path)
    else:
        assert (verdict.rejection, protobuf) == ("", "accepted")
        rules = {finding.rule for finding in card(path).findings}
        assert detail in rules if outcome == "finding" else "ambiguous-encoding" not in rules


def describe_parsers(data: bytes) -> str:
    reference, cpp = parse_upb(data), parse_cpp(data)
    if reference is None or cpp is None:
        return "rejected" if reference == cpp else "upb rejects" if reference is None else "C++ rejects"
    return "accepted" if reference[1] == cpp else "different models"


def test_table_has_every_file() -> None:
    assert [name for name, _, _ in EXPECTED] == list(FILES)


def test_fuzzed_files_have_no_differences() -> None:
    """Replay some files of `make fuzz`."""
    result = differential.run(1, 0, 2_000)
    assert result.differences == {}
    assert 500 < result.accepted < 1_500
    assert len(result.rejections) > 15


def test_wrong_model_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison finds a reader that drops something, and one that accepts what protobuf rejects."""
    model = read_onnx(MemoryStorage(relu()))
    assert check(relu()).differences == []
    for wrong in (
        replace(model, opsets={"": 18}),
        replace(model, graph=replace(model.graph, nodes=())),
        replace(model, graph=replace(model.graph, inputs=model.graph.outputs)),
    ):
        monkeypatch.setattr(_reference, "read_onnx", lambda _, wrong=wrong: wrong)
        assert check(relu()).differences != []
    monkeypatch.setattr(_reference, "read_onnx", lambda _: model)
    assert check(relu()[:-1]).differences == ["accepted, but upb rejects it", "accepted, but C++ rejects it"]


def test_fuzzed_file_is_determined_by_seed_and_number() -> None:
    first = [differential.make_file(2, number) for number in range(200)]
    assert first == [differential.make_file(2, number) for number in range(200)]
    assert len({*first}) > 150
    assert differential.make_file(3, 0) != first[0]


def test_fuzzed_models_have_every_field_of_onnx() -> None:
    """A message or field that a new version of onnx adds is in the models without a change."""
    assert {"ModelProto", "TensorProto", "TypeProto.Map", "TensorShapeProto.Dimension"} <= set(SCHEMA)
    assert sum(map(len, SCHEMA.values())) > 120
    assert len(set(EDITS)) > 20
