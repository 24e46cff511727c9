"""A driver's or kernel's name for a device to its id on the shelf. Where two would fit, neither is taken."""

import re
from collections.abc import Callable
from typing import Final

from onnx_autodoc.hardware.devices._shelf import find, titles

# Words that are in some names of a product and not in others, and tell no two of ours apart.
_NOISE: Final = frozenset(
    (
        *("nvidia", "geforce", "tesla", "gpu", "generation", "corporation", "edition", "blackwell", "graphics"),
        *("tegra", "nvgpu", "ac", "hbm2", "hbm2e", "hbm3", "hbm3e", "gddr6", "per", "with", "r", "tm"),
        *("developer", "kit", "engineering", "reference", "module", "dgx", "spark"),
    )
)
_FORMS: Final = frozenset(("pcie", "sxm", "nvl"))
# Ours under the words of the driver, where they differ.
_DRIVER_NAMES: Final = {
    "rtx_pro_6000_maxq": "RTX PRO 6000 Max-Q Workstation",
    "gh200_96gb": "GH200",
    "gh200_144gb": "GH200",
    "jetson_thor_t5000": "Jetson AGX Thor",
}
_SIZE: Final = re.compile(r"\d+gb?")


def nvidia_id(name: str, memory_bytes: int | None) -> str | None:
    """Of what NVML calls a GPU: "NVIDIA A100-SXM4-80GB", "Tesla T4", "NVIDIA GeForce RTX 4050 Laptop GPU"."""
    return _only(name, memory_bytes, lambda key: not key.startswith("jetson"), 0.88)


def jetson_id(model: str, memory_bytes: int | None) -> str | None:
    """Of a board's name in the device tree: "NVIDIA Jetson Orin Nano Developer Kit". Its system takes more memory."""
    return _only(model, memory_bytes, lambda key: key.startswith("jetson"), 0.75)


def _only(name: str, memory_bytes: int | None, fits: Callable[[str], bool], least: float) -> str | None:
    model, form, size = _parts(name)
    own = {key: _parts(_DRIVER_NAMES.get(key, title)) for key, title in titles().items() if fits(key)}
    left = [key for key, (words, _, _) in own.items() if words == model and _is_nvidia(key)]
    if form:
        left = [key for key in left if own[key][1] == form] or [key for key in left if not own[key][1]]
    gib = memory_bytes / (1 << 30) if memory_bytes else size
    if gib:
        left = [key for key in left if _near(key, gib, least)]
    return left[0] if len(left) == 1 else None


def _is_nvidia(key: str) -> bool:
    return titles()[key].startswith("NVIDIA")


def _parts(name: str) -> tuple[frozenset[str], str, float | None]:
    """The words that are the model, the form it is sold in, and the size in its name."""
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


def _near(key: str, gib: float, least: float) -> bool:
    """A driver reports a little less than is printed, never more than rounding."""
    item = find(key)
    if item.memory_reported_bytes and abs(item.memory_reported_bytes / (1 << 30) - gib) < 0.5:
        return True
    return item.memory_bytes is not None and least < gib / (item.memory_bytes / (1 << 30)) < 1.02


def apple_id(brand: str) -> str | None:
    """Of `machdep.cpu.brand_string`: "Apple M1 Pro". The sizes of its GPU are not in it."""
    hits = [key for key, title in titles().items() if title.partition(" (")[0] == brand and key.startswith("apple_m")]
    return hits[0] if len(hits) == 1 else None


def cpu_id(name: str) -> str | None:
    """Of a model name: "12th Gen Intel(R) Core(TM) i7-12700H", "AMD EPYC 9654 96-Core Processor"."""
    plain = re.sub(r"\((r|tm)\)|\bcpu\b|@.*|\d+th gen|\d+-core|processor|rev .*", " ", name.lower()[:200])
    words = set(re.findall(r"[a-z0-9]+\+?", plain))
    hits = [key for key, title in titles().items() if _name_words(title) <= words and _is_cpu(key)]
    return hits[0] if len(hits) == 1 else None


def _name_words(title: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+\+?", re.sub(r"\(.*\)", "", title.lower())))


def _is_cpu(key: str) -> bool:
    return key.startswith(("xeon", "epyc", "ryzen", "core_i", "raspberry", "graviton", "ampere")) and "npu" not in key
