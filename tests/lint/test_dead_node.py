import pytest

from tests.lint._check import check_rule


def test_dead_nodes_are_reported() -> None:
    text = "g (float[2] x) => (float y) { y = Relu(x) [one] a = Exp(x) [two] b = Neg(a) [three] c = Neg(a) }"
    (finding,) = check_rule("dead-node", text)
    assert finding.message == "3 nodes contribute to no output: 2 Neg, 1 Exp"
    assert (finding.evidence, finding.severity) == (("one", "two", "three"), "note")


def test_dead_constants_are_info() -> None:
    (finding,) = check_rule(
        "dead-node", "g (float[2] x) => (float y) { [c] a = Constant<value_float = 1.0>() y = Relu(x) }"
    )
    assert (finding.message, finding.severity) == ("1 node contributes to no output: 1 Constant", "info")


def test_subgraph_is_checked_against_its_own_outputs() -> None:
    text = """g (float[2] x, bool c) => (float y) { [if] y = If (c) <
        then_branch = t () => (float a) { a = Exp(x) [dead] b = Neg(a) },
        else_branch = e () => (float d) { d = Identity(x) }> }"""
    (finding,) = check_rule("dead-node", text)
    assert finding.evidence == ("if/then_branch/dead",)


def test_subgraph_of_a_dead_node_is_not_listed() -> None:
    text = """g (float[2] x, bool c) => (float y) { y = Relu(x) [if] z = If (c) <
        then_branch = t () => (float a) { a = Exp(x) b = Neg(a) },
        else_branch = e () => (float d) { d = Identity(x) }> }"""
    (finding,) = check_rule("dead-node", text)
    assert finding.evidence == ("if",)


_READ_IN_A_BRANCH = """a = Exp(x) y = If (c) <
    then_branch = t () => (float b) { b = Neg(a) }, else_branch = e () => (float d) { d = Identity(x) }>"""


@pytest.mark.parametrize(
    "nodes",
    [
        "y, m = Dropout(x)",  # one result is read, the other is not
        "a = Exp(x) y = Relu(x) z = custom.Print(a)",  # an unknown operator may do something
        _READ_IN_A_BRANCH,
    ],
)
def test_live_nodes_are_not_reported(nodes: str) -> None:
    assert check_rule("dead-node", f"g (float[2] x, bool c) => (float y) {{ {nodes} }}") == []
