"""`check()` for Python, and its parts that the command line shares."""

import os
from collections.abc import Sequence
from functools import partial
from os import PathLike
from typing import Final

from onnx_autodoc import __version__
from onnx_autodoc.api.cards import CardSource, is_json_card, load_or_make_card, source_name
from onnx_autodoc.api.hardware_options import HardwareOptions
from onnx_autodoc.api.isolation import call_isolated
from onnx_autodoc.card import Card as CardData
from onnx_autodoc.errors import BadInput
from onnx_autodoc.policy import Policy, Verdict, check_card, read_policy
from onnx_autodoc.shapes import Request

# Field of HardwareOptions -> command-line option, path of the figures that it changes.
_OPTIONS: Final = {
    "devices": ("--device", "hardware"),
    "precision": ("--precision", "hardware"),
    "devices_file": ("--devices", "hardware"),
    "target_latency": ("--target-latency", "hardware.requirements"),
    "target_throughput": ("--target-throughput", "hardware.requirements"),
    "prices": ("--prices", "hardware.prices"),
    "runtime": ("--runtime", "hardware"),
    "profile": ("--profile", "hardware"),
}


def check(
    model: CardSource,
    policy: str | PathLike[str],
    *,
    baseline: CardSource | None = None,
    weights: bool = False,
    devices: Sequence[str] = (),
    precision: str | None = None,
    devices_file: str | PathLike[str] | None = None,
    target_latency: float | None = None,
    target_throughput: float | None = None,
    prices: str | PathLike[str] | None = None,
    runtime: str | None = None,
    profile: str | PathLike[str] | None = None,
    isolated: bool = False,
) -> Verdict:
    """Check a model file, a JSON card or a card against a policy file: `check(...).passed`.

    `devices` to `profile` are those of `card`, for limits on hardware estimates; the devices of a card are fixed.
    `isolated` is that of `card`.
    """
    options = HardwareOptions(
        tuple(devices), precision, devices_file, target_latency, target_throughput, prices, runtime, profile
    )
    work = partial(_check, model, os.fspath(policy), baseline, weights, options)
    return call_isolated(Verdict, work, source_name(model)) if isolated else work()


def _check(
    model: CardSource, policy: str, baseline: CardSource | None, weights: bool, options: HardwareOptions
) -> Verdict:
    rules = read_policy(policy)
    check_options_used(rules, options)
    reference = None
    if baseline is not None:
        reference = _load_card(baseline, weights, baseline_options(baseline, options))
    if rules.needs_baseline and reference is None:
        raise BadInput(f"{policy}: [changes] and only_new require a baseline; pass a card or model as baseline")
    return check_card(_load_card(model, weights, options), rules, reference, source_name(model), __version__)


def check_options_used(policy: Policy, options: HardwareOptions, from_command_line: bool = False) -> None:
    """Refuse a hardware option that no limit of the policy depends on."""
    paths = [f"{path}." for path in (*policy.limits, *policy.changes)]
    for field, (option, figures) in _OPTIONS.items():
        is_used = any(path.startswith(f"{figures}.") or f"{figures}.".startswith(path) for path in paths)
        if getattr(options, field) != getattr(HardwareOptions(), field) and not is_used:
            name = option if from_command_line else field
            raise BadInput(f"{name}: has no effect, as the policy has no limit or change of {figures}")


def baseline_options(baseline: CardSource, options: HardwareOptions) -> HardwareOptions:
    """Return the options for a baseline: those of the model, or none for a card, whose devices are fixed."""
    return HardwareOptions() if isinstance(baseline, CardData) or is_json_card(baseline) else options


def _load_card(source: CardSource, weights: bool, options: HardwareOptions) -> CardData:
    if not isinstance(source, CardData):
        return load_or_make_card(source, Request(), weights, options)
    if options != HardwareOptions():
        raise BadInput(f"{source.model.name}: the devices of a card are fixed; hardware options require the model file")
    return source
