"""Rules on quantized models."""

from collections.abc import Iterator
from enum import Enum
from typing import Final

from onnx_autodoc.ir import BITS
from onnx_autodoc.lint.context import LintContext, NodeRef
from onnx_autodoc.lint.rule import Confidence, Severity, Violation, rule
from onnx_autodoc.ops import Trait, ValueInfo, has_trait
from onnx_autodoc.text import format_percent, pluralize

_MAX_BITS: Final = 8  # of a weight: with 16 bits there are enough levels for small filters too
_MIN_CHANNELS: Final = 8


@rule(
    Severity.NOTE,
    """A depthwise convolution is quantized with one scale for all channels.

Why it matters: each channel of a depthwise convolution has a separate filter, and the ranges of the filters differ by
orders of magnitude, even more after batch normalization was folded in. With one scale for all of them, small filters
keep two or three bits, which can reduce the accuracy of MobileNets and similar models. The effect was not measured
here: a model that was trained with this quantization may have adapted to it.

What to do: quantize again with one scale per channel (per_channel=True in onnxruntime.quantization.quantize_static;
quantize_dynamic always uses one scale for a convolution's weight), and compare the results with those of the original
model.

Convolutions with fewer than 8 channels, weights of more than 8 bits, and weights whose scales are unknown are not
checked.
""",
    confidence=Confidence.MEDIUM,
)
def per_tensor_depthwise(context: LintContext) -> Iterator[Violation]:
    dims = [(ref, scale.concrete if scale is not None else None) for ref, scale in _depthwise_scales(context)]
    known = [(ref, sizes) for ref, sizes in dims if sizes is not None]
    single = [ref for ref, sizes in known if all(size == 1 for size in sizes)]
    if single:
        one, many = "has one scale for all channels of its weight", "have one scale for all channels"
        total = pluralize(len(known), "quantized depthwise convolution")
        yield Violation(f"{len(single):,} of {total} {one if len(single) == 1 else many}", single)


def _depthwise_scales(context: LintContext) -> Iterator[tuple[NodeRef, ValueInfo | None]]:
    """Yield the quantized depthwise convolutions with the scale of their weight, if known."""
    for ref in context.nodes_of("Conv"):
        source = ref.producer(1) if _is_depthwise(ref, 1) else None
        is_dequantized = source is not None and has_trait(source.node, Trait.DEQUANTIZES)
        if source is not None and is_dequantized and ref.has_constant(1) and _is_low_bit(source, 0):
            yield ref, source.input(1)
    for ref in context.nodes_of("QLinearConv"):
        if _is_depthwise(ref, 3) and _is_low_bit(ref, 3):
            yield ref, ref.input(4)
    for ref in context.nodes_of("ConvInteger"):
        if _is_depthwise(ref, 1):
            yield ref, _weight_scale(ref)


def _weight_scale(ref: NodeRef) -> ValueInfo | None:
    """The scale of the weight that ConvInteger's sums are multiplied with after a cast, with the scale of the data."""
    cast = ref.only_consumer()
    scaled = cast.only_consumer() if cast is not None else None
    if scaled is None or not scaled.node.is_op("Mul"):
        return None
    producers = (scaled.producer(at) for at in range(len(scaled.node.inputs)))
    product = next((item for item in producers if item is not None and item.node.is_op("Mul")), None)
    if product is None:
        return None
    constant = [at for at in range(len(product.node.inputs)) if product.has_constant(at)]
    return product.input(constant[0]) if len(constant) == 1 else None


def _is_depthwise(ref: NodeRef, at: int) -> bool:
    group, weight = ref.node.attributes.get("group", 1), ref.input(at)
    dims = weight.concrete if weight is not None else None
    return isinstance(group, int) and group >= _MIN_CHANNELS and dims is not None and len(dims) > 2 and dims[1] == 1


def _is_low_bit(ref: NodeRef, at: int) -> bool:
    known = ref.input(at)
    return known is not None and known.dtype in BITS and BITS[known.dtype] <= _MAX_BITS


_MIN_FLOAT_SHARE: Final = 0.2  # of the MACs
_MAX_DISTANCE: Final = 8  # nodes between a dequantization and the operator that it is for
_MIN_VALUES: Final = {"int8": -128, "uint8": 0}
_OUTPUT_RECOMMENDATION: Final = (
    "Quantize the outputs of these convolutions as well, as quantize_static of onnxruntime.quantization does, or run "
    "the model with TensorRT, which does not require quantized outputs"
)


class _Execution(Enum):
    INT8 = 1
    FLOAT_OUTPUT = 2  # int8 inputs; the output is not quantized
    FLOAT = 3
    OTHER = 4  # only the weights are quantized, or it depends on the runtime


