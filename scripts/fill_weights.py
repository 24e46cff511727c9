"""Fill a graph without weights with random numbers, so that it runs and takes as long as the real model.

    python -m scripts.fill_weights GRAPH … FOLDER

The numbers are seeded by the name of their tensor, so the same graph gives the same bytes. Their scale keeps deep
models finite: infinities and denormal numbers would change the time.
"""

import math
import shutil
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

import numpy as np

from onnx_autodoc.ir import Graph, Model, Tensor
from onnx_autodoc.readers import read_model

CHUNK_ELEMENTS: Final = 1 << 20  # generated at once
_BIAS_SCALE: Final = 0.02
# Inputs that scale a normalized value or are a variance: near 1. Other inputs of one axis are added: near 0.
_NEAR_ONE: Final = {
    "BatchNormalization": (1, 4),
    "InstanceNormalization": (1,),
    "GroupNormalization": (1,),
    "LayerNormalization": (1,),
    "RMSNormalization": (1,),
    "SimplifiedLayerNormalization": (1,),
    "SkipLayerNormalization": (2,),
    "SkipSimplifiedLayerNormalization": (2,),
    "EmbedLayerNormalization": (5,),
    "MatMulNBits": (2,),  # scales
    "Mul": (0, 1),
    "Div": (0, 1),
    "Pow": (0,),
    "Sqrt": (0,),
    "DequantizeLinear": (1,),
    "QuantizeLinear": (1,),
}
_SCALES: Final = ("DequantizeLinear", "QuantizeLinear", "MatMulNBits", "Mul")  # of integers up to 128
_FLOAT_TYPES: Final = {"float32": np.float32, "float64": np.float64, "float16": np.float16}
_INTEGER_TYPES: Final = {"int8": np.int8, "uint8": np.uint8}


def fill_weights(graph_path: str | Path, folder: str | Path) -> Path:
    """Copy a graph to `folder` with a file for each of its external weight files. Existing files are not replaced."""
    source, target = Path(graph_path), Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    model = read_model(source)
    for file in model.external:
        if PurePosixPath(file.path).is_absolute() or ".." in PurePosixPath(file.path).parts:
            raise ValueError(f"{source}: {file.path} is outside of its folder")
        _write_file(model, file.path, file.nbytes is not None, target / file.path)
    copy = target / source.name
    if not copy.exists():
        _copy_graph(source, copy)
        _tie_biases(copy)
    return copy


def _tie_biases(path: Path) -> None:
    """Set the scale of a quantized bias to that of the data times that of the weights, as integer kernels require."""
    import onnx
    from onnx import external_data_helper, numpy_helper

    proto = onnx.load(path, load_external_data=False)
    initializers = {tensor.name: tensor for tensor in proto.graph.initializer}
    scales = {
        node.output[0]: initializers.get(node.input[1])
        for node in proto.graph.node
        if node.op_type == "DequantizeLinear"
    }
    for node in proto.graph.node:
        tensors = [scales.get(name) for name in node.input[:3]]
        if node.op_type not in ("Conv", "Gemm") or len(tensors) < 3 or None in tensors or not tensors[2].external_data:
            continue
        location = external_data_helper.ExternalDataInfo(tensors[2])
        for tensor in tensors:
            if tensor.external_data and not tensor.raw_data:
                external_data_helper.load_external_data_for_tensor(tensor, str(path.parent))
        data, weights, bias = map(numpy_helper.to_array, tensors)
        with (path.parent / location.location).open("r+b") as file:
            file.seek(location.offset or 0)
            file.write(np.broadcast_to(data * weights, bias.shape).astype(bias.dtype).tobytes())


def _copy_graph(source: Path, target: Path) -> None:
    """Copy a graph; mark tensors with a location as external, since runtimes reject them otherwise."""
    import onnx

    proto = onnx.load(source, load_external_data=False)
    has_location = [tensor for tensor in proto.graph.initializer if tensor.external_data]
    unmarked = [tensor for tensor in has_location if tensor.data_location != tensor.EXTERNAL]
    for tensor in unmarked:
        tensor.data_location = tensor.EXTERNAL
    part = target.with_name(f".{target.name}.part")
    part.write_bytes(proto.SerializeToString() if unmarked else source.read_bytes())
    part.replace(target)


