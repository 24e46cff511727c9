"""The published devices, one TOML file for each family, those of a user's file, and ids for names of drivers.

Published devices are read from `data/devices.json`, which `make docs` generates: TOML takes a hundred times as long.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from onnx_autodoc.decoding import decode_json
from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.hardware.devices.device import THIS_MACHINE, USER_FAMILY, Device, parse_device
from onnx_autodoc.storage import parse_toml, read_config_text
from onnx_autodoc.text import sanitize

# file -> title, in the order of lists
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
    USER_FAMILY: "Your own",
}

_USER_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_MAX_USER_DEVICES: Final = 1000
_MAX_SUGGESTIONS: Final = 6
_MAX_SPELLING_SUGGESTIONS: Final = 3
_RARE_WORD_DEVICES: Final = 3  # a word of at most so many devices identifies them
_MAX_TOML_BYTES: Final = 1 << 20
# Words that do not distinguish published devices.
_NOISE: Final = frozenset(
    (
        *("nvidia", "geforce", "tesla", "gpu", "generation", "corporation", "edition", "blackwell", "graphics"),
        *("tegra", "nvgpu", "ac", "hbm2", "hbm2e", "hbm3", "hbm3e", "gddr6", "per", "with", "r", "tm"),
        *("developer", "kit", "engineering", "reference", "module", "dgx", "spark"),
    )
)
_FORMS: Final = frozenset(("pcie", "sxm", "nvl"))
# Names that drivers report for a published device, where they differ.
_DRIVER_NAMES: Final = {
    "rtx_pro_6000_maxq": "RTX PRO 6000 Max-Q Workstation",
    "gh200_96gb": "GH200",
    "gh200_144gb": "GH200",
    "jetson_thor_t5000": "Jetson AGX Thor",
}
_SIZE: Final = re.compile(r"\d+gb?")
_CPU_WORD: Final = re.compile(r"[a-z0-9]+\+?")
_CPU_ID_PREFIXES: Final = ("xeon", "epyc", "ryzen", "core_i", "raspberry", "graviton", "ampere")


@cache
def _published() -> dict[str, Device]:
    data = (Path(__file__).parents[2] / "data" / "devices.json").read_bytes()
    return {device.id: device for device in decode_json(data, tuple[Device, ...])}


def device_ids() -> tuple[str, ...]:
    """Return the ids of all published devices, in the order of their files."""
    return tuple(_published())


def all_devices() -> tuple[Device, ...]:
    return tuple(_published().values())


def find_device(device_id: str, own: Mapping[str, Device] | None = None) -> Device:
    """Return the device with this id, of the user's file or published. Raises with suggestions if there is none."""
    device = (own or {}).get(device_id) or _published().get(device_id)
    if device is not None:
        return device
    close = suggest_devices(device_id, own)
    hint = f"similar: {', '.join(close)}" if close else "`onnx-autodoc devices` lists all devices"
    raise BadInput(f"unknown device {sanitize(device_id, 80)!r}; {hint}")


def suggest_devices(text: str, own: Mapping[str, Device] | None = None) -> tuple[str, ...]:
    """Return ids whose id or product name has all words of `text`, or its rare words, or a similar spelling."""
    from difflib import get_close_matches  # only needed for a wrong name

    known = {key: device.name for key, device in (_published() | dict(own or {})).items()}
    words = {key: set(_split_words(f"{key} {name}")) for key, name in known.items()}
    wanted = set(_split_words(text[:200]))
    matches = [key for key in sorted(known, key=lambda key: (len(key), key)) if wanted and wanted <= words[key]]
    matches = matches or _match_rare_words(wanted, words)
    spelling = "_".join(_split_words(text[:80]))
    similar = (get_close_matches(spelling, known, _MAX_SPELLING_SUGGESTIONS, cutoff) for cutoff in (0.7, 0.45))
    return tuple(matches[:_MAX_SUGGESTIONS] or next(filter(None, similar), ()))


def _match_rare_words(wanted: set[str], words: Mapping[str, set[str]]) -> list[str]:
    """Return ids that share words that few devices have, the most similar first."""
    counts = Counter(word for own in words.values() for word in own)
    distinctive = [word for word in wanted if len(word) > 2 or not word.isdigit()]
    weights = {word: 1 / max(_RARE_WORD_DEVICES, counts[word]) for word in distinctive}
    scores = {key: sum(weight for word, weight in weights.items() if word in own) for key, own in words.items()}
    min_score = max(1 / _RARE_WORD_DEVICES, max(scores.values()) / 2)
    return sorted((key for key in words if scores[key] >= min_score), key=lambda key: (-scores[key], len(key), key))


def select_devices(words: Iterable[str], devices: Iterable[Device]) -> tuple[Device, ...]:
    """Return the devices whose id, name, vendor, kind or family contains all words."""
    wanted = [word.lower() for word in words]

    def is_selected(device: Device) -> bool:
        labels = (device.id, device.name, device.vendor, device.kind, device.form, FAMILIES[device.family])
        text = " ".join(labels).lower()
        return all(word in text for word in wanted)

    return tuple(filter(is_selected, devices))


