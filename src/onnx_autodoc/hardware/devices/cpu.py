"""This machine's CPU: its model, the cores that this process may use, their peak rates, and its memory.

Read from files of the kernel; containers have limits (cgroups v1 and v2).

Peak operations per cycle follow from the instruction set. One multiply-add is two operations. FP32: units x lanes x 2.
The widths have the sources of server_cpus.toml and client_cpus.toml; if a processor may have one unit or two, two are
assumed, and the rule states it.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from sys import platform as this_platform
from typing import Final

import msgspec

from onnx_autodoc.hardware.devices.catalog import find_device, match_cpu
from onnx_autodoc.hardware.devices.device import THIS_MACHINE, Device
from onnx_autodoc.text import format_bytes, format_number, pluralize, sanitize

_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_MAX_CPUS: Final = 1 << 16
_MAX_FILE_CHARACTERS: Final = 4_000_000  # cpuinfo of the largest machines has half of it
_MAX_LIST_CHARACTERS: Final = 10_000
_NO_LIMIT: Final = 1 << 60  # cgroups v1 report a huge number


class System(msgspec.Struct, frozen=True, kw_only=True):
    """Folders of kernel files, processors of this process, and the platform; tests substitute others."""

    proc: Path = Path("/proc")
    sys: Path = Path("/sys")
    allowed: frozenset[int] | None = None
    platform: str = this_platform


def read_text(path: Path) -> str | None:
    """Return None for a file that is absent or unreadable."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_FILE_CHARACTERS).strip("\0\n ")
    except (OSError, ValueError):
        return None


def parse_number(text: str | None) -> int | None:
    return int(text) if text and _NUMBER.fullmatch(text) else None


def read_number(path: Path) -> int | None:
    return parse_number(read_text(path))


def read_cpu_list(path: Path) -> frozenset[int]:
    """Parse a set of processors such as 0-3,8."""
    cpus: set[int] = set()
    for part in (read_text(path) or "")[:_MAX_LIST_CHARACTERS].split(","):
        first, dash, last = part.strip().partition("-")
        low, high = parse_number(first), parse_number(last if dash else first)
        if low is not None and high is not None and high < _MAX_CPUS:
            cpus |= set(range(low, high + 1))
    return frozenset(cpus)


def total_memory(system: System) -> int | None:
    for line in (read_text(system.proc / "meminfo") or "").splitlines():
        words = line.split()
        if words[:1] == ["MemTotal:"] and (kib := parse_number("".join(words[1:2]))):
            return kib * 1024
    return None


def memory_limit(system: System) -> int | None:
    """Return the lowest memory limit of this process's cgroup and its parents."""
    limits = [read_number(folder / "memory.max") for folder in _cgroup_folders(system, "")]
    limits += [read_number(folder / "memory.limit_in_bytes") for folder in _cgroup_folders(system, "memory")]
    return min((limit for limit in limits if limit is not None and limit < _NO_LIMIT), default=None)


def cpu_quota(system: System) -> float | None:
    """Return the processors that the cgroup may use: 1.5 is one and a half."""
    pairs = [(read_text(folder / "cpu.max") or "").partition(" ")[::2] for folder in _cgroup_folders(system, "")]
    pairs += [
        (read_text(folder / "cpu.cfs_quota_us") or "", read_text(folder / "cpu.cfs_period_us") or "")
        for folder in _cgroup_folders(system, "cpu")
    ]
    numbers = [(parse_number(quota), parse_number(period)) for quota, period in pairs]  # "max" and -1 are no limit
    return min((quota / period for quota, period in numbers if quota and period), default=None)


def _cgroup_folders(system: System, controller: str) -> Iterator[Path]:
    """Yield the folders of this process's cgroup and its parents; a container may see only the root."""
    root = system.sys / "fs" / "cgroup" / controller
    for line in (read_text(system.proc / "self" / "cgroup") or "0::/").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(","):
            own = PurePosixPath("/", path)
            for folder in (own, *own.parents):
                if ".." not in folder.parts:
                    yield root / str(folder).lstrip("/")


