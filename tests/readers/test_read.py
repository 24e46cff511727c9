"""The reader against the reference library, and on what only hostile or unusual files contain."""

import resource
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from google.protobuf.message import DecodeError
from onnx import TensorProto, helper

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.ir import AttributeReference, Graph, Model, Tensor, TruncatedList
from onnx_autodoc.limits import Limits, within
from onnx_autodoc.readers import read_model
from tests._corpus import GRAPH_NAMES, graph
from tests._wire import chunk, integer, model, node, relu, value


def read_saved(tmp_path: Path, content: bytes | onnx.ModelProto) -> Model:
    path = tmp_path / "model.onnx"
    path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
    return read_model(path)


def assert_same_graph(ours: Graph, theirs: onnx.GraphProto) -> None:
    assert [(n.op, n.name, n.inputs, n.outputs) for n in ours.nodes] == [
        (n.op_type, n.name, tuple(n.input), tuple(n.output)) for n in theirs.node
    ]
    assert [t.name for t in ours.initializers] == [t.name for t in theirs.initializer]
    assert [t.dims for t in ours.initializers] == [tuple(t.dims) for t in theirs.initializer]
    assert [v.name for v in (*ours.inputs, *ours.outputs)] == [v.name for v in (*theirs.input, *theirs.output)]
    for one, other in zip(ours.nodes, theirs.node, strict=True):
        for attribute in other.attribute:
            assert_same_attribute(one.attributes[attribute.name], attribute)


def assert_same_attribute(ours: object, theirs: onnx.AttributeProto) -> None:
    value = helper.get_attribute_value(theirs)
    if theirs.type == onnx.AttributeProto.GRAPH:
        assert isinstance(ours, Graph)
        assert_same_graph(ours, value)
    elif theirs.type == onnx.AttributeProto.TENSOR:
        assert isinstance(ours, Tensor) and ours.dims == tuple(value.dims)
    elif theirs.type == onnx.AttributeProto.STRING:
        assert ours == value.decode()
    elif isinstance(ours, tuple):
        assert ours == tuple(item.decode() if isinstance(item, bytes) else item for item in value)
    else:
        assert ours == value


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_structure_equals_that_of_onnx(name: str) -> None:
    ours, theirs = read_model(graph(name)), onnx.load(graph(name), load_external_data=False)
    assert_same_graph(ours.graph, theirs.graph)
    assert {f.name: len(f.nodes) for f in ours.functions} == {f.name: len(f.node) for f in theirs.functions}
    assert ours.opsets == {"" if o.domain == "ai.onnx" else o.domain: o.version for o in theirs.opset_import}
    assert (ours.producer, ours.ir_version) == (theirs.producer_name, theirs.ir_version)
    assert ours.metadata == {p.key: p.value for p in theirs.metadata_props}


def model_of(*tensors: onnx.TensorProto) -> onnx.ModelProto:
    nodes = [helper.make_node("Identity", [t.name], [f"{t.name}.out"]) for t in tensors]
    outputs = [helper.make_tensor_value_info(f"{t.name}.out", t.data_type, t.dims) for t in tensors]
    made = helper.make_graph(nodes, "g", [], outputs, list(tensors))
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 21)])


@pytest.mark.parametrize("dtype", [TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT8, TensorProto.FLOAT16])
def test_payload_has_its_location(dtype: int, tmp_path: Path) -> None:
    array = (np.arange(100_000) % 100).astype(helper.tensor_dtype_to_np_dtype(dtype))
    made = model_of(onnx.numpy_helper.from_array(array, "w"))
    tensor = read_saved(tmp_path, made).graph.initializers[0]
    assert tensor.location is not None and tensor.location.length == array.nbytes == tensor.nbytes
    content = (tmp_path / "model.onnx").read_bytes()
    assert content[tensor.location.offset :][: tensor.location.length] == array.tobytes()
    assert tensor.payload is not None and tensor.payload.data is None


