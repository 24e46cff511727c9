"""Inference and cost of one ai.onnx node, compared with onnxruntime."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from onnx_autodoc.ir import Node
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.operator import Operator
from onnx_autodoc.ops.values import Array, Shape, ValueInfo, tensor
from tests.ops._calls import (
    Case,
    assert_right_with_unknowns,
    assert_survives_any_rank,
    call_of,
    cost_of,
    run,
    types_and_dims,
)

Table = Mapping[str, Operator]


def zeros(*dims: int, dtype: Any = np.float32) -> Array:
    return np.zeros(dims, dtype)


def numbers(*items: float) -> Array:
    """Return an int64 array if all items are integers, else a float32 array."""
    return np.array(items, np.int64 if items and all(isinstance(item, int) for item in items) else np.float32)


def infer(
    table: Table, op: str, inputs: Sequence[Any], opset: int, outputs: int = 1, **attributes: Any
) -> list[ValueInfo]:
    return list(table[op].infer(call_of(Case(op, inputs, attributes, outputs, opset), "")))[:outputs]


def cost(table: Table, op: str, inputs: Sequence[Any], opset: int, outputs: int = 1, **attributes: Any) -> Cost:
    """Return the cost of one node with its inferred outputs."""
    return cost_of(table[op], Case(op, inputs, attributes, outputs, opset), "")


def assert_as_it_runs(
    table: Table,
    op: str,
    inputs: Sequence[Any],
    opset: int,
    outputs: int = 1,
    fixed: Sequence[int] = (),
    **attributes: Any,
) -> None:
    """Assert that the rule infers the outputs of onnxruntime, and nothing else with partly unknown inputs."""
    case = Case(op, inputs, attributes, outputs, opset, fixed)
    actual = types_and_dims(run(case, ""))
    inferred = infer(table, op, inputs, opset, outputs, **attributes)
    assert [(known.dtype, known.shape) for known in inferred] == actual
    assert_right_with_unknowns(table[op].infer, case, "", actual)
    assert_survives_any_rank(table[op].infer, case, "")


def shape_of(table: Table, op: str, *shapes: Shape, opset: int = 22, **attributes: Any) -> Shape | None:
    """Return the dims of the first output for inputs with unknown elements."""
    call = Call(Node(op, attributes=attributes), [tensor("float32", shape) for shape in shapes], opset)
    return table[op].infer(call)[0].shape
