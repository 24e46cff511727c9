"""One forward pass: values carried along, what the file claims, what cannot be known, in any order."""

import msgspec
import pytest

from onnx_autodoc.limits import Limits, within
from onnx_autodoc.ops import Call, Operator, ValueInfo
from onnx_autodoc.shapes import Request, Shapes, bind, infer_shapes, walk
from onnx_autodoc.shapes.scope import RULES_PER_NODE
from tests._text import infer_y, model, shapes


def test_shape_arithmetic_is_evaluated() -> None:
    text = """g (float[B,S,12] x) => (float[] y) {
        size = Shape(x)  first = Constant <value = int64[1] {0}> ()  b = Gather(size, first)
        rest = Constant <value = int64[1] {-1}> ()  target = Concat <axis = 0> (b, rest)  y = Reshape(x, target) }"""
    assert infer_y(text, "B=2", "S=5").concrete == (2, 60)


def test_float_arithmetic_on_sizes_is_evaluated() -> None:
    text = """g (float[1,3,S,S] x) => (float[] y) {
        size = Shape <start = 2> (x)  half = Constant <value = float[1] {0.5}> ()
        f = Cast <to = 1> (size)  g = Mul(f, half)  h = Floor(g)  hw = Cast <to = 7> (h)
        nc = Shape <end = 2> (x)  target = Concat <axis = 0> (nc, hw)  y = Resize(x, , , target) }"""
    assert infer_y(text, "S=15").concrete == (1, 3, 7, 7)


def test_unknown_size_has_its_reason_and_other_sizes_stay_known() -> None:
    text = "g (float[4,5] x) => (float[] y) { at = NonZero(x)  t = Transpose(at)  y = GatherND(x, t) }"
    inferred = shapes(text)
    assert inferred.values["t"].shape is not None and inferred.values["t"].shape[1] == 2
    assert "is data-dependent" in inferred.values["y"].reason
    assert all(step.gap for step in inferred.steps)


def test_unknown_size_cancels_in_a_reshape() -> None:
    text = """g (float[8] x, float[4,6] w) => (float[] y) {
        at = NonZero(x)  rows = Squeeze(at, zero)  zero2 = Identity(zero)  picked = Gather(big, rows)
        n = Shape <end = 1> (picked)  tail = Constant <value = int64[2] {2, -1}> ()
        target = Concat <axis = 0> (n, tail)  y = Reshape(picked, target) }"""
    text = text.replace("{\n", "{ zero = Constant <value = int64[1] {0}> ()  big = Concat <axis = 0> (w, w)\n", 1)
    shape = infer_y(text).shape
    assert shape is not None and shape[1:] == (2, 3)


def test_misdeclared_shape_is_reported_and_not_used() -> None:
    text = "g (float[2,3] x) => (float[2,3] y) <float[9,9] a> { a = Relu(x)  y = Relu(a) }"
    inferred = shapes(text)
    assert inferred.values["a"].concrete == (2, 3)
    assert any("declares a as [9, 9]" in conflict.sentence for conflict in inferred.misdeclared)


def test_custom_operator_without_rule_gets_its_declared_shape() -> None:
    text = "g (float[N,3] x) => (float[] y) <float[N,7] a> { a = custom.Magic(x)  y = Relu(a) }"
    inferred = shapes(text, "N=4")
    assert inferred.values["y"].concrete == (4, 7)
    assert inferred.assumed == ("a",)


def test_custom_operator_without_declared_shape_is_a_gap_with_reason() -> None:
    inferred = shapes("g (float[2,3] x) => (float[] y, float[2,3] z) { y = custom.Magic(x)  z = Relu(x) }")
    assert "no shape rule for operator Magic of domain custom" in inferred.values["y"].reason
    assert inferred.values["z"].concrete == (2, 3)


def test_node_order_does_not_change_the_result() -> None:
    sorted_model = model("g (float[2,3] x) => (float[] y) { a = Relu(x)  b = Transpose(a)  y = MatMul(a, b) }")
    nodes = sorted_model.graph.nodes
    turned = msgspec.structs.replace(
        sorted_model, graph=msgspec.structs.replace(sorted_model.graph, nodes=tuple(reversed(nodes)))
    )
    inferred = infer_shapes(turned, bind(turned, Request()))
    assert inferred.values["y"].concrete == (2, 2)
    assert [step.node.op for step in inferred.steps] == ["MatMul", "Transpose", "Relu"]
    assert inferred.contradictions == ()


