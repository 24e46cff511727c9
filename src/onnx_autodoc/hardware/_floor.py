"""How fast a run can be at most: what no runtime beats, and the roofline of its kernels one after the other.

The bound: all multiply-adds on data at the peak rate of the precision, or the weights that a run reads and what goes in
and comes out, once over the memory bus, whichever takes longer. Nothing is said of what happens in between: a perfect
compiler keeps all of it on the chip and does both at once. The roofline gives each kernel its own limit, with the data
that go through memory between kernels: what a good compiler may come near.

An NPU may keep a small model's weights on the chip from run to run: a Hailo-10H gives as many pictures a second one by
one as eight at a time, up to some 13 MB of weights. Its bound leaves out as much as any such chip may hold.
"""

from typing import Final

import numpy as np
from msgspec import Struct

from onnx_autodoc.hardware._demand import Column, Demand, Flags
from onnx_autodoc.hardware._formats import Format, Rate, rate_of
from onnx_autodoc.hardware.devices import Device

COMPUTE: Final = "compute"
MEMORY: Final = "memory"
_BITS: Final = 8
_KEPT: Final = {"npu": 32 << 20}  # bytes of weights that never leave the chip, at the most, by the kind of device


class Floor(Struct, frozen=True, eq=False):
    """`compute` and `memory`: seconds of the bound; `each`: of every kernel at its limit, which may be memory."""

    rate: Rate
    compute: float | None
    memory: float | None
    each: Column | None
    waits: Flags | None  # where a kernel waits for memory

    @property
    def seconds(self) -> float | None:
        """None where nothing is known to take time: no multiply-adds, and no bandwidth."""
        return max(self.compute or 0.0, self.memory or 0.0) or None

    @property
    def bottleneck(self) -> str | None:
        """What is known to take longer; memory may, where its bandwidth is not known. None where nothing takes time."""
        if self.compute is None or self.seconds is None:
            return None
        return MEMORY if self.memory is not None and self.memory > self.compute else COMPUTE

    @property
    def roofline(self) -> float | None:
        """None where there are no kernels: all that is counted hangs on no data. Never below the bound."""
        line = float(self.each.sum()) if self.each is not None else 0.0
        return max(line, self.seconds or 0.0) if line else None


def floor(demand: Demand, device: Device, wanted: Format) -> Floor:
    rate, speed = rate_of(device, wanted), device.bandwidth
    if rate.per_second is None:
        return Floor(rate, None, None, None, None)  # it does not compute this
    compute = 2 * (demand.macs - demand.folded) / rate.per_second
    read = max(0.0, demand.weights * wanted.weight_bits / _BITS - _KEPT.get(device.kind, 0))
    moved = read + demand.edges.nbytes(wanted.width)
    memory = moved / speed if speed else None
    return Floor(rate, compute, memory, *_kernels(demand, device, wanted, rate.per_second))


def _kernels(demand: Demand, device: Device, wanted: Format, rate: float) -> tuple[Column, Flags]:
    """Multiply-adds at the peak rate; all other arithmetic is done while data are on their way."""
    load = demand.load
    compute = 2 * load.macs / rate
    if not device.bandwidth:
        return compute, np.zeros(len(compute), dtype=bool)
    moved = load.weights * wanted.weight_bits / _BITS + load.floats * wanted.width + load.others
    memory = moved / device.bandwidth
    return np.maximum(compute, memory), memory > compute
