"""Costs of fused operators: the sum of the operators that an exporter would write instead."""

from collections.abc import Mapping, Sequence
from typing import Final

from onnx_autodoc.ir import Attribute, Node
from onnx_autodoc.ops.call import Call, shape_of_min_rank, size
from onnx_autodoc.ops.cost import NO_COST, Cost, CostRule, bytes_read
from onnx_autodoc.ops.elementwise import OPERATORS as ELEMENTWISE
from onnx_autodoc.ops.normalization import OPERATORS as NORMALIZATION
from onnx_autodoc.ops.operator import Operator
from onnx_autodoc.ops.slicing import OPERATORS as SLICING
from onnx_autodoc.ops.values import Dim, InferenceError, ValueInfo, tensor, with_shape
from onnx_autodoc.text import quote_name

Table = Mapping[str, Operator]

_OPSET: Final = 22  # of the parts
_SCALAR: Final = tensor("float32", ())
PLAIN: Final[Table] = {**ELEMENTWISE, **NORMALIZATION}
_BY_NAME: Final = {**{name.lower(): name for name in PLAIN}, "silu": "Swish"}


def sum_costs(*costs: Cost) -> Cost:
    """Sum the costs of parts that pass results without writing them."""
    return Cost(sum((cost.macs for cost in costs), start=0), sum((cost.other for cost in costs), start=0))


def known_output(call: Call, at: int = 0) -> ValueInfo:
    """Return an output; raise with the reason if its dims are unknown."""
    call.output(at)
    return call.outputs[at]


def cost_of(
    table: Table, op: str, to: ValueInfo, *inputs: ValueInfo | None, named: Mapping[str, Attribute] | None = None
) -> Cost:
    """Return the cost of an ONNX operator that computes `to` from `inputs`; `named` are its attributes."""
    price = table[op].cost
    if price is None:
        raise InferenceError(f"{op} has no cost rule")
    return price(Call(Node(op, attributes=named or {}), inputs or (to,), _OPSET, (to,)))


def chained_cost(*names: str) -> CostRule:
    """Return the rule of a chain of element-wise operators on the whole output."""

    def rule(call: Call) -> Cost:
        y, named = known_output(call), call.node.attributes
        return sum_costs(*(cost_of(PLAIN, name, y, y, named=named) for name in names))

    rule.__doc__ = f"as {' and '.join(names)}"
    return rule


def activation_cost(call: Call, name: str, of: ValueInfo) -> Cost:
    """Return the cost of the activation `name` on a value."""
    key = name.lower()
    if key in ("", "none", "identity"):
        return NO_COST
    if key not in _BY_NAME:
        raise InferenceError(f"the activation {quote_name(name, 40)} of {call.node.op} is unknown")
    return cost_of(PLAIN, _BY_NAME[key], of, of, *(_SCALAR, _SCALAR) * (key == "clip"))


def add_activation(price: CostRule) -> CostRule:
    """Return `price` with the cost of the activation that an attribute names."""

    def with_activation(call: Call) -> Cost:
        return sum_costs(price(call), activation_cost(call, call.attr_text("activation", ""), known_output(call)))

    with_activation.__doc__ = f"{price.__doc__}; the activation as the operator of the same name"
    return with_activation


def cost_as(table: Table, op: str) -> CostRule:
    """Return the rule of another operator, on this one's first input, first output and attributes."""

    def rule(call: Call) -> Cost:
        return cost_of(table, op, known_output(call), call.input_info(0), named=call.node.attributes)

    rule.__doc__ = f"as {op}"
    return rule


def input_or_none(call: Call, at: int) -> ValueInfo | None:
    return call.input_info(at) if call.has(at) else None


def count_present(call: Call, *inputs: int) -> int:
    """Count the inputs that are present."""
    return sum(call.has(at) for at in inputs)


# normalizations
def rms_norm(call: Call) -> Cost:
    """as RMSNormalization"""
    return cost_of(PLAIN, "RMSNormalization", known_output(call), *call.inputs[:2], named=call.node.attributes)


