"""Which constants are weights, how many numbers they hold, and which node puts them to use."""

import pytest
from onnx import TensorProto, helper

from onnx_autodoc.analysis.parameters import Parameters, parameters
from tests._text import model, save_and_read


def count_parameters(text: str, functions: str = "", opset: int = 18) -> Parameters:
    return parameters(model(text, opset, functions))


def readers_by_name(found: Parameters) -> dict[str, tuple[int, int]]:
    """Node -> (weights, bytes)."""
    return {found.readers[place].name: (share.elements, share.nbytes) for place, share in found.nodes.items()}


def test_weights_count_wherever_they_are_stored() -> None:
    text = """g (float[1,2] x, bool c) => (float[] y) <float[2,2] w = {1.0, 2.0, 3.0, 4.0}> {
        a = MatMul(x, w)  k = Constant <value = float[2,3] {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}> ()  b = MatMul(a, k)
        d = If (c) <then_branch = t () => (float p) <float[3,1] v = {1.0, 2.0, 3.0}> { p = MatMul(b, v) },
                    else_branch = e () => (float q) { q = ReduceSum(b) }>
        y = local.f(d) }"""
    function = """<domain: "local", opset_import: ["" : 18]> f (x) => (y) {
        u = Constant <value = float[5] {1.0, 2.0, 3.0, 4.0, 5.0}> ()  y = Mul(x, u) }"""
    result = count_parameters(text, function)
    assert result.total == 4 + 6 + 3 + 5
    assert readers_by_name(result) == {
        "MatMul_0": (4, 16),
        "MatMul_2": (6, 24),
        "If_3/then_branch/MatMul_0": (3, 12),
        "f/Mul_1": (5, 20),
    }


def test_a_weight_with_several_readers_counts_once() -> None:
    text = """g (float[1,4] x, int64[3] i) => (float[] y, float[] z) <float[4,4] w> {
        z = Gather(w, i)  t = Transpose(w)  y = MatMul(x, t) }"""
    result = count_parameters(text.replace("w>", "w = {" + ", ".join(["1.0"] * 16) + "}>"))
    assert (result.total, result.tensors) == (16, 1)
    assert readers_by_name(result) == {"Gather_0": (16, 64)}


def test_literals_and_shapes_are_not_weights() -> None:
    text = """g (float[2,4] x) => (float[] y)
        <float[4] b = {1.0, 2.0, 3.0, 4.0}, float eps = {0.1}, int64[2] s = {4, 2}> {
        a = Add(x, b)  c = Add(a, eps)  d = Reshape(c, s)
        anchors = Constant <value = float[2] {1.0, 2.0}> ()  y = Sub(d, anchors) }"""
    result = count_parameters(text)
    assert (result.total, result.constants) == (4, 1 + 2 + 2)


def test_plain_numbers_of_constant_node_are_constants() -> None:
    text = """g (float[2] x) => (float[] y) <float[2,2] w = {1.0, 2.0, 3.0, 4.0}> {
        s = Constant <value_ints = [4]> ()  r = Reshape(w, s)  k = Constant <value_floats = [1.0, 2.0]> ()
        a = Mul(x, k)  y = Mul(a, r) }"""
    result = count_parameters(text)
    assert (result.total, result.constants) == (4, 3)
    assert readers_by_name(result) == {"Mul_4": (4, 16)}


def test_placeholder_for_missing_bias_is_not_a_weight() -> None:
    text = """g (float[1,2] x) => (float[] y) <float[2] w = {1.0, 2.0}> {
        b = Constant <value = float[2] {0.0, 0.0}> ()  y = LayerNormalization(x, w, b) }"""
    assert count_parameters(text).total == 2


def test_statistics_are_counted_separately() -> None:
    ones = "{1.0, 1.0, 1.0}"
    text = f"""g (float[1,3,2,2] x) => (float[] y) <float[3] s = {ones}, float[3] b = {ones}, float[3] m = {ones},
        float[3] v = {ones}> {{ y = BatchNormalization(x, s, b, m, v) }}"""
    result = count_parameters(text)
    assert (result.total, result.statistics, result.nbytes) == (6, 6, 4 * 12)


