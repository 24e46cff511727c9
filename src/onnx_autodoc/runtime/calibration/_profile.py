"""What calibration found out about a machine, kept in a file of the user's."""

import os
import tempfile
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.readers._config_files import side_file
from onnx_autodoc.runtime.calibration._fit import USUAL, Times

VERSION: Final = 2  # of the file, and of the paces that it has times for
_MOST_BYTES: Final = 1 << 20
_MOST_PACES: Final = 200
_WIDEST: Final = 1000.0  # a range, as a factor
_SLOWEST: Final = 10.0  # seconds for one of anything


class Pace(Struct, frozen=True, forbid_unknown_fields=True):
    """How long one of each thing takes at one pace, in seconds, and on what that rests."""

    times: dict[str, float]
    runs: int  # graphs that have it
    error: float  # median of |predicted / measured - 1| over these


class Spread(Struct, frozen=True, forbid_unknown_fields=True):
    """Measured over predicted, of graphs that were left out of the fit: where eight of ten lie."""

    low: float
    high: float
    median_error: float
    graphs: int


class Profile(Struct, frozen=True, forbid_unknown_fields=True):
    machine: str
    date: str
    runtime: str  # its name and version
    threads: int
    cache: float  # bytes that stay near the cores
    bandwidth: float  # bytes a second, read and written, from memory
    paces: dict[str, Pace]
    spread: Spread
    version: int = VERSION

    def times(self) -> Times:
        return {(pace, name): time for pace, each in self.paces.items() for name, time in each.times.items()}


def place(given: str | None = None) -> Path:
    """Where the profile is: as given, or in the user's folder for data."""
    if given:
        return Path(given)
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else _home() / ".local" / "share") / "onnx-autodoc" / "cpu.json"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # no HOME, and the system does not know this user
        raise BadInput("your folder for data is not known: set HOME, or name a file with --profile") from None


def check_place(path: Path) -> None:
    """That a profile can be stored there, asked before minutes of work; what is no profile is not written over."""
    if is_there(path) and not _looks_like_one(path):
        raise BadInput(f"{path}: is there and is not a profile of a machine; name another file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror or error}") from None


def is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise BadInput(f"{path}: cannot be looked at: {error.strerror}") from None


def _looks_like_one(path: Path) -> bool:
    """Also one of another version."""
    try:
        found = msgspec.json.decode(_content(path))
    except (BadInput, LimitReached, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(found, dict) and found.keys() >= {"machine", "paces", "spread"}


def encoded(profile: Profile) -> bytes:
    return msgspec.json.format(msgspec.json.encode(profile, order="sorted"), indent=1) + b"\n"


def load(path: Path) -> Profile:
    """A profile that was stored, checked: it may come from anywhere."""
    try:
        found = msgspec.json.decode(_content(path), type=Profile)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path}: not a profile of a machine: {str(error)[:200]}") from None
    trouble = _trouble(found)
    if trouble:
        raise BadInput(f"{path}: not a profile of a machine: {trouble}")
    return found


def _content(path: Path) -> bytes:
    return side_file(path, "a profile", _MOST_BYTES)


def _trouble(found: Profile) -> str:
    if found.version != VERSION:
        return f"it is of version {found.version}, this tool reads {VERSION}; calibrate anew"
    if len(found.paces) > _MOST_PACES:
        return f"it has {len(found.paces)} paces"
    for (pace, name), time in found.times().items():
        if name not in USUAL or not 0 <= time <= _SLOWEST:
            return f"{pace[:40]!r} has no such time: {name[:40]!r}"
    spread = found.spread
    if not 1 / _WIDEST <= spread.low <= spread.high <= _WIDEST or spread.median_error < 0 or spread.graphs < 1:
        return "its range is none"
    if found.cache < 1 or found.bandwidth < 1 or found.threads < 1:
        return "no machine has such a cache, bandwidth or number of threads"
    return ""
