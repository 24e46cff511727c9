"""The devices that come with the tool, one file a family, and those of a user's file.

What ships is read from `data/devices.json`, which `make docs` writes from the files: it is a hundred times as quick.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import msgspec

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.hardware.devices._device import HERE, Device
from onnx_autodoc.hardware.devices._table import OWN, device
from onnx_autodoc.hardware.devices._toml import read_toml
from onnx_autodoc.text import clean

# file -> what stands over its devices; the order in which they are listed.
FAMILIES: Final = {
    "nvidia_datacenter": "NVIDIA data centre",
    "nvidia_workstation": "NVIDIA workstation",
    "nvidia_desktop": "NVIDIA GeForce desktop",
    "nvidia_laptop": "NVIDIA GeForce laptop",
    "amd": "AMD GPUs",
    "intel": "Intel GPUs and Gaudi",
    "accelerators": "Cloud accelerators",
    "apple": "Apple M series",
    "jetson": "NVIDIA Jetson",
    "server_cpus": "Server CPUs",
    "client_cpus": "Desktop and laptop CPUs",
    "laptop_npus": "Laptop chips with an NPU or a large GPU",
    "edge": "Edge NPUs and single-board computers",
    "phones": "Phones",
    OWN: "Your own",
}

_OWN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_MOST_DEVICES: Final = 1000
_MOST_NEAR: Final = 6
_MOST_ALIKE: Final = 3
_FEW: Final = 3  # devices that have a word which still tells them from others


@cache
def _shipped() -> dict[str, Device]:
    data = (files("onnx_autodoc") / "data" / "devices.json").read_bytes()
    return {each.id: each for each in msgspec.json.decode(data, type=tuple[Device, ...])}


def names() -> tuple[str, ...]:
    """The ids of all devices that come with the tool, in the order of their files."""
    return tuple(_shipped())


def titles() -> dict[str, str]:
    """id -> product name."""
    return {key: each.name for key, each in _shipped().items()}


def find(id: str, own: Mapping[str, Device] | None = None) -> Device:  # noqa: A002 (it is the device's)
    """A device by its id, the user's before ours. An unknown one is an error that lists near ones."""
    if own and id in own:
        return own[id]
    if id in _shipped():
        return _shipped()[id]
    close = near(id, own)
    hint = f"near it: {', '.join(close)}" if close else "`onnx-autodoc devices` lists them"
    raise BadInput(f"there is no device {clean(id, 80)!r}; {hint}")


def all_devices() -> tuple[Device, ...]:
    return tuple(_shipped().values())


def near(word: str, own: Mapping[str, Device] | None = None) -> tuple[str, ...]:
    """Ids that may be meant: those that have all of the words in id or product name, or the telling ones of them,
    as a driver's name does, else those spelled alike."""
    from difflib import get_close_matches  # of use only where a name is wrong

    known = titles() | {key: item.name for key, item in (own or {}).items()}
    words = {key: _words(f"{key} {name}") for key, name in known.items()}
    wanted = _words(word[:200])
    hits = [key for key in sorted(known, key=lambda key: (len(key), key)) if wanted and wanted <= words[key]]
    hits = hits or _telling(wanted, words)
    spelled = "_".join(re.findall(r"[a-z0-9]+", word[:80].lower()))
    alike = (get_close_matches(spelled, known, _MOST_ALIKE, least) for least in (0.7, 0.45))
    return tuple(hits[:_MOST_NEAR] or next(filter(None, alike), ()))


def _telling(wanted: set[str], words: Mapping[str, set[str]]) -> list[str]:
    """Ids that share the words which few devices have, those that share most first."""
    often = Counter(word for some in words.values() for word in some)
    telling = {word for word in wanted if len(word) > 2 or not word.isdigit()}
    shared = {key: sum(1 / max(_FEW, often[word]) for word in telling & some) for key, some in words.items()}
    least = max(1 / _FEW, max(shared.values()) / 2)
    return sorted((key for key in words if shared[key] >= least), key=lambda key: (-shared[key], len(key), key))


def select(words: Iterable[str], devices: Iterable[Device]) -> tuple[Device, ...]:
    """The devices whose id, name, vendor, kind or family has all of the words, or parts of them."""
    wanted = [word.lower() for word in words]
    return tuple(item for item in devices if all(word in _text_of(item) for word in wanted))


def _text_of(item: Device) -> str:
    return f"{item.id} {item.name} {item.vendor} {item.kind} {item.form} {FAMILIES[item.family]}".lower()


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def load(path: str | Path) -> dict[str, Device]:
    """A user's own devices. The file is a stranger's: bounded, checked key by key, wrong in one line."""
    where = clean(str(path), 200)
    found = {}
    for key, table in _tables(where, read_toml(path)).items():
        if not _OWN_ID.fullmatch(key) or key == HERE:
            raise BadInput(f"{where}: devices.{clean(key, 80)}: an id has letters, digits, _ . - and is not `auto`")
        found[key] = device(key, table, OWN, where)
    return found


def _tables(where: str, parsed: dict[str, Any]) -> dict[str, Any]:
    if wrong := sorted(set(parsed) - {"devices"}):
        raise BadInput(f"{where}: {clean(wrong[0], 80)}: unknown; devices stand under [devices.ID]")
    tables = parsed.get("devices")
    if not isinstance(tables, dict) or not tables:
        raise BadInput(f"{where}: has no [devices.ID]")
    if len(tables) > _MOST_DEVICES:
        raise LimitReached(f"{where}: {len(tables):,} devices; at most {_MOST_DEVICES:,}")
    return tables
