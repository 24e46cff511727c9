"""Generate docs/devices.md from the device files: `python -m scripts.devices_page > docs/devices.md`."""

import sys

from onnx_autodoc.hardware.devices import FAMILIES, Device, all_devices
from onnx_autodoc.text import format_number, pluralize

HEAD = """# Devices

Generated from the device files by `make docs`. `onnx-autodoc devices` prints the same list, `onnx-autodoc devices
WORD …` filters it, `onnx-autodoc devices auto` describes this machine and how it was detected, and `onnx-autodoc
explain DEVICE` prints all values of one device with sources, dates and derivations.

Rates are dense peak rates; one multiply-add is two operations. No run is faster, most are slower. Memory is the
vendor's figure in GiB; the smaller capacity that the driver reports follows in parentheses if known. Each value has a
published source or a stated derivation, or is marked as having none; `—` is unknown.

## Your own devices

A TOML file with one table per device, given with `--devices FILE`. A name and either a bandwidth or one rate are
sufficient. A device with the id of a built-in one replaces it. Unknown keys and invalid values, such as negative
numbers, are errors that name the key.

```toml
[devices.my_board]
name = "My board"
kind = "npu"                    # gpu cpu npu tpu soc accelerator other
memory_gib = 4                  # memory_unit = "GB" if the number is decimal
memory_kind = "unified"         # dedicated unified on-chip system
mem_bandwidth_gbs = 34.1        # 10^9 bytes per second
int8_tops = 8                   # dense; also int4_tops and fp32_ tf32_ fp16_ bf16_ fp8_ fp4_tflops
tdp_w = 10
note = "measured at the board's middle power mode"
derived = ["mem_bandwidth_gbs: LPDDR4X-4266 x 64 bit"]
source = [{ fields = ["int8_tops", "tdp_w"], ref = "data sheet, revision 3", date = "2026-01" }]

[devices.t4]                    # replaces the built-in device
name = "T4 in our cluster"
mem_bandwidth_gbs = 300
int8_tops = 130
```
"""
COLUMNS = ("device", "name", "memory GiB", "GB/s", "fp32", "fp16", "bf16", "fp8", "int8", "int4", "W", "sources")


def page() -> str:
    devices = all_devices()
    parts = [HEAD, f"## The list\n\n{pluralize(len(devices), 'device')}; rates in TFLOPS and TOPS.\n"]
    for family, title in FAMILIES.items():
        if rows := [_row(item) for item in devices if item.family == family]:
            parts.append(f"### {title}\n\n" + "\n".join([_line(COLUMNS), _line(["---"] * len(COLUMNS)), *rows]) + "\n")
    return "\n".join(parts)


def _row(item: Device) -> str:
    rates = [_scaled(item.rates.get(name), 1e12) for name in ("fp32", "fp16", "bf16", "fp8", "int8", "int4")]
    power = "—" if item.power_w is None else f"{'~' if item.power_estimated else ''}{item.power_w:g}"
    cells = (f"`{item.id}`", item.name, _memory(item), _scaled(item.bandwidth, 1e9), *rates, power)
    return _line([*cells, str(len(item.sources))])


def _memory(item: Device) -> str:
    reported = f" ({format_number(item.memory_reported_bytes / (1 << 30))})" if item.memory_reported_bytes else ""
    return _scaled(item.memory_bytes, 1 << 30) + reported


def _scaled(number: float | None, unit: float) -> str:
    return "—" if number is None else format_number(number / unit)


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.stdout.write(page())
