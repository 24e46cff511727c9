"""What onnxruntime refuses, at load or on every run, an operator's rule refuses; and nothing that it runs."""

import numpy as np
import pytest
from onnx.numpy_helper import from_array

from onnx_autodoc.ir import Graph, Node, Type, Value
from onnx_autodoc.ops import find
from onnx_autodoc.ops.node_checks import check_subgraphs
from onnx_autodoc.ops.values import Array, Contradiction
from onnx_autodoc.shapes import Binding, infer_shapes
from tests._text import model
from tests.ops._calls import Case, assert_right_with_unknowns, call_of, case_id, find_differences, run, types_and_dims
from tests.ops._one_node import numbers, zeros

X, PICTURE = zeros(4, 6), zeros(1, 4, 6, 6)


def rows(*items: object, dtype: type = np.int64) -> Array:
    return np.array(items, dtype)


def ones(*dims: int) -> Array:
    return np.ones(dims, np.float32)


def bytes_of(*dims: int) -> Array:
    return np.zeros(dims, np.uint8)


def normalization(x: Array, *counts: int, outputs: int = 1, opset: int = 15, **attributes: int) -> Case:
    return Case("BatchNormalization", [x, *map(zeros, counts)], attributes, outputs, opset)


def recurrent(op: str, gates: int, *more: Array | None, width: int = 5, rows: int = 3) -> Case:
    weights = [zeros(1, gates * rows, width), zeros(1, gates * 3, 3)]
    return Case(op, [zeros(7, 2, 5), *weights, *more], {"hidden_size": 3}, 1, 14)


def scaled(op: str, scale: Array, zero: Array | None, opset: int = 13, **attributes: int) -> Case:
    x = X if op == "QuantizeLinear" else bytes_of(4, 6)
    return Case(op, [x, scale, zero], attributes, 1, opset)


def nbits(x: Array, weight: Array, **attributes: int) -> tuple[str, Case]:
    form = {"K": 32, "N": 16, "bits": 4, "block_size": 32} | attributes
    return MICROSOFT, Case("MatMulNBits", [x, weight, ones(16)], form, 1, 1, (1, 2))


def merged(weight: Array, heads: int) -> tuple[str, Case]:
    inputs = [zeros(1, 4, 8), weight, zeros(weight.shape[1])]
    return MICROSOFT, Case("Attention", inputs, {"num_heads": heads}, 1, 1)


def skipping(skip: Array, scale: Array) -> tuple[str, Case]:
    return MICROSOFT, Case("SkipLayerNormalization", [zeros(2, 4, 8), skip, scale], {}, 1, 1)


def picked(op: str, indices: Array, *more: Array, **attributes: int) -> Case:
    """By indices that the file holds."""
    return Case(op, [X, indices, *more], attributes, 1, 16, (1,))


