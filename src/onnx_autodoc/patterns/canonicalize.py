"""Canonicalization of nodes: one spelling per operation, whatever the exporter or an optimizer emitted.

Quantized and fused operators become the plain ones that they stand for, a product with a constant weight becomes
`linear`, a convolution with one `conv`; an operator that does several things becomes several ops. Patterns of blocks
are written in this vocabulary alone.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from onnx_autodoc.patterns import fused_ops
from onnx_autodoc.patterns.attributes import ConvAttributes, EinsumAttributes, LinearAttributes
from onnx_autodoc.patterns.net import Net
from onnx_autodoc.patterns.node_context import Canonicalizer, NodeContext, OpSpec
from onnx_autodoc.shapes import Step

_MAX_SUM_INPUTS: Final = 64
_FUSED_ACTIVATIONS: Final = {
    "HardSwish": "hard-swish",
    "Gelu": "gelu",
    "Mish": "mish",
    "Swish": "silu",
    "QuickGelu": "silu",
}


def canonicalize(net: Net, step: Step, inputs: Sequence[int], outputs: Sequence[int]) -> Iterator[OpSpec]:
    """Yield the canonical ops of a node."""
    op_type = step.node.op
    if op_type in EQUIVALENTS and outputs:
        op_type, indices = EQUIVALENTS[op_type]
        inputs = [inputs[index] for index in indices if index < len(inputs) and inputs[index]]
        is_known = bool(inputs)
    else:
        is_known = bool(outputs)
    node = NodeContext(net, step.node, inputs, outputs, step.outputs)
    if op_type in CANONICALIZERS and is_known:
        yield from CANONICALIZERS[op_type](node)
    else:
        yield node.main_op(op_type, inputs)


def _matmul(node: NodeContext) -> Iterator[OpSpec]:
    """A matrix product: `linear` with a weight, `MatMul` between two computed values."""
    left, right = node.input(0), node.input(1)
    constant = node.net.constant
    if constant[left] == constant[right]:
        yield node.main_op("MatMul", node.inputs)
        return
    if constant[right]:
        data, weight, transposed = left, right, node.int_attribute("transB")
    else:
        data, weight, transposed = right, left, 1 - node.int_attribute("transA")
    dims = node.net.shape(weight) or ()
    sizes = dims[-2:] if len(dims) > 1 else (dims[-1], 1) if dims else (None, None)
    features = (sizes[1], sizes[0]) if transposed else (sizes[0], sizes[1])
    activation = node.str_attribute("activation") or node.str_attribute("activation_type")
    outputs = [node.new_value()] if activation else node.outputs
    bias = [value for value in node.inputs[2:] if value]
    yield from _linear(node, outputs, data, weight, features, bias)
    if activation:
        yield node.side_op(_FUSED_ACTIVATIONS.get(activation, activation), outputs, node.outputs[0])


def _linear(
    node: NodeContext,
    outputs: Sequence[int],
    data: int,
    weight: int,
    features: tuple[int | None, int | None],
    bias: Sequence[int],
) -> Iterator[OpSpec]:
    """A product with a weight. A computed bias becomes an Add after it."""
    computed = [value for value in bias if not node.net.constant[value]]
    inputs = (data, weight, *(value for value in bias if node.net.constant[value]))
    attributes = LinearAttributes(
        in_features=features[0], out_features=features[1], biased=len(bias) > len(computed), weight=weight
    )
    if not computed:
        yield node.main_op("linear", inputs, outputs, attributes)
        return
    product = node.new_value()
    yield OpSpec("linear", inputs, (product,), attributes)
    yield node.side_op("Add", (product, computed[0]), outputs[0])


def _packed_matmul(bias_index: int) -> Canonicalizer:
    """Weights packed below one byte, whose shape the attributes K and N declare."""

    def canonicalizer(node: NodeContext) -> Iterator[OpSpec]:
        features = (node.int_attribute("K"), node.int_attribute("N"))
        bias = node.present_inputs(bias_index)
        yield from _linear(node, node.outputs, node.input(0), node.input(1), features, bias)

    return canonicalizer


def _einsum(node: NodeContext) -> Iterator[OpSpec]:
    """`linear` with one weight, `MatMul` between two computed values."""
    data = [value for value in node.inputs if not node.net.constant[value]]
    equation = node.str_attribute("equation")
    if len(node.inputs) != 2 or len(data) == 2:
        kind = "MatMul" if len(data) == 2 else node.node.op
        yield node.main_op(kind, node.inputs, attributes=EinsumAttributes(equation=equation))
        return
    index = next(index for index, value in enumerate(node.inputs) if node.net.constant[value])
    features = _einsum_features(node, equation, index)
    yield from _linear(node, node.outputs, data[0], node.inputs[index], features, [])


def _einsum_features(node: NodeContext, equation: str, index: int) -> tuple[int | None, int | None]:
    """Return the sizes of the weight's axes that are summed over and that are added to the data."""
    operands, _, result = equation.replace(" ", "").partition("->")
    letters, dims = operands.split(","), node.net.shape(node.inputs[index])
    if len(letters) != 2 or dims is None or len(letters[index]) != len(dims):
        return None, None
    sizes, data = dict(zip(letters[index], dims)), letters[1 - index]
    summed = [size for letter, size in sizes.items() if letter in data and letter not in result]
    added = [size for letter, size in sizes.items() if letter in result and letter not in data]
    return math.prod(summed), math.prod(added)


