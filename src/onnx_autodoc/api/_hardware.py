"""What a user asks of hardware, by name: devices, a precision, targets, prices."""

import math
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from os import PathLike, fspath
from typing import Any, Final

from msgspec import Struct, structs

from onnx_autodoc.api._calibrate import HERE, Here, profile_here
from onnx_autodoc.calibrate import Profile
from onnx_autodoc.devices import Device, all_devices, find, load, this_machine
from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.facts import Facts
from onnx_autodoc.hardware import FORMATS, MEASURED, Range, Target, Wanted, measurements, typical
from onnx_autodoc.read import FileSource
from onnx_autodoc.run import Verified
from onnx_autodoc.say import clean

USUAL: Final = ("t4", "core_i7_12700h", "jetson_orin_nano_8gb")  # one of each kind, where no device is named
_LARGEST: Final = 1 << 20  # bytes of a table of prices


class Asked(Struct, frozen=True):
    """As the command line has it. `shelf` and `prices` are paths of TOML files."""

    devices: tuple[str, ...] = ()
    precision: str | None = None
    shelf: str | PathLike[str] | None = None
    latency: float | None = None
    throughput: float | None = None
    prices: str | PathLike[str] | None = None
    runtime: str | None = None
    profile: str | PathLike[str] | None = None


NOTHING_ASKED: Final = Asked()


def wanted_of(asked: Asked) -> Wanted:
    """Raises where a device, a precision or a file is not what it should be."""
    own = load(fspath(asked.shelf)) if asked.shelf is not None else {}
    devices = tuple(_device(name, own) for name in dict.fromkeys(asked.devices or USUAL))
    return Wanted(
        devices=devices,
        grade=partial(typical, runtime=_runtime(asked.runtime)),
        shelf=lambda: _everything(own),
        precision=_precision(asked.precision),
        asked=bool(asked.devices),
        target=Target(_positive(asked.latency, "latency"), _positive(asked.throughput, "throughput")),
        prices=_prices(asked.prices, own) if asked.prices is not None else {},
    )


def with_measured(wanted: Wanted, measured: Verified | None) -> Wanted:
    """With this machine among the devices, where the model was run on it and a time could be taken."""
    if measured is None or measured.timing is None:
        return wanted
    here, taken = this_machine().cpu, measured.timing
    rests_on = f"{taken.runs} runs with {measured.runtime}, {measured.provider}, on this machine"
    found = Range(taken.min_seconds, taken.median_seconds, taken.p95_seconds, MEASURED, rests_on)
    others = tuple(each for each in wanted.devices if each.id != here.id)
    return structs.replace(wanted, devices=(here, *others), measured=found)


def with_profile(wanted: Wanted, facts: Facts, asked: Asked) -> Wanted:
    """With what calibration found out about this machine, if that is asked for and known."""
    if HERE not in asked.devices:
        if asked.profile is not None:
            raise BadInput("a profile is of this machine: it needs --device auto")
        return wanted
    found = profile_here(asked.profile)
    if found is None:
        return wanted
    devices = tuple(_known(each, found) for each in wanted.devices)
    return structs.replace(wanted, devices=devices, grade=Here(facts, found, wanted.grade))


def _known(device: Device, profile: Profile) -> Device:
    """The CPU of this machine has the bandwidth that was measured."""
    here = device.id == HERE and device.kind == "cpu"
    return structs.replace(device, bandwidth=profile.bandwidth) if here else device


def _device(name: str, own: Mapping[str, Device]) -> Device:
    return this_machine().found if name == HERE else find(name, own)


def _everything(own: Mapping[str, Device]) -> Iterable[Device]:
    return [*(each for each in all_devices() if each.id not in own), *own.values()]


def _precision(name: str | None) -> str | None:
    if name is None or name in FORMATS:
        return name
    near = get_close_matches(name, FORMATS, 2)
    raise BadInput(
        f"there is no precision {name!r}; {'near it' if near else 'there are'}: {', '.join(near or FORMATS)}"
    )


def _runtime(name: str | None) -> str | None:
    known = sorted({each.runtime for each in measurements()})
    if name is None or name in known:
        return name
    raise BadInput(f"nothing is published here of a runtime {clean(name, 80)!r}; there are: {', '.join(known)}")


def _positive(number: float | None, what: str) -> float | None:
    if number is not None and not (math.isfinite(number) and number > 0):
        raise BadInput(f"a target {what} is a number above 0, not {number}")
    return number


def _prices(path: str | PathLike[str], own: Mapping[str, Device]) -> dict[str, float]:
    """`[per_hour]`, a price by device: each of them must be known."""
    name = fspath(path)
    table = _table(name).get("per_hour")
    if not isinstance(table, dict) or not table:
        raise BadInput(f"{name}: prices are a table [per_hour] with a number for each device")
    for device, price in table.items():
        find(device, own) if device != HERE else None
        if isinstance(price, bool) or not isinstance(price, int | float) or not math.isfinite(price) or price <= 0:
            raise BadInput(f"{name}: the price of {device} is no number above 0")
    return {device: float(price) for device, price in table.items()}


def _table(path: str) -> dict[str, Any]:
    with FileSource(path) as source:
        if source.size > _LARGEST:
            raise LimitReached(f"{path}: a table of prices of over {_LARGEST:,} bytes is not read")
        data = source.read(0, source.size)
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not TOML: {' '.join(str(error).split())}") from None
