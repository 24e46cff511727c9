"""The user's hardware options and their resolution to a request for estimates."""

import math
from collections.abc import Iterable, Mapping
from functools import partial
from os import PathLike, fspath
from typing import Final

from msgspec import Struct, structs

from onnx_autodoc.analysis import Facts
from onnx_autodoc.card import MEASURED, Verified
from onnx_autodoc.errors import BadInput
from onnx_autodoc.hardware import (
    NUMBER_FORMATS,
    HardwareRequest,
    Target,
    TimeRange,
    estimate_typical_time,
    find_platform,
    published_measurements,
)
from onnx_autodoc.hardware.devices import (
    THIS_MACHINE,
    Device,
    all_devices,
    detect_machine,
    find_device,
    load_devices,
    read_toml_file,
)
from onnx_autodoc.text import sanitize

DEFAULT_DEVICES: Final = ("t4", "core_i7_12700h", "jetson_orin_nano_8gb")  # a GPU, a CPU and an edge device
_MIN_PRICE, _MAX_PRICE = 1e-9, 1e12  # per hour, in any currency
_MAX_NAME_CHARS: Final = 80  # in messages


class HardwareOptions(Struct, frozen=True):
    """The hardware options of the command line. `devices_file`, `prices` and `profile` are paths."""

    devices: tuple[str, ...] = ()
    precision: str | None = None
    devices_file: str | PathLike[str] | None = None
    target_latency: float | None = None  # seconds
    target_throughput: float | None = None  # samples per second
    prices: str | PathLike[str] | None = None
    runtime: str | None = None
    profile: str | PathLike[str] | None = None


def resolve_options(options: HardwareOptions) -> HardwareRequest:
    """Look up every name and file; raises `BadInput` if one is wrong."""
    own = load_devices(fspath(options.devices_file)) if options.devices_file is not None else {}
    devices = _find_devices(options.devices or DEFAULT_DEVICES, own)
    target = Target(
        _check_positive(options.target_latency, "latency"), _check_positive(options.target_throughput, "throughput")
    )
    return HardwareRequest(
        devices=devices,
        estimate_time=partial(estimate_typical_time, runtime=_check_runtime(options.runtime, devices, target)),
        candidates=lambda: [*(device for device in all_devices() if device.id not in own), *own.values()],
        precision=_check_precision(options.precision),
        has_named_devices=bool(options.devices),
        target=target,
        prices=_read_prices(options.prices, own, devices) if options.prices is not None else {},
    )


def add_measurement(request: HardwareRequest, measured: Verified | None) -> HardwareRequest:
    """Add this machine to the devices if the model was run and timed on it."""
    if measured is None or measured.timing is None:
        return request
    own_cpu = next(filter(_is_own_cpu, request.devices), None) or detect_machine().cpu
    timing = measured.timing
    basis = f"{timing.runs} runs with {measured.runtime}, {measured.provider}, on this machine"
    times = TimeRange(timing.min_seconds, timing.median_seconds, timing.p95_seconds, MEASURED, basis)
    rest = tuple(device for device in request.devices if device.id != own_cpu.id)
    return structs.replace(request, devices=(own_cpu, *rest), measured=times)


def add_profile(request: HardwareRequest, facts: Facts, options: HardwareOptions) -> HardwareRequest:
    """Estimate for this machine by its calibration profile, if `auto` is requested and there is a profile."""
    if THIS_MACHINE not in options.devices:
        if options.profile is not None:
            raise BadInput("--profile requires --device auto, as a profile is for this machine")
        return request
    if not any(map(_is_own_cpu, request.devices)):
        if options.profile is not None:
            name = sanitize(detect_machine().device.name)
            raise BadInput(f"--profile is for this machine's CPU, but auto is {name}; remove --profile")
        return request
    from onnx_autodoc.api.calibration import CalibratedTimes, find_profile  # no other card needs these

    profile = find_profile(options.profile)
    if profile is None:
        return request
    devices = tuple(
        structs.replace(device, bandwidth=profile.bandwidth) if _is_own_cpu(device) else device
        for device in request.devices
    )
    return structs.replace(
        request, devices=devices, estimate_time=CalibratedTimes(facts, profile, request.estimate_time)
    )


