"""Data-dependent sizes: what can be inferred from them, and what must not."""

import numpy as np
import onnxruntime
import pytest

from onnx_autodoc.ops import Unknown
from onnx_autodoc.ops.values import Dim
from onnx_autodoc.shapes import Request, bind, bind_and_infer
from tests._text import infer_y, model, proto, shapes

# n elements of x are not zero: `picked` is [n, 2]
NUMBERS = """c0 = Constant <value = int64[1] {0}> ()  c1 = Constant <value = int64[1] {1}> ()
    c2 = Constant <value = int64[1] {2}> ()  rest = Constant <value = int64[1] {-1}> ()
    zero = Constant <value = int64 {0}> ()
    at = NonZero(x)  picked = Transpose(at)  size = Shape(picked)  n = Slice(size, c0, c1)
"""
X = np.ones((2, 3), np.float32)


def run_shape(text: str, **inputs: np.ndarray) -> tuple[int, ...]:
    source = proto(text)
    session = onnxruntime.InferenceSession(source.SerializeToString(), providers=["CPUExecutionProvider"])
    shape: tuple[int, ...] = session.run(["y"], inputs)[0].shape
    return shape


def matches_run(shape: tuple[Dim, ...] | None, truth: tuple[int, ...]) -> bool:
    """No size that is expected is another than the real one."""
    assert shape is not None and len(shape) == len(truth)
    return all(isinstance(dim, Unknown) or dim == real for dim, real in zip(shape, truth, strict=True))


MOST = "most = ReduceMax <keepdims = 1> (x)  flat = Reshape(most, c1)  k = Cast <to = 7> (flat)  "  # [1] of int64
CASES = {
    "the same size cancels": ("t = Concat <axis = 0> (n, rest)  y = Reshape(picked, t)", (None, 2)),
    "also in a scalar": (
        "i = Gather(size, zero)  u = Unsqueeze(i, c0)  t = Concat <axis = 0> (u, rest)  y = Reshape(picked, t)",
        (None, 2),
    ),
    "twice the size does not": (
        "m = Mul(n, c2)  t = Concat <axis = 0> (m, rest)  y = Reshape(picked, t)",
        (None, None),
    ),
    "nor its half": (
        "m = Mul(n, c2)  e = Expand(c1, m)  t = Concat <axis = 0> (n, rest)  y = Reshape(e, t)",
        (None, None),
    ),
    "what is added and taken off does": (
        "m = Add(n, c2)  k = Sub(m, c2)  t = Concat <axis = 0> (k, rest)  y = Reshape(picked, t)",
        (None, 2),
    ),
    "known sizes cancel": ("t = Concat <axis = 0> (rest, c2)  y = Reshape(picked, t)", (None, 2)),
    "a bound is not a length": (
        """m = Add(n, c2)  e = Expand(c1, m)  f = Slice(e, n, m)  three = Concat <axis = 0> (f, f, f)
        t = Concat <axis = 0> (n, rest)  y = Reshape(three, t)""",
        (None, None),
    ),
    "known elements beside unknown ones": (
        "j = Squeeze(c1, c0)  i = Gather(size, j)  u = Unsqueeze(i, c0)  y = Expand(c1, u)",
        (2,),
    ),
    "a range has one dimension": ("i = Gather(size, zero)  j = Squeeze(c1, c0)  y = Range(zero, i, j)", (None,)),
    "a list of sizes has a length": (MOST + "s = Concat <axis = 0> (k, k, k)  y = Expand(c1, s)", (None,) * 3),
    "and elements": (MOST + "s = Concat <axis = 0> (c2, k)  y = Expand(c1, s)", (2, None)),
    "the largest k": (MOST + "y, at2 = TopK(x, k)", (2, None)),
    "a filling": ("y = ConstantOfShape(size)", (None, 2)),
}


@pytest.mark.parametrize(("nodes", "expected"), CASES.values(), ids=CASES)
def test_data_dependent_size_leaves_derived_sizes_unknown(nodes: str, expected: tuple[int | None, ...]) -> None:
    text = f"g (float[2,3] x) => (int64[] y) {{ {NUMBERS} {nodes} }}"
    text = text.replace("int64[] y", "float[] y") if "TopK" in nodes or "ConstantOfShape" in nodes else text
    shape, truth = infer_y(text).shape, run_shape(text, x=X)
    assert matches_run(shape, truth)
    assert shape is not None
    assert tuple(None if isinstance(dim, Unknown) else dim for dim in shape) == expected


def test_added_offset_cancels_with_its_subtraction() -> None:
    size = Unknown("why")
    assert size + 2 - 2 is size and size * 1 is size and (size - 1) // 1 + 1 is size and 0 + size is size
    assert size + 2 is not size and size * 2 is not size and 4 - size is not size and size + size is not size
    assert (size + 2).why == (size * size).why == "why"


