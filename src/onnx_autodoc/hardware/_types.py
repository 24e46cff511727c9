"""What the card says of hardware. Base units: seconds, bytes, operations; None where it is not known, with a note."""

from msgspec import Struct


class Seconds(Struct, frozen=True):
    """`bound`: cannot be faster than. The others only where something was measured that they rest on."""

    bound: float | None
    low: float | None = None
    expected: float | None = None
    high: float | None = None


class MemoryNeed(Struct, frozen=True):
    """`activations` has the key-value cache in it, as far as it goes in or out of the run; `overhead` is assumed."""

    weights: int
    activations: int | None
    overhead: int


class OperatorTime(Struct, frozen=True):
    """The kernels that operators of one type give their name: their part of the roofline, and what limits them."""

    op: str
    kernels: int
    seconds: float
    share: float
    bottleneck: str


class DeviceRow(Struct, frozen=True):
    """A model on a device.

    `basis`: what `seconds` rest on: bound, typical, calibrated, or measured. `bottleneck`: compute, memory, or launches
    (many small kernels). `utilisation`: the share of the device's peak rate that the expected time, or else the bound,
    comes to. `roofline`: each kernel at its own limit, one after the other, before anything that was measured.
    """

    device: str
    name: str
    precision: str
    batch: int | None
    memory_bytes: int | None
    capacity_bytes: int | None
    fits: bool | None
    seconds: Seconds
    basis: str
    bottleneck: str | None
    coverage: float
    memory: MemoryNeed
    utilisation: float | None
    roofline: float | None
    per_second: float | None
    best_batch: int | None
    rests_on: str | None
    notes: tuple[str, ...]
    operators: tuple[OperatorTime, ...]
    rate: float | None = None  # operations per second at most, as the precision is computed on it
    bandwidth: float | None = None  # bytes per second at most


class ScaleRow(Struct, frozen=True):
    """One batch on one device. `seconds`: the expected ones, or on a device that has none at any batch, the bound.

    Where other batches have expected ones and this one has not, `seconds` is None: grades are not mixed in one table.
    """

    device: str
    precision: str
    batch: int
    seconds: float | None
    per_second: float | None
    memory_bytes: int | None
    fits: bool | None
    basis: str
    bottleneck: str | None
    low: float | None = None
    high: float | None = None
    bound: float | None = None


class TokenRow(Struct, frozen=True):
    """A step of a decoder with so many tokens in its cache: `phase` is prefill (all at once) or decode (one more).

    `seconds` as in `ScaleRow`, for each phase by itself.
    """

    device: str
    precision: str
    phase: str
    context: int
    seconds: float | None
    tokens_per_second: float | None
    memory_bytes: int | None
    fits: bool | None
    basis: str
    bottleneck: str | None
    low: float | None = None
    high: float | None = None
    bound: float | None = None


class Choice(Struct, frozen=True):
    """A device that will do, and why."""

    device: str
    name: str
    precision: str
    memory_bytes: int | None
    capacity_bytes: int | None
    seconds: float | None
    basis: str
    why: str


class Requirements(Struct, frozen=True):
    """The smallest devices that fit and meet the target, with growing margins; None where none that is known does."""

    minimum: Choice | None
    recommended: Choice | None
    comfortable: Choice | None
    target: str
    notes: tuple[str, ...]


class Price(Struct, frozen=True):
    """What a million samples cost on a device at the best batch, by the user's own price per hour."""

    device: str
    per_hour: float
    per_million: float | None
    batch: int | None
    basis: str


class HardwareSection(Struct, frozen=True):
    devices: tuple[DeviceRow, ...]
    scaling: tuple[ScaleRow, ...]
    best_batch: int | None
    generation: tuple[TokenRow, ...]
    requirements: Requirements | None
    prices: tuple[Price, ...]
