"""This machine's processor: which it is, how many cores this process may use, how fast they could be."""

from collections.abc import Sequence
from typing import Final

import msgspec

from onnx_autodoc.hardware.devices._device import HERE, Device
from onnx_autodoc.hardware.devices._limits import cpu_quota, memory_limit, total_memory
from onnx_autodoc.hardware.devices._match import cpu_id
from onnx_autodoc.hardware.devices._peaks import Peak, arm_core, peak
from onnx_autodoc.hardware.devices._shelf import find
from onnx_autodoc.hardware.devices._system import System, cpu_list, number, text, whole
from onnx_autodoc.text import clean, memory, plural, three

SHOWN_FLAGS: Final = (
    *("avx", "avx2", "avx512f", "avx_vnni", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_fp16"),
    *("amx_int8", "asimd", "asimddp", "asimdhp", "sve", "sve2", "bf16", "i8mm"),
)


class Core(msgspec.Struct, frozen=True):
    """One core: its clock in Hz with where that is from, and what it could do in a cycle."""

    clock: float
    clock_from: str
    peak: Peak | None


def this_cpu(system: System) -> tuple[Device, tuple[str, ...]]:
    """The processor as a device, and how each of its values was found."""
    blocks = _blocks(system)
    cores, quota, name = _cores(system, blocks), cpu_quota(system), _name(system, blocks)
    rates, rules, doubts = _rates(cores, quota)
    nbytes, memory_said = _memory(system)
    matched = cpu_id(name)
    listed = find(matched) if matched else None
    said = [_counted(name, len(cores), len(_usable(system, blocks)))]
    if quota is not None and quota < len(cores):
        said.append(f"the container may use {three(quota)} of them (cgroup)")
    said += [_isa(blocks), *doubts, *memory_said, _bandwidth(listed)]
    found = Device(id=HERE, name=clean(name), family="own", kind="cpu", form="this machine", memory_kind="system")
    measured = {
        "memory_bytes": nbytes,
        "rates": rates,
        "derived": rules,
        "notes": tuple(doubts),
        "is_ceiling": bool(doubts and rates),
    }
    known = {"bandwidth": listed.bandwidth, "power_w": listed.power_w, "sources": listed.sources} if listed else {}
    return msgspec.structs.replace(found, **measured, **known), tuple(said)


def _blocks(system: System) -> dict[int, dict[str, str]]:
    """processor -> what /proc/cpuinfo says of it. Keys after the last processor are of the whole board."""
    found: dict[int, dict[str, str]] = {}
    now: dict[str, str] = {}
    for line in (text(system.proc / "cpuinfo") or "").splitlines():
        key, colon, value = line.partition(":")
        if key.strip() == "processor" and (cpu := whole(value.strip())) is not None:
            now = found.setdefault(cpu, {})
        elif colon:
            now[key.strip()] = value.strip()
    return found


def _usable(system: System, blocks: dict[int, dict[str, str]]) -> list[int]:
    return [cpu for cpu in blocks if system.allowed is None or cpu in system.allowed]


def _cores(system: System, blocks: dict[int, dict[str, str]]) -> list[Core]:
    """The cores that this process may use; two threads of one core are one."""
    efficient = cpu_list(system.sys / "devices" / "cpu_atom" / "cpus")
    first = {_core_of(system, cpu, blocks[cpu]): cpu for cpu in reversed(_usable(system, blocks))}
    return [Core(*_clock(system, cpu), peak(blocks[cpu], cpu in efficient)) for cpu in sorted(first.values())]


def _core_of(system: System, cpu: int, block: dict[str, str]) -> str:
    """What tells one core from another: its ids on x86, its threads elsewhere."""
    if "core id" in block:
        return f"{block.get('physical id', '0')}.{block['core id']}"
    threads = text(system.sys / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return threads or f"cpu{cpu}"


def _clock(system: System, cpu: int) -> tuple[float, str]:
    """acpi-cpufreq says the highest without boost, which bounds nothing."""
    folder = system.sys / f"devices/system/cpu/cpu{cpu}/cpufreq"
    highest = number(folder / "cpuinfo_max_freq")
    if highest and text(folder / "scaling_driver") != "acpi-cpufreq":
        return highest * 1e3, "the highest (cpufreq)"
    return _CEILING, "a ceiling"


def _rates(cores: Sequence[Core], quota: float | None) -> tuple[dict[str, float], tuple[str, ...], list[str]]:
    """Operations per second of the cores that may be used, fastest first; the rules; what is doubtful."""
    if not cores or any(core.peak is None for core in cores):
        return {}, (), ["rates: not known, since the width of this core's units is not"]
    known = [(core.clock, core.peak) for core in cores if core.peak is not None]
    shared = set.intersection(*(set(one.per_cycle) for _, one in known))
    rates = {name: _most([clock * one.per_cycle[name] for clock, one in known], quota) for name in sorted(shared)}
    used = min(len(cores), quota) if quota else len(cores)
    clocks = sorted({f"{clock / 1e9:.2f} GHz" for clock, _ in known})
    places = dict.fromkeys(core.clock_from for core in cores)
    words = f"{three(used) if used % 1 else int(used)} x {' or '.join(clocks)}, {' or '.join(places)}"
    rules = tuple(dict.fromkeys(rule for _, one in known for rule in one.rules))
    doubts = [_DOUBT] if any(core.clock == _CEILING for core in cores) else []
    return rates, (f"cores x clock x operations per cycle: {words}", *rules), doubts


_CEILING: Final = 6.2e9
_DOUBT: Final = "the highest clock is not known: rates are for 6.2 GHz, which no such core exceeds"


def _most(rates: list[float], quota: float | None) -> float:
    """The sum of the fastest cores that the quota allows, the last of them in part."""
    left = len(rates) if quota is None else min(quota, len(rates))
    total = 0.0
    for rate in sorted(rates, reverse=True):
        total += rate * max(0.0, min(1.0, left))
        left -= 1
    return total


def _memory(system: System) -> tuple[int | None, list[str]]:
    total, limit = total_memory(system), memory_limit(system)
    if limit is not None and (total is None or limit < total):
        rest = f"of {memory(total)}" if total is not None else "of a machine whose own is not known"
        return limit, [f"memory: {memory(limit)}, the container's limit (cgroup), {rest} (/proc/meminfo)"]
    if total is None:
        return None, ["memory: not known (/proc/meminfo)"]
    return total, [f"memory: {memory(total)} (/proc/meminfo)"]


def _name(system: System, blocks: dict[int, dict[str, str]]) -> str:
    board = text(system.proc / "device-tree" / "model")
    stated = next((block["model name"] for block in blocks.values() if block.get("model name")), None)
    parts = dict.fromkeys(known[0] for block in blocks.values() if (known := arm_core(block)))
    return stated or board or " and ".join(parts) or "a processor that does not say its name"


def _isa(blocks: dict[int, dict[str, str]]) -> str:
    first = next(iter(blocks.values()), {})
    flags = (first.get("flags") or first.get("Features") or "").split()
    shown = [flag for flag in SHOWN_FLAGS if flag in flags]
    return f"instruction set: {', '.join(shown)}" if shown else "instruction set: not known"


def _bandwidth(listed: Device | None) -> str:
    if listed and listed.bandwidth:
        return f"memory bandwidth: at most {three(listed.bandwidth / 1e9)} GB/s (by its name, `{listed.id}`)"
    return "memory bandwidth: not known; `onnx-autodoc calibrate` measures it"


def _counted(name: str, cores: int, threads: int) -> str:
    if not threads:
        return "processor: not known (this system has no /proc/cpuinfo that could be read)"
    return f"processor: {clean(name)} ({plural(cores, 'core')}, {plural(threads, 'thread')}; /proc/cpuinfo)"
