"""Kernels that onnxruntime runs for a graph: fused, inserted and folded nodes."""

from collections import Counter

import pytest

from onnx_autodoc.analysis.cost import Costs
from onnx_autodoc.runtime.calibration import KernelWork, lower_model
from onnx_autodoc.shapes import Request, bind_and_infer, parse_request
from tests._text import model


def format_weight(name: str, *dims: int, dtype: str = "float") -> str:
    """Return a weight in the text notation."""
    sizes = f"{name}_size = Constant <value = int64[{len(dims)}] {{{', '.join(map(str, dims))}}}> ()"
    return f"{sizes}  {name} = ConstantOfShape <value = {dtype}[1] {{1}}> ({name}_size)  "


CONV = format_weight("w", 16, 16, 3, 3) + format_weight("b", 16)


def lower(text: str, *dims: str) -> list[KernelWork]:
    read = model(text)
    _, shapes = bind_and_infer(read, parse_request(dims=dims))
    return lower_model(read, shapes, Costs(read, shapes))


def count_kernels(text: str, *dims: str) -> Counter[str]:
    return Counter(kernel.kind for kernel in lower(text, *dims))


def test_activation_and_sum_are_fused_into_the_convolution() -> None:
    text = f"""g (float[1,16,8,8] x) => (float[1,16,8,8] y) {{ {CONV}
        a = Conv <pads = [1,1,1,1]> (x, w, b)  r = Relu(a)  c = Conv <pads = [1,1,1,1]> (r, w, b)
        s = Add(c, r)  y = Relu(s) }}"""
    assert count_kernels(text) == {"convolution": 2, "reorder": 2}


def test_unblocked_operator_needs_two_reorders() -> None:
    text = f"""g (float[1,16,8,8] x) => (float[1,16,8,8] y) <float k = {{3.0}}> {{ {CONV}
        a = Conv <pads = [1,1,1,1]> (x, w, b)  m = Div(a, k)  y = Conv <pads = [1,1,1,1]> (m, w, b) }}"""
    assert count_kernels(text) == {"convolution": 2, "reorder": 4, "function divide": 1}


def test_gelu_is_fused_only_in_the_known_form() -> None:
    head = "g (float[4,8] x) => (float[4,8] y) <float r = {1.41421354}, float o = {1.0}, float h = {0.5}> {"
    start = "d = Div(x, r)  e = Erf(d)  a = Add(e, o)"
    assert count_kernels(f"{head} {start}  m = Mul(x, a)  y = Mul(m, h) }}") == {"function gelu": 1}
    spelled = count_kernels(f"{head} {start}  m = Mul(a, h)  y = Mul(x, m) }}")
    assert spelled == {"function divide": 1, "function erf": 1, "plain": 3}


def test_bias_is_fused_into_the_product_of_a_matrix_only() -> None:
    def text(dims: str) -> str:
        return f"""g (float[{dims}] x) => (float[{dims}] y) {{ {format_weight("w", 8, 8)} {format_weight("b", 8)}
            m = MatMul(x, w)  y = Add(m, b) }}"""

    assert count_kernels(text("4,8")) == {"product": 1}
    assert count_kernels(text("1,4,8")) == {"product": 1, "plain spread": 1}


def test_qdq_convolution_is_one_integer_kernel() -> None:
    text = """g (float[1,8,6,6] x) => (float[1,8,6,6] y)
        <float s = {0.1}, uint8 z = {128}, float t = {0.1}, int8 zero = {0}> { WEIGHT
        q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)  k = DequantizeLinear(w, t, zero)
        c = Conv <pads = [1,1,1,1]> (d, k)  r = Relu(c)  p = QuantizeLinear(r, s, z)  y = DequantizeLinear(p, s, z) }"""
    text = text.replace("WEIGHT", format_weight("w", 8, 8, 3, 3, dtype="int8"))
    assert count_kernels(text) == {"quantize": 1, "integer convolution": 1, "dequantize": 1}


def test_dynamic_product_fuses_cast_scales_and_bias() -> None:
    text = """g (float[4,8] x) => (float[4,8] y) <int8 z = {0}, float s = {0.1}> { WEIGHTS
        q, t, u = DynamicQuantizeLinear(x)  m = MatMulInteger(q, w, u, z)  f = Cast <to = 1> (m)
        k = Mul(t, s)  r = Mul(f, k)  y = Add(r, b) }"""
    text = text.replace("WEIGHTS", format_weight("w", 8, 8, dtype="int8") + format_weight("b", 8))
    assert count_kernels(text) == {"quantize dynamically": 1, "integer product": 1}


@pytest.mark.parametrize(("size", "kernels"), [("4", 0), ("N", 4)])
def test_shape_computations_run_only_for_dynamic_dims(size: str, kernels: int) -> None:
    text = f"""g (float[{size},8] x) => (float[{size},8] y)
        <int64 zero = {{0}}, int64[1] axis = {{0}}, int64[1] w = {{8}}> {{
        s = Shape(x)  n = Gather(s, zero)  u = Unsqueeze(n, axis)  c = Concat <axis = 0> (u, w)  y = Reshape(x, c) }}"""
    assert len(lower(text, *["N=4"] * (size == "N"))) == kernels + 1


