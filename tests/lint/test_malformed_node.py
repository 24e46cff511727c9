"""malformed-node: nodes compared with the specification of their operators."""

import pytest

from tests._text import proto
from tests._wire import chunk, integer, model, node
from tests.lint._check import check_rule
from tests.lint._malformed import (
    FLAG,
    NEG,
    RELU,
    X,
    Y,
    branch_model,
    check_bytes,
    float_attribute,
    graph_attribute,
    initializer,
    int_attribute,
    ints_attribute,
    single_node_model,
    string_attribute,
    value,
)

PICTURE, MAP = value(11, "x", (1, 4, 8, 8)), value(12, "y", (1, 4, "h", "w"))
SIZES = value(11, "i", (), 7) + value(11, "on", (), 9) + value(11, "h", (2, 3))

GO = node("Identity", "on", "go") + value(12, "go", (), 9)
PASS = node("Relu", "h", "g") + GO + value(12, "g", (2, 3))
TURN = (
    *(
        value(11, "h", (3,)),
        value(11, "e", (3,)),
        node("Cast", "h", "g", int_attribute("to", 7)),
        node("Relu", "e", "r"),
    ),
    *(value(12, "g", (3,), 7), value(12, "r", (3,))),
)
LIST = chunk(4, chunk(1, chunk(1, integer(1, 1))))  # a sequence of float tensors


def convolution(*attributes: bytes) -> bytes:
    return model(PICTURE + initializer("w", (4, 4, 3, 3), bytes(576)) + node("Conv", "x w", "y", *attributes) + MAP)


def pool(*attributes: bytes) -> bytes:
    return model(PICTURE + node("MaxPool", "x", "y", *attributes) + MAP)


def loop(inner: bytes, outputs: str = "y") -> bytes:
    return model(
        X + value(11, "n", (), 7) + FLAG + node("Loop", "n flag x", outputs, graph_attribute("body", inner)) + Y
    )


