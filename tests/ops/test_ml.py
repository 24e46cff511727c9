"""Classical machine learning (ai.onnx.ml): rule against run."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnx_autodoc.ir import Node, TruncatedList
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.ml import OPERATORS
from onnx_autodoc.ops.values import Unknown, ValueInfo
from tests.ops._calls import (
    Case,
    assert_as_run,
    assert_survives_any_rank,
    call_of,
    case_id,
    cost_of,
    floats,
    ints,
    list_ort_operators,
    run,
    unknown_reason,
)

DOMAIN = "ai.onnx.ml"
ROWS, ONE = floats(3, 2), floats(2)
WORDS = np.array(["a", "b"], object)
SVM = {"kernel_type": "LINEAR", "kernel_params": [0.1, 0.0, 3.0]}
MAP = {1: 2.0, 5: 3.0}


def linear_case(scores: int, x: Any = ROWS, **labels: Any) -> Case:
    weights = {"coefficients": [1.0, 2.0] * scores, "intercepts": [0.1] * scores}
    return Case("LinearClassifier", [x], {**weights, **labels}, 2, 3)


def svm_case(classes: int, x: Any = ROWS, probabilities: bool = False, **more: Any) -> Case:
    """A support vector for each class."""
    pairs = classes * (classes - 1) // 2
    machine = {"support_vectors": [1.0, 2.0] * classes, "vectors_per_class": [1] * classes, "rho": [0.1] * pairs}
    likely = {"prob_a": [0.1] * pairs, "prob_b": [0.2] * pairs} if probabilities else {}
    weights = {"coefficients": [1.0] * (classes * (classes - 1)), "classlabels_ints": list(range(classes))}
    return Case("SVMClassifier", [x], {**SVM, **machine, **likely, **weights, **more}, 2, 3)


def svm_planes_case(classes: int) -> Case:
    weights = {"coefficients": [1.0, 2.0] * classes, "rho": [0.1], "classlabels_ints": list(range(classes))}
    return Case("SVMClassifier", [ROWS], {**SVM, **weights}, 2, 3)


TREE = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_values": [0.5, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
}


def leaf_attributes(kind: str, *ids: int) -> dict[str, Any]:
    leaves = {f"{kind}_treeids": [0, 0], f"{kind}_nodeids": [1, 2], f"{kind}_weights": [0.3, 0.4]}
    return {**TREE, **leaves, f"{kind}_ids": list(ids)}


def tree(*ids: int, x: Any = ROWS, **labels: Any) -> Case:
    return Case("TreeEnsembleClassifier", [x], {**leaf_attributes("class", *ids), **labels}, 2, 3)


def tree_regressor_case(*ids: int, x: Any = ROWS) -> Case:
    return Case("TreeEnsembleRegressor", [x], {**leaf_attributes("target", *ids), "n_targets": max(ids) + 1}, opset=3)


def tree_ensemble_case(dtype: Any) -> Case:
    def stored_tensor(*items: float, kind: Any = dtype) -> Any:
        return numpy_helper.from_array(np.array(items, kind))

    nodes = {
        "nodes_modes": stored_tensor(0, kind=np.uint8),
        "nodes_splits": stored_tensor(0.5),
        "nodes_featureids": [0],
    }
    branches = {"nodes_trueleafs": [1], "nodes_falseleafs": [1], "nodes_truenodeids": [0], "nodes_falsenodeids": [1]}
    leaves = {"tree_roots": [0], "leaf_weights": stored_tensor(1, 2), "leaf_targetids": [0, 1], "n_targets": 2}
    return Case("TreeEnsemble", [ROWS.astype(dtype)], {**nodes, **branches, **leaves}, opset=5)


CLASSIFIERS = [
    linear_case(1, classlabels_ints=[0, 1]),
    linear_case(1, classlabels_strings=["no", "yes"]),
    linear_case(1, classlabels_ints=[0, 1], post_transform="LOGISTIC"),
    linear_case(1, classlabels_ints=[0, 1], x=ROWS.astype(np.float64)),
    linear_case(2, classlabels_ints=[0, 1]),
    linear_case(3, classlabels_ints=[0, 1, 2]),
    linear_case(3, classlabels_strings=["a", "b", "c"], x=ONE),
    linear_case(1),
    svm_case(2),
    svm_case(2, x=ONE),
    svm_case(2, probabilities=True, post_transform="PROBIT"),
    svm_case(3),
    svm_case(3, probabilities=True),
    svm_case(4),
    svm_case(4, probabilities=True),
    svm_planes_case(2),
    svm_planes_case(3),
    svm_planes_case(4),
    tree(0, 0, classlabels_int64s=[0, 1]),
    tree(1, 1, classlabels_strings=["no", "yes"], post_transform="LOGISTIC"),
    tree(0, 1, classlabels_int64s=[0, 1]),
    tree(0, 1, classlabels_int64s=[0, 1, 2]),
    tree(0, 0, classlabels_int64s=[5]),
    tree(0, 0, classlabels_int64s=[5, 6], x=ROWS.astype(np.float64)),
]

REGRESSORS = [
    Case("LinearRegressor", [ROWS], {"coefficients": [1.0, 2.0], "intercepts": [0.1]}, opset=3),
    Case("LinearRegressor", [ROWS], {"coefficients": [1.0] * 4, "intercepts": [0.1, 0.2], "targets": 2}, opset=3),
    Case("LinearRegressor", [ONE], {"coefficients": [1.0, 2.0], "intercepts": [0.1]}, opset=3),
    Case(
        "SVMRegressor",
        [ROWS],
        {**SVM, "coefficients": [1.0, -1.0], "support_vectors": [1.0, 2.0, 3.0, 4.0], "n_supports": 2, "rho": [0.1]},
        opset=3,
    ),
    tree_regressor_case(0, 0),
    tree_regressor_case(0, 1),
    tree_regressor_case(0, 0, x=ROWS.astype(np.float64)),
    tree_ensemble_case(np.float32),
    tree_ensemble_case(np.float64),
]

FEATURES = [
    Case("ArrayFeatureExtractor", [floats(3, 4), np.array([0, 2])], opset=3),
    Case("ArrayFeatureExtractor", [floats(4), np.array([0, 2])], opset=3),
    Case("ArrayFeatureExtractor", [floats(2, 3, 4), np.array([[0, 2, 1]])], opset=3),
    Case("ArrayFeatureExtractor", [floats(3, 4), np.array(1)], opset=3),
    Case("Binarizer", [floats(3, 4)], opset=3),
    Case("CastMap", [MAP], {"cast_to": "TO_FLOAT"}, opset=3, unknown=1),
    Case("CastMap", [MAP], {"cast_to": "TO_STRING"}, opset=3, unknown=1),
    Case("CastMap", [MAP], {"cast_to": "TO_INT64", "map_form": "SPARSE", "max_map": 7}, opset=3),
    Case("CategoryMapper", [WORDS], {"cats_int64s": [1, 2], "cats_strings": ["a", "b"]}, opset=3),
    Case("CategoryMapper", [np.array([1, 2])], {"cats_int64s": [1, 2], "cats_strings": ["a", "b"]}, opset=3),
    Case("DictVectorizer", [{"a": 1.0, "b": 2.0}], {"string_vocabulary": ["a", "b", "c"]}, opset=3),
    Case("DictVectorizer", [MAP], {"int64_vocabulary": [1, 2, 5, 7]}, opset=3),
    Case("FeatureVectorizer", [floats(2, 3), floats(2, 4)], {"inputdimensions": [3, 4]}, opset=3),
    Case("FeatureVectorizer", [floats(3), floats(4)], {"inputdimensions": [3, 4]}, opset=3),
    Case("FeatureVectorizer", [ints(2, 3), ints(2, 4)], {"inputdimensions": [3, 4]}, opset=3),
    Case("Imputer", [floats(2, 3)], {"imputed_value_floats": [0.0], "replaced_value_float": 1.0}, opset=3),
    Case("LabelEncoder", [WORDS], {"classes_strings": ["a", "b"]}, opset=1),
    Case("LabelEncoder", [np.array([0, 1])], {"classes_strings": ["a", "b"]}, opset=1),
    Case("LabelEncoder", [WORDS], {"keys_strings": ["a", "b"], "values_int64s": [1, 2]}, opset=2),
    Case("LabelEncoder", [WORDS], {"keys_strings": ["a", "b"], "values_floats": [1.0, 2.0]}, opset=2),
    Case("LabelEncoder", [np.array([[1, 2]])], {"keys_int64s": [1, 2], "values_strings": ["a", "b"]}, opset=2),
    Case(
        "LabelEncoder",
        [np.array([0, 1])],
        {
            "keys_tensor": numpy_helper.from_array(np.array([0, 1])),
            "values_tensor": numpy_helper.from_array(np.array([0.5, 1.5])),
            "default_tensor": numpy_helper.from_array(np.array([0.0])),
        },
        opset=4,
    ),
    Case("Normalizer", [floats(3)], {"norm": "MAX"}, opset=3),
    Case("Normalizer", [ints(2, 3, dtype=np.int64)], {"norm": "L1"}, opset=3),
    Case("OneHotEncoder", [np.array([[1, 2]])], {"cats_int64s": [1, 2, 3]}, opset=3),
    Case("OneHotEncoder", [WORDS], {"cats_strings": ["a", "b", "c"]}, opset=3),
    Case("Scaler", [ints(2, 3)], {"scale": [1.0], "offset": [0.0]}, opset=3),
]

CASES = [*CLASSIFIERS, *REGRESSORS, *FEATURES]


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_inferred_shape_equals_the_shape_of_a_run(case: Case) -> None:
    assert_as_run(OPERATORS[case.op].infer, case, DOMAIN)
    assert_survives_any_rank(OPERATORS[case.op].infer, case, DOMAIN)


@pytest.mark.parametrize("labels", [{"classlabels_int64s": [1, 2, 3]}, {"classlabels_strings": ["a", "b", "c"]}])
def test_zip_map_is_a_sequence_of_maps(labels: dict[str, Any]) -> None:
    case = Case("ZipMap", [floats(2, 3)], labels, opset=3)
    (real,) = run(case, DOMAIN)
    assert len(real) == 2 and all(isinstance(row, dict) for row in real)
    (inferred,) = OPERATORS["ZipMap"].infer(call_of(case, DOMAIN))
    assert (inferred.kind, inferred.element and inferred.element.kind) == ("sequence", "map")


def test_truncated_list_attribute_has_its_length() -> None:
    labels = TruncatedList(3000, (0, 1, 2))
    call = Call(
        Node("TreeEnsembleClassifier", attributes={"classlabels_int64s": labels}), [ValueInfo("float32", (5, 9))], 3
    )
    assert [each.shape for each in OPERATORS["TreeEnsembleClassifier"].infer(call)] == [(5,), (5, 3000)]


def test_every_ml_operator_has_a_rule() -> None:
    assert list_ort_operators(DOMAIN) == OPERATORS.keys()


def cost(case: Case) -> Cost:
    return cost_of(OPERATORS[case.op], case, DOMAIN)


# ROWS are 3 rows of 2 features.
def test_linear_model_cost_is_that_of_a_matrix_product() -> None:
    three = linear_case(3, classlabels_ints=[0, 1, 2])
    assert cost(three) == Cost(macs=3 * 2 * 3, other=9 * 2)  # intercept, greatest
    transformed = Case(three.op, three.inputs, {**three.attributes, "post_transform": "SOFTMAX"}, 2, 3)
    assert cost(transformed) == Cost(macs=18, other=9 * 7)
    regressor = {"coefficients": [1.0] * 4, "intercepts": [0.1, 0.2], "targets": 2}
    assert cost(Case("LinearRegressor", [ROWS], regressor, opset=3)) == Cost(macs=3 * 2 * 2, other=6)


@pytest.mark.parametrize(("kernel", "each"), [("LINEAR", 0), ("POLY", 3), ("SIGMOID", 3), ("RBF", 2 + 2)])
def test_svm_cost_covers_each_row_and_support_vector(kernel: str, each: int) -> None:
    vectors_of = {"support_vectors": [1.0, 2.0, 3.0, 4.0], "n_supports": 2, "coefficients": [1.0, -1.0], "rho": [0.1]}
    regressor = Case("SVMRegressor", [ROWS], {**SVM, **vectors_of, "kernel_type": kernel}, opset=3)
    assert cost(regressor) == Cost(macs=3 * (4 + 2), other=3 * (2 * each + 1))
    three = svm_case(3, kernel_type=kernel)  # one vector and two coefficients of each class, three pairs
    assert cost(three) == Cost(macs=3 * (6 + 6), other=3 * (3 * each + 2 * 3))


def test_svm_probabilities_are_not_counted() -> None:
    likely = cost(svm_case(3, probabilities=True))
    assert likely.macs == 36
    assert isinstance(likely.other, Unknown)


@pytest.mark.parametrize(
    "case", [tree(0, 1, classlabels_int64s=[0, 1]), tree_regressor_case(0, 0), tree_ensemble_case(np.float32)]
)
def test_tree_depth_is_not_counted(case: Case) -> None:
    assert "the depth that each row reaches in the trees is data-dependent" in unknown_reason(cost(case))


@pytest.mark.parametrize(
    ("op", "attributes", "other"),
    [
        ("Binarizer", {}, 12),
        ("Imputer", {"imputed_value_floats": [0.0]}, 12),
        ("Scaler", {"scale": [1.0], "offset": [0.0]}, 24),
        ("Normalizer", {"norm": "MAX"}, 24),
        ("Normalizer", {"norm": "L1"}, 36),
        ("Normalizer", {"norm": "L2"}, 36 + 3),
        ("FeatureVectorizer", {"inputdimensions": [4]}, 0),
    ],
)
def test_feature_operators_cost_their_formula(op: str, attributes: dict[str, Any], other: int) -> None:
    assert cost(Case(op, [floats(3, 4)], attributes, opset=3)) == Cost(other=other)


def test_extractor_reads_only_extracted_columns() -> None:
    case = Case("ArrayFeatureExtractor", [floats(3, 4), np.array([0, 2])], opset=3)
    assert cost(case) == Cost(read=3 * 2 * 4 + 2 * 8)


@pytest.mark.parametrize("op", ["LinearClassifier", "SVMClassifier", "TreeEnsembleRegressor", "TreeEnsemble", "Scaler"])
def test_learned_attributes_are_attributes_of_the_schema(op: str) -> None:
    schema = onnx.defs.get_schema(op, DOMAIN)
    assert OPERATORS[op].learned_attributes
    assert set(OPERATORS[op].learned_attributes) <= set(schema.attributes)
