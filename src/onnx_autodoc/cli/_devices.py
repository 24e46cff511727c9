"""`onnx-autodoc devices`: the devices that the tool knows, a user's own, and what this machine is."""

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from onnx_autodoc.cli._places import put
from onnx_autodoc.errors import BadInput

if TYPE_CHECKING:
    from onnx_autodoc.hardware.devices import Detected, Device

_UNKNOWN: Final = "—"
_HEAD: Final = ("device", "name", "memory", "GB/s", "fp32", "fp16", "int8", "W")
_LEGEND: Final = (
    "Memory in GiB; rates are dense peaks in TFLOPS or TOPS; ~ an estimate; — not known.\n"
    "`onnx-autodoc explain DEVICE` prints all values of one, with sources.\n"
)


def add(commands: Any) -> None:
    devices = commands.add_parser(
        "devices",
        help="the devices that estimates are for",
        description="The devices that estimates are for, with memory, bandwidth and peak rates.",
    )
    devices.add_argument("words", metavar="WORD", nargs="*", help="only those with these words; `auto`: this machine")
    devices.add_argument("--devices", metavar="FILE", help="also those of a TOML file of your own")
    devices.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    devices.set_defaults(run=run_devices)


def run_devices(options: argparse.Namespace) -> int:
    from onnx_autodoc.hardware.devices import all_devices, load, near, select, this_machine
    from onnx_autodoc.text import quiet, quiet_json

    _check_use(options)
    if _is_here(options.words):
        machine = this_machine()
        put(_json((machine.cpu, *machine.others)) if options.format == "json" else machine_page(machine))
        return 0
    own = load(options.devices) if options.devices is not None else {}
    ours = [item for item in all_devices() if item.id not in own]
    found = select(options.words, [*ours, *own.values()])
    if not found:
        close = near(" ".join(options.words), own)
        hint = f"near it: {', '.join(close)}" if close else "`onnx-autodoc devices` lists all"
        raise BadInput(f"no device has {' and '.join(map(repr, options.words))} in its name; {hint}")
    put(quiet_json(_json(found)) if options.format == "json" else quiet(_listed(found, own)))
    return 0


def _is_here(words: Iterable[str]) -> bool:
    return [word.lower() for word in words] == ["auto"]


def _check_use(options: argparse.Namespace) -> None:
    if not all(word.strip() for word in options.words):
        raise BadInput("a word is empty, which every device has; leave it out to list all")
    if len(options.words) > 1 and any(_is_here([word]) for word in options.words):
        raise BadInput("auto: this machine stands alone; give no other words")
    if _is_here(options.words) and options.devices is not None:
        raise BadInput(f"--devices {options.devices}: auto is this machine alone; leave out one of them")


def _json(devices: Iterable["Device"]) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(list(devices)), indent=2).decode() + "\n"


def _listed(devices: Sequence["Device"], own: dict[str, "Device"]) -> str:
    """All devices in one set of columns, each family under its name; then whose place a user's own ones take."""
    from onnx_autodoc.hardware.devices import FAMILIES, names
    from onnx_autodoc.text import plural

    rows = {family: [_row(item) for item in devices if item.family == family] for family in FAMILIES}
    widths = [max(map(len, column)) for column in zip(_HEAD, *(row for some in rows.values() for row in some))]
    parts = [_line(_HEAD, widths)]
    parts += [
        f"\n{FAMILIES[family]}\n" + "".join(_line(row, widths) for row in some) for family, some in rows.items() if some
    ]
    taken = sorted(set(own) & set(names()))
    replaced = f"Yours takes the place of ours: {', '.join(taken)}.\n" if taken else ""
    return f"{''.join(parts)}\n{plural(len(devices), 'device')}. {_LEGEND}{replaced}"


