"""data/devices.json, what a card reads of devices, written from their files: a part of `make docs`.

TOML is for people; reading 164 tables of it takes longer than the rest of a small model's card.
"""

import sys
import tomllib
from pathlib import Path

import msgspec

from onnx_autodoc.hardware.devices import FAMILIES, Device
from onnx_autodoc.hardware.devices import __file__ as door
from onnx_autodoc.hardware.devices._table import OWN, device

FOLDER = Path(door).parent


def devices() -> tuple[Device, ...]:
    """Those of all files, in the order in which they are listed."""
    return tuple(
        device(key, table, family, f"{family}.toml")
        for family in FAMILIES
        if family != OWN
        for key, table in tomllib.loads((FOLDER / f"{family}.toml").read_text(encoding="utf-8"))["devices"].items()
    )


def data() -> str:
    """A line for each, so that a difference can be read."""
    lines = (msgspec.json.encode(each).decode() for each in devices())
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    sys.stdout.write(data())
