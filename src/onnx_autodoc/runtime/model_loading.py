"""A model for onnxruntime: encoded again by the reader, with its large weights mapped from their files.

onnxruntime gets no path: every file is opened here, by the rules for files that a model names.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import BITS, dtype_number
from onnx_autodoc.readers import StoredWeight, encode_onnx
from onnx_autodoc.runtime.protocol import NUMPY_TYPES
from onnx_autodoc.storage import AccessRefused, LocalStorage
from onnx_autodoc.text import sanitize

Array = np.ndarray[Any, np.dtype[Any]]
_MAX_QUOTED_CHARS: Final = 80


class LoadedModel(NamedTuple):
    """A model in memory. Weights are by name, each with its TensorProto data type if numpy does not have the type."""

    data: bytes
    weights: dict[str, tuple[Array, int | None]]


def load_model(path: str, fingerprint: str = "") -> LoadedModel:
    """Read and encode a model, the one with this fingerprint if there is one. Raises `BadInput` or `LimitReached`."""
    with LocalStorage(path) as storage:
        opened = storage.open().fingerprint
        data, weights = encode_onnx(storage)
        if storage.open().read_fingerprint() != opened or fingerprint not in ("", opened):
            raise BadInput(f"{path}: the file has changed since it was read; run the command again")
        mapped: dict[str | None, Array] = {}
        for weight in weights:
            if weight.path not in mapped:
                mapped[weight.path] = _map_file(storage, weight.path)
        return LoadedModel(data, {weight.name: _view(weight, mapped[weight.path], path) for weight in weights})


def _map_file(storage: LocalStorage, path: str | None) -> Array:
    if path is None:
        return np.frombuffer(storage.open().map(), np.uint8)
    try:
        with storage.sibling(path) as source:
            return np.frombuffer(source.map() if source.size else b"", np.uint8)
    except AccessRefused as refused:
        raise BadInput(f"{storage.path}: the weights file {sanitize(path, _MAX_QUOTED_CHARS)} {refused}") from None


def _view(weight: StoredWeight, file: Array, model_path: str) -> tuple[Array, int | None]:
    """Return the weight as an array, without a copy if its elements are aligned."""
    end = weight.offset + weight.nbytes
    if end > file.size:
        name, sizes = sanitize(weight.path or "", _MAX_QUOTED_CHARS), f"{file.size:,} of {end:,} bytes"
        raise BadInput(f"{model_path}: the weights file {name} is incomplete: {sizes} (truncated download?)")
    has_numpy_type = weight.dtype in NUMPY_TYPES
    dtype = np.dtype(weight.dtype if has_numpy_type else f"uint{BITS[weight.dtype]}")
    elements = file[weight.offset : end]
    if elements.ctypes.data % dtype.itemsize:
        elements = elements.copy()
    return elements.view(dtype).reshape(weight.dims), None if has_numpy_type else dtype_number(weight.dtype)
