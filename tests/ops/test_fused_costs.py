"""A fused operator costs what its parts cost: as exporters write them out, and as the specification defines them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc.ops import Call, Cost, Dim, Shape, ValueInfo, find
from onnx_autodoc.ops.call import size
from onnx_autodoc.shapes import Step
from tests._text import shapes
from tests.ops.test_onnx_cases import as_constants, cases, shapes_of


def total(steps: tuple[Step, ...]) -> Dim:
    """The FLOPs of all nodes; those that only reckon with shapes are left out."""
    counted: Dim = 0
    for step in steps:
        for body in step.bodies:
            counted = counted + body.times * total(body.steps)
        if not step.bodies and not all(_is_shape(known) for known in step.inputs):
            counted = counted + step_cost(step).flops
    return counted


def _is_shape(known: ValueInfo | None) -> bool:
    return known is None or known.dtype == "int64"


def step_cost(step: Step) -> Cost:
    entry = find(step.node.domain, step.node.op)
    assert entry is not None and entry.cost is not None, step.node.op
    return entry.cost(Call(step.node, step.inputs, step.version, step.outputs))


INPUTS = "float[2,3,4,8] x, float[8] scale, float[8] bias, float[3] channels, float[3,1,1] each_channel"
STORED = "float two = {2}, float half = {0.5}, int64[1] last = {-1}, int64[2] inner = {2, 3}"


def count_flops(lines: str) -> Dim:
    return total(shapes(f"g ({INPUTS}) => (float y) <{STORED}> {{ {lines} }}", opset=24).steps)


STANDARDIZED = (
    "m = ReduceMean(x, {axes}) d = Sub(x, m) p = Pow(d, two) v = ReduceMean(p, {axes}) e = Add(v, half) r = Sqrt(e) "
    "n = Div(d, r)"
)
ROWS, IMAGES = STANDARDIZED.format(axes="last"), STANDARDIZED.format(axes="inner")


@pytest.mark.parametrize(
    ("fused", "written_out"),
    [
        ("y = LayerNormalization(x, scale, bias)", f"{ROWS} s = Mul(n, scale) y = Add(s, bias)"),
        ("y = LayerNormalization(x, scale)", f"{ROWS} y = Mul(n, scale)"),
        (
            "y = InstanceNormalization(x, channels, channels)",
            f"{IMAGES} s = Mul(n, each_channel) y = Add(s, each_channel)",
        ),
        ("n = MeanVarianceNormalization<axes=[2, 3]>(x)", IMAGES),
        (
            "y = RMSNormalization(x, scale)",
            "p = Pow(x, two) m = ReduceMean(p, last) e = Add(m, half) r = Sqrt(e) n = Div(x, r) y = Mul(n, scale)",
        ),
        ("y = Gelu(x)", "q = Div(x, two) e = Erf(q) s = Add(e, half) p = Mul(x, s) y = Mul(p, half)"),
        ("y = HardSwish(x)", "h = HardSigmoid(x) y = Mul(x, h)"),
        ("y = HardSwish(x)", "h = Add(x, two) c = Clip(h, half, two) p = Mul(x, c) y = Div(p, two)"),
        ("y = Swish(x)", "s = Sigmoid(x) y = Mul(x, s)"),
        ("y = Mish(x)", "s = Softplus(x) t = Tanh(s) y = Mul(x, t)"),
        ("y = LeakyRelu(x)", "s = Mul(x, half) y = Max(x, s)"),
        ("y = Softmax(x)", "m = ReduceMax(x, last) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, last) y = Div(e, s)"),
        ("y = GlobalAveragePool(x)", "y = ReduceMean(x, inner)"),
        ("y = LpNormalization(x)", "n = ReduceL2(x, last) y = Div(x, n)"),
    ],
)
def test_fused_operator_costs_the_sum_of_exported_operators(fused: str, written_out: str) -> None:
    assert count_flops(fused) == count_flops(written_out)
    assert count_flops(fused) >= 2 * 3 * 4 * 8


EXACTLY = frozenset(
    (
        *("Bernoulli", "Celu", "DynamicQuantizeLinear", "HardSigmoid", "HardSwish", "LogSoftmax", "Mish"),
        *("RMSNormalization", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"),
        *("Softmax", "SoftmaxCrossEntropyLoss", "Softplus", "Softsign", "SwiGLU"),
    )
)
# One sqrt more per tensor, or a few operations more per row: the variance is the mean of squares minus its square.
NEARLY = frozenset(("Gelu", "GroupNormalization", "LayerNormalization", "MeanVarianceNormalization"))


def iter_expanded_cases() -> Iterator[tuple[str, Any, Any]]:
    """The specification's cases that come as one node and as the nodes that define it."""
    named = {case.name: case for case in cases()}
    for name, case in named.items():
        plain, suffix, _ = name.partition("_expanded")
        if suffix and plain in named:
            yield named[plain].model.graph.node[0].op_type, named[plain], case


def infer_case(case: Any, path: Path) -> tuple[Dim, Shape | None]:
    """The FLOPs of a case and the dims of its first output."""
    inputs, _ = case.data_sets[0]
    inferred = shapes_of(as_constants(case.model, inputs), inputs, path)
    return total(inferred.steps), inferred.steps[0].outputs[0].shape


def test_fused_operator_costs_its_function_body(tmp_path: Path) -> None:
    visited = set()
    for op, plain, parts in iter_expanded_cases():
        if op in EXACTLY | NEARLY:
            visited.add(op)
            (fused, dims), (written_out, _) = (
                infer_case(plain, tmp_path / "a.onnx"),
                infer_case(parts, tmp_path / "b.onnx"),
            )
            assert type(fused) is type(written_out) is int and dims is not None, parts.name
            assert abs(written_out - fused) < (1 if op in EXACTLY else size(dims)), parts.name
    assert visited == EXACTLY | NEARLY
