"""What each input is given: from the card's sample, or one line on why it cannot be filled."""

from collections.abc import Mapping, Sequence

from onnx_autodoc.analysis import Facts
from onnx_autodoc.architecture import Sample
from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import Value
from onnx_autodoc.ops import Known
from onnx_autodoc.runtime._arrays import FILLABLE
from onnx_autodoc.runtime._types import Feed
from onnx_autodoc.shapes import inputs_of
from onnx_autodoc.text import clean


def feeds_of(facts: Facts, samples: Mapping[str, Sample]) -> tuple[Feed, ...]:
    """One for each input that a caller must give, at the sizes of the card."""
    known = facts.shapes.values
    return tuple(
        _feed(facts.model.path, value, known.get(value.name), samples.get(value.name))
        for value in inputs_of(facts.model)
    )


def _feed(path: str, value: Value, known: Known | None, sample: Sample | None) -> Feed:
    kind = value.type.kind if value.type else "tensor"
    dtype = (value.type.dtype if value.type else None) or (known.dtype if known else None)
    dims = known.concrete if known else None
    if kind != "tensor" or dtype not in FILLABLE or dims is None:
        reason = _unfilled(value.name, kind, dtype, known.shape if known else None)
        raise BadInput(f"{path}: the input {clean(value.name, 80)} cannot be filled: {reason}")
    if sample is None:
        return Feed(value.name, dtype, dims, value="text" if dtype == "string" else 0)
    return Feed(value.name, dtype, dims, sample.fill, sample.low, sample.high, sample.value)


def _unfilled(name: str, kind: str, dtype: str | None, shape: Sequence[object] | None) -> str:
    if kind != "tensor":
        return f"it is {'an' if kind[:1] in 'aeiou' else 'a'} {kind}, not a tensor"
    if dtype is None:
        return "its type is not known"
    if dtype not in FILLABLE:
        return f"its type is {dtype}, which onnxruntime does not take from outside"
    if shape is None:
        return "the file does not say how many dimensions it has"
    given = " ".join(f"--dim {clean(name, 80)}.{axis}=N" for axis, size in enumerate(shape) if type(size) is not int)
    return f"its size is not known; give it with {given}"
