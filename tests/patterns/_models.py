"""Small models for roles of inputs and outputs: nodes as text, weights as sizes."""

import numpy as np
from onnx import helper, numpy_helper

from onnx_autodoc.ir import Model
from onnx_autodoc.patterns import Net, find_blocks, find_heads, find_roles
from onnx_autodoc.shapes import bind, infer_shapes, parse_request
from tests._text import proto, save_and_read


def build_model(text: str, *dims: str, opset: int = 18, **weights: tuple[int, ...]) -> tuple[Net, Model]:
    """Return the net of a graph, and the model. `weights` are the sizes of float initializers of zeros, by name."""
    model_proto = proto(text, opset)
    model_proto.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    for name, sizes in weights.items():
        model_proto.graph.initializer.append(numpy_helper.from_array(np.zeros(sizes, np.float32), name))
    model = save_and_read(model_proto)
    shapes = infer_shapes(model, bind(model, parse_request(dims=dims)))
    return find_blocks(model, shapes, [True] * sum(1 for _ in shapes.rows())), model


def find_model_roles(net: Net, model: Model) -> dict[str, str]:
    return find_roles(net, model, find_heads(net))


# a text encoder of one layer, from ids to h [1, tokens, 16]; `mask` hides tokens from attention
ENCODER = """
    e = Gather(table, ids)
    q0 = MatMul(e, wq) k0 = MatMul(e, wk) v0 = MatMul(e, wv)
    four = Constant<value = int64[4] {1, -1, 2, 8}>()
    q1 = Reshape(q0, four) k1 = Reshape(k0, four) v1 = Reshape(v0, four)
    q = Transpose<perm = [0, 2, 1, 3]>(q1) k = Transpose<perm = [0, 2, 3, 1]>(k1) v = Transpose<perm = [0, 2, 1, 3]>(v1)
    s0 = MatMul(q, k) root = Constant<value = float {2.83}>() s1 = Div(s0, root)
    SCORES
    p = Softmax(s) c0 = MatMul(p, v) c1 = Transpose<perm = [0, 2, 1, 3]>(c0)
    three = Constant<value = int64[3] {1, -1, 16}>() c = Reshape(c1, three)
    o = MatMul(c, wo) r = Add(e, o) h = LayerNormalization(r, g)
"""
PLAIN = "s = Identity(s1)"
MASKED = """
    f = Cast<to = 1>(mask) one = Constant<value = float {1.0}>() i = Sub(one, f)
    low = Constant<value = float {-10000.0}>() m0 = Mul(i, low)
    at = Constant<value = int64[2] {1, 2}>() m = Unsqueeze(m0, at) s = Add(s1, m)
"""
CAUSAL = """
    sh = Shape(s1) n3 = Constant<value = int64 {3}>() n = Gather(sh, n3)
    zero = Constant<value = int64 {0}>() step = Constant<value = int64 {1}>() at = Range(zero, n, step)
    ax1 = Constant<value = int64[1] {1}>() row = Unsqueeze(at, ax1) seen = LessOrEqual(at, row)
    low = Constant<value = float {-10000.0}>() nil = Constant<value = float {0.0}>()
    m = Where(seen, nil, low) s = Add(s1, m)
"""
LAYER: dict[str, tuple[int, ...]] = {
    "table": (100, 16),
    "wq": (16, 16),
    "wk": (16, 16),
    "wv": (16, 16),
    "wo": (16, 16),
    "g": (16,),
}


def build_encoder(
    end: str, outputs: str, more: str = "", scores: str = PLAIN, **weights: tuple[int, ...]
) -> tuple[Net, Model]:
    """Return the encoder followed by the nodes of `end`."""
    body = ENCODER.replace("SCORES", scores)
    return build_model(f"g (int64[1,24] ids{more}) => ({outputs}) {{ {body} {end} }}", **LAYER, **weights)


# a small network of images: x [1, 3, 32, 32] to f [1, 8, 8, 8]
BACKBONE = "a0 = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, k1, d1) a = Relu(a0)"
BACKBONE += " f0 = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(a, k2, d2) f = Relu(f0)"
CONVS: dict[str, tuple[int, ...]] = {"k1": (8, 3, 3, 3), "d1": (8,), "k2": (8, 8, 3, 3), "d2": (8,)}


def build_image_model(end: str, outputs: str = "float y", **weights: tuple[int, ...]) -> tuple[Net, Model]:
    return build_model(f"g (float[1,3,32,32] x) => ({outputs}) {{ {BACKBONE} {end} }}", **CONVS, **weights)
