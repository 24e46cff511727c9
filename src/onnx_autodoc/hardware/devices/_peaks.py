"""Operations per cycle of a processor core, by its instruction set. Ceilings: what the widest units could do.

One multiply-add is two operations. FP32: units x lanes x 2. Sources of the widths are those of server_cpus.toml and
client_cpus.toml; where a part may have one unit or two and does not say, the larger is taken, and this is said.
"""

import re
from typing import Final

import msgspec

from onnx_autodoc.hardware.devices._system import whole

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
_ZEN1_MODELS: Final = 48  # AMD family 23 below this model has 128-bit units
_X_SERIES: Final = re.compile(r"i[79]-\d{4,5}XE?\b")


class Peak(msgspec.Struct, frozen=True):
    """Operations per cycle and core by precision, and the rule behind them."""

    per_cycle: dict[str, int]
    rules: tuple[str, ...]


def peak(core: dict[str, str], efficient: bool = False) -> Peak | None:
    """Of one processor of /proc/cpuinfo; None where its width is not known."""
    if "flags" in core:
        return _x86(core, frozenset(core["flags"].split()), efficient)
    flags, known = frozenset(core.get("Features", "").split()), arm_core(core)
    return _arm(*known, flags) if known and "asimd" in flags else None


def arm_core(core: dict[str, str]) -> tuple[str, int] | None:
    """Name and FP32 operations per cycle of a core that Arm designed; another maker's part numbers mean other cores."""
    return _ARM_CORES.get(core.get("CPU part", "")) if core.get("CPU implementer") == "0x41" else None


def _x86(core: dict[str, str], flags: frozenset[str], efficient: bool) -> Peak | None:
    fp32, why = _x86_width(core, flags, efficient)
    per_cycle, rules = {"fp32": fp32}, [f"fp32: {fp32} per cycle ({why})"]
    # The first flag that is there decides: precision, flag, operations per cycle, its words.
    for precision, flag, most, words in (
        ("fp16", "amx_fp16", 1024, "AMX-FP16"),
        ("fp16", "avx512_fp16", 2 * fp32, "AVX512-FP16, twice the lanes"),
        ("bf16", "amx_bf16", 1024, "AMX-BF16"),
        ("bf16", "avx512_bf16", 2 * fp32, "AVX512-BF16, two multiply-adds for one of FP32"),
        ("int8", "amx_int8", 2048, "AMX-INT8"),
        ("int8", "avx512_vnni", 4 * fp32, "AVX512-VNNI, four multiply-adds for one of FP32"),
        ("int8", "avx_vnni", 4 * fp32, "AVX-VNNI, four multiply-adds for one of FP32"),
        ("int8", "avx2", 2 * fp32, "vpmaddubsw, vpmaddwd and vpaddd in the place of four multiply-adds"),
    ):
        if flag in flags and precision not in per_cycle:
            per_cycle[precision] = most
            rules.append(f"{precision}: {most} per cycle ({words})")
    return Peak(per_cycle, tuple(rules))


def _x86_width(core: dict[str, str], flags: frozenset[str], efficient: bool) -> tuple[int, str]:
    """FP32 operations per cycle, and why."""
    vendor, name = core.get("vendor_id", ""), core.get("model name", "")
    family, model = (whole(core.get(key)) or 0 for key in ("cpu family", "model"))
    if efficient:
        return 16, "AVX2 on an efficiency core, two 128-bit units"
    if "avx512f" in flags and vendor == "AuthenticAMD" and family < 26:
        return 32, "AVX-512 on 256-bit units"
    if "avx512f" in flags and vendor == "GenuineIntel" and "Xeon" not in name and not _X_SERIES.search(name):
        return 32, "AVX-512 with one multiply-add unit"
    if "avx512f" in flags:
        return 64, "AVX-512, two multiply-add units assumed"
    if {"avx2", "fma"} <= flags and vendor in ("AuthenticAMD", "HygonGenuine") and _is_zen1(family, model):
        return 16, "AVX2 on 128-bit units"
    if {"avx2", "fma"} <= flags:
        return 32, "AVX2, two multiply-add units"
    return (16, "AVX, one adder and one multiplier") if "avx" in flags else (8, "SSE, one adder and one multiplier")


def _is_zen1(family: int, model: int) -> bool:
    return family == 24 or (family == 23 and model < _ZEN1_MODELS)


def _arm(name: str, fp32: int, flags: frozenset[str]) -> Peak:
    per_cycle, rules = {"fp32": fp32}, [f"fp32: {fp32} per cycle ({name}, NEON or SVE)"]
    for precision, flag, factor, words in (
        ("fp16", "asimdhp", 2, "FP16 arithmetic, twice the lanes"),
        ("bf16", "bf16", 4, "bfmmla at the rate of multiply-adds"),
        ("int8", "i8mm", 8, "smmla at the rate of multiply-adds"),
        ("int8", "asimddp", 4, "sdot, four multiply-adds for one of FP32"),
        ("int8", "asimd", 2, "smlal, widening"),
    ):
        if flag in flags and precision not in per_cycle:
            per_cycle[precision] = factor * fp32
            rules.append(f"{precision}: {factor * fp32} per cycle ({words})")
    return Peak(per_cycle, tuple(rules))
