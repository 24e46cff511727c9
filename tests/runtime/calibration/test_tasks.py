"""What a graph becomes when onnxruntime runs it on a CPU: what is joined, what is put in, what is not there."""

from collections import Counter

import pytest

from onnx_autodoc.analysis.cost import Costs
from onnx_autodoc.runtime.calibration import Task, tasks
from onnx_autodoc.shapes import Request, fit
from tests._text import model


def held(name: str, *dims: int, dtype: str = "float") -> str:
    """A weight, in the notation of the graph."""
    sizes = f"{name}_size = Constant <value = int64[{len(dims)}] {{{', '.join(map(str, dims))}}}> ()"
    return f"{sizes}  {name} = ConstantOfShape <value = {dtype}[1] {{1}}> ({name}_size)  "


CONV = held("w", 16, 16, 3, 3) + held("b", 16)


def lowered(text: str, *dims: str) -> list[Task]:
    read = model(text)
    _, shapes = fit(read, Request(dims=dims))
    return tasks(read, shapes, Costs(read, shapes))


def paces(text: str, *dims: str) -> Counter[str]:
    return Counter(task.pace for task in lowered(text, *dims))


def test_an_activation_and_a_sum_go_into_the_convolution() -> None:
    text = f"""g (float[1,16,8,8] x) => (float[1,16,8,8] y) {{ {CONV}
        a = Conv <pads = [1,1,1,1]> (x, w, b)  r = Relu(a)  c = Conv <pads = [1,1,1,1]> (r, w, b)
        s = Add(c, r)  y = Relu(s) }}"""
    assert paces(text) == {"convolution": 2, "reorder": 2}


def test_what_cannot_go_on_in_blocks_costs_two_reorders() -> None:
    text = f"""g (float[1,16,8,8] x) => (float[1,16,8,8] y) <float k = {{3.0}}> {{ {CONV}
        a = Conv <pads = [1,1,1,1]> (x, w, b)  m = Div(a, k)  y = Conv <pads = [1,1,1,1]> (m, w, b) }}"""
    assert paces(text) == {"convolution": 2, "reorder": 4, "function divide": 1}


def test_a_gelu_is_one_kernel_in_the_spelling_that_is_fused_and_many_in_another() -> None:
    head = "g (float[4,8] x) => (float[4,8] y) <float r = {1.41421354}, float o = {1.0}, float h = {0.5}> {"
    start = "d = Div(x, r)  e = Erf(d)  a = Add(e, o)"
    assert paces(f"{head} {start}  m = Mul(x, a)  y = Mul(m, h) }}") == {"function gelu": 1}
    spelled = paces(f"{head} {start}  m = Mul(a, h)  y = Mul(x, m) }}")
    assert spelled == {"function divide": 1, "function erf": 1, "plain": 3}


def test_a_bias_goes_into_a_product_of_a_matrix_and_not_of_a_batch() -> None:
    def text(dims: str) -> str:
        return f"""g (float[{dims}] x) => (float[{dims}] y) {{ {held("w", 8, 8)} {held("b", 8)}
            m = MatMul(x, w)  y = Add(m, b) }}"""

    assert paces(text("4,8")) == {"product": 1}
    assert paces(text("1,4,8")) == {"product": 1, "plain spread": 1}


def test_between_quantizers_there_is_one_kernel_on_integers() -> None:
    text = """g (float[1,8,6,6] x) => (float[1,8,6,6] y)
        <float s = {0.1}, uint8 z = {128}, float t = {0.1}, int8 zero = {0}> { WEIGHT
        q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)  k = DequantizeLinear(w, t, zero)
        c = Conv <pads = [1,1,1,1]> (d, k)  r = Relu(c)  p = QuantizeLinear(r, s, z)  y = DequantizeLinear(p, s, z) }"""
    text = text.replace("WEIGHT", held("w", 8, 8, 3, 3, dtype="int8"))
    assert paces(text) == {"quantize": 1, "integer convolution": 1, "dequantize": 1}


def test_a_dynamic_product_takes_its_cast_its_scales_and_its_bias() -> None:
    text = """g (float[4,8] x) => (float[4,8] y) <int8 z = {0}, float s = {0.1}> { WEIGHTS
        q, t, u = DynamicQuantizeLinear(x)  m = MatMulInteger(q, w, u, z)  f = Cast <to = 1> (m)
        k = Mul(t, s)  r = Mul(f, k)  y = Add(r, b) }"""
    text = text.replace("WEIGHTS", held("w", 8, 8, dtype="int8") + held("b", 8))
    assert paces(text) == {"quantize dynamically": 1, "integer product": 1}


def test_half_precision_is_cast_around_what_has_no_kernel_for_it() -> None:
    text = f"""g (float16[4,8] x) => (float16[8,4] y) {{ {held("w", 8, 8, dtype="float16")}
        a = MatMul(x, w)  t = Transpose <perm = [1, 0]> (a)  y = Relu(t) }}"""
    assert paces(text) == {"product": 1, "transpose": 1, "plain": 1, "cast": 4}


