"""ONNX: a protobuf file with one ModelProto, and files with external data."""

from collections.abc import Iterable

import msgspec

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import ExternalData, Model, Tensor
from onnx_autodoc.readers.file_types import identify_foreign_file
from onnx_autodoc.readers.onnx_messages import MODEL
from onnx_autodoc.readers.protobuf import decode
from onnx_autodoc.storage import AccessRefused, FileMissing, Storage

_FIRST_IR_WITH_OPSETS = 3


def is_onnx(head: bytes, path: str) -> bool:
    """Return whether a file may be ONNX. The format has no magic number: everything unknown is tried."""
    return identify_foreign_file(head) is None


def read_onnx(storage: Storage) -> Model:
    source = storage.open()
    model, tensors, repeats = decode(source, MODEL)
    assert isinstance(model, Model)
    if not model.graph.nodes and not model.graph.outputs:
        raise BadInput(f"{storage.path}: {_describe_empty(model)}")
    if not model.opsets and (model.ir_version or 0) >= _FIRST_IR_WITH_OPSETS:
        raise BadInput(f"{storage.path}: the model declares no opset (truncated download?)")
    external = _external_files(storage, (tensor for tensor in tensors if isinstance(tensor, Tensor)))
    return msgspec.structs.replace(
        model,
        path=storage.path,
        nbytes=source.size,
        fingerprint=source.fingerprint,
        external=external,
        repeated_fields=repeats,
    )


def _describe_empty(model: Model) -> str:
    if model.training:
        return "contains only training graphs; use the file with the inference graph"
    if model.graph.inputs or model.graph.initializers:
        return "the graph has neither nodes nor outputs"
    return "not an ONNX model: it has no graph"


def _external_files(storage: Storage, tensors: Iterable[Tensor]) -> tuple[ExternalData, ...]:
    """Return each external file that a model names, with its size if it exists, in order of first use.

    The sizes are looked up without opening the files. `tensors` are all tensors in the file: a runtime also loads those
    that are in no graph (indices of a sparse tensor, a function's default attribute), so these may lead out of the
    model's folder too.
    """
    ends: dict[str, int] = {}  # the bytes that each file needs for all its tensors
    for tensor in tensors:
        place = tensor.location
        if place is not None and place.path is not None:
            length = place.length if place.length is not None else tensor.nbytes or 0
            ends[place.path] = max(ends.get(place.path, 0), place.offset + length)
    files: dict[str, ExternalData] = {}
    for path in sorted(ends, key=lambda path: path.rpartition("/")[0]):  # each folder is entered once
        try:
            files[path] = ExternalData(path, storage.size(path), ends[path])
        except FileMissing:
            files[path] = ExternalData(path, None, ends[path])
        except AccessRefused as refused:
            files[path] = ExternalData(path, None, ends[path], str(refused))
    return tuple(files[path] for path in ends)
