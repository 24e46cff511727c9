"""The devices that come with the tool, one file a family, and those of a user's file.

Reading all tables as TOML takes longer than most cards, so headers and names are found by regular expression, and
only the table that is asked for is parsed.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from onnx_autodoc.devices._device import Device
from onnx_autodoc.devices._table import OWN, device
from onnx_autodoc.errors import BadInput
from onnx_autodoc.say import clean

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

_TABLE: Final = re.compile(r'^\[devices\.([a-z0-9_]+)\]\nname = "([^"]*)"$', re.MULTILINE)
_OWN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_MOST_BYTES: Final = 1_000_000
_MOST_DEVICES: Final = 1000
_MOST_NEAR: Final = 6
_MOST_ALIKE: Final = 3


class _Place(NamedTuple):
    name: str
    family: str
    text: str  # of its table alone


@cache
def _places() -> dict[str, _Place]:
    found: dict[str, _Place] = {}
    for family in FAMILIES:
        if family != OWN:
            text = (Path(__file__).parent / f"{family}.toml").read_text(encoding="utf-8")
            heads = list(_TABLE.finditer(text))
            ends = [*(head.start() for head in heads[1:]), len(text)]
            found |= {
                head[1]: _Place(head[2], family, text[head.start() : end])
                for head, end in zip(heads, ends, strict=True)
            }
    return found


def names() -> tuple[str, ...]:
    """The ids of all devices that come with the tool, in the order of their files."""
    return tuple(_places())


def titles() -> dict[str, str]:
    """id -> product name, without parsing a table."""
    return {key: place.name for key, place in _places().items()}


def find(id: str, own: Mapping[str, Device] | None = None) -> Device:  # noqa: A002 (it is the device's)
    """A device by its id, the user's before ours. An unknown one is an error that lists near ones."""
    if own and id in own:
        return own[id]
    if id in _places():
        return _parsed(id)
    close = near(id, own)
    hint = f"near it: {', '.join(close)}" if close else "`onnx-autodoc devices` lists them"
    raise BadInput(f"there is no device {clean(id, 80)!r}; {hint}")


def all_devices() -> tuple[Device, ...]:
    return tuple(map(_parsed, _places()))


@cache
def _parsed(key: str) -> Device:
    place = _places()[key]
    return device(key, tomllib.loads(place.text)["devices"][key], place.family, f"{place.family}.toml")


def near(word: str, own: Mapping[str, Device] | None = None) -> tuple[str, ...]:
    """Ids that may be meant: those whose id or product name has all of the words, else those spelled alike."""
    from difflib import get_close_matches  # of use only where a name is wrong

    known = titles() | {key: item.name for key, item in (own or {}).items()}
    wanted = _words(word[:200])
    hits = [key for key, name in known.items() if wanted and wanted <= _words(f"{key} {name}")]
    hits.sort(key=lambda key: (len(key), key))
    spelled = "_".join(re.findall(r"[a-z0-9]+", word[:80].lower()))
    alike = (get_close_matches(spelled, known, _MOST_ALIKE, least) for least in (0.7, 0.45))
    return tuple(hits[:_MOST_NEAR] or next(filter(None, alike), ()))


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
    tables = _tables(where, _read(Path(path), where))
    found = {}
    for key, table in tables.items():
        if not _OWN_ID.fullmatch(key) or key == "auto":
            raise BadInput(f"{where}: devices.{clean(key, 80)}: an id has letters, digits, _ . - and is not `auto`")
        found[key] = device(key, table, OWN, where)
    return found


def _read(path: Path, where: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise BadInput(f"{where}: {getattr(error, 'strerror', None) or 'not a path'}") from None
    if len(data) > _MOST_BYTES:
        raise BadInput(f"{where}: larger than 1 MB, which no list of devices is")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadInput(f"{where}: not UTF-8 text") from None


def _tables(where: str, text: str) -> dict[str, Any]:
    try:
        parsed = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise BadInput(f"{where}: not TOML: {clean(str(error), 200)}") from None
    if wrong := sorted(set(parsed) - {"devices"}):
        raise BadInput(f"{where}: {clean(wrong[0], 80)}: unknown; devices stand under [devices.ID]")
    tables = parsed.get("devices")
    if not isinstance(tables, dict) or not tables:
        raise BadInput(f"{where}: has no [devices.ID]")
    if len(tables) > _MOST_DEVICES:
        raise BadInput(f"{where}: {len(tables):,} devices; at most {_MOST_DEVICES:,}")
    return tables
