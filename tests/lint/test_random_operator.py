import pytest

from tests.lint._check import check_rule


def test_random_numbers_are_reported() -> None:
    nodes = "[a] a = RandomNormalLike(x) [b] b = RandomUniform<shape = [2], seed = 1.0>() c = Add(a, b) y = Add(x, c)"
    (finding,) = check_rule("random-operator", f"g (float[2] x) => (float y) {{ {nodes} }}")
    assert finding.message == "2 nodes generate random numbers: 1 RandomNormalLike, 1 RandomUniform (1 with a seed)"
    assert finding.evidence == ("a", "b")


_UNTAKEN = """c = Constant<value_int = 0>() d = Cast<to = 9>(c) y = If (d) <
    then_branch = t () => (float a) { a = RandomNormalLike(x) }, else_branch = e () => (float b) { b = Neg(x) }>"""


@pytest.mark.parametrize(
    "nodes",
    [
        "y = Dropout(x)",  # in inference
        "a = RandomNormalLike(x) y = Relu(x)",  # no reader
        _UNTAKEN,
    ],
)
def test_dead_random_nodes_are_not_reported(nodes: str) -> None:
    assert check_rule("random-operator", f"g (float[2] x) => (float y) {{ {nodes} }}") == []
