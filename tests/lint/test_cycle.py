"""cycle: nodes that depend on each other, not nodes out of order."""

import pytest

from tests._wire import model, node
from tests.lint._malformed import NEG, X, Y, branch_model, call, check_bytes, function, function_model, step, value

CYCLES = {
    "two nodes": (
        model(X + node("Add", "x b", "a") + node("Relu", "a", "b") + node("Neg", "b", "y") + Y),
        ("Add_0", "Relu_1"),
    ),
    "one node": (model(X + node("Add", "x y", "y") + Y), ("Add_0",)),
    "without readers": (
        model(X + node("Relu", "a", "b") + node("Neg", "b", "a") + node("Relu", "x", "y") + Y),
        ("Relu_0", "Neg_1"),
    ),
    "through a branch": (branch_model(node("Relu", "y", "t") + value(12, "t", (2, 3)), NEG), ("If_0",)),
    "inside a branch": (
        branch_model(node("Add", "x t", "t") + value(12, "t", (2, 3)), NEG),
        ("If_0/then_branch/Add_0",),
    ),
    "inside a function": (
        function_model(call("F", "x", "y"), function("F", step("Add", "x a", "a") + step("Relu", "a", "y"))),
        ("F/Add_0",),
    ),
}


@pytest.mark.parametrize("name", CYCLES)
def test_nodes_of_a_cycle_are_named(name: str) -> None:
    content, nodes = CYCLES[name]
    (finding,) = check_bytes("cycle", content)
    assert (finding.severity, finding.evidence) == ("error", nodes)


def test_unsorted_nodes_are_not_reported() -> None:
    assert check_bytes("cycle", model(X + node("Relu", "a", "y") + node("Neg", "x", "a") + Y)) == []


def test_name_that_is_also_an_input_is_not_reported() -> None:
    """It is a double definition: the node reads the input."""
    assert check_bytes("cycle", model(X + node("Relu", "x", "x") + node("Neg", "x", "y") + Y)) == []


def test_name_reused_in_a_subgraph_is_not_reported() -> None:
    inner = node("Relu", "x", "a") + node("Neg", "a", "t") + value(12, "t", (2, 3))
    assert check_bytes("cycle", branch_model(inner, inner)) == []


def test_long_cycle_needs_no_recursion() -> None:
    count = 5_000
    nodes = b"".join(node("Relu", f"v{(at - 1) % count}", f"v{at}") for at in range(count))
    (finding,) = check_bytes("cycle", model(X + nodes + node("Add", "x v0", "y") + Y))
    assert finding.count == count
    assert len(finding.message) < 200
