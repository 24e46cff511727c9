"""Classical machine learning (ai.onnx.ml): N rows of F features in, one result per row out."""

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._known import Contradiction, Dim, Known, NotKnown, Unknown, sequence, tensor
from onnx_autodoc.ops._operator import Operator
from onnx_autodoc.ops._ranks import deep
from onnx_autodoc.ops.elementwise import same


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


OPERATORS: dict[str, Operator] = {
    "ArrayFeatureExtractor": Operator(_extract),
    "Binarizer": Operator(same),
    "CastMap": Operator(_cast_map),
    "CategoryMapper": Operator(_map_category),
    "DictVectorizer": Operator(_vectorize_map),
    "FeatureVectorizer": Operator(_vectorize),
    "Imputer": Operator(same),
    "LabelEncoder": Operator(_encode),
    "LinearClassifier": Operator(_linear_classifier),
    "LinearRegressor": Operator(_linear_regressor),
    "Normalizer": Operator(_as_float),
    "OneHotEncoder": Operator(_one_hot),
    "SVMClassifier": Operator(_svm_classifier),
    "SVMRegressor": Operator(_svm_regressor),
    "Scaler": Operator(_as_float),
    "TreeEnsemble": Operator(_tree),
    "TreeEnsembleClassifier": Operator(_tree_classifier),
    "TreeEnsembleRegressor": Operator(_tree_regressor),
    "ZipMap": Operator(_zip_map),
}
