"""NVIDIA's GPUs by NVML, Jetson boards by their name, Apple's chips by sysctl."""

import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from onnx_autodoc.devices._device import Device
from onnx_autodoc.devices._limits import total_memory
from onnx_autodoc.devices._match import apple_id, jetson_id, nvidia_id
from onnx_autodoc.devices._shelf import find
from onnx_autodoc.devices._system import System, text, whole
from onnx_autodoc.say import clean, memory

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
        named = [_asked(nvml, index) for index in range(min(nvml.nvmlDeviceGetCount(), _MOST_GPUS))]
    except Exception as error:  # a driver's library fails in ways of its own
        return (), (*_unasked(system, str(error)),)
    made = [_of_name(name, nbytes, "NVML") for name, nbytes in named]
    return tuple(item for item, _ in made), tuple(line for _, line in made)


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


def _of_name(name: str, nbytes: int | None, how: str) -> tuple[Device, str]:
    key = nvidia_id(name, nbytes)
    size = f", {memory(nbytes)}" if nbytes else ""
    if key:
        listed = find(key)
        found = msgspec.structs.replace(listed, memory_reported_bytes=nbytes or listed.memory_reported_bytes)
        return found, f"GPU: {clean(name)}{size} ({how}), listed as `{key}`"
    found = Device(id="auto", name=clean(name), family="own", vendor="NVIDIA", kind="gpu", memory_bytes=nbytes)
    return found, f"GPU: {clean(name)}{size} ({how}); not listed, so its rates and bandwidth are not known"


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


def apple(system: System, sysctl: Any = None) -> tuple[tuple[Device, ...], tuple[str, ...]]:
    """An Apple chip by its brand, with this machine's memory."""
    if system.platform != "darwin":
        return (), ()
    ask = sysctl or _sysctl
    brand, size = ask("machdep.cpu.brand_string"), ask("hw.memsize")
    key = apple_id(brand) if brand else None
    if key is None:
        return (), (f"processor: {clean(brand or 'not known')} (sysctl); not listed",)
    nbytes = whole(size)
    listed = find(key)
    found = msgspec.structs.replace(listed, memory_bytes=nbytes or listed.memory_bytes)
    held = f", {memory(nbytes)}" if nbytes else ""
    return (found,), (f"chip: {brand}{held} (sysctl), listed as `{key}`; its GPU may have fewer cores than listed",)


def _sysctl(key: str) -> str | None:
    if not Path(_SYSCTL).is_file():
        return None
    try:
        done = subprocess.run([_SYSCTL, "-n", key], capture_output=True, text=True, timeout=5, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
