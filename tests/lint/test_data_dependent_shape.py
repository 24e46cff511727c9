import pytest

from tests.lint._check import check_rule


def nodes_found(nodes: str, *dims: str, outputs: str = "float y") -> list[tuple[str, tuple[str, ...]]]:
    constants = "int64[1] three = {3}, int64 zero = {0}, int64 one = {1}, float[4] w = {0,1,0,2}"
    text = f"g (float[4] x, bool[4] c, int64[1] n) => ({outputs}) <{constants}> {{ {nodes} }}"
    return [(finding.message, finding.evidence) for finding in check_rule("data-dependent-shape", text, *dims)]


@pytest.mark.parametrize(
    ("nodes", "operators"),
    [
        ("[n] a = NonZero(x) y = Cast<to = 1>(a)", "NonZero"),
        ("[n] y = Compress(x, c)", "Compress"),
        ("[n] y = Unique(x)", "Unique"),
        ("[n] y, i = TopK(x, n)", "TopK"),
        ("k = Squeeze(n) [n] a = Range(zero, k, one) y = Cast<to = 1>(a)", "Range"),
        ("m = Cast<to = 7>(x) t = ReduceMax<keepdims = 1>(m) [n] y = ConstantOfShape(t)", "ConstantOfShape"),
    ],
)
def test_data_dependent_size_is_reported(nodes: str, operators: str) -> None:
    assert nodes_found(nodes) == [(f"1 node has a data-dependent shape: 1 {operators}", ("n",))]


@pytest.mark.parametrize(
    "nodes",
    [
        "y, i = TopK(x, three)",
        "s = Shape(x) y = ConstantOfShape(s)",
        "a = NonZero(w) y = Cast<to = 1>(a)",  # of constants: always as many
        "s = Shape(x) o = ConstantOfShape<value = int64[1] {1}>(s) a = NonZero(o) y = Cast<to = 1>(a)",  # an old arange
        "y = Reshape(x, n)",  # a single element, which can only be 4
        "y = Gather(x, n)",  # the data select rows, not their number
    ],
)
def test_size_from_sizes_is_not_reported(nodes: str) -> None:
    assert nodes_found(nodes) == []


def test_only_the_first_data_dependent_node_is_listed() -> None:
    nodes = "[n] a = NonZero(x) s = Shape(a) b = ConstantOfShape(s) d = Neg(b) y = Reshape(d, three)"
    assert nodes_found(nodes)[0][1] == ("n",)
