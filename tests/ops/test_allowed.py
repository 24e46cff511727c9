"""Allowed values of attributes, and lengths of parallel lists, compared with onnxruntime."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pytest

from onnx_autodoc.ir import AttributeReference, Graph, Node
from onnx_autodoc.ops import OPERATORS
from onnx_autodoc.ops.node_checks import check_attributes
from tests.ops._calls import Case, call_of, run
from tests.ops._one_node import numbers, zeros

ML: Final = "ai.onnx.ml"
X, PICTURE, TEXTS = zeros(2, 4), zeros(1, 4, 4, 4), np.array(["a", "b"], object)
MODES = ["nearest", "linear", "cubic", "bilinear", "bicubic", "NEAREST", "area", ""]
AFTER = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT", "softmax", ""]
KERNELS = ["LINEAR", "POLY", "RBF", "SIGMOID", "linear", ""]
BRANCHES = [
    "BRANCH_LEQ",
    "BRANCH_LT",
    "BRANCH_GTE",
    "BRANCH_GT",
    "BRANCH_EQ",
    "BRANCH_NEQ",
    "BRANCH_MEMBER",
    "branch_leq",
    "SPLIT",
]
NAMES = [
    "Affine",
    "Relu",
    "LeakyRelu",
    "ThresholdedRelu",
    "Tanh",
    "ScaledTanh",
    "Sigmoid",
    "HardSigmoid",
    "Elu",
    "Softsign",
    "Softplus",
    "Swish",
]
SCALED = [PICTURE, np.zeros(0, np.float32), numbers(1.0, 1.0, 2.0, 2.0)]
REGIONS = [PICTURE, zeros(2, 4), np.zeros(2, np.int64)]
LINEAR = {"coefficients": [1.0] * 8, "intercepts": [0.0, 0.0], "classlabels_ints": [0, 1]}
VECTORS = {
    "coefficients": [1.0, 1.0],
    "support_vectors": [1.0] * 8,
    "rho": [0.0],
    "kernel_params": [0.1, 0.0, 3.0],
}
NODES = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_values": [0.0, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
}
TARGETS = {"target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0], "target_weights": [1.0, 2.0]}
REGRESSOR = {**NODES, **TARGETS, "n_targets": 1}
CLASSIFIER = NODES | {name.replace("target", "class"): item for name, item in TARGETS.items()}
CLASSIFIER |= {"classlabels_int64s": [0, 1]}
GRAMS = {
    "max_gram_length": 1,
    "min_gram_length": 1,
    "max_skip_count": 0,
    "ngram_counts": [0],
    "ngram_indexes": [0, 1],
    "pool_int64s": [0, 1],
}
MAP = {0: 0.0, 1: 1.0}


def recurrent(gates: int, directions: int = 1) -> list[Any]:
    return [zeros(7, 2, 5), zeros(directions, gates * 3, 5), zeros(directions, gates * 3, 3)]


Row = tuple[str, str, int, Sequence[Any], Mapping[str, Any], str, Sequence[Any]]
ROWS: list[Row] = [
    ("", "BitShift", 11, [np.ones(2, np.uint8)] * 2, {}, "direction", ["LEFT", "RIGHT", "left", "UP", ""]),
    ("", "DepthToSpace", 11, [PICTURE], {"blocksize": 2}, "mode", ["DCR", "CRD", "dcr", ""]),
    ("", "Gelu", 20, [X], {}, "approximate", ["none", "tanh", "TANH", ""]),
    *(("", "GridSample", opset, [PICTURE, zeros(1, 3, 3, 2)], {}, "mode", MODES) for opset in (16, 20)),
    ("", "GridSample", 16, [PICTURE, zeros(1, 3, 3, 2)], {}, "padding_mode", ["zeros", "border", "reflection", "edge"]),
    ("", "LpNormalization", 1, [X], {}, "p", [-1, 0, 1, 2, 3]),
    ("", "LRN", 13, [PICTURE], {}, "size", [-3, 0, 1, 3]),
    ("", "Mod", 13, [np.ones(2, np.int32)] * 2, {}, "fmod", [-1, 0, 1, 2]),
    ("", "NonMaxSuppression", 11, [zeros(1, 4, 4), zeros(1, 1, 4)], {}, "center_point_box", [-1, 0, 1, 2]),
    ("", "Pad", 13, [PICTURE, numbers(*[0] * 8)], {}, "mode", ["constant", "edge", "reflect", "wrap", "mirror", ""]),
    ("", "QuantizeLinear", 21, [X, np.ones((2, 2), np.float32)], {"axis": 1}, "block_size", [-2, 2]),
    ("", "Resize", 13, SCALED, {}, "mode", MODES),
    ("", "Resize", 13, SCALED, {}, "coordinate_transformation_mode", ["asymmetric", "half_pixel", "pytorch", ""]),
    ("", "Resize", 19, SCALED, {}, "coordinate_transformation_mode", ["align_corners", "half_pixel_symmetric", "no"]),
    *(("", "Resize", 13, SCALED, {"mode": mode}, "nearest_mode", ["floor", "ceil", "trunc", ""]) for mode in MODES[:2]),
    ("", "RoiAlign", 16, REGIONS, {}, "mode", ["avg", "max", "AVG", "min", ""]),
    ("", "TfIdfVectorizer", 9, [np.zeros(4, np.int64)], GRAMS, "mode", ["TF", "IDF", "TFIDF", "tf", ""]),
    ("", "Upsample", 9, [PICTURE, SCALED[2]], {}, "mode", ["nearest", "linear", "cubic", "area", ""]),
    *(
        ("", op, 14, recurrent(gates), {"hidden_size": 3}, "activations", [[name] * each for name in NAMES])
        for op, gates, each in (("LSTM", 4, 3), ("GRU", 3, 2), ("RNN", 1, 1))
    ),
    *(
        ("", op, 14, recurrent(gates, directions), {"hidden_size": 3, "direction": way}, "activations", lists)
        for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1))
        for directions, way in ((1, "forward"), (2, "bidirectional"))
        for lists in [[["Tanh"] * count for count in range(1, 8)]]
    ),
    ("", "LSTM", 14, recurrent(4), {"hidden_size": 3}, "layout", [0, 5]),  # 1 is right, and onnxruntime has none of it
    (ML, "CastMap", 1, [MAP], {}, "cast_to", ["TO_FLOAT", "TO_INT64", "TO_STRING", "to_float", ""]),
    (ML, "CastMap", 1, [MAP], {"max_map": 5}, "map_form", ["DENSE", "SPARSE", "dense", ""]),
    (ML, "LinearRegressor", 1, [X], {"coefficients": [1.0] * 4}, "post_transform", AFTER),
    (ML, "LinearClassifier", 1, [X], LINEAR, "post_transform", AFTER),
    (ML, "Normalizer", 1, [X], {}, "norm", ["MAX", "L1", "L2", "L9", ""]),
    (
        ML,
        "SVMClassifier",
        1,
        [X],
        {**VECTORS, "classlabels_ints": [0, 1], "vectors_per_class": [1, 1]},
        "kernel_type",
        KERNELS,
    ),
    (ML, "SVMRegressor", 1, [X], {**VECTORS, "n_supports": 2}, "kernel_type", KERNELS),
    (ML, "TreeEnsembleRegressor", 3, [X], REGRESSOR, "aggregate_function", ["SUM", "AVERAGE", "MIN", "MAX", "sum", ""]),
    (ML, "TreeEnsembleRegressor", 3, [X], REGRESSOR, "nodes_modes", [[name, "LEAF", "LEAF"] for name in BRANCHES]),
    # lists
    *(
        (ML, op, 3, [X], form, name, [form[name], form[name][:-1], form[name] + form[name][-1:]])
        for op, form in (("TreeEnsembleRegressor", REGRESSOR), ("TreeEnsembleClassifier", CLASSIFIER))
        for name in form
        if name not in ("n_targets", "classlabels_int64s")
    ),
    (ML, "Scaler", 1, [X], {"scale": [1.0] * 4}, "offset", [[0.0] * 4, [0.0] * 3]),
    *((ML, "LabelEncoder", v, [TEXTS], {"keys_strings": ["a", "b"]}, "values_int64s", [[1], [1, 2]]) for v in (2, 4)),
    (ML, "LabelEncoder", 2, [TEXTS], {"keys_strings": ["a"], "values_int64s": [1]}, "values_floats", [[1.0]]),
    (ML, "CategoryMapper", 1, [TEXTS], {"cats_strings": ["a", "b"]}, "cats_int64s", [[1], [1, 2]]),
    (ML, "OneHotEncoder", 1, [np.ones(2, np.int64)], {}, "zeros", [0, 1]),
    *(
        (ML, "OneHotEncoder", 1, [np.ones(2, np.int64)], {"cats_int64s": [1]}, *each)
        for each in (("cats_strings", [["a"]]), ("zeros", [1]))
    ),
    (ML, "Imputer", 1, [X], {"replaced_value_float": 1.0}, "imputed_value_floats", [[1.0]]),
    (ML, "Imputer", 1, [X], {"imputed_value_floats": [1.0]}, "imputed_value_int64s", [[1]]),
]
OUTPUTS = {"LinearClassifier": 2, "SVMClassifier": 2, "TreeEnsembleClassifier": 2}


def _name(row: Row) -> str:
    return f"{row[1]}-{row[2]}-{row[5]}"


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_attribute_is_rejected_where_onnxruntime_rejects_it(row: Row) -> None:
    domain, op, opset, inputs, base, name, values = row
    fixed = (1, 2) if op == "Resize" else (1,) if op == "Upsample" else ()
    for value in values:
        case = Case(op, inputs, {**base, name: value}, OUTPUTS.get(op, 1), opset, fixed)
        assert bool(list(check_attributes(call_of(case, domain).node, opset))) == _is_rejected(case, domain), value


def _is_rejected(case: Case, domain: str) -> bool:
    try:
        run(case, domain)
    except Exception:
        return True
    return False


def test_every_operator_with_choices_is_compared_with_onnxruntime() -> None:
    tested = {(domain, op) for domain, op, *_ in ROWS}
    unable = {("", "Scan"), ("", "StringNormalizer")}  # below; a locale that not every machine has
    checked = {
        key
        for key, row in OPERATORS.items()
        if key[0] in ("", ML) and (row.choices or row.equal_lengths or row.alternatives)
    }
    assert checked and checked <= tested | unable


def _scan(**lists: Sequence[int]) -> list[str]:
    attributes = {"body": Graph("body"), "num_scan_inputs": 1} | {name: tuple(item) for name, item in lists.items()}
    return list(check_attributes(Node("Scan", ("s", "x"), ("y", "z"), attributes=attributes), 11))


def test_scan_needs_a_direction_for_each_scanned_input() -> None:
    assert _scan(scan_input_directions=[1], scan_output_axes=[0]) == []
    assert _scan(scan_input_directions=[3]) == ["attribute scan_input_directions is 3, expected one of 0, 1"]
    assert _scan(scan_input_directions=[0, 0]) == ["attribute scan_input_directions has length 2, expected 1"]
    assert _scan(scan_output_axes=[0, 0]) == ["attribute scan_output_axes has length 2, expected 1"]


def test_attribute_text_is_quoted() -> None:
    (problem,) = check_attributes(Node("Pad", ("x", "p"), ("y",), attributes={"mode": "x; all is well"}), 13)
    assert problem == "attribute mode is “x; all is well”, expected one of constant, edge, reflect, wrap"


def test_reference_to_an_attribute_of_the_caller_is_accepted() -> None:
    assert (
        list(check_attributes(Node("Pad", ("x", "p"), ("y",), attributes={"mode": AttributeReference("m")}), 13)) == []
    )
