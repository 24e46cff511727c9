"""Canonicalization of nodes: one form per operation, whatever the exporter or an optimizer emitted.

Quantized and fused operators become equivalent plain ones, a product with a constant weight becomes
`linear`, a convolution with one `conv`; an operator that does several things becomes several ops. Patterns of blocks
are written in this vocabulary alone.
"""

import math
from collections.abc import Sequence
from typing import Final

from onnx_autodoc.patterns import fused_ops
from onnx_autodoc.patterns.attributes import ConvAttributes, EinsumAttributes, LinearAttributes
from onnx_autodoc.patterns.net import Net, Op, operator_kind
from onnx_autodoc.patterns.node_context import Canonicalizer, NodeContext, OperatorKey, by_domain
from onnx_autodoc.shapes import Step

_MAX_SUM_INPUTS: Final = 64
_FUSED_ACTIVATIONS: Final = {
    "HardSwish": "hard-swish",
    "Gelu": "gelu",
    "Mish": "mish",
    "Swish": "silu",
    "QuickGelu": "silu",
}


def canonicalize(net: Net, step: Step, row: int, inputs: Sequence[int], outputs: Sequence[int]) -> list[Op]:
    """Return the canonical ops of a node, without their positions."""
    key = (step.node.domain, step.node.op)
    op_type, indices = EQUIVALENTS.get(key, ("", ())) if outputs else ("", ())
    if op_type:
        inputs = [inputs[index] for index in indices if index < len(inputs) and inputs[index]]
    node = NodeContext(net, step, row, inputs, outputs)
    canonicalizer = CANONICALIZERS.get(("", op_type) if op_type else key)
    if canonicalizer is not None and (inputs if op_type else outputs):
        canonicalizer(node)
    else:
        node.add(op_type or operator_kind(step.node), inputs)
    return node.ops


def _add_matmul(node: NodeContext) -> None:
    """A matrix product: `linear` with a weight, `MatMul` between two computed values."""
    left, right = node.input(0), node.input(1)
    constant = node.net.constant
    if constant[left] == constant[right]:
        node.add("MatMul", node.inputs)
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
    _add_linear(node, outputs, data, weight, features, [value for value in node.inputs[2:] if value])
    if activation:
        node.add_side(_FUSED_ACTIVATIONS.get(activation, activation), outputs, node.outputs[0])


def _add_linear(
    node: NodeContext,
    outputs: Sequence[int],
    data: int,
    weight: int,
    features: tuple[int | None, int | None],
    bias: Sequence[int] = (),
) -> None:
    """Add a product with a weight. A computed bias becomes an Add after it."""
    computed = [value for value in bias if not node.net.constant[value]]
    inputs = (data, weight, *(value for value in bias if node.net.constant[value]))
    attributes = LinearAttributes(
        in_features=features[0], out_features=features[1], biased=len(bias) > len(computed), weight=weight
    )
    product = [node.new_value()] if computed else outputs
    node.add("linear", inputs, product, attributes)
    if computed:
        node.add_side("Add", (product[0], computed[0]), outputs[0])


def _add_packed_matmul(node: NodeContext) -> None:
    """Weights packed below one byte, whose shape the attributes K and N declare."""
    features = (node.int_attribute("K"), node.int_attribute("N"))
    bias = node.present_inputs(5 if node.op_type.startswith("MatMulNBits") else 9)
    _add_linear(node, node.outputs, node.input(0), node.input(1), features, bias)


def _add_einsum(node: NodeContext) -> None:
    """`linear` with one weight, `MatMul` between two computed values."""
    data = [value for value in node.inputs if not node.net.constant[value]]
    equation = node.str_attribute("equation")
    if len(node.inputs) != 2 or len(data) == 2:
        kind = "MatMul" if len(data) == 2 else node.op_type
        node.add(kind, node.inputs, attributes=EinsumAttributes(equation=equation))
        return
    index = next(index for index, value in enumerate(node.inputs) if node.net.constant[value])
    features = _einsum_features(node, equation, index)
    _add_linear(node, node.outputs, data[0], node.inputs[index], features)


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


