"""Attributes that are one of a few words or numbers.

Where the specification and onnxruntime differ, what either takes is allowed: Pad wraps in every version, names of
activations are of any case. What no runtime looks at (how a Scatter combines) is not held against a node.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from onnx_autodoc.ir import Attribute, Long, Node
from onnx_autodoc.text import told

_Words = frozenset[str] | frozenset[int]
_ML: Final = "ai.onnx.ml"
_LONGEST: Final = 40  # letters of a word that is not allowed


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FLAG: Final = frozenset((0, 1))
_ACTIVATIONS: Final = _words(
    "affine elu hardsigmoid leakyrelu relu scaledtanh sigmoid softplus softsign tanh thresholdedrelu"
)
_RECURRENT: Final[Mapping[str, _Words]] = {"activations": _ACTIVATIONS, "layout": _FLAG}
_AFTER: Final[Mapping[str, _Words]] = {"post_transform": _words("LOGISTIC NONE PROBIT SOFTMAX SOFTMAX_ZERO")}
_KERNELS: Final[Mapping[str, _Words]] = {"kernel_type": _words("LINEAR POLY RBF SIGMOID"), **_AFTER}
_BRANCHES: Final = _words("BRANCH_EQ BRANCH_GT BRANCH_GTE BRANCH_LEQ BRANCH_LT BRANCH_MEMBER BRANCH_NEQ LEAF")
_TREES: Final[Mapping[str, _Words]] = {"nodes_modes": _BRANCHES, **_AFTER}
_PLACES: Final = _words(
    "align_corners asymmetric half_pixel half_pixel_symmetric pytorch_half_pixel tf_crop_and_resize"
    " tf_half_pixel_for_nn"
)
_ROUNDED: Final = frozenset(("", "ceil", "floor", "round_prefer_ceil", "round_prefer_floor"))

# (domain, operator) -> attribute -> what it may be, or each of a list
_ALLOWED: Final[Mapping[tuple[str, str], Mapping[str, _Words]]] = {
    ("", "BitShift"): {"direction": _words("LEFT RIGHT")},
    ("", "DepthToSpace"): {"mode": _words("CRD DCR")},
    ("", "GRU"): _RECURRENT,
    ("", "Gelu"): {"approximate": _words("none tanh")},
    ("", "GridSample"): {"mode": _words("cubic linear nearest"), "padding_mode": _words("border reflection zeros")},
    ("", "LSTM"): _RECURRENT,
    ("", "LpNormalization"): {"p": frozenset((1, 2))},
    ("", "Mod"): {"fmod": _FLAG},
    ("", "NonMaxSuppression"): {"center_point_box": _FLAG},
    ("", "Pad"): {"mode": _words("constant edge reflect wrap")},
    ("", "RNN"): _RECURRENT,
    ("", "Resize"): {
        "mode": _words("cubic linear nearest"),
        "coordinate_transformation_mode": _PLACES,
        "nearest_mode": _ROUNDED,
    },
    ("", "RoiAlign"): {"mode": _words("avg max")},
    ("", "Scan"): dict.fromkeys(("directions", "scan_input_directions", "scan_output_directions"), _FLAG),
    ("", "StringNormalizer"): {"case_change_action": _words("LOWER NONE UPPER")},
    ("", "TfIdfVectorizer"): {"mode": _words("IDF TF TFIDF")},
    ("", "Upsample"): {"mode": _words("bilinear cubic linear nearest")},
    (_ML, "CastMap"): {"cast_to": _words("TO_FLOAT TO_INT64 TO_STRING"), "map_form": _words("DENSE SPARSE")},
    (_ML, "LinearClassifier"): _AFTER,
    (_ML, "LinearRegressor"): _AFTER,
    (_ML, "Normalizer"): {"norm": _words("L1 L2 MAX")},
    (_ML, "SVMClassifier"): _KERNELS,
    (_ML, "SVMRegressor"): _KERNELS,
    (_ML, "TreeEnsembleClassifier"): _TREES,
    (_ML, "TreeEnsembleRegressor"): {"aggregate_function": _words("AVERAGE MAX MIN SUM"), **_TREES},
}
CHOSEN: Final = frozenset(_ALLOWED)
# what they might be before a version
_BEFORE: Final[Mapping[tuple[str, str], tuple[int, Mapping[str, _Words]]]] = {
    ("", "GridSample"): (20, {"mode": _words("bicubic bilinear nearest")}),
}
_ANY_CASE: Final = frozenset(("GRU", "LSTM", "RNN", "RoiAlign"))


def disallowed(node: Node, version: int, given: Mapping[str, Attribute]) -> Iterator[str]:
    """Attributes of a node among the `CHOSEN` that are none of what they may be."""
    key = node.domain, node.op
    until, older = _BEFORE.get(key, (0, {}))
    for name, allowed in _ALLOWED[key].items():
        taken = older.get(name, allowed) if version < until else allowed
        item = given.get(name)
        wrong = None if item is None else next((one for one in _items(item) if not _is_in(one, taken, node.op)), None)
        if wrong is not None and _is_read(name, given):
            said = told(wrong, _LONGEST) if isinstance(wrong, str) else wrong
            yield f"its attribute {name} is {said}, not one of {', '.join(sorted(filter(None, map(str, taken))))}"


def _items(item: Attribute) -> "tuple[int | float | str, ...]":
    """The words or numbers of an attribute; of a long list, its beginning."""
    items = item.first if isinstance(item, Long) else item if isinstance(item, tuple) else (item,)
    return tuple(one for one in items if isinstance(one, int | float | str))


def _is_in(one: int | float | str, allowed: _Words, op: str) -> bool:
    return (one.lower() if isinstance(one, str) and op in _ANY_CASE else one) in allowed


def _is_read(name: str, given: Mapping[str, Attribute]) -> bool:
    """How a Resize rounds is only asked where it takes the nearest."""
    return name != "nearest_mode" or given.get("mode", "nearest") == "nearest"
