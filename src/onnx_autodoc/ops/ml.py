"""Classical machine learning (ai.onnx.ml) and text operators."""

from collections.abc import Callable

from onnx_autodoc.ir import TruncatedList
from onnx_autodoc.ops.call import Call, broadcast, shape_of_min_rank, size
from onnx_autodoc.ops.cost import Cost, free, per_output_element, reads_picked_elements, unknown_arithmetic
from onnx_autodoc.ops.input_constraints import index_into, known_category
from onnx_autodoc.ops.operator import Choices, Deprecation, Operator, ShapeRule, Trait, WorkClass, words
from onnx_autodoc.ops.shape_rules import one_output, same, shape_of
from onnx_autodoc.ops.values import Contradiction, Dim, InferenceError, Shape, Unknown, ValueInfo, sequence, tensor
from onnx_autodoc.text import quote_name


def _rows(call: Call) -> Dim:
    """Return N of [N, F]; a vector [F] is one row."""
    source = call.shape(0)
    if len(source) not in (1, 2):
        raise Contradiction(f"{call.node.op} requires rank 1 or 2, got rank {len(source)}")
    return source[0] if len(source) == 2 else 1


# classifiers: the label of each row, and its scores
def _label_count(call: Call, ints: str = "classlabels_ints") -> int:
    return call.attr_count("classlabels_strings") or call.attr_count(ints)


def _classifier(columns: Callable[[Call, int], int], ints: str = "classlabels_ints") -> ShapeRule:
    """Return the rule of a classifier that returns `columns` scores for a number of labels."""

    def infer(call: Call) -> list[ValueInfo]:
        rows, label = _rows(call), "string" if call.attr_count("classlabels_strings") else "int64"
        return [tensor(label, (rows,)), tensor("float32", (rows, columns(call, _label_count(call, ints))))]

    return infer


def _linear_scores(call: Call, labels: int) -> int:
    scores = call.attr_count("intercepts") or labels
    return 2 if scores == 1 and labels == 2 else scores  # one score for two classes: both scores are returned


def _svm_scores(call: Call, labels: int) -> int:
    # without probabilities, support vectors score each pair of classes
    has_pairs = call.attr_count("vectors_per_class") > 0 and not call.attr_count("prob_a") and labels > 2
    return labels * (labels - 1) // 2 if has_pairs else labels


# regressors
def _linear_regressor(call: Call) -> list[ValueInfo]:
    features, coefficients = call.shape(0)[-1:], call.attr_count("coefficients")
    needed = size(features) * call.attr_int("targets", 1)
    if type(needed) is int and coefficients < needed:
        raise Contradiction(f"coefficients of LinearRegressor have length {coefficients:,}, below {needed:,}")
    return [tensor("float32", (_rows(call), call.attr_int("targets", 1)))]


# features
def _extract(call: Call) -> list[ValueInfo]:
    # the elements at some indices of the last axis; a vector is one row
    rows = shape_of_min_rank(call, 0)[:-1] or (1,)
    return [tensor(call.dtype(0), (*rows, size(call.shape(1))))]


def _vectorize(call: Call) -> list[ValueInfo]:
    widths = call.attr_ints("inputdimensions")
    if widths is None:
        raise Contradiction("FeatureVectorizer requires attribute inputdimensions, which is missing")
    first = call.shape(0)
    return [tensor("float32", (first[0] if len(first) > 1 else 1, sum(widths)))]


def _map_category(call: Call) -> list[ValueInfo]:
    dtype = {"string": "int64", "int64": "string"}.get(call.dtype(0) or "")
    return [tensor(dtype, call.shape(0))]


_VALUES = {"values_int64s": "int64", "values_strings": "string", "values_floats": "float32"}


def _encode(call: Call) -> list[ValueInfo]:
    """Infer the type of the values from their attribute; the first version had strings only."""
    if call.attr_count("classes_strings"):
        return _map_category(call)
    values = call.attr_tensor("values_tensor")
    dtype = values.dtype if values else next((dtype for name, dtype in _VALUES.items() if call.attr_count(name)), None)
    return [tensor(dtype, call.shape(0))]


# maps
def _zip_map(call: Call) -> list[ValueInfo]:
    return [
        sequence(
            ValueInfo("float32", why="a map has no shape", kind="map"), "a sequence of one map per row has no shape"
        )
    ]


