"""One run on one device: lower bound, roofline, time, memory, and the bottleneck.

The lower bound is the larger of two times: all multiply-adds on data at the peak rate of the precision, or the weights,
inputs and outputs once over the memory bus. It assumes a perfect compiler that keeps everything else on the chip and
overlaps both. The roofline gives each kernel its own limit, with the data that pass through memory between kernels: a
good compiler may come close to it.

An NPU may keep the weights of a small model on the chip from run to run: a Hailo-10H has the same throughput for single
images as for batches of eight, up to about 13 MB of weights. Its bound leaves out as much as any such chip may hold.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from msgspec import Struct

from onnx_autodoc.card import BOUND, MEASURED, TYPICAL, DeviceRow, MemoryNeed, OperatorTime, Seconds
from onnx_autodoc.hardware.devices import Device
from onnx_autodoc.hardware.workload import BoolColumn, Column, NumberFormat, PeakRate, Workload, find_peak_rate

COMPUTE: Final = "compute"
MEMORY: Final = "memory"
LAUNCHES: Final = "launches"
_BITS: Final = 8  # in a byte
_ON_CHIP_WEIGHT_BYTES: Final = {"npu": 32 << 20}  # that may stay on the chip, by kind of device
_MAX_OPERATORS: Final = 12
_LAUNCH_BOUND_FACTOR: Final = 3.0  # of the roofline: a longer time is neither computation nor memory
_SHORT_KERNEL_SECONDS: Final = 2e-5  # at its limit: about the time of a launch
_NO_SUPPORT: Final = "no hardware support"  # reason in a device's file for a missing rate
_MIB: Final = 1 << 20
_RUNTIME_BYTES: Final = {"dedicated": 512 * _MIB, "unified": 256 * _MIB, "system": 64 * _MIB}  # by kind of memory
_FRAGMENTATION_DIVISOR: Final = 20  # 5% of weights and activations, for buffers and fragmentation
_USABLE_SHARE: Final = {"dedicated": 0.95, "unified": 0.75, "system": 0.9}  # not the driver's, screen's or system's


class LowerBound(Struct, frozen=True, eq=False):
    """`compute` and `memory`: seconds of the bound; `kernel_seconds`: of every kernel at its own limit."""

    rate: PeakRate
    compute: float | None = None
    memory: float | None = None
    kernel_seconds: Column | None = None
    memory_bound: BoolColumn | None = None  # by kernel

    @property
    def seconds(self) -> float | None:
        """None if nothing is known to take time: no multiply-adds, and no bandwidth."""
        return max(self.compute or 0.0, self.memory or 0.0) or None

    @property
    def bottleneck(self) -> str | None:
        """The larger of the known times; None if nothing takes time."""
        if self.compute is None or self.seconds is None:
            return None
        return MEMORY if self.memory is not None and self.memory > self.compute else COMPUTE

    @property
    def roofline(self) -> float | None:
        """Seconds of all kernels in sequence, never below the bound; None without kernels."""
        total = float(self.kernel_seconds.sum()) if self.kernel_seconds is not None else 0.0
        return max(total, self.seconds or 0.0) if total else None


def compute_lower_bound(workload: Workload, device: Device, number_format: NumberFormat) -> LowerBound:
    rate, bandwidth = find_peak_rate(device, number_format), device.bandwidth
    if rate.per_second is None:
        return LowerBound(rate)  # the device does not compute this format
    kernels, bytes_per_weight = workload.kernels, number_format.weight_bits / _BITS
    compute = 2 * (workload.macs - workload.constant_macs) / rate.per_second
    kernel_compute = 2 * kernels.macs / rate.per_second
    if not bandwidth:
        return LowerBound(rate, compute, None, kernel_compute, np.zeros(len(kernel_compute), dtype=bool))
    weight_bytes = max(0.0, workload.weights * bytes_per_weight - _ON_CHIP_WEIGHT_BYTES.get(device.kind, 0))
    memory = (weight_bytes + workload.io_volume.nbytes(number_format.transfer_bytes)) / bandwidth
    # other operations overlap with the transfer of data
    moved = kernels.weights * bytes_per_weight + kernels.floats * number_format.transfer_bytes + kernels.other_bytes
    kernel_memory = moved / bandwidth
    return LowerBound(rate, compute, memory, np.maximum(kernel_compute, kernel_memory), kernel_memory > kernel_compute)


class TimeRange(Struct, frozen=True):
    """Seconds, their grade, and its basis."""

    low: float
    expected: float
    high: float
    basis: str
    rests_on: str


# Returns None if no measurement is close enough.
TimeEstimator = Callable[[Workload, Device, NumberFormat, LowerBound], TimeRange | None]


class Estimate(Struct, frozen=True, eq=False):
    """One run at one batch on one device."""

    workload: Workload
    device: Device
    number_format: NumberFormat
    lower_bound: LowerBound
    range: TimeRange | None
    need: MemoryNeed

    @property
    def expected(self) -> float | None:
        return self.range.expected if self.range else self.lower_bound.seconds

    @property
    def basis(self) -> str:
        return self.range.basis if self.range else BOUND

    @property
    def fits(self) -> bool | None:
        """Whether the device has the memory; False is also known if the weights alone exceed it."""
        usable, needed = usable_memory(self.device), self.memory
        if usable is None:
            return None
        if needed is None:
            return False if self.need.weights + self.need.overhead > usable else None
        return needed <= usable

    @property
    def memory(self) -> int | None:
        need = self.need
        return None if need.activations is None else need.weights + need.activations + need.overhead

    @property
    def per_second(self) -> float | None:
        """Samples per second; None without a batch."""
        batch, seconds = self.workload.batch, self.expected
        return batch / seconds if batch and seconds else None

    @property
    def bottleneck(self) -> str | None:
        """That of the bound; of an expected time, that of most of the roofline, or launches of short kernels."""
        bound, roofline = self.lower_bound, self.lower_bound.roofline
        if self.range is None or roofline is None or bound.kernel_seconds is None or bound.memory_bound is None:
            return bound.bottleneck
        launches = max(1.0, float(self.workload.kernels.launches.sum()))
        if roofline / launches < _SHORT_KERNEL_SECONDS and self.range.expected > _LAUNCH_BOUND_FACTOR * roofline:
            return LAUNCHES
        return MEMORY if float(bound.kernel_seconds[bound.memory_bound].sum()) > roofline / 2 else COMPUTE

    @property
    def utilisation(self) -> float | None:
        """Share of the peak rate at the expected time."""
        compute = self.lower_bound.compute
        return compute / self.expected if compute and self.expected else None


def estimate(workload: Workload, device: Device, number_format: NumberFormat, estimate_time: TimeEstimator) -> Estimate:
    bound = compute_lower_bound(workload, device, number_format)
    time = estimate_time(workload, device, number_format, bound)
    # A measurement stays, even below a bound that is based on the current clock. Other times need the whole workload.
    if time is not None and time.basis != MEASURED:
        time = None if workload.is_partial else clamp_to_bound(time, bound)
    return Estimate(workload, device, number_format, bound, time, estimate_memory(workload, device, number_format))


def clamp_to_bound(time: TimeRange, bound: LowerBound) -> TimeRange:
    """Return a range without times below the lower bound."""
    least = bound.seconds
    if least is None or time.low >= least:
        return time
    low, expected = max(time.low, least), max(time.expected, least)
    return TimeRange(low, expected, max(time.high, expected), time.basis, time.rests_on)


def estimate_memory(workload: Workload, device: Device, number_format: NumberFormat) -> MemoryNeed:
    """Estimate weights at the precision, peak activations (exact at the native one), and an assumed overhead."""
    weights, activations = workload.weight_bytes, workload.peak_activation_bytes
    if number_format is not workload.native_format:
        # Embeddings stay as wide as activations: only the weights of products have four bits.
        embeddings = workload.embedding_parameters
        weights = round((workload.parameters - embeddings) * number_format.weight_bits / _BITS)
        weights += embeddings * number_format.stored_bytes
        if activations is not None:
            activations = activations * number_format.stored_bytes // workload.activation_bytes
    overhead = _RUNTIME_BYTES.get(device.memory_kind, 0) + (weights + (activations or 0)) // _FRAGMENTATION_DIVISOR
    return MemoryNeed(weights, activations, overhead)


def usable_memory(device: Device) -> int | None:
    """Return the bytes that a model may use; None if the device has no memory of known size."""
    if device.capacity_bytes is None or device.memory_kind not in _USABLE_SHARE:
        return None
    return int(device.capacity_bytes * _USABLE_SHARE[device.memory_kind])


def make_device_row(row: Estimate, best_batch: int | None) -> DeviceRow:
    device, time, bound = row.device, row.range, row.lower_bound
    return DeviceRow(
        device=device.id,
        name=device.name,
        precision=row.number_format.name,
        batch=row.workload.batch,
        memory_bytes=row.memory,
        capacity_bytes=device.capacity_bytes,
        fits=row.fits,
        seconds=Seconds(bound.seconds, time.low, time.expected, time.high) if time else Seconds(bound.seconds),
        basis=row.basis,
        bottleneck=row.bottleneck,
        coverage=row.workload.coverage,
        memory=row.need,
        utilisation=row.utilisation,
        roofline=bound.roofline,
        per_second=row.per_second,
        best_batch=best_batch,
        rests_on=time.rests_on if time else None,
        notes=tuple(_make_notes(row)),
        operators=_sum_operators(row),
        rate=bound.rate.per_second,
        bandwidth=device.bandwidth,
    )


def _make_notes(row: Estimate) -> list[str]:
    device, rate, name, workload = row.device, row.lower_bound.rate, row.number_format.name, row.workload
    notes = [rate.reason] if rate.reason else []
    if rate.name and rate.name != name:
        # A native rate that is unknown rather than absent may be higher: then the bound is too high.
        is_unknown = any(text.startswith(f"{name}_") and _NO_SUPPORT not in text for text in device.unknown)
        doubt = f"; its {name} rate is unknown" if is_unknown and name not in device.rates else ""
        notes.append(f"{name} is computed at the {rate.name} rate of the device{doubt}")
    if device.bandwidth is None:
        notes.append("its memory bandwidth is unknown: the lower bound covers compute only")
    if usable_memory(device) is None and row.need.activations is not None:
        notes.append("the memory available to a model is unknown")
    notes += device.notes if device.is_ceiling else ()
    is_native = row.number_format is workload.native_format
    if workload.is_dynamically_quantized and is_native and row.basis == TYPICAL:
        notes.append("published times are of statically quantized models; this one quantizes activations at run time")
    if workload.coverage < 1:
        notes.append("coverage is below 100%: the lower bound does not include the uncounted work")
    if workload.has_unknown_memory:
        notes.append("the size of some values is unknown before the run: the memory is a lower bound")
    return notes


def _sum_operators(row: Estimate) -> tuple[OperatorTime, ...]:
    """Return the op types with the largest share of the roofline."""
    bound, roofline = row.lower_bound, row.lower_bound.roofline
    if bound.kernel_seconds is None or bound.memory_bound is None or not roofline:
        return ()
    totals: dict[str, tuple[float, float, int]] = {}  # seconds, memory-bound seconds, kernels
    kernels = zip(row.workload.kernels.rows, bound.kernel_seconds.tolist(), bound.memory_bound.tolist())
    for kernel, seconds, is_memory_bound in kernels:
        total, waiting, count = totals.get(kernel.op, (0.0, 0.0, 0))
        totals[kernel.op] = total + seconds, waiting + (seconds if is_memory_bound else 0.0), count + 1
    top = sorted(totals.items(), key=lambda item: (-item[1][0], item[0]))[:_MAX_OPERATORS]
    return tuple(
        OperatorTime(op, count, seconds, seconds / roofline, MEMORY if waiting > seconds / 2 else COMPUTE)
        for op, (seconds, waiting, count) in top
    )
