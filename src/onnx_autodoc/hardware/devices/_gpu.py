"""NVIDIA's GPUs by NVML, Jetson boards by their name, Apple's chips by sysctl."""

import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from onnx_autodoc.hardware.devices._device import Device
from onnx_autodoc.hardware.devices._limits import total_memory
from onnx_autodoc.hardware.devices._match import apple_id, jetson_id, nvidia_id
from onnx_autodoc.hardware.devices._shelf import find
from onnx_autodoc.hardware.devices._system import System, text, whole
from onnx_autodoc.text import clean, memory

_SYSCTL: Final = "/usr/sbin/sysctl"
_MOST_GPUS: Final = 64


def nvidia(system: System, nvml: Any = None) -> tuple[tuple[Device, ...], tuple[str, ...]]:
    """The GPUs that NVIDIA's driver names. `nvml` is the module pynvml, or what a test has in its place."""
    if nvml is None:
        try:
            nvml = import_module("pynvml")
        except ImportError:
            return (), _unasked(system)
    try:
        nvml.nvmlInit()
        count = min(nvml.nvmlDeviceGetCount(), _MOST_GPUS)
    except Exception as error:  # a driver's library fails in ways of its own
        return (), _unasked(system, str(error))
    found: list[Device] = []
    said: list[str] = []
    for index in range(count):
        try:
            answer = _asked(nvml, index)
        except Exception as error:  # one card may be lost, and others not
            said.append(f"GPU {index}: could not be asked: {clean(str(error))} (NVML)")
            continue
        made, line = _of_name(*answer, len(found) + 1)
        found.append(made)
        said.append(line)
    return tuple(found), tuple(said)


def _unasked(system: System, why: str = "") -> tuple[str, ...]:
    """Said only where there seems to be a GPU to ask about."""
    if not (system.proc / "driver" / "nvidia").is_dir():
        return ()
    reason = clean(why) if why else "the package nvidia-ml-py is not installed"
    return (f"an NVIDIA driver is here, but its GPUs could not be asked: {reason}",)


def _asked(nvml: Any, index: int) -> tuple[str, int | None]:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    name = nvml.nvmlDeviceGetName(handle)
    try:
        nbytes = int(nvml.nvmlDeviceGetMemoryInfo(handle).total)
    except Exception:  # boards that share the system's memory do not say
        nbytes = 0
    return (name.decode(errors="replace") if isinstance(name, bytes) else str(name)), nbytes or None


def _of_name(name: str, nbytes: int | None, place: int) -> tuple[Device, str]:
    """One that is not listed has an id of its own, by its place: `auto` alone is the processor."""
    key, shown = nvidia_id(name, nbytes), f"GPU: {clean(name)}{f', {memory(nbytes)}' if nbytes else ''} (NVML)"
    if key:
        listed = find(key)
        found = msgspec.structs.replace(listed, memory_reported_bytes=nbytes or listed.memory_reported_bytes)
        return found, f"{shown}, listed as `{key}`{'' if nbytes else _AS_LISTED}"
    own = "auto_gpu" if place == 1 else f"auto_gpu_{place}"
    found = Device(id=own, name=clean(name), family="own", vendor="NVIDIA", kind="gpu", memory_bytes=nbytes)
    return found, f"{shown}; not listed, so its rates and bandwidth are not known"


_AS_LISTED: Final = "; its memory is taken as listed"


def jetson(system: System) -> tuple[tuple[Device, ...], tuple[str, ...]]:
    """A Jetson board says its name in the device tree; NVML often says nothing of its GPU."""
    model = text(system.proc / "device-tree" / "model") or ""
    if "jetson" not in model.lower():
        return (), ()
    total = total_memory(system)
    key = jetson_id(model, total)
    if key is None:
        return (), (f"board: {clean(model)} (device tree); more than one listed device fits, name one with --device",)
    found = msgspec.structs.replace(find(key), memory_reported_bytes=total)
    return (found,), (f"board: {clean(model)} (device tree), listed as `{key}`",)


def apple(system: System, cpu: Device, sysctl: Any = None) -> tuple[Device, tuple[Device, ...], tuple[str, ...]]:
    """On a Mac: the processor with its name and memory, then its GPU, which the brand is listed for."""
    if system.platform != "darwin":
        return cpu, (), ()
    ask = sysctl or _sysctl
    brand, nbytes = ask("machdep.cpu.brand_string"), whole(ask("hw.memsize"))
    cpu = msgspec.structs.replace(cpu, name=clean(brand or cpu.name), memory_bytes=nbytes)
    key, held = apple_id(brand) if brand else None, f", {memory(nbytes)}" if nbytes else ""
    if key is None:
        return cpu, (), (f"processor: {clean(brand or 'not known')}{held} (sysctl); not listed",)
    listed = find(key)
    found = msgspec.structs.replace(listed, memory_bytes=nbytes or listed.memory_bytes)
    fewer = "its GPU may have fewer cores than listed"
    line = f"chip: {brand}{held} (sysctl), listed as `{key}`; {fewer}{'' if nbytes else _AS_LISTED}"
    return cpu, (found,), (line,)


def _sysctl(key: str) -> str | None:
    if not Path(_SYSCTL).is_file():
        return None
    try:
        done = subprocess.run([_SYSCTL, "-n", key], capture_output=True, text=True, timeout=5, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