def _row(item: "Device") -> tuple[str, ...]:
    from onnx_autodoc.text import clean, three

    rates = [_scaled(item.rates.get(name), 1e12) for name in ("fp32", "fp16", "int8")]
    gib = (
        _UNKNOWN
        if item.memory_bytes is None
        else three(item.memory_bytes / (1 << 30)).removesuffix(".0").removesuffix(".00")
    )
    power = _UNKNOWN if item.power_w is None else f"{'~' if item.power_estimated else ''}{item.power_w:g}"
    return (item.id, clean(item.name, 60), gib, _scaled(item.bandwidth, 1e9), *rates, power)


def _scaled(number: float | None, unit: float) -> str:
    from onnx_autodoc.text import three

    return _UNKNOWN if number is None else three(number / unit)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Words to the left, numbers to the right."""
    words = [f"{cell:<{width}}" for cell, width in zip(cells[:2], widths)]
    return "  ".join([*words, *(f"{cell:>{width}}" for cell, width in zip(cells[2:], widths[2:]))]).rstrip() + "\n"


def machine_page(machine: "Detected") -> str:
    """What this machine is, how that was found, and the values that estimates for `auto` use."""
    meant = [f"`auto` is {machine.found.name}"] if machine.others else []
    found = "".join(f"  {line}\n" for line in (*machine.said, *meant))
    values = "".join(f"\n{device_page(item)}" for item in (*machine.others, machine.cpu))
    return f"This machine:\n{found}{values}"


def device_page(item: "Device") -> str:
    """All that is known of one device: values, how they were derived, where they are from, who disagrees."""
    from onnx_autodoc.text import clean

    lines = [f"{item.id}: {clean(item.name)}", "", *_values(item)]
    for title, texts in (
        ("Notes", item.notes),
        ("Derived", item.derived),
        ("Without a source", item.unsourced),
        ("Not known", item.unknown),
        ("Sources that disagree", item.disagreements),
    ):
        lines += ["", f"{title}:", *(f"  {clean(text, 1000)}" for text in texts)] if texts else []
    nowhere = (
        "  this machine, as said above" if item.id == "auto" or item.id.startswith("auto_gpu") else "  no source given"
    )
    lines += ["", "Sources:", *(_sources(item) or [nowhere])]
    return "\n".join(lines) + "\n"


def _values(item: "Device") -> list[str]:
    from onnx_autodoc.hardware.devices import PRECISIONS
    from onnx_autodoc.text import clean, memory, three

    about = ", ".join(clean(str(word)) for word in (item.vendor, item.kind, item.form, item.year) if word)
    lines = [f"  {'what':<22}{about}"] if about else []
    held = memory(item.memory_bytes) if item.memory_bytes else _NO_MEMORY.get(item.memory_kind, "not known")
    reported = f", of which a driver reports {memory(item.memory_reported_bytes)}" if item.memory_reported_bytes else ""
    lines.append(f"  {'memory':<22}{held}{reported} ({item.memory_kind})")
    lines.append(f"  {'bandwidth':<22}{f'{three(item.bandwidth / 1e9)} GB/s' if item.bandwidth else 'not known'}")
    for name in PRECISIONS:
        if name in item.rates:
            unit = "TOPS" if name.startswith("int") else "TFLOPS"
            lines.append(f"  {name:<22}{three(item.rates[name] / 1e12)} {unit}, dense peak")
    if not item.rates:
        lines.append(f"  {'rates':<22}not known")
    watts = f"{item.power_w:g} W{' (an estimate)' if item.power_estimated else ''}" if item.power_w else "not known"
    return [*lines, f"  {'power':<22}{watts}", *(f"  {key:<34}{number:g}" for key, number in item.also.items())]


_NO_MEMORY: Final = {"system": "what the machine has", "on-chip": "no more than what is on the chip"}


def _sources(item: "Device") -> list[str]:
    from onnx_autodoc.text import clean

    return [
        f"  {clean(source.ref, 500)}; date {clean(source.date)}; for {', '.join(map(clean, source.fields))}"
        for source in item.sources
    ]
