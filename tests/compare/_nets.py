"""Small networks, layer by layer, written as exporters write them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from msgspec import Struct
from onnx import TensorProto, helper, numpy_helper

WIDTH, LENGTH = 48, 16


class Layer(Struct, frozen=True):
    """A layer of a post-norm encoder, as in BERT."""

    heads: int = 4
    head_dim: int = 12
    inner: int = 96
    act: str = "Relu"
    skip: bool = True  # around the feed-forward layers


class _Graph:
    def __init__(self, seed: int = 0) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(seed)

    def add(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def weight(self, *dims: int) -> str:
        name = f"w{len(self.weights)}"
        data = self._random.standard_normal(dims).astype(np.float32)
        self.weights.append(numpy_helper.from_array(data, name))
        return name

    def ints(self, *values: int) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def linear(self, x: str, width: int, out_width: int) -> str:
        return self.add("Add", self.add("MatMul", x, self.weight(width, out_width)), self.weight(out_width))

    def norm(self, x: str, width: int) -> str:
        return self.add("LayerNormalization", x, self.weight(width), self.weight(width), axis=-1)

    def attention(self, x: str, layer: Layer) -> str:
        inner = layer.heads * layer.head_dim
        split = self.ints(0, LENGTH, layer.heads, layer.head_dim)

        def part(perm: list[int]) -> str:
            return self.add("Transpose", self.add("Reshape", self.linear(x, WIDTH, inner), split), perm=perm)

        q, k, v = part([0, 2, 1, 3]), part([0, 2, 3, 1]), part([0, 2, 1, 3])
        scale = self.weight()
        scores = self.add("Softmax", self.add("Mul", self.add("MatMul", q, k), scale), axis=-1)
        merged = self.add("Transpose", self.add("MatMul", scores, v), perm=[0, 2, 1, 3])
        flat = self.add("Reshape", merged, self.ints(0, LENGTH, inner))
        return self.linear(flat, inner, WIDTH)

    def layer(self, x: str, layer: Layer) -> str:
        x = self.norm(self.add("Add", x, self.attention(x, layer)), WIDTH)
        y = self.linear(self.add(layer.act, self.linear(x, WIDTH, layer.inner)), layer.inner, WIDTH)
        return self.norm(self.add("Add", x, y) if layer.skip else y, WIDTH)


def encoder(layers: Sequence[Layer], seed: int = 0) -> onnx.ModelProto:
    graph = _Graph(seed)
    x = graph.norm(graph.add("Gather", graph.weight(100, WIDTH), "ids"), WIDTH)
    for layer in layers:
        x = graph.layer(x, layer)
    graph.nodes.append(helper.make_node("Identity", [x], ["hidden"], name="out"))
    return _model(
        graph,
        helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", LENGTH]),
        helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["batch", LENGTH, WIDTH]),
    )


class Block(Struct, frozen=True):
    """A block of a convolutional network: two convolutions, an optional channel gate, and a skip around them."""

    kernel: int = 3
    excite: bool = False
    skip: bool = True
    act: str = "Relu"


def convnet(blocks: Sequence[Block], channels: int = 16, seed: int = 0) -> onnx.ModelProto:
    graph = _Graph(seed)
    x = graph.add("Relu", _conv(graph, "image", 3, channels, 3, strides=[2, 2]))
    for block in blocks:
        x = _block(graph, x, channels, block)
    pooled = graph.add("Flatten", graph.add("GlobalAveragePool", x))
    out = graph.add("Gemm", pooled, graph.weight(channels, 10), graph.weight(10))
    graph.nodes.append(helper.make_node("Identity", [out], ["logits"], name="out"))
    return _model(
        graph,
        helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 32, 32]),
        helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10]),
    )


def _block(graph: _Graph, x: str, channels: int, block: Block) -> str:
    y = graph.add(block.act, _conv(graph, x, channels, channels, block.kernel))
    y = _conv(graph, y, channels, channels, 3)
    if block.excite:
        s = graph.add("Relu", _conv(graph, graph.add("GlobalAveragePool", y), channels, 4, 1))
        y = graph.add("Mul", y, graph.add("Sigmoid", _conv(graph, s, 4, channels, 1)))
    return graph.add("Relu", graph.add("Add", x, y) if block.skip else y)


def _conv(graph: _Graph, x: str, in_channels: int, out_channels: int, kernel: int, **more: object) -> str:
    edge = kernel // 2
    weight = graph.weight(out_channels, in_channels, kernel, kernel)
    return graph.add(
        "Conv", x, weight, graph.weight(out_channels), pads=[edge] * 4, kernel_shape=[kernel, kernel], **more
    )


def _model(graph: _Graph, input_info: onnx.ValueInfoProto, output_info: onnx.ValueInfoProto) -> onnx.ModelProto:
    proto = helper.make_graph(graph.nodes, "g", [input_info], [output_info], graph.weights)
    return helper.make_model(proto, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def saved(model: onnx.ModelProto, path: Path) -> Path:
    path.write_bytes(model.SerializeToString())
    return path