INVALID = {
    "no operator": (single_node_model(""), "it has no op type"),
    "too many inputs": (single_node_model("Relu", inputs="x x"), "has 2 inputs, expected 1"),
    "too few inputs": (single_node_model("Add"), "has 1 input, expected 2"),
    "no outputs": (model(X + node("Relu", "x", "") + Y), "has 0 outputs, expected 1"),
    "two outputs": (model(X + node("Relu", "x", "y z") + Y), "has 2 outputs, expected 1"),
    "an output left out": (
        model(X + chunk(1, chunk(1, "x") + chunk(2, "") + chunk(4, "Relu")) + Y),
        "required output 0 is missing",
    ),
    "an axis that is real": (
        single_node_model("Softmax", float_attribute("axis", 1)),
        "attribute axis has type float, expected integer",
    ),
    "an axis in letters": (
        single_node_model("Softmax", string_attribute("axis", "1")),
        "attribute axis has type string, expected integer",
    ),
    "a slope that is whole": (
        single_node_model("LeakyRelu", int_attribute("alpha", 1)),
        "attribute alpha has type integer, expected float",
    ),
    "an axis too far": (
        single_node_model("Softmax", int_attribute("axis", 7)),
        "axis 7 is out of range for rank 2",
    ),
    "two of one name": (
        single_node_model("Softmax", int_attribute("axis", 0), int_attribute("axis", 1)),
        "it has 2 attributes named axis",
    ),
    "a value of another kind": (
        single_node_model("Softmax", chunk(1, "axis") + integer(3, 1) + integer(20, 1)),
        "its attribute axis stores a value of another type than it declares",
    ),
    "two values in one": (
        single_node_model("Softmax", chunk(1, "axis") + integer(3, 1) + chunk(4, "1") + integer(20, 2)),
        "its attribute axis stores a value of another type than it declares",
    ),
    "an attribute of no kind": (
        single_node_model("Softmax", chunk(1, "axis") + integer(3, 1) + integer(20, 99)),
        "its attribute axis has type 99, which ONNX does not define",
    ),
    "an attribute without a type": (
        single_node_model("Softmax", chunk(1, "axis") + integer(3, 1)),
        "its attribute axis does not declare its type",
    ),
    "an attribute without a name": (
        single_node_model("Relu", integer(3, 1) + integer(20, 2)),
        "it has an attribute without a name",
    ),
    "an attribute of others": (
        single_node_model("Relu", int_attribute("axis", 1)),
        "attribute 'axis' is not defined for this operator",
    ),
    "an attribute that is missing": (single_node_model("Cast"), "required attribute to is missing"),
    "a reference to nothing": (
        single_node_model("Softmax", chunk(1, "axis") + chunk(21, "outer") + integer(20, 2)),
        "it refers to an attribute of a function outside any function",
    ),
    "a type that there is none of": (
        single_node_model("Cast", int_attribute("to", 99)),
        "attribute to is 99, which is not an element type",
    ),
    "no groups": (convolution(int_attribute("group", 0)), "attribute group is 0, below the minimum of 1"),
    "a stride of nothing": (
        convolution(ints_attribute("strides", 1, 0)),
        "attribute strides is [1, 0], below the minimum of 1",
    ),
    "a negative kernel": (
        convolution(ints_attribute("kernel_shape", -3, -3)),
        "attribute kernel_shape is [-3, -3], below the minimum of 1",
    ),
    "negative pads": (
        convolution(ints_attribute("pads", -1, 0, 0, 0)),
        "attribute pads is [-1, 0, 0, 0], below the minimum of 0",
    ),
    "pads wider than the kernel": (
        pool(ints_attribute("kernel_shape", 2, 2), ints_attribute("pads", 2, 0, 0, 0)),
        "pads [2, 0, 0, 0] are not smaller than the kernel [2, 2]",
    ),
    "a constant of nothing": (
        model(X + node("Constant", "", "w") + node("Add", "x w", "y") + Y),
        "has 0 values, expected 1",
    ),
    "types that differ": (
        model(X + value(11, "k", (2, 3), 7) + node("Add", "x k", "y") + Y),
        "inputs of types float32 and int64 must have the same type",
    ),
    "a type that it does not take": (
        model(value(11, "x", (2, 3), 8) + node("Relu", "x", "y") + value(12, "y", (2, 3), 8)),
        "input 0 does not accept string",
    ),
    "a condition of numbers": (
        model(X + node("If", "x", "y", graph_attribute("then_branch", RELU), graph_attribute("else_branch", NEG)) + Y),
        "input 0 does not accept float32",
    ),
    "a branch with inputs": (
        branch_model(value(11, "q", (2,)) + RELU, NEG),
        "number of branch inputs: 0 on the node, 1 in then_branch",
    ),
    "branches of fewer outputs": (
        branch_model(RELU, NEG, outputs="y z"),
        "number of outputs: 2 on the node, 1 in then_branch",
    ),
    "branches of unlike types": (
        branch_model(RELU, node("Cast", "x", "t", int_attribute("to", 7)) + value(12, "t", (2, 3), 7)),
        "the branches have different types for output 0: float32 and int64",
    ),
    "a body that takes less": (loop(value(11, "i", (), 7) + RELU), "number of inputs: 3 on the node, 1 in body"),
    "a body that gives less": (
        loop(SIZES + node("Identity", "on", "go") + value(12, "go", (), 9) + value(12, "h", (2, 3)), outputs="y z"),
        "number of outputs after the condition: 2 on the node, 1 in body",
    ),
    "a body without a condition": (
        loop(SIZES + node("Relu", "h", "g") + value(12, "g", (2, 3)) + value(12, "h", (2, 3))),
        "the condition output of the body is float32, expected bool",
    ),
    "a body that counts in reals": (
        loop(SIZES.replace(value(11, "i", (), 7), value(11, "i", (), 1)) + PASS),
        "the iteration number input of the body is float32, expected int64",
    ),
    "a body that hands on another type": (
        loop(SIZES + node("Cast", "h", "g", int_attribute("to", 7)) + GO + value(12, "g", (2, 3), 7)),
        "carried output 0 of the body is int64, expected float32",
    ),
    "a scan that hands on another type": (
        model(
            X
            + value(11, "s", (3,))
            + node("Scan", "s x", "t y", graph_attribute("body", b"".join(TURN)), int_attribute("num_scan_inputs", 1))
            + Y
        ),
        "carried output 0 of the body is int64, expected float32",
    ),
    "branches of a tensor and a sequence": (
        branch_model(RELU, node("SequenceConstruct", "x", "t") + chunk(12, chunk(1, "t") + chunk(2, LIST))),
        "the branches have different types for output 0: float32 and sequence of float32",
    ),
    "a tensor for a sequence": (single_node_model("SequenceLength"), "input 0 does not accept float32 tensors"),
    "a tensor for an optional": (single_node_model("OptionalGetElement"), "input 0 does not accept float32 tensors"),
    "a scan of nothing": (
        model(
            X
            + node(
                "Scan",
                "x",
                "y",
                graph_attribute("body", value(11, "x", (3,)) + RELU),
                int_attribute("num_scan_inputs", -1),
            )
            + Y
        ),
        "attribute num_scan_inputs is -1, below the minimum of 1",
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_malformed_node_is_reported(name: str) -> None:
    content, problem = INVALID[name]
    (finding,) = check_bytes("malformed-node", content)
    assert finding.message.startswith("a node is malformed: ")
    assert finding.message.endswith(problem)
    assert (finding.severity, finding.count) == ("error", 1)


VALID = {
    "an axis": single_node_model("Softmax", int_attribute("axis", 1)),
    "an attribute that is left out": single_node_model("Softmax"),
    "a note for tools": single_node_model("Relu", int_attribute("__tool", 1)),
    "an unknown operator": single_node_model("Wobble", int_attribute("axis", 1)),
    "an old kind without its type": model(X + node("Softmax", "x", "y", chunk(1, "axis") + integer(3, 1)) + Y, ir=1),
    "a convolution": convolution(
        ints_attribute("kernel_shape", 3, 3), ints_attribute("strides", 2, 2), ints_attribute("pads", 1, 1, 1, 1)
    ),
    "a pool": pool(ints_attribute("kernel_shape", 2, 2), ints_attribute("pads", 1, 1, 1, 1)),
    "an input left out in the middle": model(
        X + chunk(1, chunk(1, "x") + chunk(1, "") + chunk(1, "x") + chunk(2, "y") + chunk(4, "Clip")) + Y
    ),
    "a choice": branch_model(RELU, NEG),
    "a loop": loop(SIZES + node("Relu", "h", "g") + GO + value(12, "g", (2, 3))),
    "the length of a sequence": model(chunk(11, chunk(1, "x") + chunk(2, LIST)) + node("SequenceLength", "x", "y") + Y),
}


@pytest.mark.parametrize("name", VALID)
def test_well_formed_node_is_not_reported(name: str) -> None:
    assert check_bytes("malformed-node", VALID[name]) == []


def test_attribute_is_checked_by_its_version() -> None:
    """Squeeze had its axes as an attribute until opset 12, and has them as an input since."""
    text = "g (float[1, 3] x) => (float[3] y) { y = Squeeze <axes = [0]> (x) }"
    assert check_rule("malformed-node", proto(text, 11)) == []
    (finding,) = check_rule("malformed-node", proto(text, 13))
    assert finding.message.endswith("attribute 'axes' is not defined for this operator")


def test_local_function_call_is_not_checked_against_the_schema() -> None:
    head = '<domain: "local", opset_import: ["" : 18]>'
    functions = f"{head}\nRelu <axis> (x) => (y) {{ y = Softmax <axis: int = @axis> (x) }}"
    text = "g (float[2, 3] x) => (float[2, 3] y) { y = local.Relu <axis = 1> (x) }"
    assert check_rule("malformed-node", proto(text, functions=functions)) == []
