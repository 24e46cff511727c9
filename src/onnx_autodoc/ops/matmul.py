"""Matrix products: MatMul and its integer form, Gemm, Einsum."""

from onnx_autodoc.ops._call import Call, broadcast, size
from onnx_autodoc.ops._cost import NOTHING, Cost, Price
from onnx_autodoc.ops._known import Contradiction, Dim, Known, Shape, Unknown, tensor
from onnx_autodoc.ops._operator import Operator, scales, weights
from onnx_autodoc.ops._ranks import stretched
from onnx_autodoc.ops._window import differ


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


def product(call: Call) -> Cost:
    """[..., M, K] @ [..., K, N]: K multiply-adds for each element of the output"""
    return Cost(macs=size(call.output()) * call.shape(0)[-1])


def requantized(price: Price) -> Price:
    """The same, and the result brought back to small integers."""

    def with_requantization(call: Call) -> Cost:
        cost = price(call)
        return Cost(cost.macs, cost.other + 3 * size(call.output()))

    with_requantization.__doc__ = f"{price.__doc__}; 3 per element of the output: scale, round, zero point"
    return with_requantization


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


def gemm_cost(call: Call, bias_at: int = 2) -> Cost:
    """K multiply-adds for each element of the output; 1 per element where there is a C"""
    over = call.shape(0)[0 if call.attr_int("transA", 0) else 1]
    elements = size(call.output())
    return Cost(elements * over, elements if call.has(bias_at) else 0)


def _gemm(call: Call) -> list[Known]:
    product = gemm_shape(call)
    stretched(call, 2, product)
    return [tensor(call.dtype(0), product)]


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
            sizes[letter] = _one_size(letter, sizes.get(letter, 1), dim)
        if dots:
            ellipsis = broadcast(ellipsis, shape[len(head) : end])
    return sizes, ellipsis


def _one_size(letter: str, one: Dim, other: Dim) -> Dim:
    """The size of a letter that stands for two."""
    if differ(one, other) and 1 not in (one, other):
        raise Contradiction(f"Einsum's {letter} is {one} and {other}")
    return one if other == 1 else other if isinstance(one, Unknown) or one == 1 else one


def _letter(sizes: dict[str, Dim], letter: str) -> Dim:
    if letter not in sizes:
        raise Contradiction(f"Einsum's result names {letter}, no input does")
    return sizes[letter]


def _einsum_cost(call: Call) -> Cost:
    """two terms at a time, from the left: a multiply-add for each combination of letters, where one is summed over"""
    left, _, _ = call.attr_text("equation", "").replace(" ", "").partition("->")
    terms = left.split(",")
    sizes, ellipsis = _einsum_sizes(call, terms)
    sizes["."] = size(ellipsis)  # all the leading dims together are one letter
    letters = [frozenset(term.replace("...", ".")) for term in terms]
    made = _einsum_result(call)
    total, done = NOTHING, letters[0]
    for at, term in enumerate(letters[1:], 1):
        kept = made.union(*letters[at + 1 :])
        total = _sum(total, _contraction(done, term, kept, sizes))
        done = (done | term) & kept
    return total if len(terms) > 1 else Cost(other=size(call.shape(0)) if letters[0] - made else 0)


def _einsum_result(call: Call) -> frozenset[str]:
    left, arrow, right = call.attr_text("equation", "").replace(" ", "").replace("...", ".").partition("->")
    return frozenset(right if arrow else (c for c in left if c == "." or (c != "," and left.count(c) == 1)))


def _contraction(one: frozenset[str], other: frozenset[str], kept: frozenset[str], sizes: dict[str, Dim]) -> Cost:
    """What only one of them has and nobody wants is summed before; then it is a product, or element by element."""
    both = one | other
    lone = [term for term in (one, other) if term - (one & other) - kept]
    summed = sum((_combinations(term, sizes) for term in lone), start=0)
    work = _combinations((one & other) | (both & kept), sizes)
    return Cost(work, summed) if (one & other) - kept else Cost(0, work + summed)


def _combinations(letters: frozenset[str], sizes: dict[str, Dim]) -> Dim:
    return size(tuple(_letter(sizes, letter) for letter in sorted(letters)))


def _sum(one: Cost, other: Cost) -> Cost:
    return Cost(one.macs + other.macs, one.other + other.other)


def _det(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), call.shape(0)[:-2])]


def _det_cost(call: Call) -> Cost:
    """n(n - 1)(2n - 1)/3 + n(n - 1)/2 + n - 1 per matrix of n rows: elimination, then the product of the diagonal"""
    rows = call.shape(0)[-1]
    each = rows * (rows - 1) * (2 * rows - 1) // 3 + rows * (rows - 1) // 2 + rows - 1
    return Cost(other=size(call.output()) * each)


OPERATORS: dict[str, Operator] = {
    "MatMul": Operator(_matmul, cost=product),
    "MatMulInteger": Operator(_matmul_integer, cost=product, parts=scales(2, 3)),
    "QLinearMatMul": Operator(_qlinear_matmul, cost=requantized(product), parts=scales(1, 2, 4, 5, 6, 7)),
    "Gemm": Operator(_gemm, cost=gemm_cost, parts=weights(2)),
    "Einsum": Operator(_einsum, cost=_einsum_cost),
    "Det": Operator(_det, cost=_det_cost),
}
