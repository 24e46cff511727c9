import pytest

from tests.lint._check import check_rule

_HELD = (
    "float one = {1}, float[1, 1, 1] ones = {1}, float[3] row = {1,1,1}, int64[2] same = {0,-1}, "
    "int64[2] swap = {3,-1}, "
    "int64[2] two_three = {2,3}, int64[1] start = {0}, int64[1] last = {9223372036854775807}, int64[1] back = {-1}, "
    "int64[1] axis = {1}, int64[1] three = {3}, int64[2] once = {1,1}, int64[4] none = {0,0,0,0}, "
    "int64[4] some = {0,1,0,0}, bool no = {0}, bool yes = {1}, float half = {0.5}"
)


def idle(nodes: str, shape: str = "2, 3", opset: int = 18) -> list[str]:
    text = f"g (float[{shape}] x) => (float y) <{_HELD}> {{ r = Relu(x) {nodes} y = Neg(a) }}"
    return [name for finding in check_rule("no-op-node", text, opset=opset) for name in finding.evidence]


@pytest.mark.parametrize(
    "node",
    [
        "Identity(r)",
        "Dropout(r)",
        "Dropout(r, half, no)",
        "Cast<to = 1>(r)",
        "Transpose<perm = [0, 1]>(r)",
        "Reshape(r, same)",
        "Flatten(r)",
        "Slice(r, start, last, axis)",
        "Concat<axis = 0>(r)",
        "Sum(r)",
        "Mul(r, one)",
        "Mul(one, r)",
        "Div(r, one)",
        "Pad(r, none)",
        "Tile(r, once)",
        "Expand(r, once)",
    ],
)
def test_no_op_at_any_size_is_reported(node: str) -> None:
    assert idle(f"[n] a = {node}", "batch, width") == ["n"]


@pytest.mark.parametrize(
    "node", ["Reshape(r, two_three)", "Slice(r, start, three, axis)", "Mul(r, row)", "Expand(r, two_three)"]
)
def test_no_op_at_the_only_size_is_reported(node: str) -> None:
    assert idle(f"[n] a = {node}") == ["n"]
    assert idle(f"[n] a = {node}", "batch, 3") == []  # a batch is bound to 1 or so, and may be another


@pytest.mark.parametrize(
    "node",
    [
        "Dropout(r, half, yes)",
        "Cast<to = 10>(r)",
        "Transpose(r)",
        "Reshape(r, swap)",
        "Slice(r, last, back, axis, back)",  # backwards: the same size, the other way round
        "Flatten<axis = 0>(r)",
        "Concat<axis = 0>(r, r)",
        "Div(one, r)",
        "Mul(r, ones)",  # an additional axis
        "Mul(r, half)",
        "Pad(r, some)",
    ],
)
def test_similar_nodes_are_not_reported(node: str) -> None:
    assert idle(f"[n] a = {node}") == []


def test_message_counts_operators() -> None:
    nodes = "a = Identity(x) b = Identity(a) c = Cast<to = 1>(b) y = Neg(c)"
    (finding,) = check_rule("no-op-node", f"g (float[2000] x) => (float y) {{ {nodes} }}")
    assert (finding.message, finding.severity) == ("3 nodes pass data on unchanged: 2 Identity, 1 Cast", "note")
    (finding,) = check_rule("no-op-node", f"g (float[20] x) => (float y) {{ {nodes} }}")
    assert finding.severity == "info"


@pytest.mark.parametrize(
    "text",
    [
        "g (float[2] x) => (float y) { a = Relu(x) y = Identity(a) }",  # names the output
        "g (float[2] x) => (float y) { y = Cast<to = 1>(x) }",  # an output needs a producer
        "g (float[2] x) => (float y) <float[2] w = {1,2}> { a = Identity(w) y = Add(x, a) }",  # a weight
        "g (float[2, 3] x) => (int64 y) { a = Shape(x) b = Cast<to = 7>(a) y = Neg(b) }",  # shape arithmetic
        "g (float[2] x) => (float y, bool[2] m) { a, m = Dropout(x) y = Neg(a) }",  # the mask is an output
    ],
)
def test_node_that_names_an_output_is_not_reported(text: str) -> None:
    assert check_rule("no-op-node", text) == []


def test_identity_of_a_captured_value_is_not_reported() -> None:
    text = """g (float[2] x, bool c) => (float y) { y = If (c) <
        then_branch = t () => (float a) { a = Identity(x) }, else_branch = e () => (float d) { d = Neg(x) }> }"""
    assert check_rule("no-op-node", text) == []


def test_value_of_an_overridable_initializer_is_not_a_constant() -> None:
    text = (
        "g (float[2] x, float k) => (float y) <float k = {1}> { f = Identity(k) r = Relu(x) a = Mul(r, f) y = Neg(a) }"
    )
    assert check_rule("no-op-node", text) == []
    (finding,) = check_rule("no-op-node", text.replace(", float k)", ")"))
    assert finding.message == "1 node passes data on unchanged: 1 Mul"


def test_overridable_reshape_target_is_not_static() -> None:
    text = (
        "g (float[2, 3] x, int64[2] t) => (float y) <int64[2] t = {2, 3}> { r = Relu(x) a = Reshape(r, t) y = Neg(a) }"
    )
    assert check_rule("no-op-node", text) == []
    assert len(check_rule("no-op-node", text.replace(", int64[2] t)", ")"))) == 1
