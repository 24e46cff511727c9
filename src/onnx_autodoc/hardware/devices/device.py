"""Devices in base units, None or absent where unknown, every number with its source; and tables of device files."""

from typing import Annotated, Any, Final, Literal

import msgspec

from onnx_autodoc.decoding import convert
from onnx_autodoc.errors import BadInput
from onnx_autodoc.text import sanitize

MemoryKind = Literal["dedicated", "unified", "on-chip", "system"]

THIS_MACHINE: Final = "auto"  # id of this machine's CPU, and the option for this machine

# from wide to narrow, as they are listed
PRECISIONS: Final = ("fp32", "tf32", "fp16", "fp16_fp32acc", "bf16", "fp8", "fp4", "int8", "int4")


# Far beyond any device, so that times stay finite and no rate rounds to 0; excludes NaN and infinity.
Number = Annotated[float, msgspec.Meta(ge=1e-6, le=1e9)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
Texts = Annotated[tuple[Text, ...], msgspec.Meta(max_length=100)]
Kind = Literal["gpu", "cpu", "npu", "tpu", "soc", "accelerator", "other"]


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A publication: the fields it supports, its address, and its date."""

    fields: Texts
    ref: Text
    date: Text = "not stated"


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One device. Rates are dense peaks; one multiply-add is two operations.

    `memory_bytes` is the vendor's figure, an upper limit; `memory_reported_bytes` is that of the driver. `also` has
    numbers that no estimate uses, with the names and units of the file.
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
    is_ceiling: bool = False  # rates are upper limits
    also: dict[str, float] = {}
    notes: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    derived: tuple[str, ...] = ()
    unsourced: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()

    @property
    def capacity_bytes(self) -> int | None:
        """The memory for a model: that of the driver, if known."""
        return self.memory_reported_bytes or self.memory_bytes


RATES: Final = {f"{name}_{'tops' if name.startswith('int') else 'tflops'}": name for name in PRECISIONS}
INFORMATIVE_FIELDS: Final = (
    *("fp32_tflops_base_clock", "memory_gib_max_supported", "int8_tops_sparse_total_published", "npu_int8_tops"),
)
USER_FAMILY: Final = "own"
_DEFAULT_MEMORY_KINDS: Final[dict[str, MemoryKind]] = {"cpu": "system", "soc": "unified", "npu": "unified"}


class PowerVariant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The same chip at another power limit."""

    tgp_w: Number
    boost_mhz: Number
    fp32_tflops: Number
    fp16_tflops: Number
    fp16_fp32acc_tflops: Number
    int8_tops: Number
    int4_tops: Number


class DeviceEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fields of `[devices.x]`, in the units of vendors, which are part of the names."""

    name: Annotated[str, msgspec.Meta(pattern=r"\S", max_length=200)]
    vendor: Annotated[str, msgspec.Meta(max_length=200)] = ""
    kind: Kind = "other"
    form_factor: Annotated[str, msgspec.Meta(max_length=200)] = ""
    year: Annotated[int, msgspec.Meta(ge=1950, le=2100)] | None = None
    memory_gib: Number | None = None
    memory_unit: Literal["GiB", "GB"] = "GiB"
    memory_kind: MemoryKind | None = None
    memory_reported_mib: Number | None = None
    memory_gib_max_supported: Number | None = None
    mem_bandwidth_gbs: Number | None = None
    tdp_w: Number | None = None
    power_estimate_w: Number | None = None
    fp32_tflops: Number | None = None
    fp32_tflops_base_clock: Number | None = None
    tf32_tflops: Number | None = None
    fp16_tflops: Number | None = None
    fp16_fp32acc_tflops: Number | None = None
    bf16_tflops: Number | None = None
    fp8_tflops: Number | None = None
    fp4_tflops: Number | None = None
    int8_tops: Number | None = None
    npu_int8_tops: Number | None = None
    int8_tops_sparse_total_published: Number | None = None
    int4_tops: Number | None = None
    sparse_only_published: Texts = ()
    derived: Texts = ()
    unsourced: Texts = ()
    unknown: Texts = ()
    disagreement: Texts = ()
    note: Text | None = None
    source: Annotated[tuple[Source, ...], msgspec.Meta(max_length=100)] = ()
    variants: Annotated[tuple[PowerVariant, ...], msgspec.Meta(max_length=100)] = ()


def parse_device(device_id: str, table: Any, family: str, where: str) -> Device:
    """Return the device that a table describes; `where` is the file for error messages."""
    prefix = f"{where}: devices.{sanitize(device_id, 80)}"
    try:
        entry = convert(table, DeviceEntry)
    except (msgspec.ValidationError, OverflowError) as error:
        raise BadInput(f"{prefix}: {_error_text(error)}") from None
    published = {name: getattr(entry, key) for key, name in RATES.items()}
    rates = {name: float(round(rate * 10**12)) for name, rate in published.items() if rate is not None}
    bandwidth = _to_whole(entry.mem_bandwidth_gbs, 10**9)
    if bandwidth is None and not rates and family == USER_FAMILY:
        raise BadInput(f"{prefix}: neither mem_bandwidth_gbs nor a rate ({', '.join(RATES)}); nothing can be estimated")
    return Device(
        id=device_id,
        name=entry.name,
        family=family,
        vendor=entry.vendor,
        kind=entry.kind,
        form=entry.form_factor,
        year=entry.year,
        memory_bytes=_to_whole(entry.memory_gib, 10**9 if entry.memory_unit == "GB" else 1 << 30),
        memory_reported_bytes=_to_whole(entry.memory_reported_mib, 1 << 20),
        memory_kind=entry.memory_kind or _DEFAULT_MEMORY_KINDS.get(entry.kind, "dedicated"),
        bandwidth=None if bandwidth is None else float(bandwidth),
        rates=rates,
        power_w=entry.tdp_w or entry.power_estimate_w,
        power_estimated=entry.tdp_w is None and entry.power_estimate_w is not None,
        also={key: number for key in INFORMATIVE_FIELDS if (number := getattr(entry, key)) is not None},
        notes=_make_notes(entry),
        sources=entry.source,
        derived=entry.derived,
        unsourced=entry.unsourced,
        unknown=entry.unknown,
        disagreements=entry.disagreement,
    )


def _error_text(error: Exception) -> str:
    """Put the key first in msgspec's "Expected `float`, got `str` - at `$.tdp_w`"; suggest names for unknown keys."""
    text, _, place = sanitize(str(error), 300).partition(" - at `")
    key = place.removesuffix("`").removeprefix("$").removeprefix(".")
    if key:
        return f"{key}: {text}"
    from difflib import get_close_matches

    unknown = text.partition("unknown field `")[2].rstrip("`")
    near = get_close_matches(unknown, DeviceEntry.__struct_fields__, 2)
    return f"{text}; similar: {', '.join(near)}" if near else text


def _to_whole(number: float | None, unit: int) -> int | None:
    """Round to whole bytes, so that 2.09 stays 2.09."""
    return None if number is None else round(number * unit)


def _make_notes(entry: DeviceEntry) -> tuple[str, ...]:
    notes = [entry.note] if entry.note else []
    if entry.memory_unit == "GB":
        notes.append("the vendor's memory size is decimal: 1 GB is 10^9 bytes")
    if entry.sparse_only_published:
        notes.append(f"published only with 2:1 sparsity, halved here: {', '.join(entry.sparse_only_published)}")
    for variant in entry.variants:
        rates = ", ".join(f"{field} {getattr(variant, field):g}" for field in PowerVariant.__struct_fields__[2:])
        notes.append(f"at {variant.tgp_w:g} W ({variant.boost_mhz:g} MHz): {rates}")
    return tuple(notes)
