"""Number formats that a model can be run in: how wide its numbers are then, and at which of a device's rates."""

from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.hardware.devices import Device


class Format(Struct, frozen=True):
    """`rates`: those that may compute it, its own first, then wider ones: a runtime takes the fastest that there is."""

    name: str
    weight_bits: float
    width: int  # bytes of a number between kernels, at the least
    held: int  # and of one that is kept in memory
    rates: tuple[str, ...]


_FULL: Final = ("fp32", "tf32")  # tensor cores that round to TF32 are what runtimes use for fp32 where there are any
_HALF: Final = ("fp16", "bf16", *_FULL)
FORMATS: Final = {
    each.name: each
    for each in (
        Format("fp32", 32, 4, 4, _FULL),
        Format("tf32", 32, 4, 4, ("tf32", "fp32")),
        Format("bf16", 16, 2, 2, ("bf16", *_FULL)),
        Format("fp16", 16, 2, 2, _HALF),
        Format("fp8", 8, 1, 1, ("fp8", *_HALF)),
        Format("int8", 8, 1, 1, ("int8", *_HALF)),
        Format("int4", 4.5, 1, 2, ("int4", "int8", *_HALF)),  # 16 bits of scale for each 32 weights; data in fp16
    )
}
_BY_LABEL: Final = {
    "int8-dynamic": "int8",
    "int8-qoperator": "int8",
    "int8-qdq": "int8",
    "int8-weights": "int8",
    "fp8-qdq": "fp8",
    **dict.fromkeys(("int4-weights", "fp4-weights", "nf4-weights"), "int4"),
}
_BY_TYPE: Final = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


class Rate(Struct, frozen=True):
    """`name` is of the rate that was taken; without one, `why` there is none."""

    per_second: float | None
    name: str
    why: str = ""


def own_format(facts: Facts) -> Format:
    """The one that the file is in: by what most of its weights are kept in; fp32 where it has none."""
    label = facts.precision.label or ""
    most = next(iter(facts.parameters.by_dtype), "float32")
    return FORMATS[_BY_LABEL.get(label, label if label in FORMATS else _BY_TYPE.get(most, "fp32"))]


def rate_of(device: Device, wanted: Format) -> Rate:
    found = [name for name in wanted.rates if name in device.rates]
    if found:
        best = max(found, key=device.rates.__getitem__)
        return Rate(device.rates[best], best)
    known = ", ".join(device.rates) or "none"
    return Rate(None, "", f"no rate for {wanted.name} is known of it (known: {known})")
