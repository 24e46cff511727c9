"""The worst moment of a run, counted by hand."""

import pytest

from onnx_autodoc.analysis.memory import Memory, memory
from onnx_autodoc.shapes import bind, infer_shapes, parse_request
from tests._text import model


def measure_memory(text: str, *dims: str, values: tuple[str, ...] = (), functions: str = "") -> Memory:
    result = model(text, functions=functions)
    return memory(result, infer_shapes(result, bind(result, parse_request(dims=dims, values=values))))


def peak(text: str, *dims: str, values: tuple[str, ...] = (), functions: str = "") -> tuple[str, int]:
    result = measure_memory(text, *dims, values=values, functions=functions).peak
    assert result is not None
    return result.node, result.nbytes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("g (float[10] x) => (float[] y) { y = Relu(x) }", ("Relu_0", 80)),
        # x is freed after a, a after b: never more than two at once
        ("g (float[10] x) => (float[] y) { a = Relu(x)  b = Relu(a)  y = Relu(b) }", ("Relu_0", 80)),
        # a lives until the end
        ("g (float[10] x) => (float[] y) { a = Relu(x)  b = Exp(a)  c = Exp(b)  y = Add(a, c) }", ("Exp_2", 120)),
        # an output stays; so does nothing else
        ("g (float[10] x) => (float[] a, float[] y) { a = Relu(x)  b = Exp(a)  y = Exp(b) }", ("Exp_2", 120)),
        # an output that nobody reads is gone after its node
        ("g (float[8] x) => (float[] y) { a, b = Split <num_outputs = 2> (x)  y = Exp(a) }", ("Split_0", 64)),
        # twice in one node is once in memory
        ("g (float[10] x) => (float[] y) { y = Mul(x, x) }", ("Mul_0", 80)),
    ],
)
def test_value_lives_from_producer_to_last_reader(text: str, expected: tuple[str, int]) -> None:
    assert peak(text) == expected


def test_constants_take_no_activation_memory() -> None:
    text = """g (float[10] x) => (float[] y) <float[10] w = {1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0}> {
        k = Constant <value = float[10] {1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0}> ()
        v = Mul(w, k)  u = Exp(v)  y = Mul(x, u) }"""
    assert peak(text) == ("Mul_3", 80)


def test_view_shares_memory_of_its_input() -> None:
    text = """g (float[2,5] x) => (float[] y) { f = Flatten(x)  i = Identity(f)
        s = Constant <value = int64[1] {10}> ()  r = Reshape(i, s)  a = Exp(r)  y = Add(a, r) }"""
    assert peak(text) == ("Add_5", 120)
    assert measure_memory(text).timeline[0] == (0, 40)


def test_memory_of_subgraph_adds_to_outer_graph() -> None:
    text = """g (float[10] x, bool c) => (float[] y) { a = Relu(x)
        b = If (c) <then_branch = t () => (float p) { q = Exp(a)  r = Exp(q)  p = Add(q, r) },
                    else_branch = e () => (float u) { u = Exp(a) }>
        y = Add(a, b) }"""
    # a (40), then q, r and p (40 each); c is one byte, and gone before y
    assert peak(text, values=("c=1",)) == ("If_1/then_branch/Add_2", 40 + 1 + 3 * 40)
    assert peak(text, values=("c=0",)) == ("Add_2", 120)


def test_function_uses_memory_of_its_caller() -> None:
    function = '<domain: "local", opset_import: ["" : 18]> f (x) => (y) { a = Exp(x)  y = Exp(a) }'
    assert peak("g (float[10] x) => (float[] y) { y = local.f(x) }", functions=function) == ("f_0/f/Exp_1", 120)


def test_value_of_unknown_size_is_listed() -> None:
    result = measure_memory("g (float[4] x) => (int64[] y) { i = NonZero(x)  y = Transpose(i) }")
    assert result.peak is not None and result.peak.nbytes == 16
    assert list(result.unknown.values()) == [2]


def test_timeline_is_short_and_has_the_peak() -> None:
    nodes = "  ".join(f"a{at + 1} = Relu(a{at})" for at in range(999))
    text = f"g (float[10] a0) => (float[] y) {{ {nodes}  b = Concat <axis = 0> (a999, a999)  y = Relu(b) }}"
    result = measure_memory(text)
    assert result.peak is not None and result.peak.nbytes == 160
    assert len(result.timeline) <= 200 and max(nbytes for _, nbytes in result.timeline) == 160


def test_constant_output_counts() -> None:
    text = "g (float[1] x) => (int64[N] y, float[1] z) { c = Constant <value = int64[3] {1, 1, 1}> ()"
    assert peak(text + " y = Neg(c)  z = Relu(x) }") == ("Relu_2", 24 + 8)
    unknown = measure_memory(text + " w = Identity(c)  y = NonZero(w)  z = Relu(x) }")
    assert unknown.peak is not None


_HEAD = '<domain: "local", opset_import: ["" : 18, "local" : 1]>'
WRITTEN_OUT = {
    "outputs stay": (
        "y, z = local.f(x)  w = Exp(x)",
        "f (a) => (b, c) { b = Relu(a)  t = Neg(a)  u = Relu(t)  c = Relu(u) }",
        "y = Relu(x)  t = Neg(x)  u = Relu(t)  z = Relu(u)  w = Exp(x)",
    ),
    "a view inside": (
        "y = local.f(x)  z = Exp(y)  w = Exp(x)",
        "f (a) => (c) { b = Identity(a)  c = Exp(b) }",
        "b = Identity(x)  y = Exp(b)  z = Exp(y)  w = Exp(x)",
    ),
    "a view comes out": (
        "v = local.f(x)  y = Exp(v)  z = Exp(y)  w = Exp(x)",
        "f (a) => (c) { b = Identity(a)  c = Identity(b) }",
        "v = Identity(x)  y = Exp(v)  z = Exp(y)  w = Exp(x)",
    ),
    "a weight goes in": (
        "y = local.f(x, k)  z = Exp(y)  w = Exp(x)",
        "f (a, k) => (c) { t = Neg(k)  c = Add(a, t) }",
        "t = Neg(k)  y = Add(x, t)  z = Exp(y)  w = Exp(x)",
    ),
    "the same function on data": (
        "y = local.f(x, k)  z = local.f(x, y)  w = Exp(x)",
        "f (a, k) => (c) { t = Neg(k)  c = Add(a, t) }",
        "t = Neg(k)  y = Add(x, t)  u = Neg(y)  z = Add(x, u)  w = Exp(x)",
    ),
}


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_function_memory_equals_inlined_memory(name: str) -> None:
    called, function, flat = WRITTEN_OUT[name]
    text = "g (float[10] x) => (float[] y, float[] z, float[] w) <float[10] k = {{1,1,1,1,1,1,1,1,1,1}}> {{ {} }}"
    assert peak(text.format(called), functions=f"{_HEAD} {function}")[1] == peak(text.format(flat))[1]


def test_view_of_captured_value_allocates_nothing() -> None:
    branch = "{} () => (float[] {}) {{ v{} = Identity(x)  {} = ReduceSum <keepdims = 0> (v{}) }}"
    both = ", ".join(f"{key} = {branch.format(*(at,) * 5)}" for key, at in (("then_branch", "a"), ("else_branch", "b")))
    assert peak(f"g (float[10] x, bool c) => (float[] y) {{ y = If (c) <{both}> }}")[1] == 40 + 1 + 4
