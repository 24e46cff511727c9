import numpy as np
import pytest

from onnx_autodoc.ops.recurrent import OPERATORS
from onnx_autodoc.ops.values import Contradiction, Unknown
from tests.ops._one_node import assert_as_it_runs, infer, shape_of, zeros

LAYERS = [("LSTM", 4, 2), ("GRU", 3, 1), ("RNN", 1, 1)]  # operator, gates, states


@pytest.mark.parametrize("opset", [7, 14])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(("op", "gates", "states"), LAYERS)
def test_recurrent_layer_shapes_equal_those_of_a_run(
    op: str, gates: int, states: int, direction: str, opset: int
) -> None:
    directions = 2 if direction == "bidirectional" else 1
    weights = [zeros(directions, gates * 5, 4), zeros(directions, gates * 5, 5)]
    lengths = [None, np.array([1, 3], np.int32)]
    for inputs in ([zeros(3, 2, 4), *weights], [zeros(3, 2, 4), *weights, *lengths]):
        assert_as_it_runs(OPERATORS, op, inputs, opset, outputs=1 + states, hidden_size=5, direction=direction)


@pytest.mark.parametrize(("op", "gates", "states"), LAYERS)
def test_layout_1_has_the_batch_first(op: str, gates: int, states: int) -> None:
    # onnxruntime does not run this layout; the dims are those of the specification.
    inputs = [zeros(2, 3, 4), zeros(2, gates * 5, 4), zeros(2, gates * 5, 5)]
    out = infer(OPERATORS, op, inputs, 14, 1 + states, layout=1, hidden_size=5, direction="bidirectional")
    assert [known.shape for known in out] == [(2, 3, 2, 5)] + [(2, 2, 5)] * states


def test_hidden_size_comes_from_the_weight() -> None:
    assert shape_of(OPERATORS, "GRU", (3, 2, 4), (1, 15, 4), (1, 15, 5)) == (3, 1, 2, 5)


def test_unknown_batch_stays_unknown() -> None:
    free = Unknown("the batch is free")
    assert shape_of(OPERATORS, "LSTM", (3, free, 4), (1, 20, 4), (1, 20, 5)) == (3, 1, free, 5)


@pytest.mark.parametrize("attributes", [{"hidden_size": 6}, {"direction": "bidirectional"}, {"direction": "both"}])
def test_weights_of_another_hidden_size_are_a_contradiction(attributes: dict[str, object]) -> None:
    with pytest.raises(Contradiction):
        shape_of(OPERATORS, "LSTM", (3, 2, 4), (1, 20, 4), (1, 20, 5), **attributes)