def _vectorize_map(call: Call) -> list[ValueInfo]:
    keys = call.attr_count("string_vocabulary") or call.attr_count("int64_vocabulary")
    element = call.input_info(0).element
    return [tensor(element.dtype if element else None, (1, keys))]


_CASTS = {"TO_FLOAT": "float32", "TO_INT64": "int64", "TO_STRING": "string"}


def _cast_map(call: Call) -> list[ValueInfo]:
    cast = call.attr_text("cast_to", "TO_FLOAT")
    if cast not in _CASTS:
        raise InferenceError(f"CastMap has an unknown cast_to: {cast}")
    width: Dim = Unknown("CastMap: the number of keys is data-dependent")
    if call.attr_text("map_form", "DENSE") == "SPARSE":
        width = call.attr_int("max_map", 1)
    return [tensor(_CASTS[cast], (1, width))]


_TRANSFORMS = {"NONE": 0, "LOGISTIC": 1, "PROBIT": 4, "SOFTMAX": 5, "SOFTMAX_ZERO": 5}
# kernel -> operations per product of a row and a support vector
_KERNELS = {"LINEAR": 0, "POLY": 3, "RBF": 2, "SIGMOID": 3}
_PROBABILITIES = "SVMClassifier: the number of iterations until the probabilities converge is data-dependent"


def _transform(call: Call) -> int:
    """Return the operations of post_transform per score."""
    transform = call.attr_text("post_transform", "NONE")
    if transform not in _TRANSFORMS:
        raise InferenceError(f"{call.node.op} has an unknown post_transform: {quote_name(transform, 40)}")
    return _TRANSFORMS[transform]


def _linear_classifier_cost(call: Call) -> Cost:
    """one MAC per coefficient and row; 1 FLOP per score for an intercept, 1 for the max, 5 for SOFTMAX, 1 for LOGISTIC,
    4 for PROBIT"""
    intercepts, rows = call.attr_count("intercepts"), _rows(call)
    scores, score_ops = intercepts or _label_count(call), (intercepts > 0) + 1 + _transform(call)
    return Cost(rows * call.attr_count("coefficients"), rows * scores * score_ops)


def _linear_regressor_cost(call: Call) -> Cost:
    """one MAC per coefficient and row; 1 FLOP per score for an intercept, 5 for SOFTMAX, 1 for LOGISTIC, 4 for
    PROBIT"""
    score_ops = (call.attr_count("intercepts") > 0) + _transform(call)
    return Cost(_rows(call) * call.attr_count("coefficients"), size(call.output()) * score_ops)


def _svm_cost(call: Call, supports: int, after: int) -> Cost:
    """Return the cost of a kernel over the support vectors; `after`: operations on the sums."""
    kernel, numbers, rows = call.attr_text("kernel_type", "LINEAR"), call.attr_count("support_vectors"), _rows(call)
    if kernel not in _KERNELS:
        raise InferenceError(f"{call.node.op} has an unknown kernel_type: {quote_name(kernel, 40)}")
    differences = numbers if kernel == "RBF" else 0
    kernel_ops = supports * _KERNELS[kernel] if numbers else 0
    return Cost(rows * (numbers + call.attr_count("coefficients")), rows * (differences + kernel_ops + after))


def _svm_regressor_cost(call: Call) -> Cost:
    """per row, one MAC per element of the support vectors and per coefficient; per row and support vector, 3 FLOPs for
    kernel POLY or SIGMOID, 2 + features for RBF; 1 per row"""
    return _svm_cost(call, call.attr_count("coefficients"), 1 + _transform(call))


def _svm_classifier_cost(call: Call) -> Cost:
    """per row, one MAC per element of the support vectors and per coefficient; per row and support vector, 3 FLOPs for
    kernel POLY or SIGMOID, 2 + features for RBF; 2 per row and rho. Probabilities are not counted"""
    supports = call.attr_count("coefficients") // max(_label_count(call) - 1, 1)
    cost = _svm_cost(call, supports, 2 * call.attr_count("rho"))
    return Cost(cost.macs, Unknown(_PROBABILITIES)) if call.attr_count("prob_a") else cost


