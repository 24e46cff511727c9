"""Corpus graphs filled with generated weights: they run, and their bytes are deterministic."""

from pathlib import Path

import pytest

from scripts.fill_weights import fill_weights
from tests._corpus import graph, request
from tests.runtime._models import verify_shapes


@pytest.mark.parametrize("name", ["bilstm-gru-tagger", "control-flow-loop-if", "local-functions-mlp", "silero-vad"])
def test_filled_graph_agrees_with_its_card(name: str, tmp_path: Path) -> None:
    result = verify_shapes(fill_weights(graph(name), tmp_path), request=request(name))
    assert result.executed == result.agreed > 10


def test_filled_weights_are_deterministic(tmp_path: Path) -> None:
    first, second = (fill_weights(graph("bilstm-gru-tagger"), tmp_path / part) for part in "ab")
    weights = [(path.parent / "weights.bin").read_bytes() for path in (first, second)]
    assert weights[0] == weights[1] != b"\0" * len(weights[0])


def test_existing_weights_are_kept(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(b"mine")
    fill_weights(graph("bilstm-gru-tagger"), tmp_path)
    assert (tmp_path / "weights.bin").read_bytes() == b"mine"