def test_repeated_shape_computations_run_once() -> None:
    text = """g (float[N,8] x) => (float[N,8] y) <int64 zero = {0}, int64 nil = {0}> {
        s = Shape(x)  a = Gather(s, zero)  t = Shape(x)  b = Gather(t, nil)  c = Mul(a, b)
        f = Cast <to = 1> (c)  y = Mul(x, f) }"""
    assert count_kernels(text, "N=4") == {
        "view": 1,
        "gather": 1,
        "plain on integers": 1,
        "cast to another kind": 1,
        "plain": 1,
    }


def test_loop_body_counts_once_per_iteration() -> None:
    text = """g (float[1,8] x) => (float[1,8] y) <int64 n = {5}, bool c = {1}> {
        y = Loop (n, c, x) <body = b (int64 i, bool on, float[1,8] h) => (bool go, float[1,8] next) {
            go = Identity(on)  next = Tanh(h) }> }"""
    result = {kernel.kind: kernel.quantities for kernel in lower(text)}
    assert result["control"] == {"kernels": 1, "passes": 5}
    assert result["function tanh"]["kernels"] == 5


def test_last_channel_block_is_computed_in_full() -> None:
    def macs(channels: int) -> float:
        text = f"""g (float[1,16,8,8] x) => (float[1,{channels},8,8] y) {{ {format_weight("w", channels, 16, 3, 3)}
            y = Conv <pads = [1,1,1,1]> (x, w) }}"""
        return next(kernel.quantities["macs"] for kernel in lower(text) if kernel.kind == "convolution")

    assert macs(20) == macs(24) == 1.5 * macs(16)


def test_shared_weights_count_once() -> None:
    def text(second: str) -> str:
        return f"""g (float[1,8] x) => (float[1,8] y) {{ {format_weight("w", 8, 8)} {format_weight("v", 8, 8)}
            a = MatMul(x, w)  t = Tanh(a)  y = MatMul(t, {second}) }}"""

    assert [kernel.weight_bytes for kernel in lower(text("w")) if kernel.kind == "product of a row"] == [256, 0]
    assert [kernel.weight_bytes for kernel in lower(text("v")) if kernel.kind == "product of a row"] == [256, 256]


def test_constant_argument_of_a_function_is_constant_inside() -> None:
    text = f"""g (float[4,8] x) => (float[4,8] y) {{ {format_weight("w", 8, 8)} {format_weight("b", 8)}
        a = local.linear(x, w, b)  y = local.linear(a, w, b) }}"""
    inside = "linear (data, weight, bias) => (out) { m = MatMul(data, weight)  out = Add(m, bias) }"
    read = model(text, functions=f'<domain: "local", opset_import: ["" : 18]> {inside}')
    _, shapes = bind_and_infer(read, Request())
    result = lower_model(read, shapes, Costs(read, shapes))
    assert [(kernel.kind, kernel.weight_bytes) for kernel in result] == [("product", 256), ("product", 0)]


def test_pool_window_is_limited_to_the_image() -> None:
    def text(window: int) -> str:
        size = f"kernel_shape = [{window},{window}], strides = [{window},{window}]"
        return f"g (float[1,4,6,6] x) => (float[1,4,1,1] y) {{ y = AveragePool <{size}, ceil_mode = 1> (x) }}"

    (whole,), (larger,) = lower(text(6)), lower(text(600))
    assert larger.quantities == whole.quantities
    assert whole.quantities["window"] == 4 * 36


def test_qdq_operators_have_integer_classes() -> None:
    def text(op: str, out: str) -> str:
        return f"""g (uint8[1,8,8,8] x) => (uint8[{out}] y) <float s = {{0.5}}, uint8 z = {{0}}, int64[2] t = {{8,64}}>
            {{ a = DequantizeLinear(x, s, z)  b = {op}  y = QuantizeLinear(b, s, z) }}"""

    assert count_kernels(text("Reshape(a, t)", "8,64")) == {"view": 1}
    assert count_kernels(text("Transpose <perm = [0,2,1,3]> (a)", "1,8,8,8")) == {"integer move": 1}
    assert count_kernels(text("MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (a)", "1,8,8,8")) == {"integer pool": 1}
    assert count_kernels(text("Softmax(a)", "1,8,8,8")) == {"integer softmax": 1}


def test_lrn_and_softmax_across_rows_have_separate_classes() -> None:
    head = "g (float[1,8,6,6] x) => (float[1,8,6,6] y)"
    assert count_kernels(f"{head} {{ y = LRN <size = 5> (x) }}") == {"norm across": 1}
    assert count_kernels(f"{head} {{ y = Softmax <axis = 1> (x) }}") == {"softmax across": 1}
    assert count_kernels(f"{head} {{ y = Softmax <axis = 3> (x) }}") == {"softmax": 1}