QUANTIZED = """g (float[1,2] x) => (float[] y) <int8[2,2] q = {1, 2, 3, 4}, float[2] s = {0.1, 0.2}, int8[2] z = {0, 0},
    int32[2] b = {1, 2}, float[2] bs = {0.1, 0.1}> {
    w = DequantizeLinear <axis = 1> (q, s, z)  a = MatMul(x, w)
    c = DequantizeLinear <axis = 0> (b, bs)  y = Add(a, c) }"""


def test_a_quantized_weight_is_one_weight_with_its_scale_and_zero_point() -> None:
    result = count_parameters(QUANTIZED)
    assert (result.total, result.tensors, result.quantization) == (6, 2, 6)
    assert result.by_dtype == {"int8": 4, "int32": 2}
    assert readers_by_name(result) == {"MatMul_1": (4, 4 + 8 + 2), "Add_3": (2, 8 + 8)}


def test_the_scale_of_a_dynamically_quantized_weight_is_no_weight() -> None:
    text = """g (float[1,2] x) => (float[] y)
        <int8[2,3] w = {1, 2, 3, 4, 5, 6}, float[3] s = {0.1, 0.2, 0.3}, int8[3] z = {0, 0, 0}> {
        q, qs, qz = DynamicQuantizeLinear(x)  p = MatMulInteger(q, w, qz, z)  f = Cast <to = 1> (p)
        k = Mul(qs, s)  y = Mul(f, k) }"""
    result = count_parameters(text)
    assert (result.total, result.quantization) == (6, 6)


def packed_model(bits: int, dtype: int, shape: list[int]) -> object:
    weight = helper.make_tensor("w", dtype, shape, bytes(shape[0] * shape[1] * shape[2]), raw=True)
    scale = helper.make_tensor("s", TensorProto.FLOAT, [6, 2], [1.0] * 12)
    node = helper.make_node(
        "MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", K=60, N=6, bits=bits, block_size=32
    )
    made = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 60])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [weight, scale],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])


@pytest.mark.parametrize(("bits", "width", "dtype"), [(4, 16, "int4"), (8, 32, "int8")])
def test_packed_weight_counts_its_elements(bits: int, width: int, dtype: str) -> None:
    result = parameters(save_and_read(packed_model(bits, TensorProto.UINT8, [6, 2, width])))
    assert result.by_dtype == {dtype: 360} and result.packed
    assert (result.quantization, result.nbytes) == (12, 6 * 2 * width + 48)


def test_two_names_for_one_place_of_an_external_file_are_one_weight() -> None:
    tensors = []
    for name in ("a", "b"):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[8, 8], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "w.bin"), ("offset", "0"), ("length", "256")):
            tensor.external_data.add(key=key, value=value)
        tensors.append(tensor)
    nodes = [helper.make_node("MatMul", ["x", "a"], ["m"]), helper.make_node("MatMul", ["m", "b"], ["y"])]
    io = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8]) for name in ("x", "y")]
    made = helper.make_model(helper.make_graph(nodes, "g", io[:1], io[1:], tensors))
    assert parameters(save_and_read(made)).total == 64


def test_weight_without_reader_is_unread() -> None:
    result = count_parameters("g (float[2] x) => (float[] y) <float[3] w = {1.0, 2.0, 3.0}> { y = Relu(x) }")
    assert (result.total, result.unread, readers_by_name(result)) == (3, 3, {})


def test_learned_attributes_are_parameters() -> None:
    node = helper.make_node(
        "LinearRegressor", ["x"], ["y"], domain="ai.onnx.ml", coefficients=[0.1] * 5, intercepts=[1.0], targets=1
    )
    io = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 5]) for name in ("x", "y")]
    made = helper.make_model(
        helper.make_graph([node], "g", io[:1], io[1:]), opset_imports=[helper.make_opsetid("ai.onnx.ml", 1)]
    )
    result = parameters(save_and_read(made))
    assert (result.total, result.nbytes, result.by_dtype) == (6, 24, {"float32": 6})
