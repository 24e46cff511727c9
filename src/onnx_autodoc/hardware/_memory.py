"""How much memory a run takes on a device, and whether it has that much.

Weights at the target precision, activations at their peak (at the card's own precision to the byte, at another one by
the width of its numbers), and what a runtime takes for itself, which is assumed and said.
"""

from typing import Final

from onnx_autodoc.hardware._demand import Demand
from onnx_autodoc.hardware._formats import Format
from onnx_autodoc.hardware._types import MemoryNeed
from onnx_autodoc.hardware.devices import Device

_MIB: Final = 1 << 20
_CONTEXT: Final = {"dedicated": 512 * _MIB, "unified": 256 * _MIB, "system": 64 * _MIB}  # a runtime and its kernels
_SPARE: Final = 20  # and a twentieth of the rest, for buffers and holes between them
_USABLE: Final = {
    "dedicated": 0.95,
    "unified": 0.75,
    "system": 0.9,
}  # the rest is the driver's, the screen's or the system's
_BITS: Final = 8


def memory_need(demand: Demand, device: Device, wanted: Format) -> MemoryNeed:
    weights = demand.stored if wanted is demand.own else _weights(demand, wanted)
    peak = demand.peak
    activations = peak if peak is None or wanted is demand.own else peak * wanted.held // demand.width
    overhead = _CONTEXT.get(device.memory_kind, 0) + (weights + (activations or 0)) // _SPARE
    return MemoryNeed(weights, activations, overhead)


def _weights(demand: Demand, wanted: Format) -> int:
    """Tables that are looked up stay as wide as the data: weights of four bits are those of products alone."""
    return round((demand.held - demand.tables) * wanted.weight_bits / _BITS) + demand.tables * wanted.held


def total(need: MemoryNeed) -> int | None:
    return None if need.activations is None else need.weights + need.activations + need.overhead


def usable(device: Device) -> int | None:
    """What a model may take of a device's memory; None where that is not the device's own."""
    if device.capacity_bytes is None or device.memory_kind not in _USABLE:
        return None
    return int(device.capacity_bytes * _USABLE[device.memory_kind])


def fits(need: MemoryNeed, device: Device) -> bool | None:
    """No is known even of a part: where the weights alone are too much."""
    room, whole = usable(device), total(need)
    if room is None:
        return None
    if whole is None:
        return False if need.weights + need.overhead > room else None
    return whole <= room