def _split_words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def load_devices(path: str | PathLike[str]) -> dict[str, Device]:
    """Read the devices of a user's file, which is untrusted: bounded, and checked key by key."""
    where = sanitize(fspath(path), 200)
    parsed = read_toml_file(path)
    if wrong := sorted(set(parsed) - {"devices"}):
        raise BadInput(f"{where}: {sanitize(wrong[0], 80)}: unknown key; define devices under [devices.ID]")
    tables = parsed.get("devices")
    if not isinstance(tables, dict) or not tables:
        raise BadInput(f"{where}: defines no device under [devices.ID]")
    if len(tables) > _MAX_USER_DEVICES:
        raise LimitReached(f"{where}: {len(tables):,} devices; at most {_MAX_USER_DEVICES:,} are allowed")
    devices = {}
    for key, table in tables.items():
        if not _USER_ID.fullmatch(key) or key == THIS_MACHINE:
            raise BadInput(
                f"{where}: devices.{sanitize(key, 80)}: invalid id; use letters, digits, _ . - and not `auto`"
            )
        devices[key] = parse_device(key, table, USER_FAMILY, where)
    return devices


def read_toml_file(path: str | PathLike[str]) -> dict[str, Any]:
    """Read an untrusted TOML file of limited size. Raises with one line if it is not TOML."""
    where = sanitize(fspath(path), 200)
    if not where:
        raise BadInput("the file name is empty")
    text = read_config_text(path, "TOML", _MAX_TOML_BYTES)
    try:
        return parse_toml(text)
    except ValueError as error:
        raise BadInput(f"{where}: not TOML: {sanitize(str(error), 200)}") from None


def match_nvidia(name: str, memory_bytes: int | None) -> str | None:
    """Match a name of NVML: "NVIDIA A100-SXM4-80GB", "Tesla T4", "NVIDIA GeForce RTX 4050 Laptop GPU"."""
    return _match_gpu(name, memory_bytes, False, 0.88)


def match_jetson(model: str, memory_bytes: int | None) -> str | None:
    """Match a board's name in the device tree: "NVIDIA Jetson Orin Nano Developer Kit"."""
    return _match_gpu(model, memory_bytes, True, 0.75)


def _match_gpu(name: str, memory_bytes: int | None, is_jetson: bool, min_memory_share: float) -> str | None:
    """Return the only device with this model and form factor whose memory is a little above the reported size."""
    model, form, size = _parse_name(name)
    published = {
        key: _parse_name(_DRIVER_NAMES.get(key, device.name))
        for key, device in _published().items()
        if key.startswith("jetson") is is_jetson and device.name.startswith("NVIDIA")
    }
    matches = [key for key, (words, _, _) in published.items() if words == model]
    if form:
        same_form = [key for key in matches if published[key][1] == form]
        matches = same_form or [key for key in matches if not published[key][1]]
    gib = memory_bytes / (1 << 30) if memory_bytes else size
    if gib:
        matches = [key for key in matches if _has_memory(_published()[key], gib, min_memory_share)]
    return _only(matches)


def _parse_name(name: str) -> tuple[frozenset[str], str, float | None]:
    """Return the words of the model, the form factor, and the memory in GiB."""
    words = _split_words(re.sub(r"\(\d+ w\)", " ", name.lower()[:200]))
    size = next((float(word.rstrip("gb")) for word in words if _SIZE.fullmatch(word) and not word.isdigit()), None)
    forms = [re.sub(r"^sxm\d$", "sxm", word) for word in words]
    form = next((word for word in forms if word in _FORMS), "")
    if not form and "h100" in words and "hbm3" in words:
        form = "sxm"  # the driver's "NVIDIA H100 80GB HBM3"
    model = frozenset(
        word for word in forms if word not in _NOISE | _FORMS and (word.isdigit() or not _SIZE.fullmatch(word))
    )
    return model, form, size


def _has_memory(device: Device, gib: float, min_share: float) -> bool:
    """Return whether a reported size fits: a little less than published, never more than rounding."""
    if device.memory_reported_bytes and abs(device.memory_reported_bytes / (1 << 30) - gib) < 0.5:
        return True
    return device.memory_bytes is not None and min_share < gib / (device.memory_bytes / (1 << 30)) < 1.02


def _only(matches: Iterable[str]) -> str | None:
    """Return the match if there is exactly one: no device is better than a wrong one."""
    ids = list(matches)
    return ids[0] if len(ids) == 1 else None


def match_apple(brand: str) -> str | None:
    """Match `machdep.cpu.brand_string`: "Apple M1 Pro". It does not contain the size of the GPU."""
    chips = (device for device in all_devices() if device.id.startswith("apple_m"))
    return _only(device.id for device in chips if device.name.partition(" (")[0] == brand)


def match_cpu(name: str) -> str | None:
    """Match a model name: "12th Gen Intel(R) Core(TM) i7-12700H", "AMD EPYC 9654 96-Core Processor"."""
    plain = re.sub(r"\((r|tm)\)|\bcpu\b|@.*|\d+th gen|\d+-core|processor|rev .*", " ", name.lower()[:200])
    words = set(_CPU_WORD.findall(plain))
    names = {
        key: set(_CPU_WORD.findall(re.sub(r"\(.*\)", "", device.name.lower())))
        for key, device in _published().items()
        if key.startswith(_CPU_ID_PREFIXES) and "npu" not in key
    }
    return _only(key for key, name_words in names.items() if name_words <= words)
