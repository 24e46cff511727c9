from tests.lint._check import check_rule

_BODY = "<body = l (int64 i, bool k, float[2] v) => (bool k2, float[2] w) { k2 = Identity(k) w = Neg(v) }>"


def graph(count: str, constants: str = "") -> str:
    return (
        f"g (float[2] x, float[s] z, int64 n) => (float y) {constants} {{ {count} [loop] y = Loop (m, , x) {_BODY} }}"
    )


_BY_SIZE = graph("a = Shape(z) m = Squeeze(a)")


def test_long_loop_is_reported() -> None:
    (finding,) = check_rule("long-loop", _BY_SIZE, "s=16000")
    assert finding.message == "a loop runs 16,000 iterations at these sizes"
    assert finding.evidence == ("loop",)


def test_longest_of_several_is_named() -> None:
    nodes = f"a = Loop (m, , x) {_BODY} y = Loop (n, , a) {_BODY}"
    text = f"g (float[2] x) => (float y) <int64 m = {{1000}}, int64 n = {{1200}}> {{ {nodes} }}"
    (finding,) = check_rule("long-loop", text)
    assert finding.message == "2 loops run 1,000 iterations or more at these sizes, the longest 1,200"


def test_short_and_unknown_loops_are_not_reported() -> None:
    assert check_rule("long-loop", _BY_SIZE, "s=999") == []
    assert check_rule("long-loop", graph("m = Identity(n)"), "s=16000") == []
