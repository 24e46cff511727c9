"""Feed-forward blocks: two linear layers with an activation between them, gated ones, mixtures of experts.

mlp         linear(act(linear(x)))
gated-mlp   linear(Mul(act(linear(x)), linear(x)))    the two inner layers may be one whose output is split
moe         inside one residual connection, a router selects few of many: TopK(softmax(linear(x)))
head        an mlp outside all residual connections, in a model whose other ones are inside
"""

from typing import Final

from onnx_autodoc.patterns.attributes import ExpertsAttributes, MlpAttributes
from onnx_autodoc.patterns.block_kinds import ACTIVATIONS, GATES, NORMS, any_of
from onnx_autodoc.patterns.net import Net, Op
from onnx_autodoc.patterns.residuals import find_bypassed_ops
from onnx_autodoc.patterns.rules import Match, RewriteRule, apply_rules
from onnx_autodoc.patterns.tracing import ops_behind

_ACTS: Final = any_of(*ACTIVATIONS, "Tanh", "Sigmoid")
_NORMS: Final = "layer-norm|batch-norm"
_LAYOUT: Final = "Reshape|Transpose|Flatten"
_SPLITS: Final = frozenset(("Split", "Slice", "Reshape", "Transpose", "Gather"))
_MAX_SPLITS: Final = 6  # between a gate and its linear layer
_ROUTING: Final = frozenset(
    ("softmax", "Sigmoid", "Add", "Mul", "Div", "Reshape", "linear", "ReduceSum", "TopK", "Where")
)
_MAX_ROUTING_VALUES: Final = 30


def _keeps_features(net: Net, match: Match) -> bool:
    """Whether the second layer reads as many features as the first one computes: positions were not joined."""
    second, first = (op for op in match.ops if op.kind == "linear")
    return first.out_features is not None and first.out_features == second.in_features


def _mlp(*patterns: str) -> RewriteRule:
    return RewriteRule("mlp", patterns, closed=True)


RULES: Final = (
    _mlp(f"y = linear({_ACTS}(linear(x)))", f"y = linear({_ACTS}(Add(linear(x), B)))"),
    _mlp(f"y = linear(square({_ACTS}(linear(x))))"),
    # Gemm requires two axes: batch and positions are flattened for it
    RewriteRule("mlp", (f"y = linear(Reshape({_ACTS}(Reshape(linear(x)))))",), _keeps_features, closed=True),
    _mlp(f"y = linear({_ACTS}({_NORMS}(linear(x))))", f"y = linear({_NORMS}({_ACTS}(linear(x))))"),
    # with a convolution over the positions between the layers
    _mlp(f"y = linear({_ACTS}({_LAYOUT}({_LAYOUT}(conv({_LAYOUT}({_LAYOUT}(linear(x))))))))"),
    _mlp(f"y = linear({_ACTS}(mlp(x)))", f"y = linear({_ACTS}({_NORMS}(mlp(x))))"),
)


def find_mlps(net: Net) -> None:
    for gate in net.of("Mul"):
        if gate in net:
            _match_gated_mlp(net, gate)
    apply_rules(net, RULES)
    for op in net.of("MoE", "QMoE"):
        net.relabel(op, "moe")
    for op in net.of("mlp"):
        activations = [part.kind for part in op.walk() if part.kind in ACTIVATIONS or part.kind in GATES]
        linears = [part for part in op.walk() if part.kind == "linear"]
        op.attributes = MlpAttributes(
            in_features=linears[0].in_features if linears else None,
            inner_features=linears[0].out_features if linears else None,
            out_features=linears[-1].out_features if linears else None,
            activation=activations[0] if activations else None,
        )


def _match_gated_mlp(net: Net, gate: Op) -> None:
    operands = net.data_inputs(gate)
    if len(operands) != 2:
        return
    for activated, plain in (operands, operands[::-1]):
        act = net.producer(activated, *ACTIVATIONS, "Sigmoid", "Tanh")
        if act is None:
            continue
        left, up = _trace_linear(net, act.inputs[0]), _trace_linear(net, plain)
        if left and up and left[-1].inputs[0] == up[-1].inputs[0] and (left[-1] is not up[-1] or len(left) > 1):
            _merge_gated_mlp(net, gate, act, [*left, *up])
            return


def _trace_linear(net: Net, value: int) -> list[Op]:
    """Return the ops from `value` back over splits to the linear layer that computes it; empty if there is none."""
    ops: list[Op] = []
    while (op := net.producers[value]) is not None and len(ops) < _MAX_SPLITS:
        ops.append(op)
        if op.kind == "linear":
            return ops
        if op.kind not in _SPLITS:
            return []
        value = op.inputs[0]
    return []


def _merge_gated_mlp(net: Net, gate: Op, act: Op, before: list[Op]) -> None:
    """Merge a gate with the linear layer after it. Without one, it is a gated linear unit and stays as it is."""
    members, output = [*before, act, gate], gate.outputs[0]
    last = net.only_consumer(output)
    while last is not None and last.kind in ("layer-norm", "rms-norm") and output not in net.output_values:
        members.append(last)
        output = last.outputs[0]
        last = net.only_consumer(output)
    if last is None or last.kind != "linear" or output in net.output_values:
        return
    attributes = MlpAttributes(
        in_features=before[-1].in_features,
        inner_features=last.in_features,
        out_features=last.out_features,
        activation=act.kind,
    )
    net.merge("gated-mlp", [*members, last], last.outputs, attributes)


def find_experts(net: Net) -> None:
    """Find mixtures of experts and output heads, both by their position relative to residual connections."""
    bypassed = {end: ops for end, ops in find_bypassed_ops(net).items() if end.kind == "Add"}
    inside = {op for ops in bypassed.values() for op in ops}
    outside = [op for op in net.of("mlp") if op not in inside]
    if any(op.kind == "mlp" for op in inside):
        for op in outside:
            net.relabel(op, "head")
    for end, ops in bypassed.items():
        if not any(op.kind == "attention" for op in ops):
            _merge_experts(net, end, ops)


def _merge_experts(net: Net, end: Op, ops: list[Op]) -> None:
    selection = next((op for op in ops if op.kind == "TopK"), None)
    if selection is None or end.residual is None:
        return
    trace = ops_behind(net, selection.inputs[0], lambda op: op.kind not in _ROUTING, _MAX_ROUTING_VALUES)
    router = next((op for op in trace if op.kind == "linear"), None)
    start = end.residual.start
    inner = [op for op in ops if not (op.kind in NORMS and start in op.inputs)]
    outputs = [value for value in end.inputs if net.producers[value] in inner]
    selected = net.shape(selection.outputs[0])
    if router is not None and outputs:
        attributes = ExpertsAttributes(
            experts=router.out_features, experts_per_token=selected[-1] if selected else None
        )
        net.merge("moe", inner, outputs, attributes)
