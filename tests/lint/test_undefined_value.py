"""undefined-value: values that are read but not defined, in any graph."""

import pytest

from tests._wire import chunk, model, node
from tests.lint._malformed import (
    NEG,
    RELU,
    X,
    Y,
    branch_model,
    call,
    check_bytes,
    function,
    function_model,
    initializer,
    step,
    value,
)

GHOST = node("Add", "x ghost", "t") + value(12, "t", (2, 3))
CASES = {
    "in the graph": (model(X + node("Add", "x ghost", "y") + Y), ("Add_0",)),
    "by a dead node": (
        model(X + node("Relu", "ghost", "q") + node("Relu", "x", "y") + Y),
        ("Relu_0",),
    ),
    "in a branch": (branch_model(GHOST, NEG), ("If_0/then_branch/Add_0",)),
    "in a function": (function_model(call("F", "x", "y"), function("F", step("Add", "x ghost", "y"))), ("F/Add_0",)),
    "in an unused function": (
        function_model(node("Relu", "x", "y"), function("F", step("Add", "x ghost", "y"))),
        ("F/Add_0",),
    ),
    "by an output only": (model(X + node("Relu", "x", "y") + Y + value(12, "ghost", (4,))), ("ghost",)),
}


@pytest.mark.parametrize("name", CASES)
def test_undefined_value_is_reported_with_its_readers(name: str) -> None:
    content, readers = CASES[name]
    (finding,) = check_bytes("undefined-value", content)
    assert finding.message == "1 value is used but never defined: 'ghost'"
    assert (finding.severity, finding.evidence) == ("error", readers)


def test_function_cannot_read_the_calling_graph() -> None:
    inner = function("F", step("Add", "x w", "y"))
    (finding,) = check_bytes(
        "undefined-value", function_model(initializer("w", (2, 3), bytes(24)) + call("F", "x", "y"), inner)
    )
    assert "'w'" in finding.message


def test_branch_reads_the_graph_around_it() -> None:
    inner = node("Add", "x w", "t") + value(12, "t", (2, 3))
    content = branch_model(inner, NEG)
    valid = model(X + initializer("w", (2, 3), bytes(24)) + node("Add", "x w", "y") + Y)
    assert check_bytes("undefined-value", valid) == []
    assert [finding.message[-3:] for finding in check_bytes("undefined-value", content)] == ["'w'"]


def test_captured_value_as_branch_output_is_reported() -> None:
    (finding,) = check_bytes("undefined-value", branch_model(value(12, "x", (2, 3)), NEG))
    assert finding.message == "1 output of a subgraph is not defined in it: 'x'"
    assert finding.evidence == ("If_0/then_branch",)


def test_output_that_is_an_input_or_a_weight_is_defined() -> None:
    weight = initializer("w", (2, 3), bytes(24))
    assert check_bytes("undefined-value", model(X + weight + value(12, "w", (2, 3)) + value(12, "x", (2, 3)))) == []
    assert check_bytes("undefined-value", branch_model(RELU, NEG)) == []


def test_unnamed_input_or_output_is_reported() -> None:
    bare = chunk(12, chunk(1, "")), chunk(11, chunk(1, ""))
    findings = [finding for end in bare for finding in check_bytes("undefined-value", _relu(end))]
    assert [(finding.message, finding.severity) for finding in findings] == [
        ("1 output of the model has no name", "error"),
        ("1 input of the model has no name", "warning"),
    ]


def test_omitted_input_is_not_reported() -> None:
    clip = chunk(1, chunk(1, "x") + chunk(1, "") + chunk(1, "x") + chunk(2, "y") + chunk(4, "Clip"))
    assert check_bytes("undefined-value", model(X + clip + Y)) == []


def _relu(end: bytes) -> bytes:
    return model(X + node("Relu", "x", "y") + Y + end)