def skip_norm(call: Call) -> Cost:
    """as Add (1 FLOP more per element for a bias) and LayerNormalization"""
    x, sums = call.input_info(0), Cost(other=size(call.shape(0)) * (1 + count_present(call, 4)))
    return sum_costs(sums, cost_of(PLAIN, "LayerNormalization", x, x, call.input_info(2), input_or_none(call, 3)))


def skip_rms_norm(call: Call) -> Cost:
    """as Add (1 FLOP more per element for a bias) and RMSNormalization"""
    x, sums = call.input_info(0), Cost(other=size(call.shape(0)) * (1 + count_present(call, 3)))
    return sum_costs(sums, cost_of(PLAIN, "RMSNormalization", x, x, call.input_info(2)))


def _rows_norm(call: Call, length: Dim) -> Cost:
    """Return the cost of RMSNormalization over rows of `length`; without a scale, one multiplication less."""
    x, elements = call.input_info(0), size(call.shape(0))
    norm = cost_of(PLAIN, "RMSNormalization", x, with_shape(x, (over(elements, length), length)))
    return norm if call.has(1) else sum_costs(norm, Cost(other=-elements))


def branch_norm(call: Call) -> Cost:
    """as RMSNormalization per branch; 1 FLOP less per element without a scale"""
    x, branches = shape_of_min_rank(call, 0), call.attr_int("num_branches", 0)
    return _rows_norm(call, x[-1] // branches if branches > 0 else x[-1])


def gated_norm(call: Call) -> Cost:
    """as RMSNormalization, the gate activation and Mul"""
    norm, gate = _rows_norm(call, shape_of_min_rank(call, 1)[-1]), call.attr_text("activation", "silu")
    return sum_costs(norm, activation_cost(call, gate, call.input_info(0)), Cost(other=size(call.shape(0))))


def group_norm(call: Call) -> Cost:
    """as GroupNormalization; 2 FLOPs more per element with SiLU"""
    x = shape_of_min_rank(call, 0, 3)
    first = x if call.attr_int("channels_last", 1) == 0 else (x[0], x[-1], *x[1:-1])
    data, named = with_shape(call.input_info(0), first), {"num_groups": call.attr_required("groups")}
    norm = cost_of(PLAIN, "GroupNormalization", data, data, call.input_info(1), call.input_info(2), named=named)
    return sum_costs(norm, activation_cost(call, "silu", data)) if call.attr_int("activation", 0) else norm


def skip_group_norm(call: Call) -> Cost:
    """as Add (1 FLOP more per element for a bias) and GroupNorm"""
    return sum_costs(Cost(other=size(call.shape(0)) * (1 + count_present(call, 4))), group_norm(call))


def embed_norm(call: Call) -> Cost:
    """1 FLOP per output element for each table after the first, 1 per mask element, and LayerNormalization; reads at
    most one row of each table per token"""
    y = known_output(call)
    sums = size(call.output()) * count_present(call, 3, 4) + (size(call.shape(7)) if call.has(7) else 0)
    norm = cost_of(PLAIN, "LayerNormalization", y, y, call.input_info(5), call.input_info(6))
    return Cost(0, sums + norm.other, bytes_read(call, dict.fromkeys((2, 3, 4), (0, size(call.shape(0))))))


def quantized_embed_norm(call: Call) -> Cost:
    """as EmbedLayerNormalization; 2 FLOPs per element read from each table, of the scale and of the bias: zero point,
    scale"""
    cost = embed_norm(call)
    dequantized = size(call.output()) * count_present(call, 2, 3, 4) + size(call.shape(5)) + size(call.shape(6))
    return Cost(0, cost.other + 2 * dequantized, read=cost.read)


# activations
def fast_gelu(call: Call) -> Cost:
    """as Gelu with the tanh approximation; 1 FLOP per element for a bias"""
    return sum_costs(tanh_gelu(known_output(call)), Cost(other=size(call.output()) * count_present(call, 1)))


def tanh_gelu(of: ValueInfo) -> Cost:
    return cost_of(PLAIN, "Gelu", of, of, named={"approximate": "tanh"})


def scaled_silu(call: Call) -> Cost:
    """2 FLOPs per output element: sigmoid, multiply; 1 more for a scale"""
    default = 1.702 if call.node.op == "QuickGelu" else 1.0
    scaled = call.has(1) or call.attr_float("alpha", default) != 1
    return Cost(other=size(call.output()) * (2 + scaled))


def bias_split_gelu(call: Call) -> Cost:
    """1 FLOP per input element for the bias; as Gelu and Mul on half of the elements"""
    return sum_costs(Cost(other=size(call.shape(0))), chained_cost("Gelu", "Mul")(call))


def bias_add(call: Call) -> Cost:
    """1 FLOP per output element for each input after the first"""
    return Cost(other=size(call.output()) * count_present(call, 1, 2))


def bias_dropout(call: Call) -> Cost:
    """1 FLOP per output element for the bias, 1 for a residual, and Dropout"""
    y, inputs = known_output(call), (call.input_info(0), input_or_none(call, 3), input_or_none(call, 4))
    return sum_costs(bias_add(call), cost_of(PLAIN, "Dropout", y, *inputs))


# mixtures of experts
def experts(call: Call, weights: Sequence[Dim], biases: Sequence[int], per_expert: range) -> Cost:
    """Return the cost of fc1, fc2 and fc3 with these numbers of weights in each expert.

    `biases`: inputs. `per_expert`: inputs of which each expert has its part.
    """
    x = shape_of_min_rank(call, 0)
    hidden, visits = x[-1], size(x[:-1]) * call.attr_int("k", 1)
    inner = tensor(call.dtype(0), (visits, over(weights[1], hidden)))
    added = sum((size(call.shape(at)[1:]) for at in biases if call.has(at)), start=0)
    gates = _gates(call, inner, len(weights) > 2)
    other = visits * (added + 2 * hidden) + gates.other + _routing(call, visits)
    return Cost(visits * sum(weights, start=0), other, bytes_read(call, dict.fromkeys(per_expert, (0, visits))))


def over(whole: Dim, parts: Dim) -> Dim:
    """Divide; 0 for a divisor of 0."""
    return 0 if type(parts) is int and parts == 0 else whole // parts


def _gates(call: Call, inner: ValueInfo, has_fc3: bool) -> Cost:
    """Return the cost of the activation between the products, with its gate."""
    name, elements = call.attr_text("activation_type", "relu"), size(inner.shape or ())
    if name.lower() != "swiglu":
        return sum_costs(activation_cost(call, name, inner), Cost(other=elements if has_fc3 else 0))
    is_scaled, is_shifted = call.attr_float("activation_alpha", 1.0) != 1, call.attr_float("activation_beta", 0.0) != 0
    limit_ops = 3 if call.attribute("swiglu_limit") is not None else 0
    return Cost(other=elements * (3 + is_scaled + is_shifted + limit_ops))


def _routing(call: Call, visits: Dim) -> Dim:
    """Return the cost of Softmax and TopK over the experts, and of normalizing the weights."""
    router, k = call.input_info(1), call.attr_int("k", 1)
    selected = with_shape(router, (*shape_of_min_rank(call, 1)[:-1], k))
    selection = sum_costs(cost_of(PLAIN, "Softmax", router, router), cost_of(SLICING, "TopK", selected, router))
    return selection.other + (2 * visits if call.attr_int("normalize_routing_weights", 0) else 0)


def moe(call: Call) -> Cost:
    """k experts per row: one MAC per element of an expert's fc1, fc2 and fc3; 1 FLOP per element for a bias, the
    activation, 1 for a gate, 2 for the weighted sum; Softmax and TopK over the experts; reads at most rows · k
    experts"""
    weights = [size(call.shape(at)[1:]) for at in ((2, 4, 6) if call.has(6) else (2, 4))]
    return experts(call, weights, (3, 5, 7), range(2, 8))
