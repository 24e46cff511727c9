"""`onnx-autodoc rules`, `explain`, `devices` and `schema`: the tool's reference data."""

import argparse
from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from onnx_autodoc.cli.stdout import write_stdout
from onnx_autodoc.errors import BadInput

if TYPE_CHECKING:
    from onnx_autodoc.hardware.devices import DetectedMachine, Device

SCHEMA_NAMES: Final = ("card", "comparison", "policy", "verdict")  # of schema.SCHEMAS
_UNKNOWN: Final = "—"
_COLUMNS: Final = ("device", "name", "memory", "GB/s", "fp32", "fp16", "int8", "W")
_MEMORY_WITHOUT_SIZE: Final = {"system": "memory of the machine", "on-chip": "memory on the chip only"}
_LEGEND: Final = (
    "Memory in GiB; rates are dense peaks in TFLOPS or TOPS; ~ estimate; — unknown.\n"
    "`onnx-autodoc explain DEVICE` prints all values of a device, with sources.\n"
)


def add_devices(commands: Any) -> None:
    devices = commands.add_parser(
        "devices",
        help="list the devices of hardware estimates",
        description="List the devices of hardware estimates, with memory, bandwidth and peak rates.",
    )
    devices.add_argument("words", metavar="WORD", nargs="*", help="only devices with these words; `auto`: this machine")
    devices.add_argument("--devices", metavar="FILE", help="TOML file with more devices")
    devices.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    devices.set_defaults(run=run_devices)


def run_devices(options: argparse.Namespace) -> int:
    from onnx_autodoc.hardware.devices import all_devices, detect_machine, load_devices, select_devices, suggest_devices
    from onnx_autodoc.text import sanitize_json, sanitize_text

    _check_device_words(options)
    if _is_auto(options.words):
        machine = detect_machine()
        write_stdout(
            _devices_json((machine.cpu, *machine.accelerators)) if options.format == "json" else format_machine(machine)
        )
        return 0
    own = load_devices(options.devices) if options.devices is not None else {}
    builtin = [item for item in all_devices() if item.id not in own]
    matches = select_devices(options.words, [*builtin, *own.values()])
    if not matches:
        close = suggest_devices(" ".join(options.words), own)
        hint = f"similar: {', '.join(close)}" if close else "`onnx-autodoc devices` lists all"
        raise BadInput(f"no device matches {' and '.join(map(repr, options.words))}; {hint}")
    write_stdout(
        sanitize_json(_devices_json(matches))
        if options.format == "json"
        else sanitize_text(_device_table(matches, own))
    )
    return 0


def _is_auto(words: Iterable[str]) -> bool:
    return [word.lower() for word in words] == ["auto"]


def _check_device_words(options: argparse.Namespace) -> None:
    if not all(word.strip() for word in options.words):
        raise BadInput("an empty word matches every device; remove it to list all")
    if len(options.words) > 1 and any(_is_auto([word]) for word in options.words):
        raise BadInput("auto: cannot be combined with other words")
    if _is_auto(options.words) and options.devices is not None:
        raise BadInput(f"--devices {options.devices}: cannot be combined with auto; remove one of them")


def _devices_json(devices: Iterable["Device"]) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(list(devices)), indent=2).decode() + "\n"


def _device_table(devices: Sequence["Device"], own: dict[str, "Device"]) -> str:
    """Return one table with a heading per family, and the built-in devices that the user's replace."""
    from onnx_autodoc.hardware.devices import FAMILIES, device_ids
    from onnx_autodoc.text import pluralize

    rows = {family: [_row(item) for item in devices if item.family == family] for family in FAMILIES}
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *(row for group in rows.values() for row in group))]
    parts = [_line(_COLUMNS, widths)]
    parts += [
        f"\n{FAMILIES[family]}\n" + "".join(_line(row, widths) for row in group)
        for family, group in rows.items()
        if group
    ]
    overridden = sorted(set(own) & set(device_ids()))
    replaced = f"Built-in devices replaced by yours: {', '.join(overridden)}.\n" if overridden else ""
    return f"{''.join(parts)}\n{pluralize(len(devices), 'device')}. {_LEGEND}{replaced}"


def _row(item: "Device") -> tuple[str, ...]:
    from onnx_autodoc.text import format_number, sanitize

    rates = [_scaled(item.rates.get(name), 1e12) for name in ("fp32", "fp16", "int8")]
    gib = _UNKNOWN
    if item.memory_bytes is not None:
        gib = format_number(item.memory_bytes / (1 << 30)).removesuffix(".0").removesuffix(".00")
    power = _UNKNOWN if item.power_w is None else f"{'~' if item.power_estimated else ''}{item.power_w:g}"
    return (item.id, sanitize(item.name, 60), gib, _scaled(item.bandwidth, 1e9), *rates, power)


