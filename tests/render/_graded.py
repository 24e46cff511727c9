"""Cards whose devices are known by other grades than the bound, made of a real one."""

from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from onnx_autodoc.api import hardware_options, make_card
from onnx_autodoc.api.hardware_options import HardwareOptions
from onnx_autodoc.card import Card, DeviceRow, HardwareSection
from onnx_autodoc.shapes import Request
from tests._corpus import graph

SLOWER = 3.0  # than the bound
RESTS = "23 published runs of like models"


@cache
def on(model: str, *devices: str) -> Card:
    """With bounds alone, whatever was published of these devices."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hardware_options, "estimate_typical_time", lambda *_, **__: None)
        return make_card(graph(model), Request(), options=HardwareOptions(devices=devices)).card


def hardware(card: Card) -> HardwareSection:
    assert card.hardware is not None
    return card.hardware


def graded(card: Card, *grades: str) -> Card:
    """The devices by these grades, one after the other: times three times the bound, from half to double of that."""
    result = hardware(card)
    basis = dict(zip((row.device for row in result.devices), grades, strict=True))
    made = replace(
        result,
        devices=tuple(_device(row, basis[row.device]) for row in result.devices),
        scaling=tuple(_slower(row, basis[row.device], "per_second") for row in result.scaling),
        generation=tuple(_slower(row, basis[row.device], "tokens_per_second") for row in result.generation),
    )
    return replace(card, hardware=made)


def _device(row: DeviceRow, basis: str) -> DeviceRow:
    if basis == "bound" or row.seconds.bound is None:
        return row
    assert row.per_second and row.utilisation
    took = row.seconds.bound * SLOWER
    seconds = replace(row.seconds, low=took / 2, expected=took, high=took * 2)
    speed, share = row.per_second / SLOWER, row.utilisation / SLOWER
    return replace(row, basis=basis, seconds=seconds, per_second=speed, utilisation=share, rests_on=RESTS)


def _slower(row: Any, basis: str, speed: str) -> Any:
    if basis == "bound" or row.seconds is None:
        return replace(row, basis=basis)
    took = row.seconds * SLOWER
    each = {speed: getattr(row, speed) / SLOWER}
    return replace(row, basis=basis, seconds=took, low=took / 2, high=took * 2, **each)


def crowded(card: Card, *devices: str) -> Card:
    """These devices are too small for the model at any batch."""
    result = hardware(card)
    rows = tuple(replace(row, fits=False) if row.device in devices else row for row in result.devices)
    none = {"fits": False, "seconds": None, "bottleneck": None, "low": None, "high": None}
    scaling = tuple(replace(row, per_second=None, **none) if row.device in devices else row for row in result.scaling)
    tokens = tuple(
        replace(row, tokens_per_second=None, **none) if row.device in devices else row for row in result.generation
    )
    return replace(card, hardware=replace(result, devices=rows, scaling=scaling, generation=tokens))
