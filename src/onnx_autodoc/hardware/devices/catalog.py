"""The published devices, one TOML file for each family, those of a user's file, and ids for names of drivers.

Published devices are read from `data/devices.json`, which `make docs` generates: TOML takes a hundred times as long.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

import msgspec

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


@cache
def _published() -> dict[str, Device]:
    data = (Path(__file__).parents[2] / "data" / "devices.json").read_bytes()
    return {each.id: each for each in msgspec.json.decode(data, type=tuple[Device, ...])}


def device_ids() -> tuple[str, ...]:
    """Return the ids of all published devices, in the order of their files."""
    return tuple(_published())


def product_names() -> dict[str, str]:
    """Return product names by id."""
    return {key: each.name for key, each in _published().items()}


def find_device(device_id: str, own: Mapping[str, Device] | None = None) -> Device:
    """Return the device with this id, of the user's file or published. Raises with suggestions if there is none."""
    if own and device_id in own:
        return own[device_id]
    if device_id in _published():
        return _published()[device_id]
    close = suggest_devices(device_id, own)
    hint = f"near it: {', '.join(close)}" if close else "`onnx-autodoc devices` lists them"
    raise BadInput(f"there is no device {sanitize(device_id, 80)!r}; {hint}")


def all_devices() -> tuple[Device, ...]:
    return tuple(_published().values())


def suggest_devices(text: str, own: Mapping[str, Device] | None = None) -> tuple[str, ...]:
    """Return ids whose id or product name has all words of `text`, or its rare words, or a similar spelling."""
    from difflib import get_close_matches  # only needed for a wrong name

    known = product_names() | {key: item.name for key, item in (own or {}).items()}
    words = {key: _words(f"{key} {name}") for key, name in known.items()}
    wanted = _words(text[:200])
    hits = [key for key in sorted(known, key=lambda key: (len(key), key)) if wanted and wanted <= words[key]]
    hits = hits or _match_rare_words(wanted, words)
    spelled = "_".join(re.findall(r"[a-z0-9]+", text[:80].lower()))
    alike = (get_close_matches(spelled, known, _MAX_SPELLING_SUGGESTIONS, least) for least in (0.7, 0.45))
    return tuple(hits[:_MAX_SUGGESTIONS] or next(filter(None, alike), ()))


def _match_rare_words(wanted: set[str], words: Mapping[str, set[str]]) -> list[str]:
    """Return ids that share words that few devices have, the most similar first."""
    counts = Counter(word for own in words.values() for word in own)
    distinctive = {word for word in wanted if len(word) > 2 or not word.isdigit()}
    shared = {
        key: sum(1 / max(_RARE_WORD_DEVICES, counts[word]) for word in distinctive & own) for key, own in words.items()
    }
    least = max(1 / _RARE_WORD_DEVICES, max(shared.values()) / 2)
    return sorted((key for key in words if shared[key] >= least), key=lambda key: (-shared[key], len(key), key))


def select_devices(words: Iterable[str], devices: Iterable[Device]) -> tuple[Device, ...]:
    """Return the devices whose id, name, vendor, kind or family contains all words."""
    wanted = [word.lower() for word in words]
    selected = []
    for item in devices:
        text = f"{item.id} {item.name} {item.vendor} {item.kind} {item.form} {FAMILIES[item.family]}".lower()
        if all(word in text for word in wanted):
            selected.append(item)
    return tuple(selected)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def load_devices(path: str | PathLike[str]) -> dict[str, Device]:
    """Read the devices of a user's file, which is untrusted: bounded, and checked key by key."""
    where = sanitize(fspath(path), 200)
    parsed = read_toml_file(path)
    if wrong := sorted(set(parsed) - {"devices"}):
        raise BadInput(f"{where}: {sanitize(wrong[0], 80)}: unknown; devices stand under [devices.ID]")
    tables = parsed.get("devices")
    if not isinstance(tables, dict) or not tables:
        raise BadInput(f"{where}: has no [devices.ID]")
    if len(tables) > _MAX_USER_DEVICES:
        raise LimitReached(f"{where}: {len(tables):,} devices; at most {_MAX_USER_DEVICES:,}")
    devices = {}
    for key, table in tables.items():
        if not _USER_ID.fullmatch(key) or key == THIS_MACHINE:
            raise BadInput(f"{where}: devices.{sanitize(key, 80)}: an id has letters, digits, _ . - and is not `auto`")
        devices[key] = parse_device(key, table, USER_FAMILY, where)
    return devices


