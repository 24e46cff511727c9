"""Matrix products: MatMul and its integer form, Gemm, Einsum."""

from onnx_autodoc.ops._call import Call, Operator, broadcast
from onnx_autodoc.ops._known import Contradiction, Dim, Known, Shape, Unknown, tensor


def product_shape(a: Shape, b: Shape) -> Shape:
    """[..., M, K] @ [..., K, N] = [..., M, N]; a vector on either side loses its dimension."""
    if not a or not b:
        raise Contradiction("a matrix product of a scalar")
    left = a if len(a) > 1 else (1, *a)
    right = b if len(b) > 1 else (*b, 1)
    if type(left[-1]) is int and type(right[-2]) is int and left[-1] != right[-2]:
        raise Contradiction(f"a matrix product over {left[-1]} and {right[-2]} elements")
    rows = left[-2:-1] if len(a) > 1 else ()
    columns = right[-1:] if len(b) > 1 else ()
    return (*broadcast(left[:-2], right[:-2]), *rows, *columns)


def _matmul(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), product_shape(call.shape(0), call.shape(1)))]


def _matmul_integer(call: Call) -> list[Known]:
    return [tensor("int32", product_shape(call.shape(0), call.shape(1)))]


def _qlinear_matmul(call: Call) -> list[Known]:
    return [tensor(call.dtype(7), product_shape(call.shape(0), call.shape(3)))]


def gemm_shape(call: Call, a_at: int = 0, b_at: int = 1) -> Shape:
    a, b = call.shape(a_at), call.shape(b_at)
    if len(a) != 2 or len(b) != 2:
        raise Contradiction(f"Gemm of {len(a)} and {len(b)} dimensions")
    a = a[::-1] if call.attr_int("transA", 0) else a
    b = b[::-1] if call.attr_int("transB", 0) else b
    return product_shape(a, b)


def _gemm(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), gemm_shape(call))]


def _einsum(call: Call) -> list[Known]:
    """Each letter is one size; an ellipsis stands for broadcast leading dims; no arrow: letters seen once, sorted."""
    left, arrow, right = call.attr_text("equation", "").replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(call.inputs):
        raise Contradiction(f"Einsum has {len(terms)} terms for {len(call.inputs)} inputs")
    sizes, ellipsis = _einsum_sizes(call, terms)
    if not arrow:
        letters = left.replace(",", "").replace("...", "")
        right = "..." * ("..." in left) + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    head, dots, tail = right.partition("...")
    named = [tuple(_letter(sizes, letter) for letter in part) for part in (head, tail)]
    return [tensor(call.dtype(0), (*named[0], *(ellipsis if dots else ()), *named[1]))]


def _einsum_sizes(call: Call, terms: list[str]) -> tuple[dict[str, Dim], Shape]:
    sizes: dict[str, Dim] = {}
    ellipsis: Shape = ()
    for at, term in enumerate(terms):
        shape, (head, dots, tail) = call.shape(at), term.partition("...")
        if len(head) + len(tail) > len(shape) or (not dots and len(term) != len(shape)):
            raise Contradiction(f"Einsum's term {term} does not fit {len(shape)} dimensions")
        end = len(shape) - len(tail)
        for letter, dim in zip(head + tail, (*shape[: len(head)], *shape[end:]), strict=True):
            if sizes.get(letter, 1) == 1 or isinstance(sizes[letter], Unknown):
                sizes[letter] = dim
        if dots:
            ellipsis = broadcast(ellipsis, shape[len(head) : end])
    return sizes, ellipsis


def _letter(sizes: dict[str, Dim], letter: str) -> Dim:
    if letter not in sizes:
        raise Contradiction(f"Einsum's result names {letter}, no input does")
    return sizes[letter]


def _det(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), call.shape(0)[:-2])]


OPERATORS: dict[str, Operator] = {
    "MatMul": Operator(_matmul),
    "MatMulInteger": Operator(_matmul_integer),
    "QLinearMatMul": Operator(_qlinear_matmul),
    "Gemm": Operator(_gemm),
    "Einsum": Operator(_einsum),
    "Det": Operator(_det),
}
