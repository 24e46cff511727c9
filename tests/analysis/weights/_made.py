"""Files with tensors of any type, written in any of the ways that the format has."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from onnx_autodoc.analysis.weights import survey
from onnx_autodoc.card import Numbers
from onnx_autodoc.readers import read_model


def model_of(*tensors: TensorProto) -> onnx.ModelProto:
    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    source = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [source], [value], list(tensors))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def surveyed(folder: Path, *tensors: TensorProto) -> list[Numbers]:
    """What is found of these tensors as the initializers of a file."""
    path = folder / "model.onnx"
    path.write_bytes(model_of(*tensors).SerializeToString())
    return [each.numbers for each in survey(read_model(path)).tensors]


def raw(dtype: int, dims: list[int], data: bytes, name: str = "w") -> TensorProto:
    return TensorProto(name=name, data_type=dtype, dims=dims, raw_data=data)


def external(location: str, dims: list[int], offset: object = None, length: object = None) -> TensorProto:
    """A float32 tensor in another file."""
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    return tensor


def some(*dims: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(dims).astype("<f4")
