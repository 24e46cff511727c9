"""Sample inputs: how to fill each input so that the model runs, from the requirements of its graph.

Samples are data: renderers write them as a program, and `verify` fills the inputs by them.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.architecture.value_traces import InputDemand, find_demands
from onnx_autodoc.card import Sample
from onnx_autodoc.ir import is_float, is_integer
from onnx_autodoc.shapes import required_inputs

_ZERO_ROLES: Final = ("past state", "state", "segment")
_BYTE_RANGES: Final = {"uint8": (0, 256), "int8": (-128, 128)}
_AUDIO_AMPLITUDE: Final = 0.1
_EXACT_INTEGERS: Final = {"float16": 2048, "bfloat16": 256, "int8": 128, "uint8": 256, "int16": 32768, "uint16": 65536}


class InputSpec(Struct, frozen=True, eq=False):
    """All that is known of one input."""

    dtype: str
    dims: tuple[int, ...]
    role: str
    demand: InputDemand
    longest_axis: int | None  # of the dynamic axes of other inputs

    @property
    def is_single(self) -> bool:
        return all(dim == 1 for dim in self.dims)


def find_samples(facts: Facts, roles: Mapping[str, str]) -> dict[str, Sample]:
    """Return how to fill each input whose size is known."""
    demands, bound, samples = find_demands(facts), facts.binding.values, dict[str, Sample]()
    sizes: dict[str, int] = {}  # of the longest dynamic axis after the first
    for (name, axis), size in facts.binding.axes.items():
        if axis > 0:
            sizes[name] = max(size, sizes.get(name, size))
    longest_axes = sorted(sizes.items(), key=lambda item: -item[1])[:2]  # candidates for a length input
    for value in required_inputs(facts.model):
        name, info = value.name, facts.shapes.values.get(value.name)
        if name in bound:
            samples[name] = Sample("constant", value=bound[name].reshape(-1).tolist()[0])
            continue
        is_tensor = value.type is not None and value.type.kind == "tensor"
        if info is None or not info.dtype or info.concrete is None or not is_tensor:
            continue
        longest = next((size for other, size in longest_axes if other != name), None)
        spec = InputSpec(info.dtype, info.concrete, roles.get(name, ""), demands[name], longest)
        samples[name] = _known_sample(spec) or _default_sample(spec)
    return samples


def _known_sample(spec: InputSpec) -> Sample | None:
    """Return the sample of an input whose type, role or readers decide it."""
    demand, is_real = spec.demand, is_float(spec.dtype)
    texts = [item for item in demand.among if isinstance(item, str)]
    categories = [item for item in demand.among if not isinstance(item, str)]
    if spec.dtype in ("string", "bool"):
        return Sample("constant", value=True) if spec.dtype == "bool" else Sample("text", value=(*texts, "text")[0])
    if categories:
        return Sample("constant", value=categories[0])
    if spec.role in _ZERO_ROLES:
        return Sample("constant", value=0)
    if spec.role == "mask" or demand.is_counted:
        return Sample("constant", value=1)
    if demand.exactly and not demand.is_bounded:  # a size, a length or an axis
        number = min(demand.exactly)
        if demand.distinct and spec.dims and not spec.is_single:
            return Sample("range", low=round(number))
        return Sample("constant", value=number if is_real else round(number))
    if spec.role == "positions" and spec.dims and not is_real and demand.low + spec.dims[-1] <= demand.high:
        return Sample("range", low=demand.low)
    if demand.is_bounded:  # indices within the tables that they select from
        high = min(int(demand.high), _EXACT_INTEGERS.get(spec.dtype, int(demand.high)))
        if high <= demand.low + 1:
            return Sample("constant", value=demand.low if high > demand.low else 0)
        return Sample("integers", low=demand.low, high=high)
    return None


def _default_sample(spec: InputSpec) -> Sample:
    """Return the sample of an input by its type and role. As a divisor, a count or a size, 1 is a safe integer."""
    demand, is_real = spec.demand, is_float(spec.dtype)
    is_length = spec.role == "lengths" and spec.longest_axis
    sizes = demand.axis_sizes or ([spec.longest_axis] if spec.longest_axis and is_length else [])
    if len(spec.dims) < 2 and not is_real and sizes:
        return Sample("constant", value=max(sizes))
    numbers = [number for number in demand.compared if is_real or number == int(number)]
    if spec.is_single and numbers and spec.role in ("sample rate", "switch"):  # a number that selects a branch
        return Sample("constant", value=max(numbers) if is_real else int(max(numbers)))
    if is_integer(spec.dtype):
        low, high = _BYTE_RANGES.get(spec.dtype, (0, 0))
        return Sample("integers", low=low, high=high) if high and not spec.is_single else Sample("constant", value=1)
    if spec.role.startswith(("image", "video")):
        return Sample("uniform", low=0, high=1)
    if spec.role == "timestep" or (spec.is_single and spec.role not in ("features", "audio", "signal")):
        return Sample("constant", value=1)
    return Sample("normal", high=_AUDIO_AMPLITUDE if spec.role == "audio" else 1)
