"""The gate from Python, and what of it the command line shares."""

import os
from collections.abc import Sequence
from os import PathLike
from typing import Final

from onnx_autodoc import __version__
from onnx_autodoc.api import Source, called, is_card, opened
from onnx_autodoc.api._hardware import NOTHING_ASKED, Asked
from onnx_autodoc.card import Card as Document
from onnx_autodoc.errors import BadInput
from onnx_autodoc.policy import Policy, Verdict, gate, read_policy
from onnx_autodoc.shapes import Request

# What may be asked of hardware -> its name here, the option, and the figures that it changes.
_ASKED: Final = {
    "devices": ("devices", "--device", "hardware"),
    "precision": ("precision", "--precision", "hardware"),
    "shelf": ("shelf", "--devices", "hardware"),
    "latency": ("target_latency", "--target-latency", "hardware.requirements"),
    "throughput": ("target_throughput", "--target-throughput", "hardware.requirements"),
    "prices": ("prices", "--prices", "hardware.prices"),
    "runtime": ("runtime", "--runtime", "hardware"),
    "profile": ("profile", "--profile", "hardware"),
}


def check(
    model: Source,
    policy: str | PathLike[str],
    *,
    baseline: Source | None = None,
    weights: bool = False,
    devices: Sequence[str] = (),
    precision: str | None = None,
    shelf: str | PathLike[str] | None = None,
    target_latency: float | None = None,
    target_throughput: float | None = None,
    prices: str | PathLike[str] | None = None,
    runtime: str | None = None,
    profile: str | PathLike[str] | None = None,
) -> Verdict:
    """Whether a model file, a JSON card or a card passes a policy file: `check(…).passed`.

    `devices` to `profile` are those of `card`, for limits on what the model takes on hardware; a card has its own.
    """
    asked = Asked(tuple(devices), precision, shelf, target_latency, target_throughput, prices, runtime, profile)
    rules = read_policy(os.fspath(policy))
    check_asked(rules, asked)
    was = _carded(baseline, weights, asked_of_baseline(baseline, asked)) if baseline is not None else None
    if rules.needs_baseline and was is None:
        raise BadInput(f"{policy}: its [changes] are measured against a card; give one as baseline")
    return gate(_carded(model, weights, asked), rules, was, called(model), __version__)


def check_asked(policy: Policy, asked: Asked, option: bool = False) -> None:
    """What no limit looks at is refused; with `option`, under its name on the command line."""
    paths = [f"{path}." for path in (*policy.limits, *policy.changes)]
    for field, (name, word, figures) in _ASKED.items():
        looked_at = any(path.startswith(f"{figures}.") or f"{figures}.".startswith(path) for path in paths)
        if getattr(asked, field) != getattr(NOTHING_ASKED, field) and not looked_at:
            raise BadInput(f"{word if option else name}: the policy asks for nothing of {figures}, so nothing uses it")


def asked_of_baseline(baseline: Source, asked: Asked) -> Asked:
    """A model is asked the same; a card has its devices, and what it does not have fails a limit on it."""
    return NOTHING_ASKED if isinstance(baseline, Document) or is_card(baseline) else asked


def _carded(model: Source, weights: bool, asked: Asked) -> Document:
    if not isinstance(model, Document):
        return opened(model, Request(), weights, asked)
    if asked != NOTHING_ASKED:
        raise BadInput(f"{model.model.name}: a card's devices are those it was made for; others need the model itself")
    return model
