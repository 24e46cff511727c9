"""The workload of a run, independent of the device: its number format, kernels as columns of numbers, and memory."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct, structs

from onnx_autodoc.analysis import Costs, Facts, binding_at
from onnx_autodoc.hardware.devices import Device
from onnx_autodoc.hardware.kernels import DataVolume, Kernel, data_volume, fuse_kernels
from onnx_autodoc.ir import Value
from onnx_autodoc.ops import Trait, WorkClass, has_trait, operator_of
from onnx_autodoc.shapes import Role, dynamic_axes, infer_shapes, required_inputs


class NumberFormat(Struct, frozen=True):
    """`rates`: those that may compute it, the native one first; a runtime uses the fastest that a device has."""

    name: str
    weight_bits: float
    transfer_bytes: int  # of a number between kernels, at least
    stored_bytes: int  # of a number in memory
    rates: tuple[str, ...]


_FULL: Final = ("fp32", "tf32")  # runtimes use tensor cores that round to TF32 for fp32 where there are any
_HALF: Final = ("fp16", "bf16", *_FULL)
NUMBER_FORMATS: Final = {
    number_format.name: number_format
    for number_format in (
        NumberFormat("fp32", 32, 4, 4, _FULL),
        NumberFormat("tf32", 32, 4, 4, ("tf32", "fp32")),
        NumberFormat("bf16", 16, 2, 2, ("bf16", *_FULL)),
        NumberFormat("fp16", 16, 2, 2, _HALF),
        NumberFormat("fp8", 8, 1, 1, ("fp8", *_HALF)),
        NumberFormat("int8", 8, 1, 1, ("int8", *_HALF)),
        # a scale of 16 bits for each 32 weights; activations in fp16
        NumberFormat("int4", 4.5, 1, 2, ("int4", "int8", *_HALF)),
    )
}
_BY_PRECISION_LABEL: Final = {
    **dict.fromkeys(("int8-dynamic", "int8-qoperator", "int8-qdq", "int8-weights"), "int8"),
    "fp8-qdq": "fp8",
    **dict.fromkeys(("int4-weights", "fp4-weights", "nf4-weights"), "int4"),
}
_BY_DTYPE: Final = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


class PeakRate(Struct, frozen=True):
    """Operations per second, and the format they are published for; without one, `reason` explains the absence."""

    per_second: float | None
    name: str
    reason: str = ""


def find_native_format(facts: Facts) -> NumberFormat:
    """Return the format of the file: that of most of its weights, fp32 if it has none."""
    label = facts.precision.label or ""
    dtype = next(iter(facts.parameters.by_dtype), "float32")
    default = label if label in NUMBER_FORMATS else _BY_DTYPE.get(dtype, "fp32")
    return NUMBER_FORMATS[_BY_PRECISION_LABEL.get(label, default)]


def find_peak_rate(device: Device, number_format: NumberFormat) -> PeakRate:
    """Return the fastest published rate of a device that computes a format."""
    names = [name for name in number_format.rates if name in device.rates]
    if names:
        best = max(names, key=device.rates.__getitem__)
        return PeakRate(device.rates[best], best)
    known = ", ".join(device.rates) or "none"
    return PeakRate(None, "", f"no {number_format.name} rate is known (known rates: {known})")


WHOLE: Final = "whole"
PREFILL: Final = "prefill"
DECODE: Final = "decode"
_RECURRENT_RANK: Final = 3  # of the input of a recurrent cell: steps, batch, features
_FLOAT_BYTES: Final = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}
_QUANTIZED_BYTES: Final = {"int8": 1, "uint8": 1}
_MAX_AMOUNT: Final = 10**100  # larger amounts are lower bounds, since floats end at 10^308

Dims = tuple[int, ...]
Column = np.ndarray[Any, np.dtype[np.float64]]
BoolColumn = np.ndarray[Any, np.dtype[np.bool_]]


class KernelTable(Struct, frozen=True, eq=False):
    """Kernels as columns: multiply-adds, elements of weights, floats and other bytes of data, launches."""

    rows: Sequence[Kernel]
    macs: Column
    weights: Column
    floats: Column
    other_bytes: Column
    launches: Column
    is_convolution: BoolColumn

    @classmethod
    def of(cls, kernels: Sequence[Kernel]) -> "KernelTable":
        moved = [kernel.read + kernel.written for kernel in kernels]
        columns = (
            [kernel.macs for kernel in kernels],
            [sum(kernel.weights.values()) for kernel in kernels],
            [volume.floats for volume in moved],
            [volume.other_bytes for volume in moved],
            [kernel.times for kernel in kernels],
        )
        limited = ([min(amount, _MAX_AMOUNT) for amount in column] for column in columns)
        macs, weights, floats, other_bytes, launches = (np.array(column, dtype=np.float64) for column in limited)
        is_convolution = np.array([kernel.kind is WorkClass.CONVOLUTION for kernel in kernels], dtype=bool)
        return cls(kernels, macs, weights, floats, other_bytes, launches, is_convolution)

    def scaled(self, factor: float) -> "KernelTable":
        """Return the kernels at a multiple of the batch: weights and launches stay."""
        return structs.replace(
            self, macs=self.macs * factor, floats=self.floats * factor, other_bytes=self.other_bytes * factor
        )


class Workload(Struct, frozen=True, eq=False):
    """One run. `weights`: elements that it reads at least once; `parameters`: all elements.

    Weights that nodes generate count too: the file has none of their bytes, a runtime stores them all.
    """

    kernels: KernelTable
    native_format: NumberFormat
    macs: int
    weights: int
    parameters: int
    weight_bytes: int  # as in the file
    io_volume: DataVolume  # inputs and outputs of the model
    peak_activation_bytes: int | None  # as in the file
    activation_bytes: int  # of one element
    batch: int | None
    coverage: float
    family: str
    constant_macs: int = 0  # independent of data: a runtime may fold them
    embedding_parameters: int = 0  # elements that are looked up by row
    is_dynamically_quantized: bool = False
    is_partial: bool = False  # some multiply-adds are unknown
    has_unknown_memory: bool = False  # some values have an unknown size
    sizes: Mapping[Role, int] = {}  # that differ from those of the card
    phase: str = WHOLE  # of a decoder with a cache: prefill, or decode with one new token


def measure_workload(facts: Facts, family: str) -> Workload:
    kernels = fuse_kernels(facts)
    total, parameters = facts.costs.total, facts.parameters
    elements_by_names: dict[tuple[str, ...], int] = {}
    for kernel in kernels:
        for names, count in kernel.weights.items():
            elements_by_names[names] = max(elements_by_names.get(names, 0), count)
    read, width = sum(elements_by_names.values()), _activation_bytes(facts)
    stored = parameters.total + parameters.statistics + parameters.quantization + parameters.constants
    workload = Workload(
        kernels=KernelTable.of(kernels),
        native_format=find_native_format(facts),
        macs=total.macs,
        weights=read,
        parameters=max(parameters.total + parameters.statistics, read),
        weight_bytes=parameters.nbytes + max(0, read - stored) * width,
        io_volume=_io_volume(facts),
        peak_activation_bytes=facts.memory.peak.nbytes if facts.memory.peak is not None else None,
        activation_bytes=width,
        batch=find_batch(facts),
        coverage=total.counted / total.nodes if total.nodes else 1.0,
        family=family,
        constant_macs=total.macs - sum(kernel.macs for kernel in kernels) if kernels else 0,
        embedding_parameters=sum(
            share.elements
            for place, share in parameters.nodes.items()
            if operator_of(parameters.readers[place]).work is WorkClass.LOOKUP
        ),
        is_dynamically_quantized=facts.precision.label == "int8-dynamic",
        is_partial=any(missing.macs for missing in total.missing.values()),
        has_unknown_memory=bool(facts.memory.unknown),
        phase=_find_phase(facts),
    )
    return _limit_amounts(workload)


def _limit_amounts(workload: Workload) -> Workload:
    """Replace amounts that no float can hold by a lower bound."""
    names = ("macs", "weights", "parameters", "weight_bytes", "constant_macs", "embedding_parameters")
    limited = {name: _MAX_AMOUNT for name in names if getattr(workload, name) > _MAX_AMOUNT}
    volume, peak = workload.io_volume, workload.peak_activation_bytes
    limited_volume = DataVolume(min(volume.floats, _MAX_AMOUNT), min(volume.other_bytes, _MAX_AMOUNT))
    limited_peak = None if peak is None else min(peak, _MAX_AMOUNT)
    if not limited and (limited_volume, limited_peak) == (volume, peak):
        return workload
    return structs.replace(
        workload,
        **limited,
        io_volume=limited_volume,
        peak_activation_bytes=limited_peak,
        is_partial=True,
        has_unknown_memory=True,
    )


def _activation_bytes(facts: Facts) -> int:
    """Return the bytes of an element in most of the activations: quantized operators produce single bytes."""
    widths = _FLOAT_BYTES | (_QUANTIZED_BYTES if facts.precision.label == "int8-qoperator" else {})
    counts = Counter[str]()
    for step in facts.shapes.steps:
        for known in step.outputs:
            if known.dtype in widths and known.concrete is not None:
                counts[known.dtype] += math.prod(known.concrete)
    return widths[max(counts, key=lambda dtype: (counts[dtype], dtype), default="float32")]


def kernels_at(facts: Facts, sizes: Mapping[Role, int]) -> KernelTable | None:
    """Return the kernels at other sizes of dynamic dimensions; None if the model does not run at these."""
    binding = binding_at(facts, sizes)
    shapes = infer_shapes(facts.model, binding)
    if shapes.contradictions:
        return None
    costs = Costs(facts.model, shapes)
    return KernelTable.of(fuse_kernels(structs.replace(facts, binding=binding, shapes=shapes, costs=costs)))


def _find_phase(facts: Facts) -> str:
    if facts.cache is None:
        return WHOLE
    axes, sizes = dynamic_axes(facts.model), facts.binding.axes
    new_tokens = {sizes.get((dim.value.name, dim.axis)) for dim in axes if dim.role is Role.SEQUENCE}
    return DECODE if new_tokens == {1} else PREFILL


def _io_volume(facts: Facts) -> DataVolume:
    """Count inputs whose elements are read, and outputs. A cache is read; its new part is written in place."""
    cached = facts.cache.tensors if facts.cache else ()
    graph, types = facts.model.graph, facts.shapes.values
    read = {name for node in graph.nodes if not has_trait(node, Trait.SHAPE_QUERY) for name in node.all_inputs}
    names = [value.name for value in required_inputs(facts.model) if value.name in read]
    names += [value.name for value in graph.outputs if value.name not in cached]
    return sum((data_volume(types[name]) for name in names if name in types), start=DataVolume())


def find_batch(facts: Facts) -> int | None:
    """Return the dynamic batch, or the first size of all inputs with several axes; None if there is no such size."""
    axes, model = facts.binding.axes, facts.model
    dynamic = [axes.get((dim.value.name, dim.axis)) for dim in dynamic_axes(model) if dim.role is Role.BATCH]
    inputs = [dims for dims in _dims(facts, required_inputs(model)) if len(dims) > 1]
    sizes = set(dynamic or [dims[0] for dims in inputs])
    batch = next(iter(sizes)) if len(sizes) == 1 else None
    if dynamic or batch == 1:
        return batch
    # A static size is a batch if outputs begin with it too: not the channels of a single image. A second size of 1 may
    # as well be the batch of a sequence.
    is_sequence = any(dims[1:2] == (1,) and len(dims) == _RECURRENT_RANK for dims in inputs)
    output_sizes = {dims[0] for dims in _dims(facts, model.graph.outputs) if dims}
    return batch if not is_sequence and output_sizes == {batch} else None


def _dims(facts: Facts, values: Sequence[Value]) -> list[Dims]:
    types = [facts.shapes.values.get(value.name) for value in values]
    return [known.concrete for known in types if known is not None and known.concrete is not None]
