"""Attention as PyTorch exports it; tests vary the ops between its projections and its output."""

from onnx_autodoc.patterns import Net, Op
from tests.patterns._nets import Value, build_net

# four heads of eight features; Q K V O are projections, C their bias
W: dict[str, Value] = {"Q": (32, 32), "K": (32, 32), "V": (32, 32), "O": (32, 32), "C": (32,)}
SPLIT = "[{b}, {s}, 4, 8]"
HEADS = f"""
    q = Transpose<perm = [0, 2, 1, 3]>(Reshape(Add(MatMul(x, Q), C), {SPLIT}))
    k = Transpose<perm = [0, 2, 3, 1]>(Reshape(Add(C, MatMul(x, K)), {SPLIT}))
    v = Transpose<perm = [0, 2, 1, 3]>(Reshape(Add(MatMul(x, V), C), {SPLIT}))
"""
SCORES = "s = Mul(MatMul(q, k), 0.35355)"
END = "y = Add(MatMul(Reshape(Transpose<perm = [0, 2, 1, 3]>(MatMul(p, v)), [{b}, {s}, 32]), O), C)"
PLAIN = f"{HEADS} {SCORES} p = Softmax(s) {END}"


def fill_sizes(body: str, batch: int = 1, places: int = 6) -> str:
    return body.replace("{b}", str(batch)).replace("{s}", str(places))


def build_attention(body: str, batch: int = 1, places: int = 6, **more: Value) -> Net:
    return build_net(fill_sizes(body, batch, places), x=(batch, places, 32), **{**W, **more})


def attention_sizes(op: Op) -> tuple[int | None, int | None, int | None]:
    return op.attention.heads, op.attention.kv_heads, op.attention.head_dim
