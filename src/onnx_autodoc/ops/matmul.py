"""Matrix products: MatMul and its integer form, Gemm, Einsum."""

from collections.abc import Iterable

from onnx_autodoc.ops.call import Call, broadcast, check_broadcast, size, sizes_differ
from onnx_autodoc.ops.cost import Cost, CostRule, documented
from onnx_autodoc.ops.operator import Operator, QuantizedInput, Trait, WorkClass, of_class, scales, weights
from onnx_autodoc.ops.shape_rules import gemm_shape, one_output, product_of
from onnx_autodoc.ops.values import Contradiction, Dim, Shape, Unknown, ValueInfo, tensor


def product(call: Call) -> Cost:
    """[..., M, K] @ [..., K, N]: K MACs per output element"""
    return Cost(macs=size(call.output()) * call.shape(0)[-1])


def requantized(rule: CostRule) -> CostRule:
    """Return `rule` with the cost of quantizing the output."""

    def with_requantization(call: Call) -> Cost:
        cost = rule(call)
        return Cost(cost.macs, cost.other + 3 * size(call.output()))

    return documented(
        f"{rule.__doc__}; 3 FLOPs per output element to requantize: scale, round, zero point", with_requantization
    )


def gemm_cost(call: Call, bias_at: int = 2) -> Cost:
    """K MACs per output element; 1 FLOP per output element for C"""
    inner = call.shape(0)[0 if call.attr_int("transA", 0) else 1]
    elements = size(call.output())
    return Cost(elements * inner, elements if call.has(bias_at) else 0)


def _gemm(call: Call) -> list[ValueInfo]:
    product = gemm_shape(call)
    check_broadcast(call, 2, product)
    return [tensor(call.dtype(0), product)]


def _einsum(call: Call) -> list[ValueInfo]:
    """Infer Einsum: each letter is one size; an ellipsis stands for broadcast leading dims.

    Without an arrow, the output has the letters that occur once, sorted.
    """
    left, arrow, right = call.attr_text("equation", "").replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(call.inputs):
        raise Contradiction(
            f"the number of Einsum terms ({len(terms)}) differs from that of inputs ({len(call.inputs)})"
        )
    sizes, ellipsis = _einsum_sizes(call, terms)
    if not arrow:
        letters = left.replace(",", "").replace("...", "")
        right = "..." * ("..." in left) + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    head, dots, tail = right.partition("...")
    before, after = _letter_sizes(sizes, head), _letter_sizes(sizes, tail)
    return [tensor(call.dtype(0), (*before, *(ellipsis if dots else ()), *after))]


def _einsum_sizes(call: Call, terms: list[str]) -> tuple[dict[str, Dim], Shape]:
    sizes: dict[str, Dim] = {}
    ellipsis: Shape = ()
    for at, term in enumerate(terms):
        shape, (head, dots, tail) = call.shape(at), term.partition("...")
        if len(head) + len(tail) > len(shape) or (not dots and len(term) != len(shape)):
            raise Contradiction(f"Einsum term {term} does not match an input of rank {len(shape)}")
        end = len(shape) - len(tail)
        for letter, dim in zip(head + tail, (*shape[: len(head)], *shape[end:]), strict=True):
            known = sizes.get(letter, 1)
            if sizes_differ(known, dim) and 1 not in (known, dim):
                raise Contradiction(f"Einsum index {letter} has sizes {known} and {dim}")
            sizes[letter] = known if dim == 1 else dim if isinstance(known, Unknown) or known == 1 else known
        if dots:
            ellipsis = broadcast(ellipsis, shape[len(head) : end])
    return sizes, ellipsis


def _letter_sizes(sizes: dict[str, Dim], letters: Iterable[str]) -> Shape:
    for letter in letters:
        if letter not in sizes:
            raise Contradiction(f"Einsum output index {letter} is in no input")
    return tuple(sizes[letter] for letter in letters)


def _einsum_cost(call: Call) -> Cost:
    """two terms at a time, from the left: one MAC per combination of indices if an index is summed"""
    left, arrow, right = call.attr_text("equation", "").replace(" ", "").replace("...", ".").partition("->")
    terms = left.split(",")
    sizes, ellipsis = _einsum_sizes(call, [term.replace(".", "...") for term in terms])
    sizes["."] = size(ellipsis)  # all leading dims count as one letter
    letters = [frozenset(term) for term in terms]
    output = frozenset(right if arrow else (c for c in left if c == "." or (c != "," and left.count(c) == 1)))
    macs: Dim = 0
    other: Dim = 0
    product = letters[0]
    for at, term in enumerate(letters[1:], 1):
        needed = output.union(*letters[at + 1 :])
        step = _contraction_cost(product, term, needed, sizes)
        macs, other = macs + step.macs, other + step.other
        product = (product | term) & needed
    return Cost(macs, other) if len(terms) > 1 else Cost(other=size(call.shape(0)) if letters[0] - output else 0)


def _contraction_cost(a: frozenset[str], b: frozenset[str], needed: frozenset[str], sizes: dict[str, Dim]) -> Cost:
    """Sum letters that only one term has and nothing needs; then multiply, as matrices or element by element."""

    def combinations(letters: frozenset[str]) -> Dim:
        return size(_letter_sizes(sizes, sorted(letters)))

    common = a & b
    summed = sum((combinations(term) for term in (a, b) if term - common - needed), start=0)
    work = combinations(common | ((a | b) & needed))
    return Cost(work, summed) if common - needed else Cost(0, work + summed)


def _det_cost(call: Call) -> Cost:
    """n(n - 1)(2n - 1)/3 + n(n - 1)/2 + n - 1 FLOPs per n × n matrix: elimination, then the product of the diagonal"""
    rows = call.shape(0)[-1]
    per_matrix = rows * (rows - 1) * (2 * rows - 1) // 3 + rows * (rows - 1) // 2 + rows - 1
    return Cost(other=size(call.output()) * per_matrix)


OPERATORS: dict[str, Operator] = of_class(
    WorkClass.PRODUCT,
    {
        "MatMul": Operator(product_of(), cost=product, traits={Trait.INT8_KERNEL, Trait.MULTIPLIES, Trait.PRODUCT}),
        "MatMulInteger": Operator(
            product_of(dtype="int32"),
            cost=product,
            roles=scales(2, 3),
            traits={Trait.DYNAMIC_QUANTIZATION, Trait.MULTIPLIES, Trait.PRODUCT},
            quantized=(QuantizedInput(1, -1, 3),),
        ),
        "QLinearMatMul": Operator(
            product_of(0, 3, dtype=7),
            cost=requantized(product),
            roles=scales(1, 2, 4, 5, 6, 7),
            traits={Trait.INT8_OPERATOR, Trait.MULTIPLIES, Trait.PRODUCT, Trait.QOPERATOR},
            operands=(0, 3),
            quantized=(QuantizedInput(3, 4, 5), QuantizedInput(0, 1, 2)),
        ),
        "Gemm": Operator(
            _gemm,
            cost=gemm_cost,
            roles=weights(2),
            traits={Trait.FOLDS_BATCH_NORM, Trait.INT8_CONSTANTS, Trait.INT8_KERNEL, Trait.MULTIPLIES, Trait.PRODUCT},
        ),
        "Einsum": Operator(_einsum, cost=_einsum_cost),
    },
) | {"Det": Operator(one_output(lambda call: call.shape(0)[:-2]), cost=_det_cost)}
