"""Prices of onnxruntime's normalisations, fused activations and experts."""

from collections.abc import Sequence

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost
from onnx_autodoc.ops._fusion import PLAIN, activation, chain, part, result, total
from onnx_autodoc.ops._known import Dim, Known, like, tensor
from onnx_autodoc.ops._partial_reads import read_of
from onnx_autodoc.ops._ranks import deep
from onnx_autodoc.ops.slicing import OPERATORS as SLICING


def optional(call: Call, at: int) -> Known | None:
    return call.known(at) if call.has(at) else None


def given(call: Call, *inputs: int) -> int:
    """How many of these inputs there are."""
    return sum(call.has(at) for at in inputs)


# normalisations
def rms_norm(call: Call) -> Cost:
    """as RMSNormalization"""
    return part(PLAIN, "RMSNormalization", result(call), *call.inputs[:2], named=call.node.attributes)


def skip_norm(call: Call) -> Cost:
    """as Add, one more for a bias, and LayerNormalization"""
    x, sums = call.known(0), Cost(other=size(call.shape(0)) * (1 + given(call, 4)))
    return total(sums, part(PLAIN, "LayerNormalization", x, x, call.known(2), optional(call, 3)))


def skip_rms_norm(call: Call) -> Cost:
    """as Add, one more for a bias, and RMSNormalization"""
    x, sums = call.known(0), Cost(other=size(call.shape(0)) * (1 + given(call, 3)))
    return total(sums, part(PLAIN, "RMSNormalization", x, x, call.known(2)))


def _rows_norm(call: Call, length: Dim) -> Cost:
    """RMSNormalization of each so many elements that follow each other; without a scale, one multiplication less."""
    x, elements = call.known(0), size(call.shape(0))
    norm = part(PLAIN, "RMSNormalization", x, like(x, (over(elements, length), length)))
    return norm if call.has(1) else total(norm, Cost(other=-elements))


