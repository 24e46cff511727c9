"""unsorted-nodes: a topological order exists, but the file has another one."""

from tests._wire import model, node
from tests.lint._malformed import FLAG, NEG, X, Y, check_bytes, graph_attribute, value


def test_early_node_is_reported() -> None:
    (finding,) = check_bytes("unsorted-nodes", model(X + node("Relu", "a", "y") + node("Neg", "x", "a") + Y))
    assert (finding.severity, finding.evidence) == ("note", ("Relu_0",))


def test_branch_with_an_early_capture_is_reported() -> None:
    late = node("Relu", "late", "t") + value(12, "t", (2, 3))
    branches = graph_attribute("then_branch", late), graph_attribute("else_branch", NEG)
    nodes = node("If", "flag", "y", *branches) + node("Neg", "x", "late")
    (finding,) = check_bytes("unsorted-nodes", model(X + FLAG + nodes + Y))
    assert finding.evidence == ("If_0",)


def test_sorted_nodes_are_not_reported() -> None:
    assert check_bytes("unsorted-nodes", model(X + node("Relu", "x", "a") + node("Neg", "a", "y") + Y)) == []


def test_cycle_is_not_reported() -> None:
    assert check_bytes("unsorted-nodes", model(X + node("Add", "x b", "y") + node("Relu", "y", "b") + Y)) == []