def _normalizer_cost(call: Call) -> Cost:
    """2 FLOPs per element for norm MAX: max, divide; 3 for L1 or L2: abs or square, add, divide; 1 per row for L2:
    sqrt"""
    norm, elements = call.attr_text("norm", "MAX"), size(call.output())
    return Cost(other=2 * elements if norm == "MAX" else 3 * elements + (_rows(call) if norm == "L2" else 0))


_trees = unknown_arithmetic("the depth that each row reaches in the trees is data-dependent")
_LINEAR = ("coefficients", "intercepts")
_SVM = ("coefficients", "rho", "support_vectors", "prob_a", "prob_b")
_BASE = ("base_values", "base_values_as_tensor", "nodes_values", "nodes_values_as_tensor")

_POST_TRANSFORM: dict[str, Choices] = {"post_transform": frozenset(_TRANSFORMS)}
_SVM_CHOICES = {"kernel_type": frozenset(_KERNELS), **_POST_TRANSFORM}
_BRANCHES = words("BRANCH_EQ BRANCH_GT BRANCH_GTE BRANCH_LEQ BRANCH_LT BRANCH_MEMBER BRANCH_NEQ LEAF")
_TREE_CHOICES = {"nodes_modes": _BRANCHES, **_POST_TRANSFORM}
_TREE_NODES = (
    *("nodes_falsenodeids", "nodes_featureids", "nodes_modes", "nodes_nodeids", "nodes_treeids"),
    *("nodes_truenodeids", "nodes_values"),
)
_KEY_LISTS, _VALUE_LISTS = (
    tuple(f"{side}_{kind}" for kind in ("floats", "int64s", "strings", "tensor")) for side in ("keys", "values")
)

OPERATORS: dict[str, Operator] = {
    "ArrayFeatureExtractor": Operator(
        _extract,
        cost=reads_picked_elements,
        number_inputs=(0,),
        work=WorkClass.LOOKUP,
        constraints={1: index_into(0, -1)},
    ),
    "Binarizer": Operator(same, cost=per_output_element(1, "comparison"), work=WorkClass.POINTWISE),
    "CastMap": Operator(
        _cast_map,
        cost=free,
        choices={"cast_to": frozenset(_CASTS), "map_form": words("DENSE SPARSE")},
    ),
    "CategoryMapper": Operator(_map_category, cost=free, equal_lengths=(("cats_int64s", "cats_strings"),)),
    "DictVectorizer": Operator(_vectorize_map, cost=free),
    "FeatureVectorizer": Operator(_vectorize, cost=free),
    "Imputer": Operator(
        same,
        cost=per_output_element(1, "comparison"),
        learned_attributes=("imputed_value_floats", "imputed_value_int64s"),
        traits={Trait.TESTS_NUMBERS},
        work=WorkClass.POINTWISE,
        alternatives=(("imputed_value_floats", "imputed_value_int64s"),),
    ),
    "LabelEncoder": Operator(
        _encode,
        cost=free,
        traits={Trait.TESTS_NUMBERS},
        equal_lengths=((*_KEY_LISTS, *_VALUE_LISTS),),
        alternatives=(_KEY_LISTS, _VALUE_LISTS),
    ),
    "LinearClassifier": Operator(
        _classifier(_linear_scores),
        cost=_linear_classifier_cost,
        learned_attributes=_LINEAR,
        work=WorkClass.PRODUCT,
        choices=_POST_TRANSFORM,
    ),
    "LinearRegressor": Operator(
        _linear_regressor,
        cost=_linear_regressor_cost,
        learned_attributes=_LINEAR,
        work=WorkClass.PRODUCT,
        choices=_POST_TRANSFORM,
    ),
    "Normalizer": Operator(
        shape_of(0, "float32"),
        cost=_normalizer_cost,
        work=WorkClass.NORMALIZATION,
        choices={"norm": words("L1 L2 MAX")},
    ),
    "OneHotEncoder": Operator(
        one_output(
            lambda call: (*call.shape(0), call.attr_count("cats_int64s") or call.attr_count("cats_strings")), "float32"
        ),
        cost=free,
        work=WorkClass.LOOKUP,
        alternatives=(("cats_int64s", "cats_strings"),),
        constraints={0: known_category},
    ),
    "SVMClassifier": Operator(
        _classifier(_svm_scores), cost=_svm_classifier_cost, learned_attributes=_SVM, choices=_SVM_CHOICES
    ),
    "SVMRegressor": Operator(
        one_output(lambda call: (_rows(call), 1), "float32"),
        cost=_svm_regressor_cost,
        learned_attributes=_SVM[:3],
        choices=_SVM_CHOICES,
    ),
    "Scaler": Operator(
        shape_of(0, "float32"),
        cost=per_output_element(2, "subtract, scale"),
        learned_attributes=("offset", "scale"),
        work=WorkClass.POINTWISE,
        equal_lengths=(("offset", "scale"),),
    ),
    "TreeEnsemble": Operator(
        one_output(lambda call: (_rows(call), call.attr_required("n_targets"))),
        cost=_trees,
        learned_attributes=("nodes_splits", "membership_values", "leaf_weights"),
    ),
    "TreeEnsembleClassifier": Operator(
        _classifier(lambda _, labels: labels, "classlabels_int64s"),
        cost=_trees,
        learned_attributes=(*_BASE, "class_weights", "class_weights_as_tensor"),
        choices=_TREE_CHOICES,
        equal_lengths=(_TREE_NODES, ("class_ids", "class_nodeids", "class_treeids", "class_weights")),
        deprecated=Deprecation(5, None, "TreeEnsemble"),
    ),
    "TreeEnsembleRegressor": Operator(
        one_output(lambda call: (_rows(call), call.attr_required("n_targets")), "float32"),
        cost=_trees,
        learned_attributes=(*_BASE, "target_weights", "target_weights_as_tensor"),
        choices={"aggregate_function": words("AVERAGE MAX MIN SUM"), **_TREE_CHOICES},
        equal_lengths=(_TREE_NODES, ("target_ids", "target_nodeids", "target_treeids", "target_weights")),
        deprecated=Deprecation(5, None, "TreeEnsemble"),
    ),
    "ZipMap": Operator(_zip_map, cost=free),
}