# Arm's part numbers (implementer 0x41) -> core, FP32 operations per cycle: 128-bit pipes x 4 lanes x 2.
_ARM_CORES: Final = {
    "0xd03": ("Cortex-A53", 8),
    "0xd05": ("Cortex-A55", 8),
    "0xd08": ("Cortex-A72", 8),
    "0xd0b": ("Cortex-A76", 16),
    "0xd0c": ("Neoverse N1", 16),
    "0xd0d": ("Cortex-A77", 16),
    "0xd40": ("Neoverse V1", 32),
    "0xd41": ("Cortex-A78", 16),
    "0xd42": ("Cortex-A78AE", 16),
    "0xd44": ("Cortex-X1", 32),
    "0xd49": ("Neoverse N2", 16),
    "0xd4f": ("Neoverse V2", 32),
}
# Precision, flag, operations per cycle (absolute, or a multiple of FP32's), rule; the first flag that is present counts
_Instructions = tuple[tuple[str, str, int, str], ...]
_MIN_ABSOLUTE_RATE: Final = 1024
_X86_INSTRUCTIONS: Final[_Instructions] = (
    ("fp16", "amx_fp16", 1024, "AMX-FP16"),
    ("fp16", "avx512_fp16", 2, "AVX512-FP16, twice the lanes"),
    ("bf16", "amx_bf16", 1024, "AMX-BF16"),
    ("bf16", "avx512_bf16", 2, "AVX512-BF16, two multiply-adds for one of FP32"),
    ("int8", "amx_int8", 2048, "AMX-INT8"),
    ("int8", "avx512_vnni", 4, "AVX512-VNNI, four multiply-adds for one of FP32"),
    ("int8", "avx_vnni", 4, "AVX-VNNI, four multiply-adds for one of FP32"),
    ("int8", "avx2", 2, "vpmaddubsw, vpmaddwd and vpaddd instead of four multiply-adds"),
)
_ARM_INSTRUCTIONS: Final[_Instructions] = (
    ("fp16", "asimdhp", 2, "FP16 arithmetic, twice the lanes"),
    ("bf16", "bf16", 4, "bfmmla at the rate of multiply-adds"),
    ("int8", "i8mm", 8, "smmla at the rate of multiply-adds"),
    ("int8", "asimddp", 4, "sdot, four multiply-adds for one of FP32"),
    ("int8", "asimd", 2, "smlal, widening"),
)
_ZEN1_MODELS: Final = 48  # AMD family 23 below this model has 128-bit units
_X_SERIES: Final = re.compile(r"i[79]-\d{4,5}XE?\b")
LISTED_FLAGS: Final = (
    *("avx", "avx2", "avx512f", "avx_vnni", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_fp16"),
    *("amx_int8", "asimd", "asimddp", "asimdhp", "sve", "sve2", "bf16", "i8mm"),
)
_MAX_CLOCK_HZ: Final = 6.2e9  # assumed if unknown
_REPORTED_CLOCK: Final = "maximum by cpufreq"
_ASSUMED_CLOCK: Final = "assumed maximum"
_UNKNOWN_CLOCK: Final = "the maximum clock is unknown: rates assume 6.2 GHz, which no such core exceeds"

CpuInfo = dict[int, dict[str, str]]  # by processor, its fields in /proc/cpuinfo


def _find_peak(fields: dict[str, str], is_efficiency_core: bool) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return operations per cycle by precision, and the rules that give them; empty if the width is unknown."""
    flags = _instruction_flags(fields)
    if "flags" in fields:
        instructions, (fp32, reason) = _X86_INSTRUCTIONS, _x86_width(fields, flags, is_efficiency_core)
    elif "asimd" in flags and (arm_core := _identify_arm_core(fields)):
        instructions, fp32, reason = _ARM_INSTRUCTIONS, arm_core[1], f"{arm_core[0]}, NEON or SVE"
    else:
        return {}, ()
    per_cycle, rules = {"fp32": fp32}, [f"fp32: {fp32} per cycle ({reason})"]
    for precision, flag, amount, rule in instructions:
        if flag in flags and precision not in per_cycle:
            per_cycle[precision] = amount if amount >= _MIN_ABSOLUTE_RATE else amount * fp32
            rules.append(f"{precision}: {per_cycle[precision]} per cycle ({rule})")
    return per_cycle, tuple(rules)


def _instruction_flags(fields: dict[str, str]) -> frozenset[str]:
    return frozenset((fields.get("flags") or fields.get("Features") or "").split())


def _identify_arm_core(core: dict[str, str]) -> tuple[str, int] | None:
    """Return name and FP32 operations per cycle of a core designed by Arm; other vendors reuse its part numbers."""
    return _ARM_CORES.get(core.get("CPU part", "")) if core.get("CPU implementer") == "0x41" else None


def _x86_width(core: dict[str, str], flags: frozenset[str], is_efficiency_core: bool) -> tuple[int, str]:
    """Return FP32 operations per cycle, and the rule."""
    vendor, name = core.get("vendor_id", ""), core.get("model name", "")
    family, model = (parse_number(core.get(key)) or 0 for key in ("cpu family", "model"))
    if is_efficiency_core:
        return 16, "AVX2 on an efficiency core, two 128-bit units"
    if "avx512f" in flags and vendor == "AuthenticAMD" and family < 26:
        return 32, "AVX-512 on 256-bit units"
    if "avx512f" in flags and vendor == "GenuineIntel" and "Xeon" not in name and not _X_SERIES.search(name):
        return 32, "AVX-512 with one multiply-add unit"
    if "avx512f" in flags:
        return 64, "AVX-512, two multiply-add units assumed"
    is_zen1 = family == 24 or (family == 23 and model < _ZEN1_MODELS)
    if {"avx2", "fma"} <= flags and vendor in ("AuthenticAMD", "HygonGenuine") and is_zen1:
        return 16, "AVX2 on 128-bit units"
    if {"avx2", "fma"} <= flags:
        return 32, "AVX2, two multiply-add units"
    return (16, "AVX, one adder and one multiplier") if "avx" in flags else (8, "SSE, one adder and one multiplier")


class CpuCore(msgspec.Struct, frozen=True):
    """The clock of a core in Hz with its origin, its peak operations per cycle by precision, and their rules."""

    clock: float
    clock_from: str
    per_cycle: dict[str, int]
    rules: tuple[str, ...]


def detect_cpu(system: System) -> tuple[Device, tuple[str, ...]]:
    """Return the CPU as a device, and lines on how each of its values was found."""
    info = _read_cpuinfo(system)
    usable = [cpu for cpu in info if system.allowed is None or cpu in system.allowed]
    cores, quota, name = _find_cores(system, info, usable), cpu_quota(system), _find_name(system, info)
    rates, rules, doubts = _sum_rates(cores, quota)
    memory_bytes, memory_line = _find_memory(system)
    listed_id = match_cpu(name)
    listed = find_device(listed_id) if listed_id else None
    lines = ["processor: unknown (/proc/cpuinfo is missing or unreadable)"]
    if usable:
        counts = f"{pluralize(len(cores), 'core')}, {pluralize(len(usable), 'thread')}"
        lines = [f"processor: {sanitize(name)} ({counts}; /proc/cpuinfo)"]
    if quota is not None and quota < len(cores):
        lines.append(f"the container may use {format_number(quota)} of these processors (cgroup)")
    flags = _instruction_flags(next(iter(info.values()), {}))
    instructions = ", ".join(flag for flag in LISTED_FLAGS if flag in flags) or "unknown"
    bandwidth = "unknown; `onnx-autodoc calibrate` measures it"
    if listed and listed.bandwidth:
        bandwidth = f"at most {format_number(listed.bandwidth / 1e9)} GB/s (published for `{listed.id}`)"
    lines += [f"instruction set: {instructions}", *doubts, memory_line, f"memory bandwidth: {bandwidth}"]
    device = Device(
        id=THIS_MACHINE,
        name=sanitize(name),
        family="own",
        kind="cpu",
        form="this machine",
        memory_kind="system",
        memory_bytes=memory_bytes,
        rates=rates,
        derived=rules,
        notes=tuple(doubts),
        is_ceiling=bool(doubts and rates),
        bandwidth=listed.bandwidth if listed else None,
        power_w=listed.power_w if listed else None,
        sources=listed.sources if listed else (),
    )
    return device, tuple(lines)


def _read_cpuinfo(system: System) -> CpuInfo:
    """Fields after the last processor are of the whole board, and count as the last processor's."""
    info: CpuInfo = {}
    fields: dict[str, str] = {}
    for line in (read_text(system.proc / "cpuinfo") or "").splitlines():
        key, colon, value = line.partition(":")
        if key.strip() == "processor" and (cpu := parse_number(value.strip())) is not None:
            fields = info.setdefault(cpu, {})
        elif colon:
            fields[key.strip()] = value.strip()
    return info


def _find_cores(system: System, info: CpuInfo, usable: list[int]) -> list[CpuCore]:
    """Return the cores of these processors; two threads of one core count once."""
    efficient = read_cpu_list(system.sys / "devices" / "cpu_atom" / "cpus")
    first_threads = {_core_key(system, cpu, info[cpu]): cpu for cpu in reversed(usable)}
    return [
        CpuCore(*_find_clock(system, cpu), *_find_peak(info[cpu], cpu in efficient))
        for cpu in sorted(first_threads.values())
    ]


def _core_key(system: System, cpu: int, fields: dict[str, str]) -> str:
    """Identify a core by its ids on x86, by its thread siblings elsewhere."""
    if "core id" in fields:
        return f"{fields.get('physical id', '0')}.{fields['core id']}"
    siblings = read_text(system.sys / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return siblings or f"cpu{cpu}"


def _find_clock(system: System, cpu: int) -> tuple[float, str]:
    """acpi-cpufreq reports the highest clock without boost, which is no upper limit."""
    folder = system.sys / f"devices/system/cpu/cpu{cpu}/cpufreq"
    highest = read_number(folder / "cpuinfo_max_freq")
    if highest and read_text(folder / "scaling_driver") != "acpi-cpufreq":
        return highest * 1e3, _REPORTED_CLOCK
    return _MAX_CLOCK_HZ, _ASSUMED_CLOCK


def _sum_rates(cores: Sequence[CpuCore], quota: float | None) -> tuple[dict[str, float], tuple[str, ...], list[str]]:
    """Return operations per second of the usable cores, the rules that give them, and doubts."""
    if not cores or not all(core.per_cycle for core in cores):
        return {}, (), ["rates: unknown, because the width of this core's vector units is unknown"]
    shared = set.intersection(*(set(core.per_cycle) for core in cores))
    used = len(cores) if quota is None else min(quota, len(cores))
    rates = {name: _sum_fastest([core.clock * core.per_cycle[name] for core in cores], used) for name in sorted(shared)}
    clocks = sorted({f"{core.clock / 1e9:.2f} GHz" for core in cores})
    origins = dict.fromkeys(core.clock_from for core in cores)
    count = format_number(used) if used % 1 else int(used)
    rules = tuple(dict.fromkeys(rule for core in cores for rule in core.rules))
    doubts = [_UNKNOWN_CLOCK] if any(core.clock_from == _ASSUMED_CLOCK for core in cores) else []
    formula = f"cores x clock x operations per cycle: {count} x {' or '.join(clocks)} ({' or '.join(origins)})"
    return rates, (formula, *rules), doubts


def _sum_fastest(rates: list[float], count: float) -> float:
    """Sum the fastest cores up to a count that need not be whole."""
    total = 0.0
    for rate in sorted(rates, reverse=True):
        total += rate * max(0.0, min(1.0, count))
        count -= 1
    return total


def _find_memory(system: System) -> tuple[int | None, str]:
    total, limit = total_memory(system), memory_limit(system)
    if limit is not None and (total is None or limit < total):
        rest = f"of {format_bytes(total)}" if total is not None else "of an unknown total"
        return limit, f"memory: {format_bytes(limit)}, the container's limit (cgroup), {rest} (/proc/meminfo)"
    if total is None:
        return None, "memory: unknown (/proc/meminfo)"
    return total, f"memory: {format_bytes(total)} (/proc/meminfo)"


def _find_name(system: System, info: CpuInfo) -> str:
    board = read_text(system.proc / "device-tree" / "model")
    model = next((fields["model name"] for fields in info.values() if fields.get("model name")), None)
    arm_cores = dict.fromkeys(core[0] for fields in info.values() if (core := _identify_arm_core(fields)))
    return model or board or " and ".join(arm_cores) or "unknown CPU"