STARTED = """g (float[2,3] x, int64 stop) => (float[] y) {
    scalar = Constant <value = float {0.0}> ()  most = Constant <value = int64 {5}> ()
    on = Constant <value = bool {1}> ()
    y = Loop (MOST, on, scalar) <body = b (int64 i, bool go, float h) => (bool more, float next) {
        more = Less(i, stop)  next = Relu(x) }> }"""


def test_loop_that_surely_runs_returns_the_values_of_a_pass() -> None:
    assert infer_y(STARTED.replace("MOST", "most")).concrete == (2, 3)
    assert infer_y(STARTED.replace("MOST", "")).concrete == (2, 3)
    assert run_shape(STARTED.replace("MOST", "most"), x=X, stop=np.array(3)) == (2, 3)
    assert infer_y(STARTED.replace("MOST", "stop")).shape is None  # it may not run at all


GROWN = """g (float[2,3] x, int64 stop) => (int64[] y) {
    NUMBERS
    on = Constant <value = bool {1}> ()
    last = Loop (stop, on, picked) <body = b (int64 i, bool go, int64[A,2] h) => (bool more, int64[C,2] next) {
        more = Identity(go)  t = Concat <axis = 0> (n, rest)  seen = Reshape(h, t)  next = Concat <axis = 0> (h, h) }>
    t2 = Concat <axis = 0> (n, rest)  y = Reshape(last, t2) }""".replace("NUMBERS", NUMBERS)


def test_size_that_grows_in_a_loop_is_not_the_initial_one() -> None:
    assert matches_run(infer_y(GROWN).shape, run_shape(GROWN, x=X, stop=np.array(2)))
    body = shapes(GROWN).steps[-3].bodies[0].steps
    visited = next(step.outputs[0].shape for step in body if step.node.op == "Reshape")
    assert visited is not None and isinstance(visited[1], Unknown)


# one branch takes eight numbers, the other four: at any size, only one of them can run
PICKY = """g (float[1,L] x, int64 rate) => (float[] y) {
    eight = Constant <value = int64[2] {2, 4}> ()  four = Constant <value = int64[2] {4, 1}> ()
    high = Constant <value = int64 {9}> ()  fast = Equal(rate, high)
    y = If (fast) <then_branch = t () => (float a) { a = Reshape(x, eight) },
                   else_branch = e () => (float b) { b = Reshape(x, four) }> }"""


@pytest.mark.parametrize(("length", "rate", "shape"), [(8, 9, (2, 4)), (4, 1, (4, 1))])
def test_branch_that_cannot_run_is_not_selected(length: int, rate: int, shape: tuple[int, ...]) -> None:
    inferred = shapes(PICKY, f"L={length}")
    assert inferred.contradictions == () and len(inferred.avoided) == 1
    assert (
        inferred.values["y"].concrete
        == shape
        == run_shape(PICKY, x=np.ones((1, length), np.float32), rate=np.array(rate))
    )
    assert sorted(body.times for body in inferred.steps[-1].bodies if isinstance(body.times, int)) == [0, 1]


def test_two_branches_that_cannot_run_are_a_contradiction() -> None:
    assert len(shapes(PICKY, "L=5").contradictions) == 2


ENDED = """g (float[2,3] x) => (float[] y) {
    start = Constant <value = int64 {0}> ()  on = Constant <value = bool {1}> ()
    last, y = Loop ( , on, start) <body = b (int64 i, bool go, int64 k) => (bool more, int64 k2, float out) {
        one = Constant <value = int64 {1}> ()  four = Constant <value = int64 {4}> ()
        k2 = Add(k, one)  low = Less(k2, four)
        more = If (low) <then_branch = t () => (bool a) { a = Identity(low) },
                         else_branch = e () => (bool b) { b = Less(k2, one) }>
        out = Relu(x) }> }"""


def test_loop_condition_can_read_values_inside_a_branch() -> None:
    inferred = shapes(ENDED)
    assert inferred.contradictions == ()
    assert inferred.values["y"].concrete == run_shape(ENDED, x=X) == (4, 2, 3)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("g (float[B,N] waveforms) => (float[] y) { y = Relu(waveforms) }", {"B": 1, "N": 16_000}),
        ("g (float[N,3] x) => (float[] y) { y = Relu(x) }", {"N": 1}),
        ("g (uint8[img_h,img_w,3] x) => (uint8[] y) { y = Identity(x) }", {"img_h": 224, "img_w": 224}),
    ],
)
def test_dimension_names_are_matched_by_axis(text: str, sizes: dict[str, int]) -> None:
    assert bind(model(text), Request()).chosen == sizes


def test_defaults_are_usual_sizes_at_which_every_branch_runs() -> None:
    binding, inferred = bind_and_infer(
        model(PICKY.replace("{2, 4}", "{2, 256}").replace("{4, 1}", "{3, 1}")), Request()
    )
    assert inferred.contradictions == () and binding.chosen["L"] in (3, 512)