_OPEN = Binding({}, {}, {}, {}, {})
MICROSOFT = "com.microsoft"
Q, DQ = "QuantizeLinear", "DequantizeLinear"
RNNS = (("LSTM", 4), ("GRU", 3), ("RNN", 1))
STRETCHED = ((4,), (1,), (), (3, 4), (2, 1, 4))
SCALES, SIZES = numbers(1.0, 1.0, 2.0, 2.0), numbers(1, 4, 12, 12)
NONE = np.zeros(0, np.float32)
KERNEL = zeros(8, 4, 3, 3)
RUNS: list[tuple[str, Case]] = [
    ("", Case("Split", [X], {}, 2, 13)),
    ("", Case("Split", [zeros(0, 6)], {}, 2, 13)),
    ("", Case("Split", [zeros(5, 6)], {"num_outputs": 3}, 3, 18)),
    ("", Case("Split", [zeros(7, 6)], {"num_outputs": 4}, 4, 18)),
    ("", Case("Split", [X, numbers(1, 3)], {}, 2, 18)),
    ("", Case("Slice", [X, numbers(0, 0), numbers(2, 2), numbers(0, -1)], {}, 1, 13)),
    ("", Case("Transpose", [X], {"perm": [1, 0]}, 1, 13)),
    *(("", Case(op, [X], {"keepdims": number}, 1, 13)) for op in ("ReduceMean", "ArgMax") for number in (-1, 0, 1, 7)),
    *(("", Case("ReduceSum", [X], {"noop_with_empty_axes": number}, 1, 13)) for number in (-1, 0, 1, 7)),
    # operands of other sizes
    ("", normalization(PICTURE, 4, 4, 4, 4)),
    ("", normalization(X, 6, 6, 6, 6)),
    ("", normalization(PICTURE, 4, 4, 4, 4, opset=9)),
    ("", normalization(PICTURE, 4, 4, 4, 4, outputs=3, training_mode=1)),
    ("", Case("BatchNormalization", [PICTURE, *[zeros(4, 6, 6)] * 4], {"spatial": 0}, 1, 7)),
    ("", Case("InstanceNormalization", [PICTURE, zeros(4), zeros(4)], {}, 1, 6)),
    ("", Case("GroupNormalization", [PICTURE, zeros(4), zeros(4)], {"num_groups": 2}, 1, 21)),
    *(("", Case("LayerNormalization", [zeros(2, 3, 4), zeros(*dims), zeros(*dims)], {}, 1, 17)) for dims in STRETCHED),
    *(("", Case("RMSNormalization", [zeros(2, 3, 4), zeros(*dims)], {}, 1, 23)) for dims in STRETCHED),
    ("", Case("Conv", [PICTURE, KERNEL, zeros(8)], {}, 1, 11)),
    ("", Case("ConvTranspose", [zeros(1, 8, 5, 5), KERNEL, zeros(16)], {"group": 4}, 1, 11)),
    *(("", Case("Gemm", [X, zeros(6, 3), zeros(*dims)], {}, 1, 13)) for dims in ((), (1,), (3,), (4, 1), (4, 3))),
    *(("", Case("Einsum", [zeros(2, 4), zeros(n, 3)], {"equation": "ij,jk->ik"}, 1, 12)) for n in (1, 4)),
    ("", Case("GridSample", [PICTURE, zeros(1, 3, 3, 2)], {}, 1, 16)),
    ("", Case("GridSample", [zeros(1, 1, 4, 4, 4), zeros(1, 2, 2, 2, 3)], {}, 1, 20)),
    ("", Case("EyeLike", [X], {}, 1, 9)),
    ("", Case("Trilu", [PICTURE], {}, 1, 14)),
    ("", Case("OneHot", [np.zeros((2, 3), np.int64), numbers(5), numbers(0, 1)], {}, 1, 11)),
    ("", Case("Resize", [PICTURE, None, NONE, SIZES], {}, 1, 13, (2, 3))),
    ("", Case("Resize", [PICTURE, None, SCALES], {}, 1, 13, (2,))),
    ("", Case("RotaryEmbedding", [zeros(1, 3, 8), zeros(1, 3, 2), zeros(1, 3, 2)], {"num_heads": 2}, 1, 23)),
    (
        "",
        Case(
            "Attention", [zeros(1, 4, 8), zeros(1, 4, 4), zeros(1, 4, 4)], {"q_num_heads": 4, "kv_num_heads": 2}, 1, 23
        ),
    ),
    ("", Case("CumSum", [X, np.array(-2)], {}, 1, 14)),
    ("", Case("Mod", [ones(2), ones(2)], {"fmod": 1}, 1, 13)),
    ("", Case("Mod", [rows(2, 3), rows(2, 3)], {}, 1, 13)),
    ("", Case("NonMaxSuppression", [zeros(2, 5, 4), zeros(2, 3, 5)], {}, 1, 11)),
    ("", Case("RoiAlign", [PICTURE, zeros(2, 4), rows(0, 0)], {}, 1, 16)),
    ("", Case("Reshape", [X, numbers(24)], {}, 1, 13)),
    ("", Case("ConstantOfShape", [numbers(2)], {"value": from_array(ones(1))}, 1, 9)),
    *(("", recurrent(op, gates)) for op, gates in RNNS),
    *(
        ("", recurrent(op, gates, zeros(1, 6 * gates), rows(7, 0, dtype=np.int32), zeros(1, 2, 3)))
        for op, gates in RNNS
    ),
    ("", recurrent("LSTM", 4, None, None, zeros(1, 2, 3), zeros(1, 2, 3), zeros(1, 9))),
    *(("", scaled(op, ones(), bytes_of(1), axis=7)) for op in (Q, DQ)),
    *(("", scaled(op, ones(1), None, axis=7)) for op in (Q, DQ)),
    *(("", scaled(op, ones(6), bytes_of(6), axis=axis)) for op in (Q, DQ) for axis in (1, -1)),
    *(("", scaled(op, ones(4), None, axis=0)) for op in (Q, DQ)),
    *(("", scaled(op, ones(4, 2), bytes_of(4, 2), 21, axis=1, block_size=size)) for op in (Q, DQ) for size in (3, 4)),
    ("", scaled(Q, ones(1), bytes_of(1), 21, output_dtype=2)),
    ("", picked("Gather", rows(3, -4))),
    ("", picked("GatherND", rows([3, -6]))),
    ("", picked("GatherElements", rows([5, -6]), axis=1)),
    ("", Case("GatherND", [zeros(2, 3, 4), rows([2], [-3])], {"batch_dims": 1}, 1, 13, (1,))),
    ("", picked("ScatterElements", rows([5, -6]), zeros(1, 2), axis=1)),
    ("", picked("ScatterND", rows([3], [-4]), zeros(2, 6))),
    nbits(zeros(1, 32), bytes_of(16, 1, 16)),
    nbits(zeros(1, 32), bytes_of(16, 1, 32), bits=8),
    merged(zeros(8, 24), 2),
    *(skipping(zeros(*dims), zeros(8)) for dims in ((2, 4, 8), (1, 4, 8), (4, 8))),
    ("ai.onnx.ml", Case("LinearRegressor", [X], {"coefficients": [1.0] * 12, "targets": 2}, 1, 1)),
]
REFUSED: list[tuple[str, Case]] = [
    ("", Case("Split", [X], {}, 3, 13)),
    ("", Case("Split", [X], {}, 3, 2)),
    ("", Case("Split", [X], {}, 2, 18)),
    ("", Case("Split", [X, numbers(2, 2)], {"num_outputs": 2}, 2, 18)),
    ("", Case("Split", [X], {"num_outputs": 7}, 7, 18)),
    ("", Case("Split", [zeros(5, 6)], {"num_outputs": 4}, 4, 18)),  # 2, 2, 2, and one less than nothing
    ("", Case("Slice", [X, numbers(0, 0), numbers(2, 2), numbers(0, 0)], {}, 1, 13)),
    ("", Case("Transpose", [X], {"perm": [0, -1]}, 1, 13)),
    # operands of other sizes
    *(("", normalization(PICTURE, *counts)) for counts in ((5, 5, 5, 5), (4, 5, 4, 4), (4, 4, 4, 5))),
    ("", normalization(PICTURE, 4, 5, 4, 4, opset=9)),
    ("", normalization(PICTURE, 4, 4, 4, 4, outputs=3)),
    ("", normalization(PICTURE, 4, 4, 4, 4, training_mode=1)),
    ("", Case("InstanceNormalization", [PICTURE, zeros(4), zeros(5)], {}, 1, 6)),
    ("", Case("GroupNormalization", [PICTURE, zeros(4), zeros(4)], {"num_groups": 3}, 1, 21)),
    *(("", Case("LayerNormalization", [X, *map(zeros, counts)], {}, 1, 17)) for counts in ((5,), (6, 5))),
    ("", Case("LayerNormalization", [X, zeros(1, 1, 6)], {}, 1, 17)),
    ("", Case("RMSNormalization", [X, zeros(5)], {}, 1, 23)),
    *(("", Case("Conv", [PICTURE, KERNEL, bias], {}, 1, 11)) for bias in (zeros(7), zeros(1), zeros(1, 8))),
    ("", Case("ConvTranspose", [zeros(1, 8, 5, 5), KERNEL], {"group": 3}, 1, 11)),
    ("", Case("ConvTranspose", [zeros(1, 8, 5, 5), KERNEL, zeros(4)], {"group": 2}, 1, 11)),
    *(("", Case("Gemm", [X, zeros(6, 3), zeros(*dims)], {}, 1, 13)) for dims in ((7,), (4,), (1, 4, 3))),
    ("", Case("Einsum", [zeros(2, 4), zeros(5, 3)], {"equation": "ij,jk->ik"}, 1, 12)),
    ("", Case("Einsum", [zeros(3, 4)], {"equation": "ii->i"}, 1, 12)),
    *(("", Case("GridSample", [PICTURE, zeros(*dims)], {}, 1, 16)) for dims in ((1, 3, 3, 3), (2, 3, 3, 2))),
    ("", Case("EyeLike", [PICTURE], {}, 1, 9)),
    ("", Case("Trilu", [zeros(4)], {}, 1, 14)),
    ("", Case("OneHot", [np.zeros((2, 3), np.int64), numbers(5), numbers(0, 1, 2)], {}, 1, 11)),
    ("", Case("Resize", [PICTURE, None, SCALES, SIZES], {}, 1, 13, (2, 3))),
    *(
        ("", Case("RotaryEmbedding", [zeros(1, 3, 8), zeros(1, 3, 2), zeros(1, 3, 2)], attributes, 1, 23))
        for attributes in ({}, {"num_heads": 3})
    ),
    (
        "",
        Case(
            "Attention", [zeros(1, 4, 8), zeros(1, 4, 6), zeros(1, 4, 6)], {"q_num_heads": 4, "kv_num_heads": 3}, 1, 23
        ),
    ),
    ("", Case("CumSum", [X, np.array(2)], {}, 1, 14)),
    ("", Case("Mod", [ones(2), ones(2)], {}, 1, 13)),
    *(
        ("", Case("NonMaxSuppression", [zeros(*boxes), zeros(1, 1, 5)], {}, 1, 11))
        for boxes in ((5, 4), (1, 5, 3), (2, 5, 4), (1, 6, 4))
    ),
    *(("", Case("RoiAlign", [PICTURE, zeros(2, n), rows(*at)], {}, 1, 16)) for n, at in ((5, (0, 0)), (4, (0, 0, 0)))),
    *(("", Case("Reshape", [X, rows(*shape)], {}, 1, 13)) for shape in (([24],), ([4, 6],))),
    ("", Case("ConstantOfShape", [numbers(2)], {"value": from_array(ones(2))}, 1, 9)),
    ("", Case("Range", [np.array(0), np.array(5), np.array(0)], {}, 1, 11)),
    *(("", recurrent(op, gates, width=6)) for op, gates in RNNS),
    *(("", recurrent(op, gates, rows=4)) for op, gates in RNNS),
    *(("", recurrent(op, gates, zeros(1, 7))) for op, gates in RNNS),
    *(("", recurrent(op, gates, None, rows(7, 99, dtype=np.int32))) for op, gates in RNNS),
    *(("", recurrent(op, gates, None, rows(7, 7, 7, dtype=np.int32))) for op, gates in RNNS),
    *(("", recurrent(op, gates, None, None, zeros(1, 2, 9))) for op, gates in RNNS),
    ("", recurrent("LSTM", 4, None, None, None, zeros(1, 1, 3))),
    ("", recurrent("LSTM", 4, None, None, None, None, zeros(1, 8))),
    *(("", scaled(op, ones(6), bytes_of(6), axis=7)) for op in (Q, DQ)),
    *(("", scaled(op, ones(3), bytes_of(3), axis=1)) for op in (Q, DQ)),
    *(("", scaled(op, ones(6), bytes_of(3), axis=1)) for op in (Q, DQ)),
    *(("", scaled(op, ones(1, 6), None, axis=1)) for op in (Q, DQ)),
    *(("", scaled(op, ones(4, 3), None, 21, axis=1, block_size=3)) for op in (Q, DQ)),
    *(("", scaled(op, ones(4, 2), bytes_of(4, 1), 21, axis=1, block_size=3)) for op in (Q, DQ)),
    ("", scaled(Q, ones(1), bytes_of(1), 21, output_dtype=3)),
    *(("", picked("Gather", rows(place))) for place in (4, -5)),
    *(("", picked("GatherND", rows(place))) for place in ([0, 6], [-5, 0])),
    *(("", picked("GatherElements", rows([place]), axis=1)) for place in (6, -7)),
    ("", picked("GatherElements", rows(0))),
    *(("", picked("ScatterElements", rows([place]), zeros(1, 1), axis=1)) for place in (6, -7)),
    ("", picked("ScatterElements", rows([1]), zeros(1, 2), axis=1)),
    *(("", picked("ScatterND", rows([place]), zeros(1, 6))) for place in (4, -5)),
    ("", picked("ScatterND", rows([1]), zeros(1, 3))),
    nbits(zeros(1, 33), bytes_of(16, 1, 16)),
    nbits(zeros(1, 32), bytes_of(16, 1, 15)),
    nbits(zeros(1, 32), bytes_of(16, 1, 36), bits=9),
    nbits(zeros(1, 32), bytes_of(16, 5, 4), block_size=7),
    merged(zeros(8, 24), 3),
    merged(zeros(9, 24), 2),
    *(skipping(zeros(*dims), zeros(8)) for dims in ((2, 4, 7), (1, 3, 8), (8,))),
    skipping(zeros(2, 4, 8), zeros(7)),
    ("ai.onnx.ml", Case("LinearRegressor", [X], {"coefficients": [1.0] * 5}, 1, 1)),
]


