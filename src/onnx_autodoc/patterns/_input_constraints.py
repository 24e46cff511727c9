"""What each operator asks of its integer inputs: below the rows of a table, exactly a length, a size, an axis."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import Long
from onnx_autodoc.shapes import Step


class Asked(Struct, frozen=True):
    """Numbers below `below`; or, where one is as good as right, the number itself: each time, or counted from it."""

    below: int | None = None
    exactly: int | float | None = None
    apart: bool = False  # no two of them alike
    among: tuple[int | float | str, ...] = ()  # words or numbers that are known; others stop the run


Rule = Callable[[Step], Asked | None]


def _dims(step: Step, at: int) -> tuple[int | None, ...] | None:
    known = step.inputs[at] if at < len(step.inputs) else None
    if known is None or known.shape is None:
        return None
    return tuple(dim if type(dim) is int else None for dim in known.shape)


def _size(step: Step, at: int, axis: int) -> int | None:
    dims = _dims(step, at)
    return dims[axis] if dims is not None and -len(dims) <= axis < len(dims) else None


def _attribute(step: Step, name: str, default: int) -> int:
    found = step.node.attributes.get(name)
    return found if isinstance(found, int) else default


def _rows(table: int, axis: str | int = 0, default: int = 0) -> Rule:
    """Below the size of an axis of another input; the axis is an attribute, or always the same one."""

    def rule(step: Step) -> Asked | None:
        at = axis if isinstance(axis, int) else _attribute(step, axis, default)
        size = _size(step, table, at)
        return Asked(below=size) if size else None

    return rule


def _places(step: Step) -> Asked | None:
    """GatherND, ScatterND: each row of indices is a place, one number for each of the first axes."""
    dims, count = _dims(step, 0), _size(step, 1, -1)
    if dims is None or count is None:
        return None
    start = _attribute(step, "batch_dims", 0)
    sizes = [size for size in dims[start : start + count] if size]
    return Asked(below=min(sizes)) if sizes else None


def _length(of: int, axis: str | int = 0, default: int = 0, less: int = 0) -> Rule:
    """As many as an axis of another input has."""

    def rule(step: Step) -> Asked | None:
        at = axis if isinstance(axis, int) else _attribute(step, axis, default)
        size = _size(step, of, at)
        return Asked(exactly=size - less) if size is not None else None

    return rule


def _steps(step: Step) -> Asked | None:
    """Of a recurrent operator: time comes first, or second after the batch."""
    size = _size(step, 0, 1 if _attribute(step, "layout", 0) else 0)
    return Asked(exactly=size) if size is not None else None


def _tokens(less: int) -> Rule:
    """Of GroupQueryAttention and its kin: the new tokens with those before them; a cache has room for more at most."""

    def rule(step: Step) -> Asked | None:
        new, past = _size(step, 0, 1), _size(step, 3, 2) or 0
        return Asked(exactly=new + past - less) if new is not None else None

    return rule


def _turned(table: int, given: int) -> Rule:
    """Positions below the rows of a table of angles; a single one is where the first token stands."""

    def rule(step: Step) -> Asked | None:
        size = _size(step, table, 0)
        return Asked(exactly=0) if _dims(step, given) in ((1,), ()) else Asked(below=size) if size else None

    return rule


def _always(number: float) -> Rule:
    return lambda _: Asked(exactly=number)


def _classes(step: Step) -> Asked | None:
    size = _size(step, 0, 1)
    return Asked(below=size) if size else None


def _depth(step: Step) -> Asked | None:
    """OneHot: below its depth; others are no fault, but say nothing."""
    known = step.inputs[1] if len(step.inputs) > 1 else None
    value = known.value if known is not None else None
    whole = value is not None and value.size == 1 and value.dtype.kind in "iuf"
    return Asked(below=int(value.reshape(-1)[0])) if value is not None and whole else None


def _same_shape(step: Step) -> Asked | None:
    """A Reshape's target: 0 keeps a size, and -1 is what is left."""
    dims, count = _dims(step, 0), _size(step, 1, 0)
    return Asked(exactly=-1 if count == 1 and dims != () else 0 if dims and count == len(dims) else 1)


