"""A device as estimates need it: base units, unknown is None or absent, and every number with where it is from."""

from typing import Final, Literal

import msgspec

MemoryKind = Literal["dedicated", "unified", "on-chip", "system"]

HERE: Final = "auto"  # the id of this machine's processor, and what a user says for this machine

# In the order in which people read them: from wide to narrow.
PRECISIONS: Final = ("fp32", "tf32", "fp16", "fp16_fp32acc", "bf16", "fp8", "fp4", "int8", "int4")


class Source(msgspec.Struct, frozen=True):
    """What prints a value: the fields it supports, where it is, and when it was written ("not stated" if unsaid)."""

    fields: tuple[str, ...]
    ref: str
    date: str


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One device. Rates are dense peaks; one multiply-add is two operations.

    `memory_bytes` is what the vendor prints, an upper limit; `memory_reported_bytes` is what a driver says there is.
    `also` has numbers that no estimate reads, under the names and in the units of the file.
    """

    id: str
    name: str
    family: str
    vendor: str = ""
    kind: str = "other"
    form: str = ""
    year: int | None = None
    memory_bytes: int | None = None
    memory_reported_bytes: int | None = None
    memory_kind: MemoryKind = "dedicated"
    bandwidth: float | None = None
    rates: dict[str, float] = {}
    power_w: float | None = None
    power_estimated: bool = False
    is_ceiling: bool = False  # its rates are only known to be no more than these
    also: dict[str, float] = {}
    notes: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    derived: tuple[str, ...] = ()
    unsourced: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()

    @property
    def capacity_bytes(self) -> int | None:
        """What a model has to fit into: what the driver reports, where that is known."""
        return self.memory_reported_bytes or self.memory_bytes