def _write_file(model: Model, path: str, present: bool, target: Path) -> None:
    """Write one file of weights: the real one if it is present."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    if present:
        shutil.copy(Path(model.path).parent / path, part)
    else:
        _write_weights(model, path, part)
    part.replace(target)


def _write_weights(model: Model, path: str, target: Path) -> None:
    written: set[int] = set()
    with target.open("wb") as file:
        file.truncate(next(item.required_bytes for item in model.external if item.path == path))
        for graph in model.all_graphs:
            readers = _find_readers(graph)
            for tensor in graph.tensors():
                location = tensor.location
                if location is not None and location.path == path and location.offset not in written:
                    written.add(location.offset)
                    file.seek(location.offset)
                    for piece in _random_chunks(tensor, readers.get(tensor.name, [])):
                        file.write(piece)


def _find_readers(graph: Graph) -> dict[str, list[tuple[str, int]]]:
    """Return the operators that read each value, with the index of the input."""
    tensors: dict[str, list[tuple[str, int]]] = {}
    for node in graph.nodes:
        for at, name in enumerate(node.inputs):
            tensors.setdefault(name, []).append((node.op, at))
    return tensors


def _random_chunks(tensor: Tensor, readers: list[tuple[str, int]]) -> Iterator[bytes]:
    rng = np.random.default_rng(zlib.crc32(tensor.name.encode()))
    if tensor.dtype in _INTEGER_TYPES and len(tensor.dims) < 2:  # zero points: the middle of their range
        yield np.full(tensor.elements, 128 if tensor.dtype == "uint8" else 0, _INTEGER_TYPES[tensor.dtype]).tobytes()
        return
    mean, deviation = _choose_distribution(tensor, readers)
    remaining = tensor.elements if tensor.dtype in (*_FLOAT_TYPES, *_INTEGER_TYPES) else tensor.nbytes or 0
    while remaining > 0:
        count = min(remaining, CHUNK_ELEMENTS)
        yield _random_array(rng, tensor.dtype or "", count, mean, deviation).tobytes()
        remaining -= count


def _random_array(
    rng: np.random.Generator, dtype: str, count: int, mean: float, deviation: float
) -> "np.ndarray[Any, Any]":
    if dtype in _FLOAT_TYPES:
        return (mean + deviation * rng.standard_normal(count, np.float32)).astype(_FLOAT_TYPES[dtype])
    if dtype in _INTEGER_TYPES:
        bounds = np.iinfo(_INTEGER_TYPES[dtype])
        return rng.integers(bounds.min, bounds.max, count, _INTEGER_TYPES[dtype], endpoint=True)
    return np.zeros(count, np.uint8)  # indices and lengths: zero is valid


def _choose_distribution(tensor: Tensor, readers: list[tuple[str, int]]) -> tuple[float, float]:
    """Return mean and standard deviation of the numbers of a tensor."""
    near = [op for op, at in readers if at in _NEAR_ONE.get(op, ())]
    if near and (max(tensor.dims, default=1) == tensor.elements or near[0] == "MatMulNBits"):
        mean = 1 / 128 if near[0] in _SCALES and near[0] != "Mul" else 1.0
        return mean, mean / 20
    if len([size for size in tensor.dims if size > 1]) < 2:
        return 0.0, _BIAS_SCALE
    return 0.0, 1 / math.sqrt(_fan(tensor))


def _fan(tensor: Tensor) -> float:
    """Return the number of summands: of a matrix the mean of both orientations, of a filter its window."""
    if len(tensor.dims) == 2:
        return sum(tensor.dims) / 2
    return math.prod(tensor.dims[1:]) if len(tensor.dims) > 3 or tensor.dims[-1] < 16 else tensor.dims[-1]


if __name__ == "__main__":
    for path in sys.argv[1:-1]:
        sys.stdout.write(f"{fill_weights(path, sys.argv[-1])}\n")
