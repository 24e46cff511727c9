"""The preview domains of ONNX, which onnxruntime does not run: rule against ONNX's own inference and its words."""

import onnx
import pytest
from onnx import TensorProto, helper

from onnx_autodoc.ir import Graph, Node
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.operator import Operator
from onnx_autodoc.ops.training import OPERATORS, PREVIEW
from onnx_autodoc.ops.values import Contradiction, InferenceError, Unknown, ValueInfo

RATE, COUNT = ValueInfo("float32", ()), ValueInfo("int64", ())
A, B = ValueInfo("float32", (2, 3)), ValueInfo("float16", (5,))


def infer_outputs(
    table: dict[str, Operator], op: str, *inputs: ValueInfo, **attributes: object
) -> list[tuple[str | None, object]]:
    node = Node(op, attributes=attributes)  # type: ignore[arg-type]
    return [(each.dtype, each.shape) for each in table[op].infer(Call(node, inputs, 1))]


@pytest.mark.parametrize(("op", "kinds", "results"), [("Adagrad", 3, 2), ("Momentum", 3, 2), ("Adam", 4, 3)])
def test_optimizer_step_returns_tensors_and_averages(op: str, kinds: int, results: int) -> None:
    both = [("float32", (2, 3)), ("float16", (5,))]
    assert infer_outputs(OPERATORS, op, RATE, COUNT, *[A, B] * kinds) == both * results
    assert infer_outputs(OPERATORS, op, RATE, COUNT, *[A] * kinds) == both[:1] * results


@pytest.mark.parametrize("op", ["Adagrad", "Momentum", "Adam"])
def test_optimizer_step_without_a_tensor_is_a_contradiction(op: str) -> None:
    with pytest.raises(Contradiction, match="requires a positive multiple of"):
        infer_outputs(OPERATORS, op, RATE, COUNT, A, A)


def test_gradient_has_the_shape_of_its_variable() -> None:
    assert infer_outputs(OPERATORS, "Gradient", A, B, A, xs=("a", "b"), zs=("c",), y="y") == [
        ("float32", (2, 3)),
        ("float16", (5,)),
    ]


@pytest.mark.skipif(not onnx.defs.has("FlexAttention", "ai.onnx.preview"), reason="not in this version of onnx")
def test_flex_attention_output_has_the_width_of_values() -> None:
    shapes = {"q": (2, 8, 5, 16), "k": (2, 4, 7, 16), "v": (2, 4, 7, 24)}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT16, dims) for name, dims in shapes.items()]
    node = helper.make_node("FlexAttention", list(shapes), ["y"], domain="ai.onnx.preview")
    graph = helper.make_graph([node], "one", inputs, [onnx.ValueInfoProto(name="y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.preview", 1)])
    inferred = onnx.shape_inference.infer_shapes(model).graph.output[0].type.tensor_type.shape.dim
    rule = infer_outputs(PREVIEW, "FlexAttention", *(ValueInfo("float16", dims) for dims in shapes.values()))
    assert rule == [("float16", tuple(dim.dim_value for dim in inferred))] == [("float16", (2, 8, 5, 24))]


def test_every_preview_operator_has_a_rule() -> None:
    names = {(schema.domain, schema.name) for schema in onnx.defs.get_all_schemas_with_history()}
    ours = {("ai.onnx.preview.training", name) for name in OPERATORS} | {("ai.onnx.preview", name) for name in PREVIEW}
    assert {name for name in names if name[0].startswith("ai.onnx.preview")} <= ours


def cost_of(table: dict[str, Operator], op: str, *inputs: ValueInfo, **attributes: object) -> Cost:
    node, price = Node(op, attributes=attributes), table[op].cost  # type: ignore[arg-type]
    assert price is not None
    return price(Call(node, inputs, 1, tuple(table[op].infer(Call(node, inputs, 1)))))


@pytest.mark.parametrize(
    ("op", "kinds", "each", "attributes"),
    [
        ("Adagrad", 3, 7, {}),
        ("Adagrad", 3, 9, {"norm_coefficient": 0.1}),
        ("Adam", 4, 12, {"norm_coefficient": 0.0}),
        ("Adam", 4, 15, {"norm_coefficient": 0.1, "norm_coefficient_post": 0.1}),
        ("Momentum", 3, 5, {"mode": "standard"}),
        ("Momentum", 3, 9, {"mode": "nesterov", "norm_coefficient": 0.1}),
    ],
)
def test_optimizer_step_costs_its_formula_per_parameter(
    op: str, kinds: int, each: int, attributes: dict[str, object]
) -> None:
    assert cost_of(OPERATORS, op, RATE, COUNT, *[A, B] * kinds, **attributes) == Cost(other=11 * each)


def test_gradient_is_not_counted() -> None:
    with pytest.raises(InferenceError, match="other nodes"):
        cost_of(OPERATORS, "Gradient", A, xs=("a",), y="y")


def test_flex_attention_cost_is_that_of_attention_without_score_graphs() -> None:
    q, k, v = (ValueInfo("float16", dims) for dims in ((2, 8, 5, 16), (2, 4, 7, 16), (2, 4, 7, 24)))
    macs = 2 * 8 * 5 * 7 * (16 + 24)
    assert cost_of(PREVIEW, "FlexAttention", q, k, v) == Cost(macs, 2 * 8 * 5 * 7 * 6)
    changed = cost_of(PREVIEW, "FlexAttention", q, k, v, score_mod=Graph("g"))
    assert changed.macs == macs
    assert isinstance(changed.other, Unknown)
