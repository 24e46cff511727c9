"""ONNX: a protobuf file with one ModelProto."""

import msgspec

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import Model, Tensor
from onnx_autodoc.readers.external_data import external_files
from onnx_autodoc.readers.file_types import identify_foreign_file
from onnx_autodoc.readers.onnx_messages import MODEL
from onnx_autodoc.readers.protobuf import decode
from onnx_autodoc.storage import Storage

_FIRST_IR_WITH_OPSETS = 3


def is_onnx(head: bytes, path: str) -> bool:
    """Return whether a file may be ONNX. The format has no magic number: everything unknown is tried."""
    return identify_foreign_file(head) is None


def read_onnx(storage: Storage) -> Model:
    source = storage.open()
    model, tensors = decode(source, MODEL)
    assert isinstance(model, Model)
    if not model.graph.nodes and not model.graph.outputs:
        raise BadInput(f"{storage.path}: {_describe_empty(model)}")
    if not model.opsets and (model.ir_version or 0) >= _FIRST_IR_WITH_OPSETS:
        raise BadInput(f"{storage.path}: the model does not say which operator set it uses (truncated download?)")
    external = external_files(storage, (tensor for tensor in tensors if isinstance(tensor, Tensor)))
    return msgspec.structs.replace(model, path=storage.path, nbytes=source.size, external=external)


def _describe_empty(model: Model) -> str:
    if model.training:
        return "holds only how a model is trained; the model itself is another file"
    if model.graph.inputs or model.graph.initializers:
        return "its graph has neither nodes nor outputs"
    return "not an ONNX model: it has no graph"
