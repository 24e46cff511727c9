"""The model takes one example at a time.

Why it matters: accelerators are used well by many examples at once. With the batch fixed at 1, each example is a run of
its own, and a server cannot put requests together.

What to do: if throughput matters, export with an open first dimension (dynamic_axes={"input": {0: "batch"}} or
dynamic_shapes of torch.onnx.export, dynamic=True of Ultralytics). For one example at a time it is right as it is.

Said only where the first dimension surely is a batch: of pictures, rows of tokens, spectrograms and the like, with one
answer for each in every output. Models that carry a state or a cache from run to run are not meant.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Value
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.shapes import inputs_of
from onnx_autodoc.text import named, plural

SEVERITY: Final = Severity.INFO
# What has examples along its first axis, and from how many dimensions on that is sure
_BATCHED: Final = {
    "tokens": 2,
    "image NCHW": 4,
    "image NHWC": 4,
    "video": 5,
    "volume": 5,
    "audio": 3,
    "spectrogram": 3,
    "token embeddings": 3,
}
_BESIDE: Final = frozenset(("mask", "segment", "positions"))  # follow the batch of what they stand beside


def check(case: Case) -> Iterator[Found]:
    inputs, roles = inputs_of(case.model), case.structure.roles
    sure = [value for value in inputs if _is_single(value, roles.get(value.name, ""))]
    others = [value for value in inputs if value not in sure]
    beside = all(roles.get(value.name) in _BESIDE and _dims(value)[:1] == (1,) for value in others)
    if sure and beside and case.facts.cache is None and _answers_each(case):
        names = ", ".join(named(value.name, 40) for value in sure[:3]) + (" …" if len(sure) > 3 else "")
        fixed = "its input" if len(inputs) == 1 else f"all {plural(len(inputs), 'input')}"
        yield Found(f"the batch of {fixed} is fixed at 1: {names}", tuple(value.name for value in inputs))


def _dims(value: Value) -> tuple[int | str | None, ...]:
    return (value.type.dims if value.type else None) or ()


def _is_single(value: Value, role: str) -> bool:
    """One example, of something that comes in batches. A single token is a step, and what steps has a state."""
    dims = _dims(value)
    return len(dims) >= _BATCHED.get(role, 99) and dims[0] == 1 and not (role == "tokens" and dims[1] == 1)


def _answers_each(case: Case) -> bool:
    """Whether every output has the batch for its first axis too, as far as sizes tell."""
    known = [case.facts.shapes.values.get(value.name) for value in case.model.graph.outputs]
    firsts = [each.shape[0] if each is not None and each.shape else None for each in known]
    return all(type(size) is int and size == 1 for size in firsts)
