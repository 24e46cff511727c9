"""One table of a device file to a Device: checked, and converted to base units here and nowhere else."""

from typing import Annotated, Any, Final, Literal

import msgspec

from onnx_autodoc.errors import BadInput
from onnx_autodoc.hardware.devices._device import Device, MemoryKind, Source
from onnx_autodoc.text import clean

_GIB: Final = 1 << 30
_GB: Final = 10**9
_MIB: Final = 1 << 20
_TERA: Final = 10**12
_GIGA: Final = 10**9

# The ends are far from any device: times stay finite, no rate rounds to 0, and NaN and infinity are refused.
Number = Annotated[float, msgspec.Meta(ge=1e-6, le=1e9)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
Texts = Annotated[tuple[Text, ...], msgspec.Meta(max_length=100)]
Kind = Literal["gpu", "cpu", "npu", "tpu", "soc", "accelerator", "other"]

RATES: Final = {
    "fp32_tflops": "fp32",
    "tf32_tflops": "tf32",
    "fp16_tflops": "fp16",
    "fp16_fp32acc_tflops": "fp16_fp32acc",
    "bf16_tflops": "bf16",
    "fp8_tflops": "fp8",
    "fp4_tflops": "fp4",
    "int8_tops": "int8",
    "int4_tops": "int4",
}
ALSO: Final = (
    *("fp32_tflops_base_clock", "memory_gib_max_supported", "int8_tops_sparse_total_published", "npu_int8_tops"),
)


class Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    fields: Texts
    ref: Text
    date: Text = "not stated"


class Variant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The same chip at another power limit."""

    tgp_w: Number
    boost_mhz: Number
    fp32_tflops: Number
    fp16_tflops: Number
    fp16_fp32acc_tflops: Number
    int8_tops: Number
    int4_tops: Number


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `[devices.x]` may say. Numbers in the units that vendors print, which the names carry."""

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
    source: Annotated[tuple[Reference, ...], msgspec.Meta(max_length=100)] = ()
    variants: Annotated[tuple[Variant, ...], msgspec.Meta(max_length=100)] = ()


def device(id: str, table: Any, family: str, where: str) -> Device:  # noqa: A002 (it is the device's)
    """The device that a table describes; `where` names the file in what is wrong with it."""
    at = f"{where}: devices.{clean(id, 80)}"
    try:
        entry = msgspec.convert(table, Entry)
    except (msgspec.ValidationError, OverflowError) as error:
        raise BadInput(f"{at}: {_said(error)}") from None
    if entry.mem_bandwidth_gbs is None and not _rates(entry) and family == OWN:
        raise BadInput(f"{at}: neither mem_bandwidth_gbs nor a rate ({', '.join(RATES)}); nothing can be estimated")
    return _built(id, entry, family)


OWN: Final = "own"


def _said(error: Exception) -> str:
    """msgspec's sentence with the key first: "Expected `float`, got `str` - at `$.tdp_w`"."""
    text, _, place = clean(str(error), 300).partition(" - at `")
    key = place.removesuffix("`").removeprefix("$").removeprefix(".")
    return f"{key}: {text}" if key else f"{text}{_meant(text)}"


def _meant(text: str) -> str:
    from difflib import get_close_matches

    _, _, wrong = text.partition("unknown field `")
    near = get_close_matches(wrong.rstrip("`"), Entry.__struct_fields__, 2) if wrong else []
    return f"; near it: {', '.join(near)}" if near else ""


def _built(id: str, entry: Entry, family: str) -> Device:  # noqa: A002
    return Device(
        id=id,
        name=entry.name,
        family=family,
        vendor=entry.vendor,
        kind=entry.kind,
        form=entry.form_factor,
        year=entry.year,
        memory_bytes=_times(entry.memory_gib, _GB if entry.memory_unit == "GB" else _GIB),
        memory_reported_bytes=_times(entry.memory_reported_mib, _MIB),
        memory_kind=entry.memory_kind or _usual_memory(entry.kind),
        bandwidth=_per_second(entry.mem_bandwidth_gbs, _GIGA),
        rates=_rates(entry),
        power_w=entry.tdp_w or entry.power_estimate_w,
        power_estimated=entry.tdp_w is None and entry.power_estimate_w is not None,
        also={key: number for key in ALSO if (number := getattr(entry, key)) is not None},
        notes=_notes(entry),
        sources=tuple(Source(item.fields, item.ref, item.date) for item in entry.source),
        derived=entry.derived,
        unsourced=entry.unsourced,
        unknown=entry.unknown,
        disagreements=entry.disagreement,
    )


def _times(number: float | None, unit: int) -> int | None:
    return None if number is None else round(number * unit)


def _rates(entry: Entry) -> dict[str, float]:
    found = {name: getattr(entry, key) for key, name in RATES.items()}
    return {name: rate for name, number in found.items() if (rate := _per_second(number, _TERA)) is not None}


def _per_second(number: float | None, unit: int) -> float | None:
    """Whole operations and bytes, so that 2.09 stays 2.09."""
    return None if number is None else float(round(number * unit))


def _usual_memory(kind: str) -> MemoryKind:
    """Where a user does not say: processors use the system's, chips of one piece share it, cards have their own."""
    return {"cpu": "system", "soc": "unified", "npu": "unified"}.get(kind, "dedicated")  # type: ignore[return-value]


def _notes(entry: Entry) -> tuple[str, ...]:
    notes = [entry.note] if entry.note else []
    if entry.memory_unit == "GB":
        notes.append("the vendor's memory is decimal: 1 GB is 10^9 bytes")
    if entry.sparse_only_published:
        notes.append(f"published only with 2:1 sparsity, halved here: {', '.join(entry.sparse_only_published)}")
    notes += [f"at {item.tgp_w:g} W ({item.boost_mhz:g} MHz): {_variant(item)}" for item in entry.variants]
    return tuple(notes)


def _variant(item: Variant) -> str:
    fields = ("fp32_tflops", "fp16_tflops", "fp16_fp32acc_tflops", "int8_tops", "int4_tops")
    return ", ".join(f"{field} {getattr(item, field):g}" for field in fields)