def test_cycle_and_undefined_name_are_contradictions() -> None:
    looped = model("g (float[2,3] x) => (float[] y) { a = Add(x, x)  y = Relu(a) }")
    nodes = list(looped.graph.nodes)
    nodes[0] = msgspec.structs.replace(nodes[0], inputs=("x", "y"))
    turned = msgspec.structs.replace(looped, graph=msgspec.structs.replace(looped.graph, nodes=tuple(nodes)))
    inferred = infer_shapes(turned, bind(turned, Request()))
    assert inferred.values["a"].concrete is None
    assert any("'y' is used but never defined" in conflict.sentence for conflict in inferred.contradictions)


@pytest.mark.parametrize(
    "text",
    [
        "g (float[2,3] x, float[4,5] w) => (float[] y) { y = MatMul(x, w) }",
        "g (float[2,3] x, float[4,5] w) => (float[] y) { y = Add(x, w) }",
        "g (float[2,3] x) => (float[] y) { y = Transpose <perm = [0, 0]> (x) }",
        "g (float[2,3] x) => (float[] y) { y = Concat <axis = 7> (x, x) }",
        'g (float[2,3] x) => (float[] y) { y = Softmax <axis = "one"> (x)  }',
        "g (float[2,3] x) => (float[] y) { s = Constant <value = int64[1] {7}> ()  y = Reshape(x, s) }",
        "g (float[2,3] x) => (float[] y) { y = LayerNormalization <axis = 2147483648> (x, x) }",
        "g (float[2,3] x) => (float[] y) { y = MatMul(x) }",
    ],
)
def test_node_that_cannot_run_is_a_contradiction(text: str) -> None:
    inferred = shapes(text)
    assert inferred.values["y"].concrete is None or "Softmax" in text
    assert inferred.contradictions or "Softmax" in text


def test_huge_sizes_neither_overflow_nor_allocate() -> None:
    text = """g (float[1] x) => (float[] y) {
        s = Constant <value = int64[3] {4611686018427387904, 4611686018427387904, 2}> ()  y = Expand(x, s) }"""
    assert infer_y(text).concrete == (1 << 62, 1 << 62, 2)
    assert infer_y(_double(62)).concrete == (1 << 62,)
    assert infer_y(_double(63)).reason == "Concat produces a size beyond 64 bits"


def _double(times: int) -> str:
    names = ["x", *(f"a{at}" for at in range(times))]
    nodes = "".join(f"a{at} = Concat <axis = 0> ({name}, {name}) " for at, name in enumerate(names[:-1]))
    return f"g (float[1] x) => (float[] y) {{ {nodes} y = Relu({names[-1]}) }}"


def infer_within(text: str, functions: str, allowed: Limits) -> Shapes:
    source = model(text, functions=functions)
    with within(allowed):
        return infer_shapes(source, bind(source, Request()))


def test_steps_stop_exactly_at_the_limit() -> None:
    longer = "Concat <axis = 0> (x, one)  one = Constant <value = float[1] {0.0}> ()"
    functions = nest_functions(8).replace("Relu(x)", longer)  # no call is like another one
    text, nodes = "g (float[2] x) => (float[] y) { y = local.f(x) }", 1 + 8 * 2 + 2
    whole = infer_within(text, functions, Limits())
    assert whole.values["y"].concrete == (2 + 256,)
    enough = whole.work - 1 - RULES_PER_NODE * nodes  # the last body is begun, and done, with one step left for its two
    assert infer_within(text, functions, Limits(steps=enough)).values["y"].concrete == (2 + 256,)
    gap = infer_within(text, functions, Limits(steps=enough - 1)).values["y"].reason
    assert gap == f"shape inference stopped after {whole.work - 2:,} steps; --max-steps raises the limit"


@pytest.mark.parametrize("levels", [5, 6])
def test_function_nesting_stops_exactly_at_the_limit(levels: int) -> None:
    text = "g (float[2] x) => (float[] y) { y = local.f(x) }"
    inferred = infer_within(text, nest_functions(levels - 1), Limits(depth=5))
    if levels == 5:
        assert inferred.values["y"].concrete == (2,)
    else:
        assert inferred.values["y"].reason.endswith("deeper than 5 levels; --max-depth raises the limit")