@rule(
    Severity.NOTE,
    """Convolutions or matrix products of a quantized model run in floating point.

Why it matters: a runtime executes an operator in int8 only if a DequantizeLinear precedes each operand of the product
and, in onnxruntime for convolutions, a QuantizeLinear follows directly. Otherwise it converts integers to floating
point, computes as before, and converts them back, which is slower than the model was before quantization.

What to do: check why these operators were not quantized: quantize_static of onnxruntime.quantization quantizes the
operators named in op_types_to_quantize, except those in nodes_to_exclude; run
onnxruntime.quantization.shape_inference.quant_pre_process on the model first. If they were excluded to keep accuracy,
this is the cost.

Reported if such operators have a fifth of the MACs, so not for a first or last layer that is kept in floating point.
Two cases are reported separately: operators whose data are not quantized, which no runtime can execute in int8, and
convolutions whose output is not quantized, which TensorRT executes in int8 and onnxruntime does not. Not reported:
products with only the weights quantized, types other than 8-bit integers, nodes inside functions, loops and branches,
and models with dynamic quantization.
""",
    confidence=Confidence.MEDIUM,
)
def unfused_quantization(context: LintContext) -> Iterator[Violation]:
    if not context.nodes_of("DequantizeLinear") and not context.nodes_of("DequantizeLinear", domain="com.microsoft"):
        return
    products = [ref for ref in context.scopes[0].refs if _is_product(ref)]
    groups: dict[_Execution, list[NodeRef]] = {execution: [] for execution in _Execution}
    for ref in products:
        groups[_classify(ref)].append(ref)
    quantized = groups[_Execution.INT8] + groups[_Execution.FLOAT_OUTPUT]
    if not any(has_trait(ref.node, Trait.INT8_KERNEL) for ref in quantized):
        return
    total = _macs(context, products)
    in_float = f"in floating point; {len(quantized):,} can run in int8"
    in_onnxruntime = "in floating point in onnxruntime, which requires a quantized output"
    for execution, how, recommendation, about in (
        (_Execution.FLOAT, in_float, "", None),
        (_Execution.FLOAT_OUTPUT, in_onnxruntime, _OUTPUT_RECOMMENDATION, "onnxruntime"),
    ):
        refs = groups[execution]
        macs = _macs(context, refs)
        share = macs / total if total and macs is not None else 0.0
        if refs and share >= _MIN_FLOAT_SHARE:
            whole = pluralize(len(products), "convolution or matrix product", "convolutions and matrix products")
            run = "runs" if len(refs) == 1 else "run"
            message = f"{len(refs):,} of {whole}, {format_percent(share)} of the MACs, {run} {how}"
            yield Violation(message, refs, recommendation, about=about)


def _macs(context: LintContext, refs: list[NodeRef]) -> int | None:
    """The MACs of some nodes, None where those of one are unknown."""
    costs = [context.facts.costs.price(ref.step, bookkeeping=False).cost.macs for ref in refs]
    known = [macs for macs in costs if isinstance(macs, int)]
    return sum(known) if len(known) == len(costs) else None


def _is_product(ref: NodeRef) -> bool:
    """Whether it is a convolution or matrix product of data, in floating point or on integers."""
    if has_trait(ref.node, Trait.INT8_OPERATOR):
        return True
    if not has_trait(ref.node, Trait.INT8_KERNEL) or ref.node.domain or len(ref.node.inputs) < 2:
        return False
    return not (ref.has_constant(0) and ref.has_constant(1))


def _classify(ref: NodeRef) -> _Execution:
    if has_trait(ref.node, Trait.INT8_OPERATOR):
        return _Execution.INT8
    data, weight = (_quantized_dtype(ref, name) for name in ref.node.inputs[:2])
    if data is not None and weight is not None:
        return _Execution.FLOAT_OUTPUT if _has_float_output(ref, data) else _Execution.INT8
    if ref.has_constant(1):
        if data is None and weight is not None and not has_trait(ref.node, Trait.INT8_NEEDS_OUTPUT):
            return _Execution.OTHER  # only the weights are quantized
        if data is not None and has_trait(ref.node, Trait.INT8_CONSTANTS):
            return _Execution.OTHER  # onnxruntime quantizes such weights itself, other runtimes do not
    return _Execution.FLOAT


def _quantized_dtype(ref: NodeRef, name: str) -> str | None:
    """The type that a value was dequantized from: "" where it is unknown, None where it was not quantized."""
    is_data = not ref.scope.is_constant(name)
    for _ in range(_MAX_DISTANCE):
        producer = ref.scope.producer(name)
        if producer is None or not producer.node.inputs:
            return None
        name = producer.node.inputs[0]
        if has_trait(producer.node, Trait.DEQUANTIZES):
            if is_data and producer.scope.is_constant(name):
                return None  # rows of a quantized table
            return producer.dtypes[0] or ""
        if not has_trait(producer.node, Trait.CROSSES_QUANTIZATION):
            return None
    return ""


def _has_float_output(ref: NodeRef, dtype: str) -> bool:
    """Whether the output surely stays in floating point, which makes onnxruntime compute the operator so."""
    name = ref.node.outputs[0]
    if not has_trait(ref.node, Trait.INT8_NEEDS_OUTPUT) or dtype not in _MIN_VALUES:
        return False
    return name in ref.scope.escaping or any(map(_reads_float, ref.scope.consumers(name)))


def _reads_float(reader: NodeRef) -> bool:
    node, name = reader.node, reader.node.outputs[0] if reader.node.outputs else ""
    if node.is_op("Relu"):
        return name in reader.scope.escaping or any(map(_keeps_relu, reader.scope.consumers(name)))
    return not has_trait(node, Trait.QUANTIZES, Trait.CROSSES_QUANTIZATION, Trait.SHAPE_QUERY)


def _keeps_relu(reader: NodeRef) -> bool:
    """Whether a Relu before `reader` cannot be fused into a quantization whose zero point is the lowest value."""
    if not has_trait(reader.node, Trait.QUANTIZES):
        return not has_trait(reader.node, Trait.CROSSES_QUANTIZATION, Trait.SHAPE_QUERY)
    zero = reader.input(2)
    if zero is None or zero.value is None or zero.dtype not in _MIN_VALUES:
        return False
    return bool((zero.value != _MIN_VALUES[zero.dtype]).any())
