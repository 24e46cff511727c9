"""Devices that a model may run on: a shelf of them with sources, a user's own, and this machine."""

from typing import TYPE_CHECKING, Any

from onnx_autodoc.hardware.devices._device import HERE, PRECISIONS, Device, Source
from onnx_autodoc.hardware.devices._shelf import FAMILIES, all_devices, find, load, names, near, select
from onnx_autodoc.hardware.devices._toml import read_toml

if TYPE_CHECKING:
    from onnx_autodoc.hardware.devices._detect import Detected, this_machine

__all__ = [
    "FAMILIES",
    "HERE",
    "PRECISIONS",
    "Detected",
    "Device",
    "Source",
    "all_devices",
    "find",
    "load",
    "names",
    "near",
    "read_toml",
    "select",
    "this_machine",
]


def __getattr__(name: str) -> Any:
    """Looking at this machine takes modules that a card for a listed device does not need."""
    if name not in ("Detected", "this_machine"):
        raise AttributeError(name)
    from onnx_autodoc.hardware.devices import _detect

    return getattr(_detect, name)
