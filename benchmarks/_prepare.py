"""Write a corpus model that every tool can read: with the recorded input sizes and inline weights.

A command (`python -m benchmarks._prepare SOURCE TARGET SHAPES`), so that the scoreboard never loads a model: a child's
peak memory starts at its parent's.
"""

import json
import math
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto, helper

Shapes = dict[str, list[int]]


def prepare_model(source: Path, shapes: Shapes) -> ModelProto:
    model = onnx.load(source, load_external_data=False)
    sizes = sizes_by_name(model.graph, shapes)
    for value in [*model.graph.input, *model.graph.value_info, *model.graph.output]:
        write_sizes(value, sizes, shapes.get(value.name))
    for tensor in iter_tensors(model.graph):
        write_weights(tensor)
    return model


def sizes_by_name(graph: GraphProto, shapes: Shapes) -> dict[str, int]:
    """Return the size of each named input dimension in the recorded run."""
    sizes: dict[str, int] = {}
    for value in graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, shapes.get(value.name, ())):
            if dim.dim_param:
                sizes[dim.dim_param] = size
    return sizes


def write_sizes(value: ValueInfoProto, sizes: dict[str, int], shape: list[int] | None) -> None:
    """Replace names by sizes everywhere: some tools ignore the size where a name is left."""
    for axis, dim in enumerate(value.type.tensor_type.shape.dim):
        if shape is not None:
            dim.dim_value = shape[axis]
        elif dim.dim_param in sizes:
            dim.dim_value = sizes[dim.dim_param]


def iter_tensors(graph: GraphProto) -> Iterator[TensorProto]:
    """Yield every tensor of a graph, including those of Constant nodes and subgraphs."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            if attribute.HasField("g"):
                yield from iter_tensors(attribute.g)


def write_weights(tensor: TensorProto) -> None:
    """Replace external by inline data. Two corpus graphs declare a location for data that they call inline."""
    if tensor.external_data:
        tensor.raw_data = random_data(tensor)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")


def random_data(tensor: TensorProto) -> bytes:
    """Return small numbers that differ between tensors: a simplifier would merge layers with equal weights."""
    dtype = helper.tensor_dtype_to_np_dtype(tensor.data_type)
    count = math.prod(tensor.dims)
    random = np.random.default_rng(zlib.crc32(tensor.name.encode()))
    if tensor.data_type in (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE):
        return bytes(((random.random(count, np.float32) - 0.5) / 10).astype(dtype))
    return random.bytes(count * dtype.itemsize)


def main(source: str, target: str, shapes: str) -> None:
    model = prepare_model(Path(source), json.loads(shapes))
    Path(target).write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main(*sys.argv[1:])
