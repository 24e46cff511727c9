"""Detection of this machine: its CPU, NVIDIA GPUs by NVML, Jetson boards by name, Apple chips by sysctl."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from onnx_autodoc.hardware.devices.catalog import find_device, match_apple, match_jetson, match_nvidia
from onnx_autodoc.hardware.devices.cpu import System, detect_cpu, parse_number, read_text, total_memory
from onnx_autodoc.hardware.devices.device import Device
from onnx_autodoc.text import format_bytes, sanitize

_SYSCTL: Final = "/usr/sbin/sysctl"
_SYSCTL_SECONDS: Final = 5
_MAX_GPUS: Final = 64
_LISTED_MEMORY: Final = "; its memory size is the listed one"

Detection = tuple[tuple[Device, ...], tuple[str, ...]]  # devices, and lines on how they were found
_NOTHING: Final[Detection] = ((), ())


class DetectedMachine(msgspec.Struct, frozen=True):
    """`device` is what `auto` stands for: the first accelerator, or the CPU. `lines` has the origin of each."""

    device: Device
    cpu: Device
    accelerators: tuple[Device, ...]
    lines: tuple[str, ...]


def detect_machine(system: System | None = None, nvml: Any = None, sysctl: Any = None) -> DetectedMachine:
    """Detect this machine; never fails. The arguments substitute another one in tests."""
    if system is None:
        system = System(allowed=frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None)
    cpu, cpu_lines = detect_cpu(system)
    cpu, (chips, chip_lines) = _detect_apple(system, cpu, sysctl or _run_sysctl)
    boards, board_lines = _detect_jetson(system)
    gpus, gpu_lines = _NOTHING if boards else _detect_nvidia(system, nvml)
    accelerators = (*chips, *boards, *gpus)
    lines = chip_lines if chips else (*cpu_lines, *chip_lines, *board_lines, *gpu_lines)
    return DetectedMachine(accelerators[0] if accelerators else cpu, cpu, accelerators, lines)


def _detect_nvidia(system: System, nvml: Any) -> Detection:
    """Return the GPUs that NVIDIA's driver lists. `nvml` is the module pynvml or a substitute."""
    try:
        nvml = nvml or import_module("pynvml")
    except ImportError:
        return _unqueried_driver(system, "the package nvidia-ml-py is not installed")
    try:
        nvml.nvmlInit()
        count = min(nvml.nvmlDeviceGetCount(), _MAX_GPUS)
    except Exception as error:  # the driver's library has its own errors
        reason = str(error)
        return _unqueried_driver(system, sanitize(reason) if reason else "the package nvidia-ml-py is not installed")
    devices: list[Device] = []
    lines: list[str] = []
    for index in range(count):
        try:
            name, nbytes = _query_gpu(nvml, index)
        except Exception as error:  # one GPU may be lost while others work
            lines.append(f"GPU {index}: query failed: {sanitize(str(error))} (NVML)")
        else:
            device, line = _make_gpu(name, nbytes, len(devices) + 1)
            devices.append(device)
            lines.append(line)
    return tuple(devices), tuple(lines)


def _unqueried_driver(system: System, reason: str) -> Detection:
    """Report the reason only if a driver is present."""
    if not (system.proc / "driver" / "nvidia").is_dir():
        return _NOTHING
    return (), (f"an NVIDIA driver is installed, but its GPUs could not be queried: {reason}",)


def _query_gpu(nvml: Any, index: int) -> tuple[str, int | None]:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    name = nvml.nvmlDeviceGetName(handle)
    try:
        nbytes = int(nvml.nvmlDeviceGetMemoryInfo(handle).total)
    except Exception:  # boards with unified memory do not report it
        nbytes = 0
    return (name.decode(errors="replace") if isinstance(name, bytes) else str(name)), nbytes or None


def _make_gpu(name: str, nbytes: int | None, number: int) -> tuple[Device, str]:
    """Return the published device, or one with a new id: `auto` is the CPU's id."""
    size = f", {format_bytes(nbytes)}" if nbytes else ""
    line, key = f"GPU: {sanitize(name)}{size} (NVML)", match_nvidia(name, nbytes)
    if key:
        listed = find_device(key)
        device = msgspec.structs.replace(listed, memory_reported_bytes=nbytes or listed.memory_reported_bytes)
        return device, f"{line}, listed as `{key}`{'' if nbytes else _LISTED_MEMORY}"
    own_id = "auto_gpu" if number == 1 else f"auto_gpu_{number}"
    device = Device(id=own_id, name=sanitize(name), family="own", vendor="NVIDIA", kind="gpu", memory_bytes=nbytes)
    return device, f"{line}; not listed, so its rates and bandwidth are unknown"


def _detect_jetson(system: System) -> Detection:
    """Identify a Jetson board by the device tree; NVML often does not report its GPU."""
    model = read_text(system.proc / "device-tree" / "model") or ""
    if "jetson" not in model.lower():
        return _NOTHING
    total, line = total_memory(system), f"board: {sanitize(model)} (device tree)"
    key = match_jetson(model, total)
    if key is None:
        return (), (f"{line}; it matches more than one listed device, select one with --device",)
    device = msgspec.structs.replace(find_device(key), memory_reported_bytes=total)
    return (device,), (f"{line}, listed as `{key}`",)


def _detect_apple(system: System, cpu: Device, sysctl: Any) -> tuple[Device, Detection]:
    """Return the CPU with its name and memory, and the GPU, which is published under the chip's name."""
    if system.platform != "darwin":
        return cpu, _NOTHING
    brand, nbytes = sysctl("machdep.cpu.brand_string"), parse_number(sysctl("hw.memsize"))
    cpu = msgspec.structs.replace(cpu, name=sanitize(brand or cpu.name), memory_bytes=nbytes)
    key, size = match_apple(brand) if brand else None, f", {format_bytes(nbytes)}" if nbytes else ""
    if key is None:
        return cpu, ((), (f"processor: {sanitize(brand or 'unknown')}{size} (sysctl); not listed",))
    listed = find_device(key)
    device = msgspec.structs.replace(listed, memory_bytes=nbytes or listed.memory_bytes)
    line = f"chip: {brand}{size} (sysctl), listed as `{key}`; its GPU may have fewer cores than listed"
    return cpu, ((device,), (line + ("" if nbytes else _LISTED_MEMORY),))


def _run_sysctl(key: str) -> str | None:
    if not Path(_SYSCTL).is_file():
        return None
    import subprocess  # macOS only

    try:
        process = subprocess.run(  # noqa: S603
            [_SYSCTL, "-n", key], capture_output=True, text=True, timeout=_SYSCTL_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout.strip() or None
