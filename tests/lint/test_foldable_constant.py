import pytest

from tests.lint._check import check_rule

_W = "float[2, 3] w = {1,2,3,4,5,6}, int8[2, 3] q = {1,2,3,4,5,6}, float s = {0.5}, int64[1] n = {400}"


def graph(nodes: str, inputs: str = "", outputs: str = "float y") -> str:
    return f"g (float[4, 3] x{inputs}) => ({outputs}) <{_W}> {{ {nodes} }}"


def test_nodes_on_constants_are_reported() -> None:
    (finding,) = check_rule("foldable-constant", graph("[t] a = Transpose(w) [n] b = Neg(a) y = MatMul(x, b)"))
    assert finding.message == "2 nodes depend only on constants and could be folded: 1 Neg, 1 Transpose"
    assert (finding.evidence, finding.severity) == (("t", "n"), "info")


def test_large_transposed_weights_are_a_note() -> None:
    many = ",".join("1" * 20_000)
    text = f"g (float[4, 100] x) => (float y) <float[200, 100] w = {{{many}}}> {{ a = Transpose(w) y = MatMul(x, a) }}"
    (finding,) = check_rule("foldable-constant", text)
    assert finding.message == "1 node depends only on constants and could be folded: 1 Transpose"
    assert finding.severity == "note"


@pytest.mark.parametrize(
    "nodes",
    [
        "a = Constant<value_float = 2.0>() y = Mul(x, a)",
        "a = Identity(w) b = Gemm<transB = 1>(x, a) c = Gemm<transB = 1>(x, w) y = Add(b, c)",  # a second name
        "a = DequantizeLinear(q, s) b = Transpose(a) y = MatMul(x, b)",  # stored small on purpose
        "a = Cast<to = 1>(q) b = Mul(a, s) c = Transpose(b) y = MatMul(x, c)",  # the same, written out
        "a = ConstantOfShape(n) b = Neg(a) y = Mul(x, b)",  # 8 bytes in the file, 1,600 if folded
        "a = RandomNormal<shape = [4, 3]>() b = Neg(a) y = Add(x, b)",
        "a = custom.Noise(w) y = Add(x, a)",  # may differ in every run
        "a = Shape(x) b = Neg(a) y = Add(b, b)",  # of the input's sizes
    ],
)
def test_unfoldable_nodes_are_not_reported(nodes: str) -> None:
    assert check_rule("foldable-constant", graph(nodes)) == []


def test_constant_with_another_reader_is_not_reported() -> None:
    many = ",".join("1" * 400)
    text = f"""g (float[4, 4] x, int64[1] i) => (float y, float z) <float[100, 4] w = {{{many}}}>
        {{ a = Transpose(w) y = MatMul(x, a) z = Gather(w, i) }}"""
    assert check_rule("foldable-constant", text) == []
    assert check_rule("foldable-constant", text.replace("z = Gather(w, i)", "z = Neg(x)")) != []


def test_overridable_initializer_is_not_a_constant() -> None:
    nodes = "a = Transpose(w) y = MatMul(x, a)"
    assert check_rule("foldable-constant", graph(nodes, ", float[2, 3] w")) == []


def test_value_of_a_branch_from_an_overridable_initializer_is_not_a_constant() -> None:
    text = """g (float[3] x, float[3] w, bool c) => (float y) <float[3] w = {1, 2, 3}> { u = Neg(w) y = If (c) <
        then_branch = t () => (float a) { v = Exp(u) a = Add(x, v) },
        else_branch = e () => (float d) { d = Neg(x) }> }"""
    assert check_rule("foldable-constant", text) == []
