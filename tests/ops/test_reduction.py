"""Reductions and squeezes: axes as attributes and inputs, none of them, all of them."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnx_autodoc.ops import Cost, Unknown
from onnx_autodoc.ops.reduction import OPERATORS
from onnx_autodoc.shapes import Request, bind, infer_shapes
from tests._text import save_and_read
from tests.ops._one_node import cost, numbers, zeros


def model_of(op: str, opset: int, axes: list[int] | None, **attributes: int) -> onnx.ModelProto:
    """One node on a [2, 1, 3]; the axes are an attribute or an input, as the version has it."""
    as_input = opset >= (13 if op in ("ReduceSum", "Squeeze") else 18)
    node = helper.make_node(op, ["x", "axes"] if axes is not None and as_input else ["x"], ["y"], **attributes)
    if axes is not None and not as_input:
        node.attribute.append(onnx.AttributeProto(name="axes", type=onnx.AttributeProto.INTS, ints=axes))
    initializers = (
        [numpy_helper.from_array(np.array(axes or [], np.int64), "axes")] if axes is not None and as_input else []
    )
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (("x", [2, 1, 3]), ("y", None))
    )
    graph = helper.make_graph([node], "g", [x], [y], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def infer_output_dims(model: onnx.ModelProto) -> tuple[int | Unknown, ...] | None:
    parsed = save_and_read(model)
    return infer_shapes(parsed, bind(parsed, Request())).values["y"].shape


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("axes", [None, [], [0], [-1, 0], [1]])
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("op", ["ReduceSum", "ReduceMax", "ReduceMean"])
def test_reduction_has_the_dims_of_a_run(op: str, keepdims: int, axes: list[int] | None, opset: int) -> None:
    model = model_of(op, opset, axes, keepdims=keepdims)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x": np.ones((2, 1, 3), np.float32)})
    assert infer_output_dims(model) == expected.shape


@pytest.mark.parametrize("opset", [11, 13])
def test_squeeze_by_no_axes_is_unknown_where_runtimes_differ(opset: int) -> None:
    assert infer_output_dims(model_of("Squeeze", opset, None)) == (2, 3)
    assert infer_output_dims(model_of("Squeeze", opset, [1])) == (2, 3)
    assert infer_output_dims(model_of("Squeeze", opset, [])) is None


@pytest.mark.parametrize(
    ("op", "each", "once"),
    [
        ("ReduceSum", 1, 0),
        ("ReduceMax", 1, 0),
        ("ReduceProd", 1, 0),
        ("ReduceMean", 1, 1),
        ("ReduceL1", 2, 0),
        ("ReduceL2", 2, 1),
        ("ReduceSumSquare", 2, 0),
        ("ReduceLogSum", 1, 1),
        ("ReduceLogSumExp", 2, 1),
    ],
)
def test_reduction_costs_operations_per_input_and_output_element(op: str, each: int, once: int) -> None:
    x = zeros(2, 3, 4)
    assert cost(OPERATORS, op, [x, numbers(2)], 18) == Cost(other=24 * each + 6 * once)
    assert cost(OPERATORS, op, [x], 18, keepdims=0) == Cost(other=24 * each + once)
    assert cost(OPERATORS, op, [x], 18, noop_with_empty_axes=1) == Cost()
