"""Inference and cost of one ai.onnx node, compared with onnxruntime."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from onnx_autodoc.ir import Node
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.operator import Operator
from onnx_autodoc.ops.values import Array, Shape, ValueInfo, tensor
from tests.ops._calls import Case, call_of, cost_of, refuses_politely, run, seen, stays_right

Table = Mapping[str, Operator]


def zeros(*dims: int, dtype: Any = np.float32) -> Array:
    return np.zeros(dims, dtype)


def numbers(*items: float) -> Array:
    """A list of integers, or of floats where one of them is none or there are none."""
    return np.array(items, np.int64 if items and all(isinstance(item, int) for item in items) else np.float32)


def infer(
    table: Table, op: str, inputs: Sequence[Any], opset: int, outputs: int = 1, **attributes: Any
) -> list[ValueInfo]:
    return list(table[op].infer(call_of(Case(op, inputs, attributes, outputs, opset), "")))[:outputs]


def cost(table: Table, op: str, inputs: Sequence[Any], opset: int, outputs: int = 1, **attributes: Any) -> Cost:
    """What the table says that one node costs, with the outputs that it says it has."""
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
    """The rule gives the types and dims that really come out, and nothing else where less of the inputs is known."""
    case = Case(op, inputs, attributes, outputs, opset, fixed)
    truth = seen(run(case, ""))
    inferred = infer(table, op, inputs, opset, outputs, **attributes)
    assert [(known.dtype, known.shape) for known in inferred] == truth
    stays_right(table[op].infer, case, "", truth)
    refuses_politely(table[op].infer, case, "")


def shape_of(table: Table, op: str, *shapes: Shape, opset: int = 22, **attributes: Any) -> Shape | None:
    """The dims of the first output, for inputs of which only the dims are known."""
    call = Call(Node(op, attributes=attributes), [tensor("float32", shape) for shape in shapes], opset)
    return table[op].infer(call)[0].shape