def _name(item: object) -> str | None:
    return case_id(item) if isinstance(item, Case) else None


@pytest.mark.parametrize(("domain", "case"), RUNS, ids=_name)
def test_node_that_runs_is_accepted(domain: str, case: Case) -> None:
    """Nor where less is known of its inputs."""
    entry = find(domain, case.op)
    assert entry is not None
    actual = types_and_dims(run(case, domain))
    assert find_differences(entry.infer(call_of(case, domain)), actual) == []
    assert_right_with_unknowns(entry.infer, case, domain, actual)


@pytest.mark.parametrize(("domain", "case"), REFUSED, ids=_name)
def test_node_that_cannot_run_is_rejected(domain: str, case: Case) -> None:
    entry = find(domain, case.op)
    assert entry is not None
    with pytest.raises(Contradiction):
        entry.infer(call_of(case, domain))
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        run(case, domain)


def test_computed_indices_are_not_checked() -> None:
    """A sequence longer than its table of positions has the shapes and the costs that it would have."""
    case = picked("Gather", rows(4))
    entry = find("", "Gather")
    assert entry is not None
    assert entry.infer(call_of(case._replace(fixed=()), ""))[0].shape == (1, 6)


BRANCHES = """
  then_branch = a () => (float[2] p) { p = Relu(x) },
  else_branch = b () => (float[2] q) { q = Neg(x) }
"""
BODY = "body = b (int64 i, bool g, float[2] s) => (bool h, float[2] t) { h = Identity(g) t = Relu(s) }"


@pytest.mark.parametrize(("dims", "is_array_size"), [("", True), ("[1]", True), ("[N]", True), ("[3]", False)])
def test_input_of_other_than_one_element_is_rejected(dims: str, is_array_size: bool) -> None:
    choice = f"g (float[2] x, bool{dims} c) => (float[2] y) {{ y = If (c) <{BRANCHES}> }}"
    loop = f"g (float[2] x, int64{dims} n, bool c) => (float[2] y) {{ y = Loop (n, c, x) <{BODY}> }}"
    for text in (choice, loop):
        assert (not infer_shapes(model(text), _OPEN).contradictions) == is_array_size


@pytest.mark.parametrize(("axis", "is_array_size"), [(0, True), (1, True), (-2, True), (2, False), (-3, False)])
def test_scan_output_axis_beyond_the_rank_is_rejected(axis: int, is_array_size: bool) -> None:
    output = Value("z", Type("tensor", "float32", (4,)))
    attributes = {"body": Graph("b", outputs=(output,)), "num_scan_inputs": 1, "scan_output_axes": (axis,)}
    node = Node("Scan", ("x",), ("y",), attributes=attributes)
    assert ([text for text in check_subgraphs(node, 11) if "scan_output_axes" in text] == []) == is_array_size