@pytest.mark.parametrize(
    "dtype", ["INT4", "UINT4", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT4E2M1", "BOOL", "DOUBLE"]
)
def test_every_element_type_has_its_size(dtype: str, tmp_path: Path) -> None:
    tensor = helper.make_tensor("w", TensorProto.DataType.Value(dtype), [3, 5], [1] * 15)
    result = read_saved(tmp_path, model_of(tensor)).graph.initializers[0]
    assert result.nbytes == {"INT4": 8, "UINT4": 8, "FLOAT4E2M1": 8, "BFLOAT16": 30, "DOUBLE": 120}.get(dtype, 15)


def test_strings_and_typed_fields_are_read(tmp_path: Path) -> None:
    made = model_of(
        helper.make_tensor("s", TensorProto.STRING, [2], [b"one", b"two"]),
        helper.make_tensor("i", TensorProto.INT64, [2], [-1, 1 << 40]),
        helper.make_tensor("f", TensorProto.FLOAT, [2], [0.5, 2.0]),
        helper.make_tensor("d", TensorProto.DOUBLE, [1], [0.25]),
    )
    strings, *_ = read_saved(tmp_path, made).graph.initializers
    assert strings.payload is not None and strings.payload.data == (b"one", b"two")


def test_a_sparse_initializer_has_its_full_dims(tmp_path: Path) -> None:
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0]),
        helper.make_tensor("at", TensorProto.INT64, [2], [3, 7]),
        [4, 5],
    )
    made = model_of()
    made.graph.sparse_initializer.append(sparse)
    made.graph.node.append(helper.make_node("Identity", ["w"], ["y"]))
    result = read_saved(tmp_path, made).graph.initializers[0]
    assert (result.name, result.dims, result.stored_elements) == ("w", (4, 5), 2)


def test_external_data_is_listed_with_size_but_not_opened(tmp_path: Path) -> None:
    made = model_of(helper.make_tensor("w", TensorProto.FLOAT, [4], [0.0] * 4))
    tensor = made.graph.initializer[0]
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in (("location", "w.bin"), ("offset", "8"), ("length", "16")):
        tensor.external_data.add(key=key, value=text)
    missing = read_saved(tmp_path, made).external[0]
    assert (missing.path, missing.nbytes, missing.required_bytes) == ("w.bin", None, 24)
    (tmp_path / "w.bin").write_bytes(b"\0" * 20)
    assert read_saved(tmp_path, made).external[0].nbytes == 20


@pytest.mark.parametrize("path", ["../w.bin", "/etc/passwd", "", "a/../../w.bin", "sub"])
def test_external_data_outside_folder_are_not_looked_up(path: str, tmp_path: Path) -> None:
    (tmp_path / "model" / "sub").mkdir(parents=True)
    (tmp_path / "w.bin").write_bytes(b"\0" * 64)
    pairs = chunk(13, chunk(1, "location") + chunk(2, path))
    tensor = chunk(5, integer(1, 4) + integer(2, 1) + chunk(8, "w") + pairs + integer(14, 1))
    result = read_saved(tmp_path / "model", model(tensor + node("Relu", "w", "y") + value(12, "y", (4,))))
    assert result.external[0].nbytes is None


def test_a_functions_attributes_may_refer_to_the_call() -> None:
    function = read_model(graph("local-functions-mlp")).functions[0]
    assert function.nodes
    text = """<ir_version: 9, opset_import: ["" : 18, "local" : 1]>
        g (float[2,3] x) => (float[2,3] y) { y = local.scaled <a: int = 1> (x) }
        <domain: "local", opset_import: ["" : 18]> scaled <a> (x) => (y) { y = Softmax <axis: int = @a> (x) }"""
    path_model = onnx.parser.parse_model(text)
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        result = read_saved(Path(folder), path_model)
    assert result.functions[0].nodes[0].attributes["axis"] == AttributeReference("a")