@pytest.mark.parametrize("steps", [149, 150])
def test_loop_simulation_stops_exactly_at_the_limit(steps: int) -> None:
    text = """g (float[2] x) => (float[] y) {
        zero = Constant <value = int64 {0}> ()  t = Constant <value = bool {1}> ()
        n, y = Loop (, t, zero) <body = b (int64 i, bool on, int64 k) => (bool go, int64 k1, float[2] s) {
            one = Constant <value = int64 {1}> ()  most = Constant <value = int64 {15}> ()
            k1 = Add(k, one)  go = Less(k1, most)  s = Relu(x) }> }"""
    inferred = infer_within(text, "", Limits(steps=steps))
    if steps == 150:  # two fifths of 150 are 15 passes of 4 nodes
        assert inferred.values["y"].concrete == (15, 2)
    else:
        assert "more than 14 times; --max-steps raises the limit" in inferred.values["y"].reason


def test_elements_above_the_memory_limit_are_dropped() -> None:
    text = """g (float[2] x) => (float[] y) {
        many = Constant <value = int64[1] {1000}> ()  a = ConstantOfShape <value = int64[1] {1}> (many)
        sum = ReduceSum <keepdims = 1> (a)  y = ConstantOfShape(sum) }"""
    assert infer_within(text, "", Limits(steps=20)).values["y"].concrete == (1000,)  # 8,000 bytes, 400 for each step
    assert infer_within(text, "", Limits(steps=19)).values["y"].concrete is None


def test_failing_rule_is_a_gap_and_no_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_index_error(_: Call) -> list[ValueInfo]:
        raise IndexError("tuple index out of range")

    monkeypatch.setattr(walk, "find", lambda *_: Operator(raise_index_error))
    inferred = shapes("g (float[2] x) => (float[] y) { y = Relu(x) }")
    assert inferred.steps[0].gap == "the rule for Relu failed on this node's inputs or attributes"
    assert inferred.contradictions == ()


def test_memory_error_is_not_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_memory_error(_: Call) -> list[ValueInfo]:
        raise MemoryError

    monkeypatch.setattr(walk, "find", lambda *_: Operator(raise_memory_error))
    with pytest.raises(MemoryError):
        shapes("g (float[2] x) => (float[] y) { y = Relu(x) }")


def nest_functions(levels: int) -> str:
    """Functions that call the next one twice: 2^levels nodes if they were inlined."""
    inner = f'<domain: "local", opset_import: ["" : 18]> f{levels} (x) => (y) {{ y = Relu(x) }}'
    calls = [
        f'<domain: "local", opset_import: ["" : 18, "local" : 1]> {"f" if at == 0 else f"f{at}"} (x) => (y) '
        f"{{ a = local.f{at + 1}(x)  y = local.f{at + 1}(a) }}"
        for at in range(levels)
    ]
    return "\n".join([*calls, inner])


def test_equal_function_calls_are_inferred_once() -> None:
    source = model("g (float[2] x) => (float[] y) { y = local.f(x) }", functions=nest_functions(60))
    inferred = infer_shapes(source, bind(source, Request()))
    assert inferred.values["y"].concrete == (2,)


def test_undeclared_opset_is_not_assumed() -> None:
    source = model("g (float[2,3] x) => (float[] y, bool[] m) { y, m = Dropout(x) }")
    bare = msgspec.structs.replace(source, opsets={"custom": 1})
    inferred = infer_shapes(bare, bind(bare, Request())).values
    assert inferred["y"].concrete == inferred["m"].concrete == (2, 3)
    assert inferred["m"].dtype is None
    spectrum = model("g (float[1,8,1] x) => (float[] y) { y = DFT(x) }")
    bare = msgspec.structs.replace(spectrum, opsets={"custom": 1})
    assert "declares no opset version of ai.onnx" in infer_shapes(bare, bind(bare, Request())).values["y"].reason
    oldest = msgspec.structs.replace(source, opsets={})  # before IR 3 there were none to give
    assert infer_shapes(oldest, bind(oldest, Request())).values["m"].dtype == "float32"
