"""Generate data/devices.json, which cards read, from the device files: part of `make docs`.

TOML is for people; reading 164 tables of it takes longer than the rest of a small model's card.
"""

import sys
import tomllib
from pathlib import Path

import msgspec

from onnx_autodoc.hardware.devices import FAMILIES, Device
from onnx_autodoc.hardware.devices import __file__ as package_file
from onnx_autodoc.hardware.devices.device import USER_FAMILY, parse_device

FOLDER = Path(package_file).parent


def devices() -> tuple[Device, ...]:
    """Return the devices of all files, in listing order."""
    return tuple(
        parse_device(key, table, family, f"{family}.toml")
        for family in FAMILIES
        if family != USER_FAMILY
        for key, table in tomllib.loads((FOLDER / f"{family}.toml").read_text(encoding="utf-8"))["devices"].items()
    )


def data() -> str:
    """Format one device per line, for readable diffs."""
    lines = (msgspec.json.encode(each).decode() for each in devices())
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    sys.stdout.write(data())
