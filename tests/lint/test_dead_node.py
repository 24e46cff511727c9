import pytest

from tests.lint._judged import found


def test_nodes_that_lead_to_no_output_are_found() -> None:
    text = "g (float[2] x) => (float y) { y = Relu(x) [one] a = Exp(x) [two] b = Neg(a) [three] c = Neg(a) }"
    (finding,) = found("dead-node", text)
    assert finding.message == "3 nodes lead to no output: 2 Neg, 1 Exp"
    assert (finding.evidence, finding.severity) == (("one", "two", "three"), "note")


def test_constants_that_nobody_reads_are_only_good_to_know() -> None:
    (finding,) = found("dead-node", "g (float[2] x) => (float y) { [c] a = Constant<value_float = 1.0>() y = Relu(x) }")
    assert (finding.message, finding.severity) == ("1 node leads to no output: 1 Constant", "info")


def test_a_body_counts_by_its_own_outputs() -> None:
    text = """g (float[2] x, bool c) => (float y) { [if] y = If (c) <
        then_branch = t () => (float a) { a = Exp(x) [dead] b = Neg(a) },
        else_branch = e () => (float d) { d = Identity(x) }> }"""
    (finding,) = found("dead-node", text)
    assert finding.evidence == ("if/then_branch/dead",)


def test_what_is_inside_a_dead_node_is_not_listed_again() -> None:
    text = """g (float[2] x, bool c) => (float y) { y = Relu(x) [if] z = If (c) <
        then_branch = t () => (float a) { a = Exp(x) b = Neg(a) },
        else_branch = e () => (float d) { d = Identity(x) }> }"""
    (finding,) = found("dead-node", text)
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
def test_what_an_output_needs_is_not(nodes: str) -> None:
    assert found("dead-node", f"g (float[2] x, bool c) => (float y) {{ {nodes} }}") == []
