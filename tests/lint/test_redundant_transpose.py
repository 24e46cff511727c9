import pytest

from onnx_autodoc.lint import check
from tests._text import model
from tests.lint._check import check_rule, lint_context


def graph(nodes: str, outputs: str = "float y") -> str:
    return f"g (float[2, 3, 4] x) => ({outputs}) <float s = {{2}}, float[4] v = {{1,2,3,4}}> {{ {nodes} }}"


@pytest.mark.parametrize(
    "nodes",
    [
        "[a] a = Transpose<perm = [0, 2, 1]>(x) [b] y = Transpose<perm = [0, 2, 1]>(a)",
        "[a] a = Transpose<perm = [1, 2, 0]>(x) [b] y = Transpose<perm = [2, 0, 1]>(a)",
        "[a] a = Transpose(x) [b] y = Transpose(a)",
        "[a] a = Transpose(x) c = Relu(a) d = Mul(s, c) [b] y = Transpose(d)",  # elementwise
    ],
)
def test_transpose_that_undoes_one_is_reported(nodes: str) -> None:
    (finding,) = check_rule("redundant-transpose", graph(nodes))
    assert finding.message == "1 transpose reverses an earlier one"
    assert finding.evidence == ("b",)


def test_mergeable_transpose_is_reported() -> None:
    nodes = "a = Transpose<perm = [1, 2, 0]>(x) [b] y = Transpose<perm = [1, 2, 0]>(a)"
    (finding,) = check_rule("redundant-transpose", graph(nodes))
    assert finding.message == "1 transpose could be merged with the previous transpose"
    assert finding.evidence == ("b",)


@pytest.mark.parametrize(
    ("nodes", "outputs"),
    [
        ("a = Transpose(x) c = Softmax(a) y = Transpose(c)", "float y"),  # along an axis
        ("a = Transpose(x) c = Mul(a, a) y = Transpose(c)", "float y"),  # read twice
        ("a = Transpose<perm = [0, 1, 2]>(x) c = Mul(a, v) y = Transpose(c)", "float y"),  # a vector has an axis
        ("a = Transpose(x) c = Relu(a) y = Transpose(c) z = Neg(c)", "float y, float z"),  # others need that order
        ("a = Transpose<perm = [1, 2, 0]>(x) y = Transpose<perm = [1, 2, 0]>(a)", "float y, float a"),
    ],
)
def test_needed_node_is_not_reported(nodes: str, outputs: str) -> None:
    assert check_rule("redundant-transpose", graph(nodes, outputs)) == []


def test_direct_inverse_is_reported_despite_other_readers() -> None:
    nodes = "a = Transpose(x) [b] y = Transpose(a) z = Softmax(a)"
    assert check_rule("redundant-transpose", graph(nodes, "float y, float z"))[0].evidence == ("b",)


@pytest.mark.parametrize("perm", ["5, 9, 7", "0, 0, 2", "-1, 0, 1"])
@pytest.mark.parametrize("order", ["first", "second", "both"])
def test_malformed_permutation_is_not_reported(perm: str, order: str) -> None:
    first, second = (perm if order in (position, "both") else "0, 2, 1" for position in ("first", "second"))
    nodes = f"a = Transpose<perm = [{first}]>(x) y = Transpose<perm = [{second}]>(a)"
    assert check_rule("redundant-transpose", graph(nodes)) == []
    findings, gaps = check(lint_context(model(graph(nodes))))
    assert gaps == ()
    assert "contradictory-shape" in {finding.rule for finding in findings}
