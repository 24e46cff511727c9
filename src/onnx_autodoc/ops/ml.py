"""Classical machine learning (ai.onnx.ml): N rows of F features in, one result per row out."""

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, each, free, picked, untold
from onnx_autodoc.ops._known import Contradiction, Dim, Known, NotKnown, Unknown, sequence, tensor
from onnx_autodoc.ops._operator import Operator
from onnx_autodoc.ops._ranks import deep
from onnx_autodoc.ops.elementwise import same
from onnx_autodoc.text import told


def _rows(call: Call) -> Dim:
    """[N, F], or one row [F]."""
    source = call.shape(0)
    if len(source) not in (1, 2):
        raise Contradiction(f"{call.node.op} of {len(source)} dimensions")
    return source[0] if len(source) == 2 else 1


def _as_float(call: Call) -> list[Known]:
    return [tensor("float32", call.shape(0))]


# classifiers: the label of each row, and its scores
def _labels(call: Call, ints: str) -> tuple[int, str]:
    """How many classes have a label, and the type of the labels."""
    texts = call.attr_count("classlabels_strings")
    return (texts, "string") if texts else (call.attr_count(ints), "int64")


def _classified(call: Call, label: str, columns: Dim) -> list[Known]:
    rows = _rows(call)
    return [tensor(label, (rows,)), tensor("float32", (rows, columns))]


def _linear_classifier(call: Call) -> list[Known]:
    count, label = _labels(call, "classlabels_ints")
    scores = call.attr_count("intercepts") or count
    # one score tells two classes apart, and the other's is given too
    return _classified(call, label, 2 if scores == 1 and count == 2 else scores)


def _svm_classifier(call: Call) -> list[Known]:
    count, label = _labels(call, "classlabels_ints")
    pairs = call.attr_count("vectors_per_class") > 0 and not call.attr_count("prob_a")
    # without probabilities, support vectors score each pair of classes
    return _classified(call, label, count * (count - 1) // 2 if pairs and count > 2 else count)


def _tree_classifier(call: Call) -> list[Known]:
    count, label = _labels(call, "classlabels_int64s")
    return _classified(call, label, count)


# regressors
def _linear_regressor(call: Call) -> list[Known]:
    features, given = call.shape(0)[-1:], call.attr_count("coefficients")
    needed = size(features) * call.attr_int("targets", 1)
    if type(needed) is int and given < needed:
        raise Contradiction(f"LinearRegressor has {given:,} coefficients, not {needed:,}")
    return [tensor("float32", (_rows(call), call.attr_int("targets", 1)))]


def _svm_regressor(call: Call) -> list[Known]:
    return [tensor("float32", (_rows(call), 1))]


def _tree_regressor(call: Call) -> list[Known]:
    return [tensor("float32", (_rows(call), call.attr_required("n_targets")))]


def _tree(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), (_rows(call), call.attr_required("n_targets")))]


# features
def _extract(call: Call) -> list[Known]:
    # the elements at some indices of the last axis; a vector is one row
    rows = deep(call, 0)[:-1] or (1,)
    return [tensor(call.dtype(0), (*rows, size(call.shape(1))))]


def _vectorize(call: Call) -> list[Known]:
    widths = call.attr_ints("inputdimensions")
    if widths is None:
        raise Contradiction("FeatureVectorizer without the widths of its inputs")
    first = call.shape(0)
    return [tensor("float32", (first[0] if len(first) > 1 else 1, sum(widths)))]


def _one_hot(call: Call) -> list[Known]:
    classes = call.attr_count("cats_int64s") or call.attr_count("cats_strings")
    return [tensor("float32", (*call.shape(0), classes))]


def _map_category(call: Call) -> list[Known]:
    dtype = {"string": "int64", "int64": "string"}.get(call.dtype(0) or "")
    return [tensor(dtype, call.shape(0))]


_VALUES = {"values_int64s": "int64", "values_strings": "string", "values_floats": "float32"}


def _encode(call: Call) -> list[Known]:
    """The type of the values, however they are given; the first version only had strings and their places."""
    if call.attr_count("classes_strings"):
        return _map_category(call)
    held = call.attr_tensor("values_tensor")
    dtype = held.dtype if held else next((kind for name, kind in _VALUES.items() if call.attr_count(name)), None)
    return [tensor(dtype, call.shape(0))]


# maps
def _zip_map(call: Call) -> list[Known]:
    return [sequence(Known("float32", why="a map has no shape", kind="map"), "one map for each row")]


def _vectorize_map(call: Call) -> list[Known]:
    words = call.attr_count("string_vocabulary") or call.attr_count("int64_vocabulary")
    element = call.known(0).element
    return [tensor(element.dtype if element else None, (1, words))]


_CASTS = {"TO_FLOAT": "float32", "TO_INT64": "int64", "TO_STRING": "string"}


def _cast_map(call: Call) -> list[Known]:
    cast = call.attr_text("cast_to", "TO_FLOAT")
    if cast not in _CASTS:
        raise NotKnown(f"CastMap to {cast}")
    width: Dim = Unknown("CastMap: how many keys the map has depends on the data")
    if call.attr_text("map_form", "DENSE") == "SPARSE":
        width = call.attr_int("max_map", 1)
    return [tensor(_CASTS[cast], (1, width))]


# prices
_TRANSFORMS = {"NONE": 0, "LOGISTIC": 1, "PROBIT": 4, "SOFTMAX": 5, "SOFTMAX_ZERO": 5}
# kernel -> what it does with each product of a row and a support vector
_KERNELS = {"LINEAR": 0, "POLY": 3, "RBF": 2, "SIGMOID": 3}
_COUPLED = "SVMClassifier: how many rounds the probabilities take to agree, the data decide"


