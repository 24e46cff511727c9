"""One word for each operation, whatever an exporter or an optimizer called it.

Quantized and fused operators become the plain ones that they stand for, a product with a weight becomes `linear`, a
convolution with a weight `conv`; an operator that does several things becomes several terms. Here are the spellings;
the blocks are written in these words alone.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from onnx_autodoc.patterns import _fused_attention, _fused_layers
from onnx_autodoc.patterns._draft import Draft, Speller, Spelling
from onnx_autodoc.patterns._net import Fact, Net
from onnx_autodoc.shapes import Step


def spell(net: Net, step: Step, inputs: Sequence[int], outputs: Sequence[int]) -> Iterator[Draft]:
    """The terms that a node is."""
    spelling = Spelling(net, step.node, inputs, outputs, step.outputs)
    op = step.node.op
    if op in SAME and outputs:
        yield from _same(spelling, *SAME[op])
    elif op in SPELLERS and outputs:
        yield from SPELLERS[op](spelling)
    else:
        yield spelling.draft(op, inputs)


def _same(spelling: Spelling, op: str, positions: tuple[int, ...]) -> Iterator[Draft]:
    picked = [spelling.input(at) for at in positions if spelling.input(at)]
    renamed = Spelling(spelling.net, spelling.node, picked, spelling.outputs, spelling.known)
    yield from SPELLERS[op](renamed) if op in SPELLERS and picked else iter((renamed.draft(op, picked),))


def _product(it: Spelling) -> Iterator[Draft]:
    """A matrix product: with a weight it is `linear`, between two computed things `MatMul`."""
    left, right = it.input(0), it.input(1)
    if it.net.fixed[left] == it.net.fixed[right]:
        yield it.draft("MatMul", it.inputs)
        return
    weight, turned = (right, it.number("transB")) if it.net.fixed[right] else (left, 1 - it.number("transA"))
    data = left if weight == right else right
    dims = it.net.shape(weight) or ()
    wide = dims[-2:] if len(dims) > 1 else (dims[-1], 1) if dims else (None, None)
    features = (wide[1], wide[0]) if turned else (wide[0], wide[1])
    act = it.word("activation") or it.word("activation_type")
    made = [it.inner()] if act else it.outputs
    inner = Spelling(it.net, it.node, it.inputs, made, it.known)
    bias = [value for value in it.inputs[2:] if value]
    yield from _linear(inner, data, weight, features, bias, left=weight == left)
    if act:
        yield it.aside(_CALLED.get(act, act), made, it.outputs[0])


def _linear(
    it: Spelling, data: int, weight: int, features: tuple[int | None, int | None], bias: Sequence[int], **facts: Fact
) -> Iterator[Draft]:
    """A weight applied to data; a bias that is no constant is added after it (it is no bias)."""
    drawn = [value for value in bias if not it.net.fixed[value]]
    inputs = [data, weight, *(value for value in bias if it.net.fixed[value])]
    facts |= {"from": features[0], "to": features[1], "biased": len(bias) > len(drawn), "weight": weight}
    if not drawn:
        yield it.draft("linear", inputs, **facts)
        return
    inner = it.inner()
    yield Draft("linear", tuple(inputs), (inner,), facts)
    yield it.aside("Add", (inner, drawn[0]), it.outputs[0])


def _packed(bias: int) -> Speller:
    """Weights packed several in one byte, as wide as the attributes K and N say."""

    def spelled(it: Spelling) -> Iterator[Draft]:
        extra = [it.input(bias)] if it.input(bias) else []
        yield from _linear(it, it.input(0), it.input(1), (it.number("K"), it.number("N")), extra)

    return spelled


def _summed(it: Spelling) -> Iterator[Draft]:
    """Einsum: with one weight a linear map, else a product of what was computed."""
    drawn = [value for value in it.inputs if not it.net.fixed[value]]
    if len(it.inputs) != 2 or len(drawn) == 2:
        yield it.draft("MatMul" if len(drawn) == 2 else it.node.op, it.inputs, equation=it.word("equation"))
        return
    at = next(at for at, value in enumerate(it.inputs) if it.net.fixed[value])
    yield from _linear(it, drawn[0], it.inputs[at], _summed_widths(it, at), [])


def _summed_widths(it: Spelling, at: int) -> tuple[int | None, int | None]:
    """What is summed over, and what the weight adds, by the letters of the equation."""
    sides, _, made = it.word("equation").replace(" ", "").partition("->")
    letters, dims = sides.split(","), it.net.shape(it.inputs[at])
    if len(letters) != 2 or dims is None or len(letters[at]) != len(dims):
        return None, None
    sizes, data = dict(zip(letters[at], dims)), letters[1 - at]
    summed = [size for letter, size in sizes.items() if letter in data and letter not in made]
    added = [size for letter, size in sizes.items() if letter in made and letter not in data]
    return math.prod(summed), math.prod(added)


_MOST_ADDED: Final = 64  # terms of one Sum
_CALLED: Final = {"HardSwish": "hard-swish", "Gelu": "gelu", "Mish": "mish", "Swish": "silu", "QuickGelu": "silu"}


def _convolution(it: Spelling) -> Iterator[Draft]:
    """A convolution with a weight; FusedConv brings its activation, and sometimes the sum of a skip, along."""
    weight, bias, skip = it.input(1), it.input(2), it.input(3)
    if not it.net.fixed[weight] or it.net.fixed[it.input(0)]:
        yield it.draft(it.node.op, it.inputs)
        return
    facts = _convolved(it, weight) | {"biased": bool(bias)}
    if facts["kernel"] == (1,) and not it.word("activation"):
        yield it.draft("linear", [value for value in (it.input(0), weight, bias) if value], **facts)  # over each place
        return
    ends: list[tuple[str, tuple[int, ...]]] = [("Add", (skip,))] if skip and not it.net.fixed[skip] else []
    act = it.word("activation")
    ends += [(_CALLED.get(act, act), ())] if act else []
    values = [it.inner() for _ in ends] + [it.outputs[0]]
    inputs = tuple(value for value in (it.input(0), weight, bias) if value)
    yield Draft("conv", inputs, (values[0], *it.outputs[1:]), facts)
    for at, (op, more) in enumerate(ends):
        yield it.aside(op, (values[at], *more), values[at + 1])


def _convolved(it: Spelling, weight: int) -> dict[str, Fact]:
    held = it.net.shape(weight) or ()
    dims = held if len(held) > 1 else (None, None)  # none can have a weight of fewer dimensions
    group = it.number("group", 1)
    transposed = "Transpose" in it.node.op
    to = dims[1] * group if transposed and dims[1] else dims[0]
    kernel = tuple(it.numbers("kernel_shape")) or tuple(dims[2:])
    strides = it.numbers("strides") or (1,) * len(kernel)
    channels = dims[0] if transposed else dims[1] * group if dims[1] else None
    return {
        "kernel": kernel,
        "strides": strides,
        "dilations": it.numbers("dilations") or (1,) * len(kernel),
        "group": group,
        "from": channels,
        "to": to,
        "transposed": transposed,
        "depthwise": group > 1 and group == channels,
        "weight": weight,
    }


def _sum(it: Spelling) -> Iterator[Draft]:
    """Sum of two is Add; of more, a chain of them; of very many, what it is."""
    if len(it.inputs) > _MOST_ADDED:
        yield it.draft("Sum", it.inputs)
        return
    total = it.input(0)
    for at, value in enumerate(it.inputs[1:], 2):
        made = it.outputs[0] if at == len(it.inputs) else it.inner()
        yield (
            it.draft("Add", (total, value), (made,)) if made == it.outputs[0] else it.aside("Add", (total, value), made)
        )
        total = made
    if len(it.inputs) < 2:
        yield it.draft("Identity", it.inputs)


def _joined(it: Spelling) -> Iterator[Draft]:
    """QLinearConcat(scale, zero, x, scale, zero, y, …)."""
    yield it.draft("Concat", [it.inputs[at] for at in range(2, len(it.inputs), 3)])


# other names of the same thing, and where its operands are
SAME: Final[dict[str, tuple[str, tuple[int, ...]]]] = {
    "QLinearConv": ("Conv", (0, 3, 8)),
    "ConvInteger": ("Conv", (0, 1)),
    "QLinearMatMul": ("MatMul", (0, 3)),
    "MatMulInteger": ("MatMul", (0, 1)),
    "MatMulIntegerToFloat": ("MatMul", (0, 1, 6)),
    "DynamicQuantizeMatMul": ("MatMul", (0, 1, 4)),
    "MatMulInteger16": ("MatMul", (0, 1)),
    "FusedMatMulActivation": ("MatMul", (0, 1)),
    "QGemm": ("Gemm", (0, 3, 6)),
    "QLinearAdd": ("Add", (0, 3)),
    "QLinearMul": ("Mul", (0, 3)),
    "QLinearSigmoid": ("Sigmoid", (0,)),
    "QLinearLeakyRelu": ("LeakyRelu", (0,)),
    "QLinearSoftmax": ("Softmax", (0,)),
    "QLinearReduceMean": ("ReduceMean", (0,)),
    "QLinearAveragePool": ("AveragePool", (0,)),
    "QLinearGlobalAveragePool": ("GlobalAveragePool", (0,)),
    "NhwcMaxPool": ("MaxPool", (0,)),
}
SPELLERS: Final[dict[str, Speller]] = {
    **dict.fromkeys(("MatMul", "Gemm", "FusedMatMul", "TransposeMatMul", "FusedGemm", "GemmFastGelu"), _product),
    **dict.fromkeys(("MatMulNBits", "MatMulNBitsMlp"), _packed(5)),
    **dict.fromkeys(("MatMulBnb4", "MatMulFpQ4"), _packed(9)),
    "Einsum": _summed,
    **dict.fromkeys(("Conv", "ConvTranspose", "FusedConv", "NhwcConv", "NhwcFusedConv"), _convolution),
    **dict.fromkeys(("ConvTransposeWithDynamicPads",), _convolution),
    "Sum": _sum,
    "QLinearConcat": _joined,
    **_fused_attention.SPELLERS,
    **_fused_layers.SPELLERS,
}
