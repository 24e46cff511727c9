"""What each output is: the last thing that a net does, and for how many places it does it.

    lm                     a number for each row of the token table
    span                   two outputs of one number for each token
    classification         a number for each class, once;  token-classification: for each token;  ctc: for each step
    probability, score     one number, through a sigmoid or not;  …-per-place: for each token or step
    detection              boxes with scores in one list (pose, oriented: with points, an angle), or those chosen
    boxes, scores          the two apart;  raw-detection: grids nobody decoded;  prototypes: masks to be mixed for boxes
    segmentation           classes for each pixel;  map, picture: one number, three colours;  text-map: where text is
    numbers                several for each place, and nothing says what of
    embedding              features of the whole;  hidden: of each place;  features: of coarse cells
    matching               the product of two embeddings
    trees                  a classifier of ai.onnx.ml;  trees-regression
    state, weights         what a decoder or a cell hands on;  what attention looked at

How many classes there are is the width of the last weights, never the length of a sequence and never a vocabulary.
"""

from typing import Final

from msgspec.structs import replace

from onnx_autodoc.patterns import _grids, _pictures
from onnx_autodoc.patterns._beside import paired
from onnx_autodoc.patterns._ends import is_shared, is_state, is_weights
from onnx_autodoc.patterns._head import USUAL, Head, act_of, is_normed
from onnx_autodoc.patterns._linear_heads import of_features, of_map
from onnx_autodoc.patterns._net import Net
from onnx_autodoc.patterns._output_trace import Tail, tails, width
from onnx_autodoc.patterns._words import WEIGHTED

__all__ = ["USUAL", "Head", "heads"]

_TREES: Final = ("TreeEnsembleClassifier", "LinearClassifier", "SVMClassifier")
_FORESTS: Final = ("TreeEnsembleRegressor", "TreeEnsemble", "LinearRegressor", "SVMRegressor")
_COUNTED: Final = frozenset(("int64", "int32", "bool"))
_OF_ANY_TYPE: Final = frozenset(("trees", "detection", "segmentation", "state"))
_LABELLED: Final = frozenset(("ZipMap", "ArrayFeatureExtractor", "LabelEncoder"))


def heads(net: Net) -> tuple[Head, ...]:
    """Found once: roles and the task both ask for them."""
    if "heads" not in net.notes:
        net.notes["heads"] = _found(net)
    return tuple(net.notes["heads"])


def _found(net: Net) -> tuple[Head, ...]:
    found = tails(net)
    listed = set(_grids.raw(net, found))
    made = [_raw(net, tail) if tail in listed else _head(net, tail) for tail in found]
    return tuple(paired(net, [head for head in made if head is not None], found))


def _head(net: Net, tail: Tail) -> Head | None:
    for find in (_handed_on, _of_trees, _of_matching, _of_boxes, _of_pixels, of_map, of_features):
        head = find(net, tail)
        if head is not None:
            return replace(head, values=(tail.value, *tail.ends)) if _is_of_its_type(net, tail, head) else None
    return None


def _is_of_its_type(net: Net, tail: Tail, head: Head) -> bool:
    """Whole numbers are picked, never scores or features, but for the products of quantized maps. Flags are neither."""
    known = net.knowns[tail.value]
    dtype = known.dtype if known is not None else None
    if dtype not in _COUNTED or head.kind in _OF_ANY_TYPE or net.maker(tail.value, *WEIGHTED) is not None:
        return True
    return dtype != "bool" and head.act in ("argmax", "picked")


def _handed_on(net: Net, tail: Tail) -> Head | None:
    if is_weights(net, tail):
        return Head("weights", tail.output, evidence=f"{tail.said} is what attention weighs by")
    if is_state(net, tail) or is_shared(net, tail):
        return Head("state", tail.output, evidence=f"{tail.said} is handed to the next run")
    return None


def _of_trees(net: Net, tail: Tail) -> Head | None:
    ops = [term.op for term in tail.terms if term.op in (*_TREES, *_FORESTS)]
    if not ops and not (tail.ops & _LABELLED and "ArgMax" in tail.ops):
        return None
    ops = ops or ["an arg max over labels"]
    picks = ops[0] not in _FORESTS or "ArgMax" in tail.ops
    known = net.knowns[tail.value]
    dtype = known.dtype if known is not None else None
    act = "argmax" if picks and dtype in ("int64", "int32", "string") else "softmax" if picks else None
    kind = "trees" if picks else "trees-regression"
    return Head(kind, tail.output, act=act, evidence=f"{tail.said} comes from {ops[0]}")


def _of_matching(net: Net, tail: Tail) -> Head | None:
    """The product of features of two things."""
    if "MatMul" not in tail.ops or len(tail.sources) < 2 or not is_normed(tail):
        return None
    return Head("matching", tail.output, evidence=f"{tail.said} multiplies the features of two inputs")


def _of_boxes(net: Net, tail: Tail) -> Head | None:
    picker = _grids.chosen(net, tail)
    if picker is not None:
        said = f"{picker.op} picks boxes for {tail.said}"
        return Head("detection", tail.output, act=_grids.part(net, tail, picker), evidence=said)
    grid = _grids.grid(net, tail)
    if grid is None:
        return None
    said = f"{tail.said} has {grid.wide} numbers for each of {grid.places:,} cells of {grid.scales} grids"
    if grid.wide == _grids.BOX:
        return Head("boxes", tail.output, places=grid.places, evidence=said, wide=grid.wide)
    kind, classes = (grid.kind, grid.classes) if grid.wide > _grids.BOX else ("scores", grid.wide)
    return Head(kind, tail.output, classes, act_of(net, tail), grid.places, said, wide=grid.wide)


def _raw(net: Net, tail: Tail) -> Head:
    wide = width(tail.sources[0]) or 0
    said = f"{tail.said} is a grid with {wide} numbers for each cell, as others of other sizes"
    return Head("raw-detection", tail.output, None, act_of(net, tail), evidence=said)


def _of_pixels(net: Net, tail: Tail) -> Head | None:
    found = _pictures.pixels(net, tail)
    if found is None:
        return None
    return Head(found.kind, tail.output, found.classes, act_of(net, tail), found.places, found.evidence)