def branch_norm(call: Call) -> Cost:
    """as RMSNormalization of each branch; without a scale, 1 less per element"""
    x, branches = deep(call, 0), call.attr_int("num_branches", 0)
    return _rows_norm(call, x[-1] // branches if branches > 0 else x[-1])


def gated_norm(call: Call) -> Cost:
    """as RMSNormalization, the gate's activation and Mul"""
    norm, gate = _rows_norm(call, deep(call, 1)[-1]), call.attr_text("activation", "silu")
    return total(norm, activation(call, gate, call.known(0)), Cost(other=size(call.shape(0))))


def group_norm(call: Call) -> Cost:
    """as GroupNormalization; 2 per element where SiLU follows"""
    x = deep(call, 0, 3)
    first = x if call.attr_int("channels_last", 1) == 0 else (x[0], x[-1], *x[1:-1])
    turned, groups = like(call.known(0), first), call.attr_required("groups")
    norm = part(PLAIN, "GroupNormalization", turned, turned, call.known(1), call.known(2), named={"num_groups": groups})
    return total(norm, activation(call, "silu", turned)) if call.attr_int("activation", 0) else norm


def skip_group_norm(call: Call) -> Cost:
    """as Add, one more for a bias, and GroupNorm"""
    return total(Cost(other=size(call.shape(0)) * (1 + given(call, 4))), group_norm(call))


def embed_norm(call: Call) -> Cost:
    """1 per element for each table but one, 1 per element of a mask, and as LayerNormalization; reads no more
    rows of a table than it hands on"""
    y = result(call)
    sums = size(call.output()) * given(call, 3, 4) + (size(call.shape(7)) if call.has(7) else 0)
    norm = part(PLAIN, "LayerNormalization", y, y, call.known(5), call.known(6))
    return Cost(0, sums + norm.other, read_of(call, dict.fromkeys((2, 3, 4), (0, size(call.shape(0))))))


def quantized_embed_norm(call: Call) -> Cost:
    """as EmbedLayerNormalization; 2 per element that it takes of each table, of the scale and of the bias: zero point,
    scale"""
    cost = embed_norm(call)
    taken = size(call.output()) * given(call, 2, 3, 4) + size(call.shape(5)) + size(call.shape(6))
    return Cost(0, cost.other + 2 * taken, read=cost.read)


# activations
def fast_gelu(call: Call) -> Cost:
    """as Gelu by tanh; 1 per element for a bias"""
    return total(tanh_gelu(result(call)), Cost(other=size(call.output()) * given(call, 1)))


def tanh_gelu(of: Known) -> Cost:
    return part(PLAIN, "Gelu", of, of, named={"approximate": "tanh"})


def scaled_silu(call: Call) -> Cost:
    """2 per element of the output: sigmoid, product; 1 more for a scale"""
    default = 1.702 if call.node.op == "QuickGelu" else 1.0
    scaled = call.has(1) or call.attr_float("alpha", default) != 1
    return Cost(other=size(call.output()) * (2 + scaled))


def bias_split_gelu(call: Call) -> Cost:
    """1 per element of the input for the bias; as Gelu and Mul on one half of them"""
    halves = chain("Gelu", "Mul")(call)
    return total(Cost(other=size(call.shape(0))), halves)


def bias_add(call: Call) -> Cost:
    """1 per element of the output for each input but one"""
    return Cost(other=size(call.output()) * given(call, 1, 2))


def bias_dropout(call: Call) -> Cost:
    """1 per element of the output for the bias, 1 for a residual, and as Dropout"""
    y, dropped = result(call), (call.known(0), optional(call, 3), optional(call, 4))
    return total(bias_add(call), part(PLAIN, "Dropout", y, *dropped))


# mixtures of experts: each row goes through k of them, whichever these are; many rows may share one or not
def experts(call: Call, numbers: Sequence[Dim], biases: Sequence[int], owned: range) -> Cost:
    """fc1, fc2 and, where it is there, fc3 of so many numbers in each expert; inputs in `owned` belong to experts."""
    x = deep(call, 0)
    hidden, visits = x[-1], size(x[:-1]) * call.attr_int("k", 1)
    inner = tensor(call.dtype(0), (visits, over(numbers[1], hidden)))
    added = sum((size(call.shape(at)[1:]) for at in biases if call.has(at)), start=0)
    gates = _gates(call, inner, len(numbers) > 2)
    other = visits * (added + 2 * hidden) + gates.other + _routing(call, visits)
    return Cost(visits * sum(numbers, start=0), other, read_of(call, dict.fromkeys(owned, (0, visits))))


def over(whole: Dim, parts: Dim) -> Dim:
    """A division that knows no error: of no parts, nothing."""
    return 0 if type(parts) is int and parts == 0 else whole // parts


def _gates(call: Call, inner: Known, third: bool) -> Cost:
    """The activation between the products, and what gates it."""
    name, elements = call.attr_text("activation_type", "relu"), size(inner.shape or ())
    if name.lower() != "swiglu":
        return total(activation(call, name, inner), Cost(other=elements if third else 0))
    scaled, moved = call.attr_float("activation_alpha", 1.0) != 1, call.attr_float("activation_beta", 0.0) != 0
    limits = 3 if call.attribute("swiglu_limit") is not None else 0
    return Cost(other=elements * (3 + scaled + moved + limits))


def _routing(call: Call, visits: Dim) -> Dim:
    """Softmax and TopK over the experts; where the weights are normalised, their sum and a division."""
    router, k = call.known(1), call.attr_int("k", 1)
    best = like(router, (*deep(call, 1)[:-1], k))
    chosen = total(part(PLAIN, "Softmax", router, router), part(SLICING, "TopK", best, router))
    return chosen.other + (2 * visits if call.attr_int("normalize_routing_weights", 0) else 0)


def moe(call: Call) -> Cost:
    """each row goes through k experts: the elements of an expert's fc1, fc2 and fc3 multiply-adds; 1 per element for a
    bias, the activation, 1 for a gate, 2 for the weighted sum; Softmax and TopK over the experts; reads at most rows
    · k experts"""
    weights = [size(call.shape(at)[1:]) for at in ((2, 4, 6) if call.has(6) else (2, 4))]
    return experts(call, weights, (3, 5, 7), range(2, 8))