def _conv(node: NodeContext) -> Iterator[OpSpec]:
    """A convolution with a weight. FusedConv has an activation, and may add a residual before it."""
    weight, residual = node.input(1), node.input(3)
    if not node.net.constant[weight] or node.net.constant[node.input(0)]:
        yield node.main_op(node.node.op, node.inputs)
        return
    attributes = _conv_attributes(node, weight)
    inputs = node.present_inputs(0, 1, 2)
    activation = node.str_attribute("activation")
    if attributes.kernel == (1,) and not activation:
        yield node.main_op("linear", inputs, attributes=attributes)  # of each position of a sequence
        return
    following: list[tuple[str, tuple[int, ...]]] = []
    if residual and not node.net.constant[residual]:
        following.append(("Add", (residual,)))
    if activation:
        following.append((_FUSED_ACTIVATIONS.get(activation, activation), ()))
    values = [node.new_value() for _ in following] + [node.outputs[0]]
    yield OpSpec("conv", inputs, (values[0], *node.outputs[1:]), attributes)
    for index, (kind, others) in enumerate(following):
        yield node.side_op(kind, (values[index], *others), values[index + 1])


def _conv_attributes(node: NodeContext, weight: int) -> ConvAttributes:
    shape = node.net.shape(weight) or ()
    first, second = (shape[0], shape[1]) if len(shape) > 1 else (None, None)
    group = node.int_attribute("group", 1)
    transposed = "Transpose" in node.node.op
    in_features = first if transposed else second * group if second else None
    kernel = node.ints_attribute("kernel_shape") or shape[2:]
    return ConvAttributes(
        in_features=in_features,
        out_features=second * group if transposed and second else first,
        weight=weight,
        biased=bool(node.input(2)),
        kernel=kernel,
        strides=node.ints_attribute("strides") or (1,) * len(kernel),
        group=group,
        transposed=transposed,
        depthwise=group > 1 and group == in_features,
    )


def _sum(node: NodeContext) -> Iterator[OpSpec]:
    """A chain of Add, unless there are very many inputs."""
    if len(node.inputs) > _MAX_SUM_INPUTS:
        yield node.main_op("Sum", node.inputs)
        return
    total = node.input(0)
    for value in node.inputs[1:-1]:
        partial = node.new_value()
        yield node.side_op("Add", (total, value), partial)
        total = partial
    if len(node.inputs) < 2:
        yield node.main_op("Identity", node.inputs)
    else:
        yield node.main_op("Add", (total, node.inputs[-1]), node.outputs[:1])


def _quantized_concat(node: NodeContext) -> Iterator[OpSpec]:
    """QLinearConcat(scale, zero, x, scale, zero, y, …)."""
    yield node.main_op("Concat", [node.inputs[index] for index in range(2, len(node.inputs), 3)])


# operators that stand for another one, and the indices of its operands among their inputs
EQUIVALENTS: Final[dict[str, tuple[str, tuple[int, ...]]]] = {
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
CANONICALIZERS: Final[dict[str, Canonicalizer]] = {
    **dict.fromkeys(("MatMul", "Gemm", "FusedMatMul", "TransposeMatMul", "FusedGemm", "GemmFastGelu"), _matmul),
    **dict.fromkeys(("MatMulNBits", "MatMulNBitsMlp"), _packed_matmul(5)),
    **dict.fromkeys(("MatMulBnb4", "MatMulFpQ4"), _packed_matmul(9)),
    **dict.fromkeys(("Conv", "ConvTranspose", "FusedConv", "NhwcConv", "NhwcFusedConv"), _conv),
    "ConvTransposeWithDynamicPads": _conv,
    "Einsum": _einsum,
    "Sum": _sum,
    "QLinearConcat": _quantized_concat,
    **fused_ops.CANONICALIZERS,
}
