"""unsorted-nodes: an order exists, and the file's is another one."""

from tests._wire import model, node
from tests.lint._wrong import FLAG, NEG, X, Y, body, found, value


def test_a_node_before_what_it_reads_is_found() -> None:
    (finding,) = found("unsorted-nodes", model(X + node("Relu", "a", "y") + node("Neg", "x", "a") + Y))
    assert (finding.severity, finding.evidence) == ("note", ("Relu_0",))


def test_a_branch_that_reads_what_comes_later_is_found() -> None:
    late = node("Relu", "late", "t") + value(12, "t", (2, 3))
    branches = body("then_branch", late), body("else_branch", NEG)
    nodes = node("If", "flag", "y", *branches) + node("Neg", "x", "late")
    (finding,) = found("unsorted-nodes", model(X + FLAG + nodes + Y))
    assert finding.evidence == ("If_0",)


def test_nodes_in_order_are_not() -> None:
    assert found("unsorted-nodes", model(X + node("Relu", "x", "a") + node("Neg", "a", "y") + Y)) == []


def test_a_cycle_has_no_order() -> None:
    assert found("unsorted-nodes", model(X + node("Add", "x b", "y") + node("Relu", "y", "b") + Y)) == []
