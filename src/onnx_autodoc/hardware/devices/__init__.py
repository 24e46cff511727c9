"""Devices that a model may run on: the published ones with sources, those of a user's file, and this machine."""

from typing import TYPE_CHECKING, Any

from onnx_autodoc.hardware.devices.catalog import (
    FAMILIES,
    all_devices,
    device_ids,
    find_device,
    load_devices,
    read_toml_file,
    select_devices,
    suggest_devices,
)
from onnx_autodoc.hardware.devices.device import PRECISIONS, THIS_MACHINE, Device

if TYPE_CHECKING:
    from onnx_autodoc.hardware.devices.detection import DetectedMachine, detect_machine

__all__ = [
    "FAMILIES",
    "PRECISIONS",
    "THIS_MACHINE",
    "DetectedMachine",
    "Device",
    "all_devices",
    "detect_machine",
    "device_ids",
    "find_device",
    "load_devices",
    "read_toml_file",
    "select_devices",
    "suggest_devices",
]


def __getattr__(name: str) -> Any:
    """Import detection on first use: a card for a published device does not need its modules."""
    if name not in ("DetectedMachine", "detect_machine"):
        raise AttributeError(name)
    from onnx_autodoc.hardware.devices import detection

    return getattr(detection, name)
