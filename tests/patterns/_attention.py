"""Attention as torch writes it, to be varied: what is between its projections and its end is up to a test."""

from onnx_autodoc.patterns import Net, Op
from tests.patterns._nets import Value, net

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


def at(body: str, batch: int = 1, places: int = 6) -> str:
    return body.replace("{b}", str(batch)).replace("{s}", str(places))


def seen(body: str, batch: int = 1, places: int = 6, **more: Value) -> Net:
    return net(at(body, batch, places), x=(batch, places, 32), **{**W, **more})


def sizes(term: Op) -> tuple[int | None, int | None, int | None]:
    return term.attention.heads, term.attention.kv_heads, term.attention.head_dim
