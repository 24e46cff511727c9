"""ONNX: a protobuf file of one ModelProto."""

import msgspec

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import Model, Tensor
from onnx_autodoc.readers._external import external_files
from onnx_autodoc.readers._messages import MODEL
from onnx_autodoc.readers._source import Source
from onnx_autodoc.readers._wire import decode

_FIRST_IR_WITH_OPSETS = 3


def read_onnx(source: Source) -> Model:
    model, tensors = decode(source, MODEL)
    assert isinstance(model, Model)
    if not model.graph.nodes and not model.graph.outputs:
        raise BadInput(f"{source.path}: {_empty(model)}")
    if not model.opsets and (model.ir_version or 0) >= _FIRST_IR_WITH_OPSETS:
        raise BadInput(f"{source.path}: the model does not say which operator set it uses (truncated download?)")
    model = msgspec.structs.replace(model, path=source.path, nbytes=source.size)
    external = external_files(source.path, (tensor for tensor in tensors if isinstance(tensor, Tensor)))
    return msgspec.structs.replace(model, external=external)


def _empty(model: Model) -> str:
    if model.training:
        return "holds only how a model is trained; the model itself is another file"
    held = model.graph.inputs or model.graph.initializers
    return "its graph has neither nodes nor outputs" if held else "not an ONNX model: it has no graph"
