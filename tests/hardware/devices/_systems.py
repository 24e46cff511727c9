"""Machines of files: a /proc and a /sys as a kernel writes them."""

from pathlib import Path

from onnx_autodoc.hardware.devices.cpu import System

INTEL_FLAGS = "fpu sse sse2 avx f16c avx2 fma avx512f avx512bw avx512_vnni"
SAPPHIRE_FLAGS = INTEL_FLAGS + " avx512_bf16 avx512_fp16 amx_bf16 amx_tile amx_int8"
ALDER_FLAGS = "fpu sse sse2 avx f16c avx2 fma avx_vnni"
ZEN3_FLAGS = "fpu sse sse2 avx f16c avx2 fma"
PI5_FEATURES = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp"


def write_machine(
    root: Path, files: dict[str, str], allowed: set[int] | None = None, platform: str = "linux"
) -> System:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return System(
        proc=root / "proc",
        sys=root / "sys",
        allowed=None if allowed is None else frozenset(allowed),
        platform=platform,
    )


def format_x86(count: int, threads: int, vendor: str, name: str, flags: str, **more: str) -> str:
    """`count` cores of `threads` threads each, threads last, as kernels number them."""
    blocks = []
    for cpu in range(count * threads):
        keys = {"processor": str(cpu), "vendor_id": vendor, "model name": name, "physical id": "0"}
        keys |= {
            "core id": str(cpu % count),
            "flags": flags,
            **{key.replace("_", " "): word for key, word in more.items()},
        }
        blocks.append("".join(f"{key}\t: {word}\n" for key, word in keys.items()))
    return "\n".join(blocks)


def format_arm(parts: list[str], features: str) -> str:
    blocks = [
        f"processor\t: {cpu}\nBogoMIPS\t: 108.00\nFeatures\t: {features}\nCPU implementer\t: 0x41\nCPU part\t: {part}\n"
        for cpu, part in enumerate(parts)
    ]
    return "\n".join(blocks) + "\nRevision\t: c04170\nModel\t\t: Raspberry Pi\n"


def format_meminfo(kib: int) -> str:
    return f"MemTotal:       {kib} kB\nMemFree:         1000 kB\n"


def list_clocks(khz: dict[int, int]) -> dict[str, str]:
    return {f"sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq": f"{hz}\n" for cpu, hz in khz.items()}
