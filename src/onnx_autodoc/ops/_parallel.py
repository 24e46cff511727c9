"""Lists of a node that lie beside each other: as long as one another, or one instead of another.

What onnxruntime refuses when it loads a model. A list that is left out or empty is not counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from onnx_autodoc.ir import Attribute, Long, Node, Tensor

_ML: Final = "ai.onnx.ml"
_NODES: Final = (
    *("nodes_falsenodeids", "nodes_featureids", "nodes_modes", "nodes_nodeids", "nodes_treeids"),
    *("nodes_truenodeids", "nodes_values"),
)
_KEYS, _VALUES = (
    tuple(f"{side}_{kind}" for kind in ("floats", "int64s", "strings", "tensor")) for side in ("keys", "values")
)
# (domain, operator) -> attributes, all of one length
_ALIKE: Final[Mapping[tuple[str, str], Sequence[tuple[str, ...]]]] = {
    (_ML, "CategoryMapper"): [("cats_int64s", "cats_strings")],
    (_ML, "LabelEncoder"): [(*_KEYS, *_VALUES)],
    (_ML, "Scaler"): [("offset", "scale")],
    (_ML, "TreeEnsembleClassifier"): [_NODES, ("class_ids", "class_nodeids", "class_treeids", "class_weights")],
    (_ML, "TreeEnsembleRegressor"): [_NODES, ("target_ids", "target_nodeids", "target_treeids", "target_weights")],
}
# (domain, operator) -> attributes of which there is one
_ONE: Final[Mapping[tuple[str, str], Sequence[tuple[str, ...]]]] = {
    (_ML, "Imputer"): [("imputed_value_floats", "imputed_value_int64s")],
    (_ML, "LabelEncoder"): [_KEYS, _VALUES],
    (_ML, "OneHotEncoder"): [("cats_int64s", "cats_strings")],
}
_GATES: Final = {"LSTM": 3, "GRU": 2, "RNN": 1}  # activations of one direction
LISTED: Final = frozenset((*_ALIKE, *_ONE, ("", "Scan"), *(("", op) for op in _GATES)))
_PLAIN_ENCODER: Final = "classes_strings"  # all that the first LabelEncoder had
SCAN_WITHOUT_BATCH: Final = 9  # the version since which a Scan has no batch of its own


def uneven(node: Node, version: int, given: Mapping[str, Attribute]) -> Iterator[str]:
    """Lists that are not as long as they must be, and two where there can be one."""
    key = node.domain, node.op
    for names in _ALIKE.get(key, ()):
        counts = {name: count for name in names if (count := _count(given.get(name)))}
        if len(set(counts.values())) > 1:
            (one, first), *others = counts.items()
            name, count = next(item for item in others if item[1] != first)
            yield f"it has {first:,} {one} and {count:,} {name}"
    for names in _ONE.get(key, ()) if _PLAIN_ENCODER not in given else ():
        if sum(_count(given.get(name)) > 0 for name in names) > 1 or not any(name in given for name in names):
            yield f"it has not one of its attributes {', '.join(names)}"
    for name, count, wanted in _wanted(node, version, given):
        if count not in (0, *wanted):
            yield f"its attribute {name} has {count:,} items, not {wanted[0]:,}"


def _wanted(node: Node, version: int, given: Mapping[str, Attribute]) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """How many items a list has, and may have."""
    if node.domain:
        return
    if node.op in _GATES:
        count = _GATES[node.op] * (2 if given.get("direction") == "bidirectional" else 1)
        # the specification's default for an RNN is that of both directions, and does for one
        yield "activations", _count(given.get("activations")), (count, max(count, 2))
    scanned = given.get("num_scan_inputs")
    if node.op == "Scan" and version >= SCAN_WITHOUT_BATCH and isinstance(scanned, int):
        made = len(node.outputs) - (len(node.inputs) - scanned)
        for side, count in (("input", scanned), ("output", made)):
            for name in (f"scan_{side}_axes", f"scan_{side}_directions"):
                yield name, _count(given.get(name)), (count,)


def _count(item: Attribute | None) -> int:
    if isinstance(item, Tensor):
        return item.elements
    return item.count if isinstance(item, Long) else len(item) if isinstance(item, tuple) else 0
