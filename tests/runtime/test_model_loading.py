"""Models in memory: the outputs of onnxruntime are those of the file itself, and weights are not copied."""

import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from onnx_autodoc.card import Feed
from onnx_autodoc.errors import BadInput
from onnx_autodoc.readers import EncodedModel, encode_onnx, read_model
from onnx_autodoc.runtime import model_loading
from onnx_autodoc.runtime.model_loading import LoadedModel, load_model
from onnx_autodoc.runtime.protocol import CPU, RunRequest
from onnx_autodoc.runtime.session import Session, make_arrays
from onnx_autodoc.storage import Storage

SIZE = 192  # its square in float32 is stored outside of the encoded model
FEED = Feed("x", "float32", (2, SIZE), "normal", high=1)
DTYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}


def build_model(dtype: str, folder: Path, *, external: bool, padding: int = 0) -> Path:
    """Cast a weight to float and multiply by it, in the graph and in a subgraph."""
    numbers = np.random.default_rng(0).random((SIZE, SIZE), np.float32)
    data_type = DTYPES[dtype]
    weight = helper.make_tensor("w", data_type, (SIZE, SIZE), numbers.ravel())
    weight = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(weight), "w")  # raw data
    inner = onnx.numpy_helper.from_array(numbers + 1, "inner")
    branch = helper.make_graph(
        [helper.make_node("MatMul", ["m", "inner"], ["z"])],
        "branch",
        [],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
        [inner],
    )
    nodes = [
        helper.make_node("Cast", ["w"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["x", "f"], ["m"]),
        helper.make_node("ReduceSum", ["m"], ["s"], keepdims=0),
        helper.make_node("Greater", ["s", "zero"], ["c"]),
        helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch),
    ]
    zero = onnx.numpy_helper.from_array(np.float32(0), "zero")
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (2, SIZE)) for name in "xy"]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], [weight, zero])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path = folder / "model.onnx"
    if external:
        (folder / "w.bin").write_bytes(bytes(padding))
        data = b""
        for tensor in (model.graph.initializer[0], *(a.g.initializer[0] for a in model.graph.node[4].attribute)):
            raw = tensor.raw_data
            entries = {"location": "w.bin", "offset": str(padding + len(data)), "length": str(len(raw))}
            onnx.external_data_helper.set_external_data(tensor, **entries)
            tensor.ClearField("raw_data")
            data += raw
        (folder / "w.bin").write_bytes(bytes(padding) + data)
    path.write_bytes(model.SerializeToString())
    return path


def run_loaded(model: LoadedModel, *, optimized: bool) -> Any:
    request = RunRequest("time", b"model.onnx", (FEED,))
    return Session(request, model, lambda _: None, optimized=optimized).run()[0]


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("external", "padding"), [(False, 0), (True, 0), (True, 3)])
def test_outputs_are_those_of_the_file(
    external: bool, padding: int, dtype: str, optimized: bool, tmp_path: Path
) -> None:
    path = build_model(dtype, tmp_path, external=external, padding=padding)
    model = load_model(str(path))
    assert list(model.weights) == ["w"]
    expected = onnxruntime.InferenceSession(str(path), providers=[CPU]).run(None, make_arrays([FEED], lambda *_: None))
    np.testing.assert_allclose(run_loaded(model, optimized=optimized), expected[0], rtol=1e-3)


@pytest.mark.parametrize(("padding", "is_mapped"), [(0, True), (4, True), (3, False)])
def test_aligned_weight_is_mapped(padding: int, is_mapped: bool, tmp_path: Path) -> None:
    path = build_model("float32", tmp_path, external=True, padding=padding)
    array, data_type = load_model(str(path)).weights["w"]
    while isinstance(array.base, np.ndarray):
        array = array.base
    assert isinstance(getattr(array.base, "obj", None), mmap.mmap) == is_mapped
    assert data_type is None


def test_incomplete_weights_file_is_reported(tmp_path: Path) -> None:
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[20_000], data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="w.bin")
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [20_000])
    graph = helper.make_graph([helper.make_node("Relu", ["w"], ["y"])], "g", [], [output], [weight])
    (tmp_path / "model.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    for size in (0, 79_999):
        (tmp_path / "w.bin").write_bytes(bytes(size))
        with pytest.raises(BadInput, match=f"the weights file w.bin is incomplete: {size:,} of 80,000 bytes"):
            load_model(str(tmp_path / "model.onnx"))


def save_parts(
    folder: Path, *nodes: onnx.NodeProto, weights: dict[str, Any], ports: dict[str, tuple[int, int]]
) -> Path:
    """Save a model of `nodes`. `ports` has inputs and outputs: name -> (data type, rank)."""
    infos = [helper.make_tensor_value_info(name, kind, [None] * rank) for name, (kind, rank) in ports.items()]
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], tensors)
    path = folder / "model.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()
    )
    return path


@pytest.mark.parametrize("name", ["unused", ""])
def test_large_weight_that_nothing_reads_is_part_of_the_model(name: str, tmp_path: Path) -> None:
    weights = {name: np.ones((SIZE, SIZE), np.float32), "used": np.ones((2, SIZE, SIZE), np.float32)[0]}
    nodes = helper.make_node("MatMul", ["x", "used"], ["y"])
    path = save_parts(
        tmp_path, nodes, weights=weights, ports={"x": (TensorProto.FLOAT, 2), "y": (TensorProto.FLOAT, 2)}
    )
    model = load_model(str(path))
    assert list(model.weights) == ["used"]
    assert run_loaded(model, optimized=False).shape == (2, SIZE)


def test_long_list_of_sizes_is_part_of_the_model(tmp_path: Path) -> None:
    """onnxruntime reads sizes from the model only."""
    sizes = {"sizes": np.array([0, *[0] * 20_000, SIZE], np.int64)}
    node = helper.make_node("SplitToSequence", ["x", "sizes"], ["s"], axis=1)
    count = helper.make_node("SequenceLength", ["s"], ["y"])
    path = save_parts(
        tmp_path, node, count, weights=sizes, ports={"x": (TensorProto.FLOAT, 2), "y": (TensorProto.INT64, 0)}
    )
    model = load_model(str(path))
    assert not model.weights
    assert run_loaded(model, optimized=False) == 20_002


def test_another_file_is_not_run_for_the_one_that_was_read(tmp_path: Path) -> None:
    path = build_model("float32", tmp_path, external=False)
    fingerprint = read_model(path).fingerprint
    assert load_model(str(path), fingerprint).weights
    other = tmp_path / "other.onnx"
    other.write_bytes(path.read_bytes())
    other.rename(path)
    with pytest.raises(BadInput, match=r"model.onnx: the file has changed since it was read; run the command again$"):
        load_model(str(path), fingerprint)


def test_file_written_while_it_is_encoded_is_rejected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = build_model("float32", tmp_path, external=False)

    def encode_and_write(storage: Storage) -> EncodedModel:
        encoded = encode_onnx(storage)
        with path.open("r+b") as file:
            file.write(b"\x08")
        os.utime(path, ns=(0, 0))  # the clock of the file system may be coarse
        return encoded

    monkeypatch.setattr(model_loading, "encode_onnx", encode_and_write)
    with pytest.raises(BadInput, match="the file has changed since it was read"):
        load_model(str(path))