def _transform(call: Call) -> int:
    """What the scores are made into, per score."""
    named = call.attr_text("post_transform", "NONE")
    if named not in _TRANSFORMS:
        raise NotKnown(f"{call.node.op} with the post_transform {told(named, 40)}")
    return _TRANSFORMS[named]


def _linear_classifier_cost(call: Call) -> Cost:
    """a multiply-add for each coefficient and row; 1 per score for an intercept, 1 for the greatest, 5 for SOFTMAX, 1
    for LOGISTIC, 4 for PROBIT"""
    held, rows = call.attr_count("intercepts"), _rows(call)
    scores = held or _labels(call, "classlabels_ints")[0]
    return Cost(rows * call.attr_count("coefficients"), rows * scores * ((1 if held else 0) + 1 + _transform(call)))


def _linear_regressor_cost(call: Call) -> Cost:
    """a multiply-add for each coefficient and row; 1 per score for an intercept, 5 for SOFTMAX, 1 for LOGISTIC, 4 for
    PROBIT"""
    each_score = (1 if call.attr_count("intercepts") else 0) + _transform(call)
    return Cost(_rows(call) * call.attr_count("coefficients"), size(call.output()) * each_score)


def _machine(call: Call, supports: int, after: int) -> Cost:
    """Each row times each support vector, the kernel, times the coefficients; `after` is what is done to the sums."""
    kernel, held, rows = call.attr_text("kernel_type", "LINEAR"), call.attr_count("support_vectors"), _rows(call)
    if kernel not in _KERNELS:
        raise NotKnown(f"{call.node.op} with the kernel {told(kernel, 40)}")
    differences = held if kernel == "RBF" else 0
    bent = supports * _KERNELS[kernel] if held else 0
    return Cost(rows * (held + call.attr_count("coefficients")), rows * (differences + bent + after))


def _svm_regressor_cost(call: Call) -> Cost:
    """a multiply-add for each number of the support vectors, each coefficient and row; per row and support vector 3 for
    a kernel POLY or SIGMOID, 2 + features for RBF; 1 per row"""
    return _machine(call, call.attr_count("coefficients"), 1 + _transform(call))


def _svm_classifier_cost(call: Call) -> Cost:
    """a multiply-add for each number of the support vectors, each coefficient and row; per row and support vector 3 for
    a kernel POLY or SIGMOID, 2 + features for RBF; 2 per row and rho. Probabilities are not counted"""
    classes = _labels(call, "classlabels_ints")[0]
    cost = _machine(call, call.attr_count("coefficients") // max(classes - 1, 1), 2 * call.attr_count("rho"))
    return Cost(cost.macs, Unknown(_COUPLED)) if call.attr_count("prob_a") else cost


def _normalizer_cost(call: Call) -> Cost:
    """2 per element where norm is MAX: greatest, quotient; 3 where it is L1 or L2: absolute or square, sum, quotient; 1
    per row for L2: root"""
    norm, elements = call.attr_text("norm", "MAX"), size(call.output())
    return Cost(other=2 * elements if norm == "MAX" else 3 * elements + (_rows(call) if norm == "L2" else 0))


_trees = untold("how deep each row falls through the trees, the data decide")
_LINEAR = ("coefficients", "intercepts")
_MACHINE = ("coefficients", "rho", "support_vectors", "prob_a", "prob_b")
_BASE = ("base_values", "base_values_as_tensor", "nodes_values", "nodes_values_as_tensor")

OPERATORS: dict[str, Operator] = {
    "ArrayFeatureExtractor": Operator(_extract, cost=picked),
    "Binarizer": Operator(same, cost=each(1, "comparison")),
    "CastMap": Operator(_cast_map, cost=free),
    "CategoryMapper": Operator(_map_category, cost=free),
    "DictVectorizer": Operator(_vectorize_map, cost=free),
    "FeatureVectorizer": Operator(_vectorize, cost=free),
    "Imputer": Operator(same, cost=each(1, "comparison"), held=("imputed_value_floats", "imputed_value_int64s")),
    "LabelEncoder": Operator(_encode, cost=free),
    "LinearClassifier": Operator(_linear_classifier, cost=_linear_classifier_cost, held=_LINEAR),
    "LinearRegressor": Operator(_linear_regressor, cost=_linear_regressor_cost, held=_LINEAR),
    "Normalizer": Operator(_as_float, cost=_normalizer_cost),
    "OneHotEncoder": Operator(_one_hot, cost=free),
    "SVMClassifier": Operator(_svm_classifier, cost=_svm_classifier_cost, held=_MACHINE),
    "SVMRegressor": Operator(_svm_regressor, cost=_svm_regressor_cost, held=_MACHINE[:3]),
    "Scaler": Operator(_as_float, cost=each(2, "difference, scale"), held=("offset", "scale")),
    "TreeEnsemble": Operator(_tree, cost=_trees, held=("nodes_splits", "membership_values", "leaf_weights")),
    "TreeEnsembleClassifier": Operator(
        _tree_classifier, cost=_trees, held=(*_BASE, "class_weights", "class_weights_as_tensor")
    ),
    "TreeEnsembleRegressor": Operator(
        _tree_regressor, cost=_trees, held=(*_BASE, "target_weights", "target_weights_as_tensor")
    ),
    "ZipMap": Operator(_zip_map, cost=free),
}
