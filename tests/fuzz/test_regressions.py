"""Regression tests: the smallest file for each fault that fuzzing found."""

import math
from pathlib import Path

import pytest

from fuzz.wire import attr, call, chunk, model, node, opset, tensor, value
from onnx_autodoc.api import make_card
from onnx_autodoc.card import BEYOND_64_BITS, MAX_FIGURE, Card, Uncertainty, UncertaintyKind
from onnx_autodoc.shapes import Request


def read_card(folder: Path, data: bytes) -> Card:
    path = folder / "model.onnx"
    path.write_bytes(data)
    return make_card(path, Request()).card


@pytest.mark.parametrize("dims", [[-7], [-2, -3], [-(1 << 63)]])
def test_attribute_tensor_with_negative_dims_is_not_counted(dims: list[int], tmp_path: Path) -> None:
    splits = attr("nodes_splits", tensor("", dims, 1, chunk(9, bytes(24))))
    tree_node = call("TreeEnsemble", "x", "y", "ai.onnx.ml", 1, (splits,))
    result = read_card(
        tmp_path, model(value(11, "x", (2, 3)) + tree_node + value(12, "y", (2, 3)), extra=opset(5, "ai.onnx.ml"))
    )
    assert result.parameters.total == 0
    assert "malformed-tensor" in {item.rule for item in result.findings}


@pytest.mark.parametrize("dims", [[-7, 4, 3, 3], [-4, -4, 3, 3]])
def test_weight_with_negative_dims_is_not_counted(dims: list[int], tmp_path: Path) -> None:
    weight = chunk(5, tensor("w", dims, 1, chunk(9, bytes(24))))
    graph = value(11, "x", (1, 4, 8, 8)) + weight + node("Conv", "x w", "y") + value(12, "y", ("n",))
    assert read_card(tmp_path, model(graph)).parameters.total == 0


def test_work_beyond_float_range_is_a_lower_bound(tmp_path: Path) -> None:
    graph = value(11, "x", (1 << 62,) * 20) + node("MatMul", "x x", "y") + value(12, "y", ("n",))
    result = read_card(tmp_path, model(graph))
    assert result.compute.macs == MAX_FIGURE
    assert result.uncertain["compute.macs"] == Uncertainty(UncertaintyKind.LOWER_BOUND, BEYOND_64_BITS, {})
    assert [finding.rule for finding in result.findings].count("impossible-size") == 2
    assert result.hardware is not None
    assert [gap for gap in result.gaps if "internal" in gap.reason] == []
    for row in result.hardware.devices:
        times = [item for item in (row.seconds.low, row.seconds.high, row.roofline) if item is not None]
        assert times
        assert all(map(math.isfinite, times))
        assert any("lower bound" in note for note in row.notes), row.notes


@pytest.mark.parametrize("heads", [0, -1, -(1 << 63)])
def test_number_of_heads_that_is_not_positive_is_unknown(heads: int, tmp_path: Path) -> None:
    values = b"".join(value(11, name, (1, 4, 8)) for name in "qkv")
    attributes = tuple(attr(name, heads) for name in ("num_heads", "kv_num_heads"))
    attention = call("GroupQueryAttention", "q k v", "y", "com.microsoft", 1, attributes)
    result = read_card(tmp_path, model(values + attention + value(12, "y", ("n",)), extra=opset(1, "com.microsoft")))
    assert (result.structure.heads, result.structure.kv_heads) == (None, None)
    assert [(kind.heads, kind.kv_heads) for kind in result.structure.attention] == [(None, None)]


def test_hidden_size_that_is_not_positive_is_unknown(tmp_path: Path) -> None:
    inputs = value(11, "x", (5, 2, 4)) + value(11, "w", (1, 3, 4)) + value(11, "r", (1, 3, 1))
    cell = call("GRU", "x w r", "y", "", 1, (attr("hidden_size", -1),))
    result = read_card(tmp_path, model(inputs + cell + value(12, "y", ("n",))))
    assert (result.structure.family, result.structure.hidden) == ("rnn", None)
