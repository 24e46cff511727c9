"""What a user asks of hardware, by name: devices, a precision, targets, prices."""

import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from onnx_autodoc.analysis import Facts
from onnx_autodoc.errors import BadInput
from onnx_autodoc.hardware import FORMATS, MEASURED, Range, Target, Wanted, measurements, platform_of, typical
from onnx_autodoc.hardware.devices import HERE, Device, all_devices, find, load, read_toml, this_machine
from onnx_autodoc.runtime import Verified
from onnx_autodoc.text import clean

if TYPE_CHECKING:
    from onnx_autodoc.runtime.calibration import Profile

USUAL: Final = ("t4", "core_i7_12700h", "jetson_orin_nano_8gb")  # one of each kind, where no device is named
_PRICES: Final = (1e-9, 1e12)  # per hour, in any currency


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
    devices = _devices(asked.devices or USUAL, own)
    target = Target(_positive(asked.latency, "latency"), _positive(asked.throughput, "throughput"))
    return Wanted(
        devices=devices,
        grade=partial(typical, runtime=_runtime(asked.runtime, devices, target)),
        shelf=lambda: _everything(own),
        precision=_precision(asked.precision),
        asked=bool(asked.devices),
        target=target,
        prices=_prices(asked.prices, own, devices) if asked.prices is not None else {},
    )


def with_measured(wanted: Wanted, measured: Verified | None) -> Wanted:
    """With this machine among the devices, where the model was run on it and a time could be taken."""
    if measured is None or measured.timing is None:
        return wanted
    here, taken = next(filter(_is_here, wanted.devices), None) or this_machine().cpu, measured.timing
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
    if not any(map(_is_here, wanted.devices)):
        if asked.profile is not None:
            found = clean(this_machine().found.name)
            raise BadInput(f"a profile is of this machine's processor, and auto is {found}: leave out --profile")
        return wanted
    from onnx_autodoc.api._calibrate import Here, profile_here  # no other card needs what calibrates

    profile = profile_here(asked.profile)
    if profile is None:
        return wanted
    devices = tuple(_known(each, profile) for each in wanted.devices)
    return structs.replace(wanted, devices=devices, grade=Here(facts, profile, wanted.grade))


def _is_here(device: Device) -> bool:
    """Whether it is the processor of this machine: a GPU of it has an id of its own."""
    return device.id == HERE


def _known(device: Device, profile: "Profile") -> Device:
    """The CPU of this machine has the bandwidth that was measured."""
    return structs.replace(device, bandwidth=profile.bandwidth) if _is_here(device) else device


def _devices(names: Iterable[str], own: Mapping[str, Device]) -> tuple[Device, ...]:
    """Each once. What this machine turns out to be may be named as well: then with this machine's own memory."""
    found: dict[str, Device] = {}
    for name in names:
        device = _device(name, own)
        if device.id not in found or name == HERE:
            found[device.id] = device
    return tuple(found.values())


def _device(name: str, own: Mapping[str, Device]) -> Device:
    if name != HERE and name.strip().lower() == HERE:
        raise BadInput(f"there is no device {clean(name, 80)!r}; near it: {HERE}")
    return this_machine().found if name == HERE else find(name, own)


def _everything(own: Mapping[str, Device]) -> Iterable[Device]:
    return [*(each for each in all_devices() if each.id not in own), *own.values()]


def _precision(name: str | None) -> str | None:
    if name is None or name in FORMATS:
        return name
    raise BadInput(f"there is no precision {clean(name, 80)!r}; {_near(name, FORMATS)}")


def _near(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name[:80].lower(), known, 2)
    return f"{'near it' if near else 'there are'}: {', '.join(near or known)}"


def _runtime(name: str | None, devices: Iterable[Device], target: Target) -> str | None:
    """Typical times are of it: those of the devices, and of others where requirements ask how fast they are."""
    if name is None:
        return None
    known = sorted({each.runtime for each in measurements()})
    if name not in known:
        raise BadInput(f"nothing is published here of a runtime {clean(name, 80)!r}; {_near(name, known)}")
    places = {each.platform for each in measurements() if each.runtime == name}
    if target == Target() and not any(platform_of(each) in places for each in devices if not each.is_ceiling):
        some = sorted({each.device for each in measurements() if each.runtime == name})[:3]
        ids = " or ".join(each.id for each in devices)
        raise BadInput(f"--runtime {name}: nothing is published of it on a device like {ids}, but on {', '.join(some)}")
    return name


def _positive(number: float | None, what: str) -> float | None:
    if number is not None and not (math.isfinite(number) and number > 0):
        raise BadInput(f"a target {what} is a number above 0, not {number}")
    return number


def _prices(path: str | PathLike[str], own: Mapping[str, Device], devices: Iterable[Device]) -> dict[str, float]:
    """`[per_hour]`, a price by device: each of them must be known, and one at least be on the card."""
    name, parsed = clean(fspath(path)), read_toml(path)
    if wrong := sorted(set(parsed) - {"per_hour"}):
        raise BadInput(f"{name}: {clean(wrong[0], 80)}: unknown; prices stand under [per_hour]")
    table = parsed.get("per_hour")
    if not isinstance(table, dict) or not table:
        raise BadInput(f"{name}: prices are a table [per_hour] with a number for each device")
    found: dict[str, float] = {}
    for device, price in table.items():
        key = _priced(name, device, own)
        if key in found:
            raise BadInput(f"{name}: {key} is priced twice: it is what auto is here")
        found[key] = _price(name, device, price)
    if not any(each.id in found for each in devices):
        ids = " or ".join(each.id for each in devices)
        raise BadInput(f"{name}: has no price of {ids}; name a device that has one with --device")
    return found


def _priced(where: str, device: str, own: Mapping[str, Device]) -> str:
    try:
        return _device(device, own).id
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


def _price(where: str, device: str, price: object) -> float:
    least, most = _PRICES
    if isinstance(price, bool) or not isinstance(price, int | float) or not least <= price <= most:
        raise BadInput(f"{where}: the price of {device} is no number above 0, or one that nothing costs")
    return float(price)