def _add_conv(node: NodeContext) -> None:
    """A convolution with a weight. FusedConv has an activation, and may add a residual before it."""
    weight, residual = node.input(1), node.input(3)
    if not node.net.constant[weight] or node.net.constant[node.input(0)]:
        node.add(node.op_type, node.inputs)
        return
    attributes = _conv_attributes(node, weight)
    inputs = node.present_inputs(0, 1, 2)
    activation = node.str_attribute("activation")
    if attributes.kernel == (1,) and not activation:
        node.add("linear", inputs, attributes=attributes)  # of each position of a sequence
        return
    following: list[tuple[str, tuple[int, ...]]] = []
    if residual and not node.net.constant[residual]:
        following.append(("Add", (residual,)))
    if activation:
        following.append((_FUSED_ACTIVATIONS.get(activation, activation), ()))
    values = [*(node.new_value() for _ in following), node.outputs[0]]
    node.add("conv", inputs, (values[0], *node.outputs[1:]), attributes)
    for index, (kind, others) in enumerate(following):
        node.add_side(kind, (values[index], *others), values[index + 1])


def _conv_attributes(node: NodeContext, weight: int) -> ConvAttributes:
    shape = node.net.shape(weight) or ()
    first, second = (shape[0], shape[1]) if len(shape) > 1 else (None, None)
    group = node.int_attribute("group", 1)
    transposed = "Transpose" in node.op_type
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


def _add_sum(node: NodeContext) -> None:
    """A chain of Add, unless there are very many inputs."""
    count = len(node.inputs)
    if count < 2 or count > _MAX_SUM_INPUTS:
        node.add("Sum" if count > 1 else "Identity", node.inputs)
        return
    total = node.inputs[0]
    for value in node.inputs[1:-1]:
        total = node.add_side("Add", (total, value))
    node.add("Add", (total, node.inputs[-1]), node.outputs[:1])


def _add_quantized_concat(node: NodeContext) -> None:
    """QLinearConcat(scale, zero, x, scale, zero, y, …)."""
    node.add("Concat", node.inputs[2::3])


# quantized operators and variants of a layout: ONNX's operator, and the indices of its operands among the inputs
_QLINEAR_CONV: Final = ("Conv", (0, 3, 8))
_QLINEAR_POOLS: Final = {
    "QLinearAveragePool": ("AveragePool", (0,)),
    "QLinearGlobalAveragePool": ("GlobalAveragePool", (0,)),
}
EQUIVALENTS: Final[dict[OperatorKey, tuple[str, tuple[int, ...]]]] = {
    **by_domain(
        "",
        {
            "QLinearConv": _QLINEAR_CONV,
            "ConvInteger": ("Conv", (0, 1)),
            "QLinearMatMul": ("MatMul", (0, 3)),
            "MatMulInteger": ("MatMul", (0, 1)),
        },
    ),
    **by_domain(
        "com.microsoft",
        {
            "QLinearConv": _QLINEAR_CONV,
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
            **_QLINEAR_POOLS,
            "NhwcMaxPool": ("MaxPool", (0,)),
        },
    ),
    **by_domain("com.ms.internal.nhwc", {"QLinearConv": _QLINEAR_CONV, **_QLINEAR_POOLS}),
}
_CONVS: Final = dict.fromkeys(("Conv", "ConvTranspose"), _add_conv)
CANONICALIZERS: Final[dict[OperatorKey, Canonicalizer]] = {
    **by_domain(
        "", {**dict.fromkeys(("MatMul", "Gemm"), _add_matmul), **_CONVS, "Einsum": _add_einsum, "Sum": _add_sum}
    ),
    **by_domain(
        "com.microsoft",
        {
            **dict.fromkeys(("FusedMatMul", "TransposeMatMul", "FusedGemm", "GemmFastGelu"), _add_matmul),
            **dict.fromkeys(("MatMulNBits", "MatMulNBitsMlp", "MatMulBnb4", "MatMulFpQ4"), _add_packed_matmul),
            **dict.fromkeys(("FusedConv", "NhwcConv", "NhwcFusedConv", "ConvTransposeWithDynamicPads"), _add_conv),
            "QLinearConcat": _add_quantized_concat,
        },
    ),
    # written by onnxruntime's layout optimizers
    **by_domain("com.microsoft.nchwc", {"Conv": _add_conv}),
    **by_domain("com.ms.internal.nhwc", _CONVS),
    **fused_ops.CANONICALIZERS,
}
