"""What fuzzing found, each as the smallest file that shows it."""

import math
from pathlib import Path

import pytest

from fuzz.wire import attr, call, chunk, model, node, opset, tensor, value
from onnx_autodoc.api import make_card
from onnx_autodoc.card import Card
from onnx_autodoc.shapes import Request


def card(folder: Path, data: bytes) -> Card:
    path = folder / "model.onnx"
    path.write_bytes(data)
    return make_card(path, Request()).card


@pytest.mark.parametrize("dims", [[-7], [-2, -3], [-(1 << 63)]])
def test_numbers_in_an_attribute_of_negative_dims_are_not_counted(dims: list[int], tmp_path: Path) -> None:
    splits = attr("nodes_splits", tensor("", dims, 1, chunk(9, bytes(24))))
    made = call("TreeEnsemble", "x", "y", "ai.onnx.ml", 1, (splits,))
    found = card(tmp_path, model(value(11, "x", (2, 3)) + made + value(12, "y", (2, 3)), extra=opset(5, "ai.onnx.ml")))
    assert found.parameters.total == 0
    assert "malformed-tensor" in {each.rule for each in found.findings}


@pytest.mark.parametrize("dims", [[-7, 4, 3, 3], [-4, -4, 3, 3]])
def test_a_weight_of_negative_dims_is_not_counted(dims: list[int], tmp_path: Path) -> None:
    weight = chunk(5, tensor("w", dims, 1, chunk(9, bytes(24))))
    graph = value(11, "x", (1, 4, 8, 8)) + weight + node("Conv", "x w", "y") + value(12, "y", ("n",))
    assert card(tmp_path, model(graph)).parameters.total == 0


def test_more_work_than_a_float_can_hold_is_at_least_what_is_shown(tmp_path: Path) -> None:
    graph = value(11, "x", (1 << 62,) * 20) + node("MatMul", "x x", "y") + value(12, "y", ("n",))
    found = card(tmp_path, model(graph))
    assert found.compute.macs is not None
    assert found.compute.macs > 10**308
    assert found.hardware is not None
    assert [gap for gap in found.gaps if "internal" in gap.reason] == []
    for row in found.hardware.devices:
        times = [each for each in (row.seconds.low, row.seconds.high, row.roofline) if each is not None]
        assert times
        assert all(map(math.isfinite, times))
        assert any("at least" in note for note in row.notes), row.notes
