import pytest

from tests.lint._judged import found

_W = "float[2, 3] w = {1,2,3,4,5,6}, int8[2, 3] q = {1,2,3,4,5,6}, float s = {0.5}, int64[1] n = {400}"


def graph(nodes: str, given: str = "", outputs: str = "float y") -> str:
    return f"g (float[4, 3] x{given}) => ({outputs}) <{_W}> {{ {nodes} }}"


def test_what_is_made_of_constants_alone_is_found() -> None:
    (finding,) = found("foldable-constant", graph("[t] a = Transpose(w) [n] b = Neg(a) y = MatMul(x, b)"))
    assert finding.message == "2 nodes of constants alone could be folded: 1 Neg, 1 Transpose"
    assert (finding.evidence, finding.severity) == (("t", "n"), "info")


def test_large_weights_that_are_turned_at_every_load_are_a_note() -> None:
    many = ",".join("1" * 20_000)
    text = f"g (float[4, 100] x) => (float y) <float[200, 100] w = {{{many}}}> {{ a = Transpose(w) y = MatMul(x, a) }}"
    (finding,) = found("foldable-constant", text)
    assert (finding.message, finding.severity) == ("1 node of constants alone could be folded: 1 Transpose", "note")


@pytest.mark.parametrize(
    "nodes",
    [
        "a = Constant<value_float = 2.0>() y = Mul(x, a)",
        "a = Identity(w) b = Gemm<transB = 1>(x, a) c = Gemm<transB = 1>(x, w) y = Add(b, c)",  # a second name
        "a = DequantizeLinear(q, s) b = Transpose(a) y = MatMul(x, b)",  # stored small on purpose
        "a = Cast<to = 1>(q) b = Mul(a, s) c = Transpose(b) y = MatMul(x, c)",  # the same, written out
        "a = ConstantOfShape(n) b = Neg(a) y = Mul(x, b)",  # 8 bytes in the file, 1,600 if folded
        "a = RandomNormal<shape = [4, 3]>() b = Neg(a) y = Add(x, b)",
        "a = custom.Noise(w) y = Add(x, a)",  # may be another one in every run
        "a = Shape(x) b = Neg(a) y = Add(b, b)",  # of the input's sizes
    ],
)
def test_what_cannot_or_should_not_be_folded_is_not(nodes: str) -> None:
    assert found("foldable-constant", graph(nodes)) == []


def test_a_table_that_is_also_read_as_it_is_would_be_stored_twice() -> None:
    many = ",".join("1" * 400)
    text = f"""g (float[4, 4] x, int64[1] i) => (float y, float z) <float[100, 4] w = {{{many}}}>
        {{ a = Transpose(w) y = MatMul(x, a) z = Gather(w, i) }}"""
    assert found("foldable-constant", text) == []
    assert found("foldable-constant", text.replace("z = Gather(w, i)", "z = Neg(x)")) != []


def test_an_initializer_that_a_caller_may_override_is_no_constant() -> None:
    nodes = "a = Transpose(w) y = MatMul(x, a)"
    assert found("foldable-constant", graph(nodes, ", float[2, 3] w")) == []


def test_nor_is_what_a_branch_makes_of_one() -> None:
    text = """g (float[3] x, float[3] w, bool c) => (float y) <float[3] w = {1, 2, 3}> { u = Neg(w) y = If (c) <
        then_branch = t () => (float a) { v = Exp(u) a = Add(x, v) },
        else_branch = e () => (float d) { d = Neg(x) }> }"""
    assert found("foldable-constant", text) == []