def _scaled(number: float | None, unit: float) -> str:
    from onnx_autodoc.text import format_number

    return _UNKNOWN if number is None else format_number(number / unit)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Align words to the left and numbers to the right."""
    words = [f"{cell:<{width}}" for cell, width in zip(cells[:2], widths)]
    return "  ".join([*words, *(f"{cell:>{width}}" for cell, width in zip(cells[2:], widths[2:]))]).rstrip() + "\n"


def format_machine(machine: "DetectedMachine") -> str:
    """Return the detection of this machine and the values that estimates use."""
    auto = [f"`auto` is {machine.device.name}"] if machine.accelerators else []
    detection = "".join(f"  {line}\n" for line in (*machine.lines, *auto))
    values = "".join(f"\n{format_device(item)}" for item in (*machine.accelerators, machine.cpu))
    return f"This machine:\n{detection}{values}"


def format_device(item: "Device") -> str:
    """Return all data of one device: values, derivations, sources and disagreements."""
    from onnx_autodoc.text import sanitize

    lines = [f"{item.id}: {sanitize(item.name)}", "", *_values(item)]
    for title, texts in (
        ("Notes", item.notes),
        ("Derived", item.derived),
        ("Without a source", item.unsourced),
        ("Unknown", item.unknown),
        ("Conflicting sources", item.disagreements),
    ):
        lines += ["", f"{title}:", *(f"  {sanitize(text, 1000)}" for text in texts)] if texts else []
    no_source = "  detected on this machine" if item.id == "auto" or item.id.startswith("auto_gpu") else "  none given"
    sources = [
        f"  {sanitize(source.ref, 500)}; date {sanitize(source.date)}; for {', '.join(map(sanitize, source.fields))}"
        for source in item.sources
    ]
    lines += ["", "Sources:", *(sources or [no_source])]
    return "\n".join(lines) + "\n"


def _values(item: "Device") -> list[str]:
    from onnx_autodoc.hardware.devices import PRECISIONS
    from onnx_autodoc.text import format_bytes, format_number, sanitize

    about = ", ".join(sanitize(str(word)) for word in (item.vendor, item.kind, item.form, item.year) if word)
    lines = [f"  {'type':<22}{about}"] if about else []
    memory = (
        format_bytes(item.memory_bytes) if item.memory_bytes else _MEMORY_WITHOUT_SIZE.get(item.memory_kind, "unknown")
    )
    reported = (
        f", {format_bytes(item.memory_reported_bytes)} reported by the driver" if item.memory_reported_bytes else ""
    )
    lines.append(f"  {'memory':<22}{memory}{reported} ({item.memory_kind})")
    lines.append(f"  {'bandwidth':<22}{f'{format_number(item.bandwidth / 1e9)} GB/s' if item.bandwidth else 'unknown'}")
    for name in PRECISIONS:
        if name in item.rates:
            unit = "TOPS" if name.startswith("int") else "TFLOPS"
            lines.append(f"  {name:<22}{format_number(item.rates[name] / 1e12)} {unit}, dense peak")
    if not item.rates:
        lines.append(f"  {'rates':<22}unknown")
    watts = f"{item.power_w:g} W{' (estimate)' if item.power_estimated else ''}" if item.power_w else "unknown"
    return [*lines, f"  {'power':<22}{watts}", *(f"  {key:<34}{number:g}" for key, number in item.also.items())]


def add_rules(commands: Any) -> None:
    rules = commands.add_parser("rules", help="list the lint rules")
    rules.set_defaults(run=run_rules)
    explain = commands.add_parser("explain", help="print the page of a rule, runtime or device")
    explain.add_argument("id", metavar="ID", help="a lint rule (see `onnx-autodoc rules`), a runtime or a device")
    explain.set_defaults(run=run_explain)


def run_rules(options: argparse.Namespace) -> int:
    from onnx_autodoc.lint import RULES

    width = max(map(len, RULES))
    write_stdout("".join(f"{rule.id:<{width}}  {rule.severity:<7}  {rule.title}\n" for rule in RULES.values()))
    return 0


def run_explain(options: argparse.Namespace) -> int:
    """Print the page of a rule, a runtime or a device."""
    from difflib import get_close_matches

    from onnx_autodoc.hardware.devices import THIS_MACHINE, detect_machine, device_ids, find_device, suggest_devices
    from onnx_autodoc.lint import RULES, RUNTIMES

    if options.id in RULES:
        rule = RULES[options.id]
        write_stdout(f"{rule.id} ({rule.severity}, confidence {rule.confidence})\n\n{rule.page}\n")
    elif options.id in RUNTIMES:
        write_stdout(_runtime_page(options.id))
    elif options.id == THIS_MACHINE:
        write_stdout(format_device(detect_machine().device))
    elif options.id in device_ids():
        write_stdout(format_device(find_device(options.id)))
    else:
        similar = get_close_matches(options.id, [*RULES, *RUNTIMES], 3) or suggest_devices(options.id)
        hint = f"similar: {', '.join(similar)}" if similar else "`onnx-autodoc rules` and `devices` list them"
        raise BadInput(f"unknown rule, runtime or device {options.id!r}; {hint}")
    return 0


def _runtime_page(name: str) -> str:
    from onnx_autodoc.lint import runtimes

    table = runtimes()[name]
    lines = [f"{table.name}: supported operators as of {table.date}", "", f"Source: {table.source} ({table.basis})"]
    lines.append(f"Other operators: {table.fallback}")
    for domain, operators in table.operators.items():
        ranges = ", ".join(f"{op} {_opset_range(span)}" for op, span in sorted(operators.items()))
        lines += ["", f"{domain or 'ai.onnx'}, {len(operators)} operators with their opsets:", fill(ranges, 80)]
    return "\n".join(lines) + "\n"


def _opset_range(span: tuple[int, ...]) -> str:
    return f"{span[0]}+" if len(span) == 1 else f"{span[0]}–{span[1]}"


def add_schema(commands: Any) -> None:
    parser = commands.add_parser("schema", help="print a JSON Schema")
    parser.add_argument("what", nargs="?", choices=SCHEMA_NAMES, default="card", help="default: card")
    parser.set_defaults(run=run_schema)


def run_schema(options: argparse.Namespace) -> int:
    from onnx_autodoc.schema import SCHEMAS

    write_stdout(SCHEMAS[options.what]())
    return 0
