"""A file beside the model is named by a tensor, wherever that stands: whatever loads the model would follow it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from onnx import AttributeProto, GraphProto, ModelProto, SparseTensorProto, TensorProto, helper

from onnx_autodoc.api import make_card
from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import Model
from onnx_autodoc.readers import read_model, stored_bytes
from onnx_autodoc.runtime import check_external_weights
from onnx_autodoc.shapes import Request
from tests.lint._check import check_rule

OUT = "../secret.bin"
Put = Callable[[ModelProto, str], None]


def external_tensor(location: str, dtype: int = TensorProto.FLOAT) -> TensorProto:
    tensor = TensorProto(name="w", data_type=dtype, dims=[8], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    return tensor


def sparse(location: str, part: str) -> SparseTensorProto:
    places = helper.make_tensor("i", TensorProto.INT64, [8], range(8))
    values = helper.make_tensor("w", TensorProto.FLOAT, [8], [1.0] * 8)
    made = SparseTensorProto(dims=[2, 4], values=values, indices=places)
    stored = external_tensor(location, TensorProto.INT64 if part == "indices" else TensorProto.FLOAT)
    getattr(made, part).CopyFrom(stored)
    return made


def graph(location: str) -> GraphProto:
    return helper.make_graph([helper.make_node("Identity", ["w"], ["z"])], "g", [], [], [external_tensor(location)])


def attribute(model: ModelProto) -> AttributeProto:
    return model.graph.node[0].attribute.add(name="a")


def default(model: ModelProto) -> AttributeProto:
    made = model.functions.add(name="F", domain="f", input=["x"], output=["y"])
    made.opset_import.add(version=17)
    made.node.add(op_type="Relu", input=["x"], output=["y"])
    return made.attribute_proto.add(name="a")


def put_tensor(made: AttributeProto, kind: str, location: str) -> None:
    """Store an external tensor in the field of an attribute's type."""
    made.type = getattr(AttributeProto, kind)
    if kind == "TENSOR":
        made.t.CopyFrom(external_tensor(location))
    elif kind == "TENSORS":
        made.tensors.append(external_tensor(location))
    elif kind == "SPARSE_TENSOR":
        made.sparse_tensor.CopyFrom(sparse(location, "indices"))
    elif kind == "SPARSE_TENSORS":
        made.sparse_tensors.append(sparse(location, "values"))
    elif kind == "GRAPH":
        made.g.CopyFrom(graph(location))
    else:
        made.graphs.append(graph(location))


def add_mistyped_attribute(model: ModelProto, location: str) -> None:
    made = attribute(model)
    made.t.CopyFrom(external_tensor(location))
    made.type = AttributeProto.INT


def add_training_graph(model: ModelProto, location: str) -> None:
    body = helper.make_node("If", ["c"], ["z"], then_branch=graph(location))
    model.training_info.add().algorithm.CopyFrom(helper.make_graph([body], "t", [], []))


KINDS = ("TENSOR", "TENSORS", "SPARSE_TENSOR", "SPARSE_TENSORS", "GRAPH", "GRAPHS")
PLACES: dict[str, Put] = {
    "an initializer": lambda model, to: model.graph.initializer.append(external_tensor(to)),
    "the values of a sparse one": lambda model, to: model.graph.sparse_initializer.append(sparse(to, "values")),
    "the indices of a sparse one": lambda model, to: model.graph.sparse_initializer.append(sparse(to, "indices")),
    "an attribute of another type": add_mistyped_attribute,
    "a graph for training": add_training_graph,
    **{f"{kind} of a node": lambda model, to, kind=kind: put_tensor(attribute(model), kind, to) for kind in KINDS},  # type: ignore[misc]
    **{f"{kind} by default": lambda model, to, kind=kind: put_tensor(default(model), kind, to) for kind in KINDS},  # type: ignore[misc]
}


def read_with(folder: Path, put: Put, location: str) -> Model:
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    ends = ([helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4])] for name in "xy")
    model = helper.make_model(helper.make_graph(nodes, "g", *ends), opset_imports=[helper.make_opsetid("", 17)])
    put(model, location)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    return read_model(folder / "m.onnx")


@pytest.mark.parametrize("place", PLACES)
def test_path_out_of_folder_is_reported_in_every_place(place: str, tmp_path: Path) -> None:
    model = read_with(tmp_path, PLACES[place], OUT)
    assert [file.path for file in model.external] == [OUT] and model.external[0].reason
    assert [each.evidence for each in check_rule("escaping-external-data", model)] == [(OUT,)]
    with pytest.raises(BadInput, match="is outside the model's folder"):
        check_external_weights(model)  # before anything native sees it


@pytest.mark.parametrize("place", PLACES)
def test_external_file_is_listed_in_every_place(place: str, tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(64))
    model = read_with(tmp_path, PLACES[place], "w.bin")
    assert [(file.path, file.nbytes) for file in model.external] == [("w.bin", 64)]
    assert model.external[0].required_bytes <= 64  # of a sparse tensor what it stores, not all of its dims
    assert check_rule("missing-external-data", model) == []
    (file,) = make_card(tmp_path / "m.onnx", Request(), sha256=True).card.model.file.external
    assert file.sha256


def test_external_indices_are_no_defect(tmp_path: Path) -> None:
    """onnxruntime takes them; the specification does not forbid it."""
    (tmp_path / "w.bin").write_bytes(b"".join(at.to_bytes(8, "little") for at in range(8)))
    model = read_with(tmp_path, PLACES["the indices of a sparse one"], "w.bin")
    assert check_rule("malformed-tensor", model) == []


def test_stored_bytes_exclude_holes(tmp_path: Path) -> None:
    """Only a file of usual size is believed: some disks do not tell."""
    model = read_with(tmp_path, PLACES["an initializer"], "w.bin")
    own = (tmp_path / "m.onnx").stat().st_size
    assert stored_bytes(model) == own  # what is not there, or leads out, is not read
    for size, counted in ((64, 64), (1 << 30, 1 << 30), (100 << 30, 1 << 30)):
        with (tmp_path / "w.bin").open("wb") as file:
            file.truncate(size)
        assert stored_bytes(read_with(tmp_path, PLACES["an initializer"], "w.bin")) == own + counted
    (tmp_path.parent / "secret.bin").write_bytes(bytes(1000))
    assert stored_bytes(read_with(tmp_path, PLACES["an initializer"], OUT)) == (tmp_path / "m.onnx").stat().st_size
