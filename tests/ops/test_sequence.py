from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, parser

from onnx_autodoc.ir import Node
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.sequence import OPERATORS
from onnx_autodoc.ops.values import Contradiction, Unknown, ValueInfo, sequence, tensor
from tests.ops._calls import types_and_dims, value_info
from tests.ops._one_node import cost, infer, numbers, zeros

A, B, C = zeros(3, 1), zeros(3, 2), zeros(3, 3)


def infer_output(lines: str, inputs: dict[str, Any]) -> ValueInfo:
    """The last result, by the rules one after the other."""
    values = {name: value_info(array) for name, array in inputs.items()}
    for line in lines.split("\n"):
        node = parser.parse_node(line)
        attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
        call = Call(Node(node.op_type, attributes=attributes), [values[name] for name in node.input], 15)
        values[node.output[0]] = OPERATORS[node.op_type].infer(call)[0]
    return values["y"]


def run_output(lines: str, inputs: dict[str, Any]) -> Any:
    nodes = [parser.parse_node(line) for line in lines.split("\n")]
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in inputs.items()
    ]
    graph = helper.make_graph(nodes, "some", declared, [onnx.ValueInfoProto(name="y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def sequence_of_three(then: str) -> str:
    return f"s = SequenceConstruct(a, b, c)\n{then}"


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (sequence_of_three("y = SequenceAt(s, p)"), 0),
        (sequence_of_three("y = SequenceAt(s, p)"), -1),
        (sequence_of_three("y = SequenceErase(s, p)"), -3),
        (sequence_of_three("y = SequenceInsert(s, b, p)"), -1),
        (sequence_of_three("y = SequenceInsert(s, a, p)"), 3),
        (sequence_of_three("y = SequenceInsert(s, a)"), 0),
        (sequence_of_three("y = SequenceErase(s)"), 0),
        (sequence_of_three("y = SequenceLength(s)"), 0),
        (sequence_of_three("y = ConcatFromSequence<axis = -1>(s)"), 0),
        ("s = SequenceConstruct(b, b)\ny = ConcatFromSequence<axis = -1, new_axis = 1>(s)", 0),
        ("s = SequenceConstruct(b, b)\ny = ConcatFromSequence<axis = 1, new_axis = 1>(s)", 0),
        ("s = SequenceEmpty()\nt = SequenceInsert(s, c)\ny = SequenceAt(t, p)", 0),
        ("s = SplitToSequence<axis = 1>(c)\ny = SequenceAt(s, p)", 1),
        ("s = SplitToSequence<axis = 0, keepdims = 0>(c)\ny = ConcatFromSequence<axis = 0, new_axis = 1>(s)", 1),
        ("s = Optional(a)\ny = OptionalGetElement(s)", 0),
        ("s = Optional(a)\ny = OptionalHasElement(s)", 0),
    ],
)
def test_sequence_items_are_inferred_one_by_one(lines: str, place: int) -> None:
    inputs = {"a": A, "b": B, "c": C, "p": np.array(place)}
    used = {name: array for name, array in inputs.items() if f"({name}" in lines or f", {name}" in lines}
    inferred, real = infer_output(lines, used), run_output(lines, used)
    if isinstance(real, list):
        assert inferred.items is not None
        assert [(item.dtype, item.shape) for item in inferred.items] == types_and_dims(real)
    else:
        assert [(inferred.dtype, inferred.shape)] == types_and_dims([real])
        assert inferred.value is None or np.array_equal(inferred.value, real)


@pytest.mark.parametrize(
    ("split", "attributes"),
    [
        ([], {"axis": 1}),
        ([], {"axis": 1, "keepdims": 0}),
        ([np.array(2)], {"axis": -1}),
        ([np.array(9)], {"axis": 1}),
        ([numbers(3, 0, 4)], {"axis": 1}),
        ([numbers(7)], {"axis": 1, "keepdims": 0}),
    ],
)
def test_split_parts_equal_those_of_a_run(split: list[Any], attributes: dict[str, Any]) -> None:
    options = ", ".join(f"{key} = {value}" for key, value in attributes.items())
    inputs = {"x": zeros(2, 7), **({"n": split[0]} if split else {})}
    real = run_output(f"y = SplitToSequence<{options}>({', '.join(inputs)})", inputs)
    (inferred,) = infer(OPERATORS, "SplitToSequence", [zeros(2, 7), *split], 11, **attributes)
    assert inferred.items is not None
    assert [(item.dtype, item.shape) for item in inferred.items] == types_and_dims(real)


def test_sequence_of_unknown_length_has_known_common_dims() -> None:
    many = sequence(tensor("float32", (3, 2)))
    (at,) = OPERATORS["SequenceAt"].infer(Call(Node("SequenceAt"), [many, value_info(np.array(0))], 11))
    assert at.shape == (3, 2)
    node = Node("ConcatFromSequence", attributes={"axis": 1})
    shape = OPERATORS["ConcatFromSequence"].infer(Call(node, [many], 11))[0].shape
    assert shape is not None
    assert shape[0] == 3
    assert isinstance(shape[1], Unknown)


def test_unknown_position_gives_the_common_type() -> None:
    three = infer_output("y = SequenceConstruct(a, b, c)", {"a": A, "b": B, "c": C})
    (at,) = OPERATORS["SequenceAt"].infer(Call(Node("SequenceAt"), [three, tensor("int64", ())], 11))
    assert at.shape is not None
    assert at.shape[0] == 3
    assert isinstance(at.shape[1], Unknown)


@pytest.mark.parametrize(
    "lines",
    [
        "s = SequenceEmpty()\ny = ConcatFromSequence<axis = 0>(s)",
        "s = SequenceEmpty()\ny = SequenceErase(s)",
        "s = SequenceConstruct(a, b)\ny = SequenceAt(s, p)",
        "s = SequenceConstruct(a, b)\ny = ConcatFromSequence<axis = 0>(s)",
        "y = SplitToSequence(a, n)",
        "s = SequenceConstruct(a, b)\ny = SequenceInsert(s, n)",
    ],
)
def test_invalid_sequence_is_a_contradiction(lines: str) -> None:
    with pytest.raises(Contradiction):
        infer_output(lines, {"a": A, "b": B, "p": np.array(2), "n": numbers(1, 1)})


def test_sequence_operators_move_no_data() -> None:
    assert cost(OPERATORS, "SequenceConstruct", [A, B], 15) == Cost(read=0, written=0)
    assert cost(OPERATORS, "SequenceEmpty", [], 15) == Cost(read=0, written=0)
    assert cost(OPERATORS, "Optional", [A], 15) == Cost(read=0, written=0)


def test_split_to_sequence_moves_data() -> None:
    assert cost(OPERATORS, "SplitToSequence", [C], 15) == Cost()
