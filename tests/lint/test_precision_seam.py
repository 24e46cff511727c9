import pytest

from tests.lint._check import check_rule


def graph(nodes: str, kind: str = "float16", outputs: str = "float16 y") -> str:
    return f"g ({kind}[2, 4] x) => ({outputs}) <{kind}[4] w = {{1,2,3,4}}, float two = {{2}}> {{ {nodes} }}"


def test_islands_of_single_precision_are_counted() -> None:
    island = "[up{0}] u{0} = Cast<to = 1>({1}) s{0} = Softmax(u{0}) m{0} = Mul(s{0}, two) "
    island += "[down{0}] {2} = Cast<to = 10>(m{0})"
    nodes = "r = Relu(x) " + island.format(1, "r", "a") + " b = Neg(a) " + island.format(2, "b", "c") + " y = Neg(c)"
    (finding,) = check_rule("precision-seam", graph(nodes))
    assert finding.message == "2 casts convert float16 to float32, and 2 convert back, around 4 nodes"
    assert (finding.evidence, finding.severity) == (("up1", "up2", "down1", "down2"), "info")


@pytest.mark.parametrize(
    ("nodes", "kind", "outputs"),
    [
        ("a = Cast<to = 10>(x) b = Neg(a) y = Cast<to = 1>(b)", "float", "float y"),  # the caller's types
        ("r = Relu(x) a = Cast<to = 1>(w) b = Neg(a) c = Cast<to = 10>(b) y = Mul(r, c)", "float16", "float16 y"),
        ("r = Relu(x) a = Cast<to = 1>(r) y = Softmax(a)", "float16", "float y"),  # never comes back
        ("r = Relu(x) a = Cast<to = 7>(r) b = Neg(a) y = Cast<to = 10>(b)", "float16", "float16 y"),  # whole numbers
        ("r = Relu(x) a = Cast<to = 11>(r) b = Neg(a) c = Cast<to = 1>(b) y = Neg(c)", "float", "float y"),
    ],
)
def test_other_casts_are_not_reported(nodes: str, kind: str, outputs: str) -> None:
    assert check_rule("precision-seam", graph(nodes, kind, outputs)) == []


def test_return_in_another_half_precision_is_not_reported() -> None:
    nodes = "r = Relu(x) a = Cast<to = 1>(r) b = Softmax(a) c = Cast<to = 10>(b) y = Relu(c)"
    assert check_rule("precision-seam", f"g (bfloat16[1, 64] x) => (float16[1, 64] y) {{ {nodes} }}") == []
    assert len(check_rule("precision-seam", f"g (float16[1, 64] x) => (float16[1, 64] y) {{ {nodes} }}")) == 1


@pytest.mark.parametrize(("wide", "half"), [("float", "float16"), ("float", "bfloat16"), ("double", "float16")])
def test_rounding_casts_are_a_separate_finding(wide: str, half: str) -> None:
    numbers = {"float": 1, "float16": 10, "double": 11, "bfloat16": 16}
    nodes = f"[a] h = Cast <to = {numbers[half]}> (x) [b] w = Cast <to = {numbers[wide]}> (h) y = Relu(w)"
    (finding,) = check_rule("precision-seam", f"g ({wide}[64] x) => ({wide}[64] y) {{ {nodes} }}")
    assert finding.message == f"1 pair of casts only rounds data to {half}, with no node in between"
    assert finding.evidence == ("b",)


@pytest.mark.parametrize(
    "nodes",
    [
        "h = Cast <to = 10> (x) r = Relu(h) y = Cast <to = 1> (r)",  # something is computed in half precision
        "h = Cast <to = 10> (x) y = Cast <to = 1> (h) z = Relu(h)",  # others read the half
        "h = Cast <to = 10> (x) y = Cast <to = 11> (h)",  # it goes on to another type
    ],
)
def test_casts_with_another_reader_are_not_reported(nodes: str) -> None:
    assert check_rule("precision-seam", f"g (float[64] x) => (float y, float16 z) {{ {nodes} }}") == []