def read_toml_file(path: str | PathLike[str]) -> dict[str, Any]:
    """Read an untrusted TOML file of limited size. Raises with one line if it is not TOML."""
    where = sanitize(fspath(path), 200)
    if not where:
        raise BadInput("the name of a file is empty")
    text = read_config_text(path, "TOML", _MAX_TOML_BYTES)
    try:
        return parse_toml(text)
    except ValueError as error:
        raise BadInput(f"{where}: not TOML: {sanitize(str(error), 200)}") from None


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


def match_nvidia(name: str, memory_bytes: int | None) -> str | None:
    """Match a name of NVML: "NVIDIA A100-SXM4-80GB", "Tesla T4", "NVIDIA GeForce RTX 4050 Laptop GPU"."""
    return _match_unique(name, memory_bytes, lambda key: not key.startswith("jetson"), 0.88)


def match_jetson(model: str, memory_bytes: int | None) -> str | None:
    """Match a board's name in the device tree: "NVIDIA Jetson Orin Nano Developer Kit"."""
    return _match_unique(model, memory_bytes, lambda key: key.startswith("jetson"), 0.75)


def _match_unique(
    name: str, memory_bytes: int | None, is_candidate: Callable[[str], bool], min_memory_share: float
) -> str | None:
    model, form, size = _parse_name(name)
    published = {
        key: _parse_name(_DRIVER_NAMES.get(key, title))
        for key, title in product_names().items()
        if is_candidate(key) and title.startswith("NVIDIA")
    }
    matches = [key for key, (words, _, _) in published.items() if words == model]
    if form:
        same_form = [key for key in matches if published[key][1] == form]
        matches = same_form or [key for key in matches if not published[key][1]]
    gib = memory_bytes / (1 << 30) if memory_bytes else size
    if gib:
        matches = [key for key in matches if _has_memory(key, gib, min_memory_share)]
    return matches[0] if len(matches) == 1 else None


def _parse_name(name: str) -> tuple[frozenset[str], str, float | None]:
    """Return the words of the model, the form factor, and the memory in GiB."""
    lower = re.sub(r"\(\d+ w\)", " ", name.lower()[:200])
    words = re.findall(r"[a-z0-9]+", lower)
    size = next((float(word.rstrip("gb")) for word in words if _SIZE.fullmatch(word) and not word.isdigit()), None)
    forms = [re.sub(r"^sxm\d$", "sxm", word) for word in words]
    form = next((word for word in forms if word in _FORMS), "")
    if not form and "h100" in words and "hbm3" in words:
        form = "sxm"  # the driver's "NVIDIA H100 80GB HBM3"
    model = frozenset(
        word for word in forms if word not in _NOISE | _FORMS and (word.isdigit() or not _SIZE.fullmatch(word))
    )
    return model, form, size


def _has_memory(key: str, gib: float, min_share: float) -> bool:
    """Return whether a reported size fits: a little less than published, never more than rounding."""
    item = find_device(key)
    if item.memory_reported_bytes and abs(item.memory_reported_bytes / (1 << 30) - gib) < 0.5:
        return True
    return item.memory_bytes is not None and min_share < gib / (item.memory_bytes / (1 << 30)) < 1.02


def match_apple(brand: str) -> str | None:
    """Match `machdep.cpu.brand_string`: "Apple M1 Pro". It does not tell the size of the GPU."""
    matches = [
        key for key, title in product_names().items() if title.partition(" (")[0] == brand and key.startswith("apple_m")
    ]
    return matches[0] if len(matches) == 1 else None


def match_cpu(name: str) -> str | None:
    """Match a model name: "12th Gen Intel(R) Core(TM) i7-12700H", "AMD EPYC 9654 96-Core Processor"."""
    plain = re.sub(r"\((r|tm)\)|\bcpu\b|@.*|\d+th gen|\d+-core|processor|rev .*", " ", name.lower()[:200])
    words = set(re.findall(r"[a-z0-9]+\+?", plain))
    matches = [key for key, title in product_names().items() if _name_words(title) <= words and _is_cpu(key)]
    return matches[0] if len(matches) == 1 else None


def _name_words(title: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+\+?", re.sub(r"\(.*\)", "", title.lower())))


def _is_cpu(key: str) -> bool:
    return key.startswith(("xeon", "epyc", "ryzen", "core_i", "raspberry", "graviton", "ampere")) and "npu" not in key