# text
def _string_split(call: Call) -> list[ValueInfo]:
    # The longest split decides the last dimension; shorter ones are filled up with empty strings.
    x = call.shape(0)
    parts = 0 if 0 in x else Unknown("the number of parts of a split string is data-dependent")
    return [tensor("string", (*x, parts)), tensor("int64", x)]


def _shape_of_texts(call: Call) -> Shape:
    x = call.shape(0)
    if len(x) not in (1, 2):
        raise Contradiction(f"{call.node.op} requires rank 1 or 2, got rank {len(x)}")
    return x


def _string_normalizer(call: Call) -> Shape:
    """[C] or [1, C] without the stop words."""
    *batch, words = _shape_of_texts(call)
    if call.attr_count("stopwords"):
        words = Unknown("the number of words left without the stop words is data-dependent")
    return (*batch, words)


def _tf_idf_vectorizer(call: Call) -> Shape:
    """Return the shape of the output: one place per n-gram of the vocabulary, for each row."""
    *batch, _ = _shape_of_texts(call)
    if isinstance(call.attribute("ngram_indexes"), TruncatedList):
        return (*batch, Unknown("the vocabulary of TfIdfVectorizer is too long to be read in full"))
    indexes = call.attr_ints("ngram_indexes")
    if not indexes:
        raise Contradiction("TfIdfVectorizer requires attribute ngram_indexes, which is missing")
    return (*batch, max(indexes) + 1)


_per_character = unknown_arithmetic("the number of characters read is data-dependent")

TEXT: dict[str, Operator] = {
    "StringConcat": Operator(one_output(lambda call: broadcast(call.shape(0), call.shape(1)), "string"), cost=free),
    "StringSplit": Operator(_string_split, cost=_per_character, traits={Trait.DATA_SIZED}),
    "StringNormalizer": Operator(
        one_output(_string_normalizer, "string"),
        cost=_per_character,
        choices={"case_change_action": words("LOWER NONE UPPER")},
    ),
    "RegexFullMatch": Operator(shape_of(0, "bool"), cost=_per_character),
    "TfIdfVectorizer": Operator(
        one_output(_tf_idf_vectorizer, "float32"),
        cost=unknown_arithmetic("the number of n-grams found is data-dependent"),
        learned_attributes=("weights",),
        choices={"mode": words("IDF TF TFIDF")},
    ),
}
