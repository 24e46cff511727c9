"""duplicate-definition: one name with several definitions."""

import pytest

from tests._wire import model, node
from tests.lint._malformed import (
    FLAG,
    NEG,
    RELU,
    X,
    Y,
    branch_model,
    call,
    check_bytes,
    function,
    function_model,
    graph_attribute,
    initializer,
    step,
    value,
)

W = initializer("w", (2, 3), bytes(24))
TWICE = {
    "two nodes": (
        model(X + node("Relu", "x", "a") + node("Neg", "x", "a") + node("Relu", "a", "y") + Y),
        "'a' is produced by Relu_0 and by Neg_1",
    ),
    "one node": (model(X + node("Split", "x", "y y") + Y), "'y' is produced by Split_0, twice"),
    "an input": (
        model(X + node("Relu", "x", "x") + node("Neg", "x", "y") + Y),
        "'x' is an input and produced by Relu_0",
    ),
    "a weight": (
        model(X + W + node("Relu", "x", "w") + node("Add", "x w", "y") + Y),
        "'w' is an initializer and produced by Relu_0",
    ),
    "two inputs": (model(X + X + node("Relu", "x", "y") + Y), "'x' is 2 inputs"),
    "two weights": (
        model(X + W + initializer("w", (3, 2), bytes(24)) + node("Add", "x w", "y") + Y),
        "'w' is 2 initializers",
    ),
    "two functions": (
        function_model(
            call("F", "x", "y"), function("F", step("Relu", "x", "y")), function("F", step("Neg", "x", "y"))
        ),
        "2 functions are named f:F",
    ),
}


@pytest.mark.parametrize("name", TWICE)
def test_repeated_name_is_reported(name: str) -> None:
    content, text = TWICE[name]
    (finding,) = check_bytes("duplicate-definition", content)
    assert finding.message == f"a name is defined more than once: {text}"
    assert finding.severity == "error"


def test_repeated_weight_is_a_warning() -> None:
    (finding,) = check_bytes("duplicate-definition", model(X + W + W + node("Add", "x w", "y") + Y))
    assert (finding.severity, finding.evidence) == ("warning", ("w",))


def test_shadowing_name_of_a_subgraph_is_reported() -> None:
    inner = node("Neg", "x", "a") + node("Relu", "a", "t") + value(12, "t", (2, 3))
    choose = node("If", "flag", "q", graph_attribute("then_branch", inner), graph_attribute("else_branch", NEG))
    before = model(X + FLAG + node("Relu", "x", "a") + choose + node("Add", "q a", "y") + Y)
    (finding,) = check_bytes("duplicate-definition", before)
    text = "'a' is produced in If_1/then_branch and defined around it"
    assert finding.message == f"a name of an outer graph is redefined: {text}"
    after = model(X + FLAG + choose + node("Relu", "x", "a") + node("Add", "q a", "y") + Y)
    assert check_bytes("duplicate-definition", after) == []


def test_input_with_a_default_is_not_reported() -> None:
    listed = model(X + value(11, "w", (2, 3)) + W + node("Add", "x w", "y") + Y)
    assert check_bytes("duplicate-definition", listed) == []


def test_same_names_in_branches_and_omitted_outputs_are_not_reported() -> None:
    assert check_bytes("duplicate-definition", branch_model(RELU, NEG)) == []
    silent = model(X + node("Split", "x", " ") + node("Relu", "x", "y") + Y)
    assert check_bytes("duplicate-definition", silent) == []


def test_many_repeated_names_are_one_short_finding() -> None:
    nodes = b"".join(node("Relu", "x", f"v{at // 2}") for at in range(4_000))
    (finding,) = check_bytes("duplicate-definition", model(X + nodes + node("Relu", "x", "y") + Y))
    assert finding.count == 2_000
    assert finding.message == "2,000 names are defined more than once, first: 'v0' is produced by Relu_0 and by Relu_1"
