"""Large models built from the corpus graphs: the same structure with weights of the declared size."""

from pathlib import Path

import onnx
from onnx import TensorProto, external_data_helper, helper

GRAPHS = Path(__file__).parent.parent / "tests" / "data" / "corpus" / "graphs"


def write_with_inline_weights(name: str, target: Path) -> Path:
    """Write a corpus graph with all its weights inside the file."""
    model = onnx.load(GRAPHS / f"{name}.onnx", load_external_data=False)
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            tensor.raw_data = b"\x3c\x11\x22\x3d" * (_nbytes(tensor) // 4)
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
    target.write_bytes(model.SerializeToString())
    return target


def _nbytes(tensor: TensorProto) -> int:
    count = 1
    for dim in tensor.dims:
        count *= dim
    return count * helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize


def copy_graph(name: str, target: Path) -> Path:
    target.write_bytes((GRAPHS / f"{name}.onnx").read_bytes())
    return target


def write_with_external_weights(name: str, target: Path, at_least: int) -> Path:
    """Write a corpus graph with an external weights file of at least `at_least` bytes."""
    copy_graph(name, target)
    model = onnx.load(target, load_external_data=False)
    for info in map(external_data_helper.ExternalDataInfo, _external(model)):
        with (target.parent / info.location).open("ab") as file:
            end = (info.offset or 0) + (info.length or 0)
            file.truncate(max(end, at_least, file.tell()))
    return target


def _external(model: onnx.ModelProto) -> list[TensorProto]:
    return [tensor for tensor in model.graph.initializer if tensor.data_location == TensorProto.EXTERNAL]


def write_repeated(name: str, nodes: int, target: Path) -> Path:
    """Write exactly `nodes` nodes: copies of a corpus graph in one file, each with distinct names."""
    source = onnx.load(GRAPHS / f"{name}.onnx", load_external_data=False)
    model = onnx.ModelProto()
    model.CopyFrom(source)
    while len(model.graph.node) < nodes:
        _append(model.graph, source.graph, f"copy{len(model.graph.node)}/")
    del model.graph.node[nodes:]
    del model.graph.output[:]
    target.write_bytes(model.SerializeToString())
    return target


def _append(graph: onnx.GraphProto, source: onnx.GraphProto, prefix: str) -> None:
    inputs = {value.name for value in source.input} | {tensor.name for tensor in source.initializer} | {""}
    for node in source.node:
        copy = graph.node.add()
        copy.CopyFrom(node)
        copy.name = prefix + node.name
        copy.input[:] = [item if item in inputs else prefix + item for item in node.input]
        copy.output[:] = [prefix + item if item else "" for item in node.output]
