"""What a fair input is: how to fill each input so that the model really runs, found from what its graph asks of it.

Data on the card, not text: a renderer writes it as a program, and whoever runs the model fills its inputs by it.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.architecture._samples_traces import Demand, demands
from onnx_autodoc.ir import Value, is_float, is_integer
from onnx_autodoc.ops import Known
from onnx_autodoc.shapes import inputs_of

Number = bool | int | float

_ZEROS: Final = ("past state", "state", "segment")
_BYTES: Final = {"uint8": (0, 256), "int8": (-128, 128)}
_QUIET: Final = 0.1  # how loud noise is
_MOST_WHOLE: Final = {"float16": 2048, "bfloat16": 256, "int8": 128, "uint8": 256, "int16": 32768, "uint16": 65536}


class Sample(Struct, frozen=True):
    """How to fill an input.

    `normal`: around 0, as far as `high`; `uniform` and `integers`: from `low` on, below `high`; `constant`: `value` all
    over; `range`: `low`, `low` + 1, … along the last axis; `text`: `value`, a string, all over.
    """

    fill: str
    low: int | float | None = None
    high: int | float | None = None
    value: bool | int | float | str | None = None


class _Case(Struct, frozen=True, eq=False):
    """All that is known of one input."""

    dtype: str
    dims: tuple[int, ...]
    role: str
    demand: Demand
    longest: int | None  # of the axes that other inputs have open

    @property
    def single(self) -> bool:
        return all(dim == 1 for dim in self.dims)


def samples(facts: Facts, roles: Mapping[str, str]) -> dict[str, Sample]:
    """How to fill each input whose size is known."""
    wishes, values, made = demands(facts), facts.binding.values, dict[str, Sample]()
    longest = _longest(facts)
    for value in inputs_of(facts.model):
        known = facts.shapes.values.get(value.name)
        if value.name in values:
            made[value.name] = Sample("constant", value=values[value.name].reshape(-1).tolist()[0])
        elif known is not None and known.dtype and known.concrete is not None and _is_tensor(value):
            others = (size for name, size in longest if name != value.name)
            made[value.name] = sample(_case(value, known, roles, wishes[value.name], next(others, None)))
    return made


def _is_tensor(value: Value) -> bool:
    return value.type is not None and value.type.kind == "tensor"


def _case(value: Value, known: Known, roles: Mapping[str, str], demand: Demand, longest: int | None) -> _Case:
    return _Case(known.dtype or "", known.concrete or (), roles.get(value.name, ""), demand, longest)


def _longest(facts: Facts) -> list[tuple[str, int]]:
    """Of the inputs, those with the longest open axis but the first, which is what another's length most likely
    measures."""
    sizes: dict[str, int] = {}
    for (name, axis), size in facts.binding.axes.items():
        if axis > 0:
            sizes[name] = max(size, sizes.get(name, size))
    return sorted(sizes.items(), key=lambda item: -item[1])[:2]


def sample(case: _Case) -> Sample:
    return next(made for rule in _RULES if (made := rule(case)) is not None)


def _word(case: _Case) -> Sample | None:
    """A word that is known to who reads it."""
    words = [item for item in case.demand.among if isinstance(item, str)]
    return Sample("text", value=(words or ["text"])[0]) if case.dtype == "string" else None


def _known(case: _Case) -> Sample | None:
    """One of the categories that there are."""
    found = [item for item in case.demand.among if not isinstance(item, str)]
    return Sample("constant", value=found[0]) if found else None


def _flag(case: _Case) -> Sample | None:
    return Sample("constant", value=True) if case.dtype == "bool" else None


def _asked(case: _Case) -> Sample | None:
    """A size, a length or an axis that an operator wants."""
    wanted = case.demand.exactly
    if not wanted or case.demand.bounded:
        return None
    number = min(wanted)
    if case.demand.apart and case.dims and not case.single:
        return Sample("range", low=round(number))
    return Sample("constant", value=number if is_float(case.dtype) else round(number))


def _nothing(case: _Case) -> Sample | None:
    """No past, no state; the first part of a text."""
    return Sample("constant", value=0) if case.role in _ZEROS else None


def _seen(case: _Case) -> Sample | None:
    """All places are seen, and counted."""
    return Sample("constant", value=1) if case.role == "mask" or case.demand.counts else None


def _counting(case: _Case) -> Sample | None:
    if case.role != "positions" or not case.dims or is_float(case.dtype):
        return None
    low = case.demand.low
    return Sample("range", low=low) if low + case.dims[-1] <= case.demand.high else None


def _rows(case: _Case) -> Sample | None:
    """Rows of a table, all of which it has."""
    demand = case.demand
    if not demand.bounded:
        return None
    high = min(int(demand.high), _MOST_WHOLE.get(case.dtype, int(demand.high)))
    if high <= demand.low + 1:
        return Sample("constant", value=demand.low if high > demand.low else 0)
    return Sample("integers", low=demand.low, high=high)


def _length(case: _Case) -> Sample | None:
    """The size of the axis that it measures."""
    if len(case.dims) > 1 or is_float(case.dtype):
        return None
    sizes = case.demand.measures or ([case.longest] if case.role == "lengths" and case.longest else [])
    return Sample("constant", value=max(sizes)) if sizes else None


def _steering(case: _Case) -> Sample | None:
    """A single number that a branch hangs on: the one that it is compared with."""
    numbers = [number for number in case.demand.compared if is_float(case.dtype) or number == int(number)]
    if not case.single or not numbers or case.role not in ("sample rate", "switch"):
        return None
    number = max(numbers)
    return Sample("constant", value=number if is_float(case.dtype) else int(number))


def _other_integers(case: _Case) -> Sample | None:
    """Bytes are data; of others, one is safe: to divide by, to count with, to make a size of."""
    if not is_integer(case.dtype):
        return None
    low, high = _BYTES.get(case.dtype, (0, 0))
    return Sample("integers", low=low, high=high) if high and not case.single else Sample("constant", value=1)


def _numbers(case: _Case) -> Sample | None:
    if case.role.startswith(("image", "video")):
        return Sample("uniform", low=0, high=1)
    if case.role == "timestep" or (case.single and case.role not in ("features", "audio", "signal")):
        return Sample("constant", value=1)
    return Sample("normal", high=_QUIET if case.role == "audio" else 1)


_RULES: Final[tuple[Callable[[_Case], Sample | None], ...]] = (
    *(_word, _flag, _known, _nothing, _seen, _asked, _counting, _rows, _length, _steering, _other_integers, _numbers),
)