def _is_own_cpu(device: Device) -> bool:
    """Return whether a device is this machine's CPU; its GPUs have other ids."""
    return device.id == THIS_MACHINE


def _find_devices(names: Iterable[str], own: Mapping[str, Device]) -> tuple[Device, ...]:
    """Return each device once. If `auto` is a device that is also requested by id, the detected memory is used."""
    devices: dict[str, Device] = {}
    for name in names:
        device = _find_device(name, own)
        if device.id not in devices or name == THIS_MACHINE:
            devices[device.id] = device
    return tuple(devices.values())


def _find_device(name: str, own: Mapping[str, Device]) -> Device:
    if name != THIS_MACHINE and name.strip().lower() == THIS_MACHINE:
        raise BadInput(f"unknown device {sanitize(name, _MAX_NAME_CHARS)!r}; similar: {THIS_MACHINE}")
    return detect_machine().device if name == THIS_MACHINE else find_device(name, own)


def _check_precision(name: str | None) -> str | None:
    if name is None or name in NUMBER_FORMATS:
        return name
    raise BadInput(f"unknown precision {sanitize(name, _MAX_NAME_CHARS)!r}; {_suggest(name, NUMBER_FORMATS)}")


def _suggest(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    similar = get_close_matches(name[:_MAX_NAME_CHARS].lower(), known, 2)
    return f"{'similar' if similar else 'use one of'}: {', '.join(similar or known)}"


def _check_runtime(name: str | None, devices: Iterable[Device], target: Target) -> str | None:
    """Check that typical times of a runtime are published for one of the devices; a target considers all devices."""
    if name is None:
        return None
    known = sorted({entry.runtime for entry in published_measurements()})
    if name not in known:
        quoted = repr(sanitize(name, _MAX_NAME_CHARS))
        raise BadInput(f"no published measurements of runtime {quoted}; {_suggest(name, known)}")
    platforms = {entry.platform for entry in published_measurements() if entry.runtime == name}
    if target == Target() and not any(
        find_platform(device) in platforms for device in devices if not device.is_ceiling
    ):
        examples = ", ".join(sorted({entry.device for entry in published_measurements() if entry.runtime == name})[:3])
        ids = " or ".join(device.id for device in devices)
        raise BadInput(
            f"--runtime {name}: no published measurements on a device like {ids}; there are some on {examples}"
        )
    return name


def _check_positive(number: float | None, kind: str) -> float | None:
    if number is not None and not (math.isfinite(number) and number > 0):
        raise BadInput(f"target {kind}: {number} is not a positive finite number")
    return number


def _read_prices(path: str | PathLike[str], own: Mapping[str, Device], devices: Iterable[Device]) -> dict[str, float]:
    """Read `[per_hour]`, a price by device. Every device must be known, and at least one be on the card."""
    name, parsed = sanitize(fspath(path)), read_toml_file(path)
    if unknown := sorted(set(parsed) - {"per_hour"}):
        raise BadInput(f"{name}: {sanitize(unknown[0], _MAX_NAME_CHARS)}: unknown; prices are under [per_hour]")
    table = parsed.get("per_hour")
    if not isinstance(table, dict) or not table:
        raise BadInput(f"{name}: expected a table [per_hour] with a price for each device")
    prices: dict[str, float] = {}
    for device, price in table.items():
        try:
            key = _find_device(device, own).id
        except BadInput as error:
            raise BadInput(f"{name}: {error}") from None
        if key in prices:
            raise BadInput(f"{name}: {key} is priced twice, as auto is the same device")
        is_number = isinstance(price, int | float) and not isinstance(price, bool)
        if not is_number or not _MIN_PRICE <= price <= _MAX_PRICE:
            raise BadInput(f"{name}: the price of {device} is not a plausible number above 0")
        prices[key] = float(price)
    if not any(device.id in prices for device in devices):
        ids = " or ".join(device.id for device in devices)
        raise BadInput(f"{name}: no price of {ids}; select a device that has one with --device")
    return prices
