import pytest

from tests.lint._check import check_rule

_SHAPES = "int64[1] flat = {-1}, int64[2] rows = {-1,3}, int64[2] copied = {0,-1}, int64[1] axis = {0}"


def graph(nodes: str, outputs: str = "float y", shape: str = "n, 200, 3") -> str:
    return f"g (float[{shape}] x) => ({outputs}) <{_SHAPES}> {{ {nodes} }}"


@pytest.mark.parametrize("first", ["Reshape(x, rows)", "Unsqueeze(x, axis)", "Flatten(x)"])
def test_reshaping_before_another_is_reported(first: str) -> None:
    (finding,) = check_rule("redundant-reshape", graph(f"[a] a = {first} y = Reshape(a, flat)"), "n=4")
    assert finding.message == "1 reshape is redundant before another reshape"
    assert (finding.evidence, finding.severity) == (("a",), "info")


@pytest.mark.parametrize(
    ("nodes", "outputs"),
    [
        ("a = Reshape(x, rows) y = Reshape(a, copied)", "float y"),  # copies a size from the first one
        ("a = Reshape(x, rows) y = Unsqueeze(a, axis)", "float y"),
        ("a = Reshape(x, rows) y = Reshape(a, flat) z = Neg(a)", "float y, float z"),
        ("a = Reshape(x, rows) y = Reshape(a, flat)", "float y, float a"),
        ("a = Reshape(x, rows) s = Shape(a) y = Reshape(x, s)", "float y"),  # it determines the target of the second
    ],
)
def test_needed_node_is_not_reported(nodes: str, outputs: str) -> None:
    assert check_rule("redundant-reshape", graph(nodes, outputs), "n=4") == []


def test_masks_and_positions_are_not_reported() -> None:
    text = graph("a = Flatten(x) y = Reshape(a, flat)", "int64 y").replace("g (float", "g (int64")
    assert check_rule("redundant-reshape", text, "n=1") == []
    assert len(check_rule("redundant-reshape", text, "n=4")) == 1


def test_static_sizes_make_any_target_absolute() -> None:
    nodes = "[a] a = Reshape(x, rows) y = Unsqueeze(a, axis)"
    assert check_rule("redundant-reshape", graph(nodes, shape="4, 200, 3"))[0].evidence == ("a",)