def test_long_lists_are_truncated_with_count(tmp_path: Path) -> None:
    many = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml")
    numbers = list(range(70_000))
    many.attribute.append(helper.make_attribute("nodes_nodeids", numbers))
    many.attribute.append(helper.make_attribute("nodes_values", [float(n) for n in numbers]))
    made = helper.make_model(
        helper.make_graph([many], "g", [], []), opset_imports=[helper.make_opsetid("ai.onnx.ml", 3)]
    )
    attributes = read_saved(tmp_path, made).graph.nodes[0].attributes
    ints, floats = attributes["nodes_nodeids"], attributes["nodes_values"]
    assert isinstance(ints, TruncatedList) and isinstance(floats, TruncatedList)
    assert ints.count == floats.count == 70_000
    assert ints.first == tuple(numbers[:4096]) and floats.first == tuple(float(n) for n in numbers[:4096])


def test_packed_and_unpacked_lists_read_the_same(tmp_path: Path) -> None:
    unpacked = b"".join(integer(8, number) for number in (1, -2, 300))
    packed = chunk(8, b"".join(integer(0, number)[1:] for number in (1, -2, 300)))
    for body in (unpacked, packed):
        attribute = chunk(1, "perm") + body + integer(20, 7)
        result = read_saved(tmp_path, model(node("Transpose", "x", "y", attribute) + value(12, "y", (1,))))
        assert result.graph.nodes[0].attributes["perm"] == (1, -2, 300)


def test_training_graphs_are_separate(tmp_path: Path) -> None:
    step = chunk(20, chunk(2, node("Relu", "a", "b")))
    result = read_saved(tmp_path, relu() + step)
    assert len(result.training) == 1 and result.training[0].nodes[0].op == "Relu"


def nest_subgraphs(levels: int) -> bytes:
    body = node("Relu", "x", "y")
    for _ in range(levels):
        body = node("If", "c", "y", chunk(1, "then_branch") + chunk(6, body) + integer(20, 5))
    return model(body + value(12, "y", (1,)))


def test_subgraphs_nest_as_deep_as_protobuf_reads(tmp_path: Path) -> None:
    deepest = nest_subgraphs(32)
    assert onnx.ModelProto.FromString(deepest).graph.node
    result, levels = read_saved(tmp_path, deepest).graph, 0
    while result.nodes[0].op == "If":
        inner = result.nodes[0].attributes["then_branch"]
        assert isinstance(inner, Graph)
        result, levels = inner, levels + 1
    assert levels == 32
    with pytest.raises(DecodeError):
        onnx.ModelProto.FromString(nest_subgraphs(33))
    with pytest.raises(BadInput, match="nested 100 levels deep, the limit of protobuf"):
        read_saved(tmp_path, nest_subgraphs(33))


def test_a_limit_is_named(tmp_path: Path) -> None:
    with within(Limits(depth=5)), pytest.raises(LimitReached, match="more than 5 levels deep; --max-depth"):
        read_saved(tmp_path, nest_subgraphs(6))


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured in Linux's unit")
def test_memory_depends_on_graph_not_on_file_size(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    graph_bytes = node("Relu", "w", "y") + value(12, "y", (1,))
    size = 3 << 30
    header = integer(1, size // 4) + integer(2, 1) + chunk(8, "w")
    tensor_length = len(header) + 1 + len(integer(0, size)) - 1 + size
    with path.open("wb") as file:  # a sparse file: 3 GiB of weights that take no disk
        body = integer(0, 5 << 3 | 2)[1:] + integer(0, tensor_length)[1:] + header + b"\x4a" + integer(0, size)[1:]
        file.write(integer(1, 8) + b"\x3a" + integer(0, len(graph_bytes) + len(body) + size)[1:] + graph_bytes + body)
        file.seek(size, 1)
        file.write(chunk(8, integer(2, 17)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = read_model(path)
    assert result.graph.initializers[0].nbytes == size
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 << 10