def _category(step: Step) -> Asked | None:
    """Of an encoder that knows no others."""
    for key in ("cats_int64s", "cats_strings"):
        found = step.node.attributes.get(key)
        items = found.first if isinstance(found, Long) else found
        if isinstance(items, tuple) and items and not _attribute(step, "zeros", 1):
            return Asked(among=tuple(item for item in items if isinstance(item, int | str)))
    return None


def _numeral(step: Step) -> Asked | None:
    """What is read as a number must be one."""
    given = step.inputs[0]
    return Asked(among=("1",)) if given is not None and given.dtype == "string" else None


def _parts(step: Step) -> Asked | None:
    """As large as each other."""
    size = _size(step, 0, _attribute(step, "axis", 0))
    return Asked(exactly=size // len(step.outputs)) if size and step.outputs else None


def _axes(step: Step) -> Asked | None:
    return Asked(exactly=0, apart=True)


def _each(ops: Iterable[str], *rules: tuple[int, Rule]) -> dict[str, tuple[tuple[int, Rule], ...]]:
    return dict.fromkeys(ops, rules)


_ONE, _NONE = _always(1), _always(0)
_REDUCTIONS: Final = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")

ASKED: Final[dict[str, tuple[tuple[int, Rule], ...]]] = {
    "Gather": ((1, _rows(0, "axis")),),
    **_each(("GatherElements", "Scatter", "ScatterElements"), (1, _rows(0, "axis"))),
    **_each(("GatherND", "ScatterND"), (1, _places)),
    "GatherBlockQuantized": ((1, _rows(0, "gather_axis")),),
    "ArrayFeatureExtractor": ((1, _rows(0, -1)),),
    "EmbedLayerNormalization": ((0, _rows(2)), (1, _rows(4)), (8, _rows(3))),
    "QEmbedLayerNormalization": ((0, _rows(2)), (1, _rows(4))),
    **_each(("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"), (1, _classes)),
    "OneHotEncoder": ((0, _category),),
    "Cast": ((0, _numeral),),
    "OneHot": ((0, _depth), (1, _ONE)),
    "RoiAlign": ((2, _rows(0)),),
    "RotaryEmbedding": ((1, _turned(2, 1)), (3, _turned(1, 3))),
    "TensorScatter": ((2, _NONE),),
    **_each(("LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"), (4, _steps)),
    "ReverseSequence": ((1, _length(0, "time_axis")),),
    **_each(("GroupQueryAttention",), (5, _tokens(1)), (6, _tokens(0))),
    "SparseAttention": ((7, _tokens(0)), (8, _tokens(0))),
    # sizes, counts and steps
    **_each(("ConstantOfShape", "RandomNormalLike", "BlackmanWindow", "HannWindow", "HammingWindow"), (0, _ONE)),
    **_each(("Expand", "Tile", "TopK", "CenterCropPad"), (1, _ONE)),
    "Reshape": ((1, _same_shape),),
    "Range": ((0, _NONE), (1, _ONE), (2, _ONE)),
    "Slice": ((1, _NONE), (2, _ONE), (3, _axes), (4, _ONE)),
    "Resize": ((2, _ONE), (3, _ONE)),
    "Upsample": ((1, _ONE),),
    "Loop": ((0, _ONE),),
    "Split": ((1, _parts),),
    "Dropout": ((1, _NONE),),
    "NonMaxSuppression": ((2, _ONE), (3, _always(0.5)), (4, _always(0.1))),
    "Pad": ((1, _NONE),),
    # axes and places
    **_each((f"Reduce{name}" for name in _REDUCTIONS), (1, _axes)),
    **_each(("Squeeze", "Unsqueeze"), (1, _axes)),
    **_each(("CumSum", "SequenceAt"), (1, _NONE)),
    "SequenceInsert": ((2, _NONE),),
}