@pytest.mark.parametrize(("size", "kernels"), [("4", 0), ("N", 4)])
def test_sizes_are_asked_for_only_where_they_are_open(size: str, kernels: int) -> None:
    text = f"""g (float[{size},8] x) => (float[{size},8] y)
        <int64 zero = {{0}}, int64[1] axis = {{0}}, int64[1] w = {{8}}> {{
        s = Shape(x)  n = Gather(s, zero)  u = Unsqueeze(n, axis)  c = Concat <axis = 0> (u, w)  y = Reshape(x, c) }}"""
    assert len(lowered(text, *["N=4"] * (size == "N"))) == kernels + 1


def test_the_same_sizes_asked_for_twice_are_worked_out_once() -> None:
    text = """g (float[N,8] x) => (float[N,8] y) <int64 zero = {0}, int64 nil = {0}> {
        s = Shape(x)  a = Gather(s, zero)  t = Shape(x)  b = Gather(t, nil)  c = Mul(a, b)
        f = Cast <to = 1> (c)  y = Mul(x, f) }"""
    assert paces(text, "N=4") == {"view": 1, "gather": 1, "plain on integers": 1, "cast to another kind": 1, "plain": 1}


def test_what_a_loop_runs_counts_as_often_as_it_runs() -> None:
    text = """g (float[1,8] x) => (float[1,8] y) <int64 n = {5}, bool c = {1}> {
        y = Loop (n, c, x) <body = b (int64 i, bool on, float[1,8] h) => (bool go, float[1,8] next) {
            go = Identity(on)  next = Tanh(h) }> }"""
    found = {task.pace: task.amounts for task in lowered(text)}
    assert found["control"] == {"kernels": 1, "passes": 5}
    assert found["function tanh"]["kernels"] == 5


def test_channels_that_a_block_lacks_are_multiplied_all_the_same() -> None:
    def macs(channels: int) -> float:
        text = f"""g (float[1,16,8,8] x) => (float[1,{channels},8,8] y) {{ {held("w", channels, 16, 3, 3)}
            y = Conv <pads = [1,1,1,1]> (x, w) }}"""
        return next(task.amounts["macs"] for task in lowered(text) if task.pace == "convolution")

    assert macs(20) == macs(24) == 1.5 * macs(16)


def test_weights_that_steps_share_are_held_once() -> None:
    def text(second: str) -> str:
        return f"""g (float[1,8] x) => (float[1,8] y) {{ {held("w", 8, 8)} {held("v", 8, 8)}
            a = MatMul(x, w)  t = Tanh(a)  y = MatMul(t, {second}) }}"""

    assert [task.held for task in lowered(text("w")) if task.pace == "product of a row"] == [256, 0]
    assert [task.held for task in lowered(text("v")) if task.pace == "product of a row"] == [256, 256]


def test_a_constant_that_a_function_is_given_is_one_inside_it() -> None:
    text = f"""g (float[4,8] x) => (float[4,8] y) {{ {held("w", 8, 8)} {held("b", 8)}
        a = local.linear(x, w, b)  y = local.linear(a, w, b) }}"""
    inside = "linear (data, weight, bias) => (out) { m = MatMul(data, weight)  out = Add(m, bias) }"
    read = model(text, functions=f'<domain: "local", opset_import: ["" : 18]> {inside}')
    _, shapes = fit(read, Request())
    found = tasks(read, shapes, Costs(read, shapes))
    assert [(task.pace, task.held) for task in found] == [("product", 256), ("product", 0)]


def test_a_window_larger_than_the_picture_takes_all_of_it() -> None:
    def text(window: int) -> str:
        size = f"kernel_shape = [{window},{window}], strides = [{window},{window}]"
        return f"g (float[1,4,6,6] x) => (float[1,4,1,1] y) {{ y = AveragePool <{size}, ceil_mode = 1> (x) }}"

    (whole,), (larger,) = lowered(text(6)), lowered(text(600))
    assert larger.amounts == whole.amounts
    assert whole.amounts["window"] == 4 * 36


def test_between_quantizers_a_view_stays_a_view_and_a_pool_is_no_turn() -> None:
    def text(op: str, out: str) -> str:
        return f"""g (uint8[1,8,8,8] x) => (uint8[{out}] y) <float s = {{0.5}}, uint8 z = {{0}}, int64[2] t = {{8,64}}>
            {{ a = DequantizeLinear(x, s, z)  b = {op}  y = QuantizeLinear(b, s, z) }}"""

    assert paces(text("Reshape(a, t)", "8,64")) == {"view": 1}
    assert paces(text("Transpose <perm = [0,2,1,3]> (a)", "1,8,8,8")) == {"integer move": 1}
    assert paces(text("MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (a)", "1,8,8,8")) == {"integer pool": 1}
    assert paces(text("Softmax(a)", "1,8,8,8")) == {"integer softmax": 1}


def test_a_norm_by_near_channels_and_a_softmax_across_rows_have_paces_of_their_own() -> None:
    head = "g (float[1,8,6,6] x) => (float[1,8,6,6] y)"
    assert paces(f"{head} {{ y = LRN <size = 5> (x) }}") == {"norm across": 1}
    assert paces(f"{head} {{ y = Softmax <axis = 1> (x) }}") == {"softmax across": 1}
    assert paces(f"{head} {{ y = Softmax <axis = 3> (x) }}") == {"softmax": 1}
