import pytest

from tests.lint._check import check_rule


def _chain(names: list[str]) -> str:
    nodes = " ".join(f"{f'[{name}] ' if name else ''}v{at + 1} = Relu(v{at})" for at, name in enumerate(names))
    return f"g (float[2] v0) => (float v{len(names)}) {{ {nodes} }}"


def test_nodes_that_share_a_name_are_reported() -> None:
    (finding,) = check_rule("duplicate-name", _chain(["a", "b", "a", "c", "b", "a"]))
    assert finding.message == "5 nodes share 2 names"
    assert finding.evidence == ("a", "b", "a", "b", "a")


def test_graph_of_nodes_without_names_is_reported() -> None:
    (finding,) = check_rule("duplicate-name", _chain([""] * 8 + ["a", "b", "c"]))
    assert finding.message == "8 of 11 nodes have no name"


def test_few_unnamed_nodes_are_not_reported() -> None:
    assert check_rule("duplicate-name", _chain([""] * 9)) == []


def test_few_unnamed_among_many_named_are_not_reported() -> None:
    assert check_rule("duplicate-name", _chain([""] * 5 + [f"n{at}" for at in range(6)])) == []


def test_name_reused_in_a_subgraph_is_not_reported() -> None:
    text = """g (float[2] x, bool c) => (float y) {
        [a] z = Relu(x)
        [b] y = If (c) <
            then_branch = t () => (float p) { [a] p = Neg(z) },
            else_branch = e () => (float q) { [a] q = Abs(z) }
        >
    }"""
    assert check_rule("duplicate-name", text) == []


@pytest.mark.parametrize("name", ["", "[c] "])
def test_unnamed_constants_are_not_reported(name: str) -> None:
    nodes = " ".join(f"{name}c{at} = Constant <value_float = 1.0> ()" for at in range(20))
    assert check_rule("duplicate-name", f"g (float[2] x) => (float y) {{ {nodes} [a] y = Relu(x) }}") == []
