"""A graph whose weights were left out, with random numbers in their place: it runs, and takes as long as the real one.

    python -m scripts.filled GRAPH … FOLDER

Numbers are seeded by the tensor they are of, so the same graph gives the same bytes. They are of a scale at which deep
models stay finite: infinities, and numbers too small for the fast path of a processor, would take another time.
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

PIECE: Final = 1 << 20  # elements made at once
_SHIFT: Final = 0.02  # of biases and means
# Which inputs multiply a normalised value, or are a variance: near 1. All else of one axis is added: near 0.
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
_SCALES: Final = ("DequantizeLinear", "QuantizeLinear", "MatMulNBits", "Mul")  # of whole numbers of up to 128
_BY_TYPE: Final = {"float32": np.float32, "float64": np.float64, "float16": np.float16}
_WHOLE: Final = {"int8": np.int8, "uint8": np.uint8}


def filled(graph_path: str | Path, folder: str | Path) -> Path:
    """The graph in `folder`, with a file beside it for each one of weights that it names. What is there is kept."""
    source, target = Path(graph_path), Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    model = read_model(source)
    for file in model.external:
        if PurePosixPath(file.path).is_absolute() or ".." in PurePosixPath(file.path).parts:
            raise ValueError(f"{source}: {file.path} leads out of its folder")
        _place(model, file.path, file.nbytes is not None, target / file.path)
    copy = target / source.name
    if not copy.exists():
        _copied(source, copy)
        _tie_biases(copy)
    return copy


def _tie_biases(path: Path) -> None:
    """The scale of a quantized bias is that of the data times that of the weights: else nothing is run on integers."""
    import onnx
    from onnx import external_data_helper, numpy_helper

    proto = onnx.load(path, load_external_data=False)
    held = {tensor.name: tensor for tensor in proto.graph.initializer}
    scales = {
        node.output[0]: held.get(node.input[1]) for node in proto.graph.node if node.op_type == "DequantizeLinear"
    }
    for node in proto.graph.node:
        found = [scales.get(name) for name in node.input[:3]]
        if node.op_type not in ("Conv", "Gemm") or len(found) < 3 or None in found or not found[2].external_data:
            continue
        place = external_data_helper.ExternalDataInfo(found[2])
        for tensor in found:
            if tensor.external_data and not tensor.raw_data:
                external_data_helper.load_external_data_for_tensor(tensor, str(path.parent))
        data, weights, bias = map(numpy_helper.to_array, found)
        with (path.parent / place.location).open("r+b") as file:
            file.seek(place.offset or 0)
            file.write(np.broadcast_to(data * weights, bias.shape).astype(bias.dtype).tobytes())


def _copied(source: Path, target: Path) -> None:
    """As it is, but for tensors that name a file and do not say that they are in it: no runtime takes those."""
    import onnx

    proto = onnx.load(source, load_external_data=False)
    vague = [one for one in proto.graph.initializer if one.external_data and one.data_location != one.EXTERNAL]
    for tensor in vague:
        tensor.data_location = tensor.EXTERNAL
    part = target.with_name(f".{target.name}.part")
    part.write_bytes(proto.SerializeToString() if vague else source.read_bytes())
    part.replace(target)


def _place(model: Model, path: str, present: bool, target: Path) -> None:
    """One file of weights: the real one where it is there."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    if present:
        shutil.copy(Path(model.path).parent / path, part)
    else:
        _write(model, path, part)
    part.replace(target)


def _write(model: Model, path: str, target: Path) -> None:
    seen: set[int] = set()
    with target.open("wb") as file:
        file.truncate(next(item.required_bytes for item in model.external if item.path == path))
        for graph in model.all_graphs:
            readers = _readers(graph)
            for tensor in graph.tensors():
                place = tensor.location
                if place is not None and place.path == path and place.offset not in seen:
                    seen.add(place.offset)
                    file.seek(place.offset)
                    for piece in _pieces(tensor, readers.get(tensor.name, [])):
                        file.write(piece)


def _readers(graph: Graph) -> dict[str, list[tuple[str, int]]]:
    """Who reads each value, and as which of its inputs."""
    found: dict[str, list[tuple[str, int]]] = {}
    for node in graph.nodes:
        for at, name in enumerate(node.inputs):
            found.setdefault(name, []).append((node.op, at))
    return found


def _pieces(tensor: Tensor, readers: list[tuple[str, int]]) -> Iterator[bytes]:
    rng = np.random.default_rng(zlib.crc32(tensor.name.encode()))
    if tensor.dtype in _WHOLE and len(tensor.dims) < 2:  # zero points, in the middle of their range
        yield np.full(tensor.elements, 128 if tensor.dtype == "uint8" else 0, _WHOLE[tensor.dtype]).tobytes()
        return
    middle, spread = _scale(tensor, readers)
    left = tensor.elements if tensor.dtype in (*_BY_TYPE, *_WHOLE) else tensor.nbytes or 0
    while left > 0:
        count = min(left, PIECE)
        yield _drawn(rng, tensor.dtype or "", count, middle, spread).tobytes()
        left -= count


def _drawn(rng: np.random.Generator, dtype: str, count: int, middle: float, spread: float) -> "np.ndarray[Any, Any]":
    if dtype in _BY_TYPE:
        return (middle + spread * rng.standard_normal(count, np.float32)).astype(_BY_TYPE[dtype])
    if dtype in _WHOLE:
        bounds = np.iinfo(_WHOLE[dtype])
        return rng.integers(bounds.min, bounds.max, count, _WHOLE[dtype], endpoint=True)
    return np.zeros(count, np.uint8)  # indices, lengths: all of them valid


def _scale(tensor: Tensor, readers: list[tuple[str, int]]) -> tuple[float, float]:
    """Where its numbers lie, and how far apart."""
    near = [op for op, at in readers if at in _NEAR_ONE.get(op, ())]
    if near and (max(tensor.dims, default=1) == tensor.elements or near[0] == "MatMulNBits"):
        middle = 1 / 128 if near[0] in _SCALES and near[0] != "Mul" else 1.0
        return middle, middle / 20
    if len([size for size in tensor.dims if size > 1]) < 2:
        return 0.0, _SHIFT
    return 0.0, 1 / math.sqrt(_fan(tensor))


def _fan(tensor: Tensor) -> float:
    """How many numbers are added up: the mean of both ways to read a matrix; what is inside of a window, per filter."""
    if len(tensor.dims) == 2:
        return sum(tensor.dims) / 2
    return math.prod(tensor.dims[1:]) if len(tensor.dims) > 3 or tensor.dims[-1] < 16 else tensor.dims[-1]


if __name__ == "__main__":
    for word in sys.argv[1:-1]:
        sys.stdout.write(f"{filled(word, sys.argv[-1])}\n")
