"""Models written as a few lines of text, read back from their bytes."""

import tempfile
from pathlib import Path

import onnx

from onnx_autodoc.ir import Model
from onnx_autodoc.ops import ValueInfo
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import Shapes, bind, infer_shapes, parse_request


def proto(text: str, opset: int = 18, functions: str = "") -> onnx.ModelProto:
    """Parse a graph in ONNX's text notation: g (float[2,3] x) => (float y) { y = Relu(x) }"""
    head = f'<ir_version: 9, opset_import: ["" : {opset}, "local" : 1, "com.microsoft" : 1, "custom" : 1]>'
    return onnx.parser.parse_model(f"{head}\n{text}\n{functions}")


def save_and_read(model: onnx.ModelProto) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        return read_model(path)


def model(text: str, opset: int = 18, functions: str = "") -> Model:
    return save_and_read(proto(text, opset, functions))


def shapes(text: str, *dims: str, values: tuple[str, ...] = (), opset: int = 18, functions: str = "") -> Shapes:
    read_back = model(text, opset, functions)
    return infer_shapes(read_back, bind(read_back, parse_request(dims=dims, values=values)))


def infer_y(text: str, *dims: str, values: tuple[str, ...] = (), opset: int = 18, functions: str = "") -> ValueInfo:
    """Return the inferred type and shape of the value y."""
    return shapes(text, *dims, values=values, opset=opset, functions=functions).values["y"]
