import pytest

from tests.lint._judged import found


def _chain(names: list[str]) -> str:
    nodes = " ".join(f"{f'[{name}] ' if name else ''}v{at + 1} = Relu(v{at})" for at, name in enumerate(names))
    return f"g (float[2] v0) => (float v{len(names)}) {{ {nodes} }}"


def test_nodes_that_share_a_name_are_found() -> None:
    (finding,) = found("duplicate-name", _chain(["a", "b", "a", "c", "b", "a"]))
    assert finding.message == "5 nodes share 2 names"
    assert finding.evidence == ("a", "b", "a", "b", "a")


def test_a_graph_of_nodes_without_names_is_found() -> None:
    (finding,) = found("duplicate-name", _chain([""] * 8 + ["a", "b", "c"]))
    assert finding.message == "8 of 11 nodes have no name"


def test_a_few_nodes_need_no_names() -> None:
    assert found("duplicate-name", _chain([""] * 9)) == []


def test_some_without_names_among_many_with_are_not_found() -> None:
    assert found("duplicate-name", _chain([""] * 5 + [f"n{at}" for at in range(6)])) == []


def test_a_name_may_be_used_again_in_a_body() -> None:
    text = """g (float[2] x, bool c) => (float y) {
        [a] z = Relu(x)
        [b] y = If (c) <
            then_branch = t () => (float p) { [a] p = Neg(z) },
            else_branch = e () => (float q) { [a] q = Abs(z) }
        >
    }"""
    assert found("duplicate-name", text) == []


@pytest.mark.parametrize("name", ["", "[c] "])
def test_constants_need_no_names_of_their_own(name: str) -> None:
    nodes = " ".join(f"{name}c{at} = Constant <value_float = 1.0> ()" for at in range(20))
    assert found("duplicate-name", f"g (float[2] x) => (float y) {{ {nodes} [a] y = Relu(x) }}") == []
