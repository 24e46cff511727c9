"""Graphs without weights, filled: they run, and the same bytes come out every time."""

from pathlib import Path

import pytest

from scripts.filled import filled
from tests._corpus import graph, request
from tests.runtime._models import agreed


@pytest.mark.parametrize("name", ["bilstm-gru-tagger", "control-flow-loop-if", "local-functions-mlp", "silero-vad"])
def test_a_filled_graph_runs_as_its_card_says(name: str, tmp_path: Path) -> None:
    asked = request(name)
    found = agreed(filled(graph(name), tmp_path), *asked.dims, values=asked.values)
    assert found.executed == found.agreed > 10


def test_the_same_graph_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (filled(graph("bilstm-gru-tagger"), tmp_path / part) for part in "ab")
    weights = [(path.parent / "weights.bin").read_bytes() for path in (first, second)]
    assert weights[0] == weights[1] != b"\0" * len(weights[0])


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(b"mine")
    filled(graph("bilstm-gru-tagger"), tmp_path)
    assert (tmp_path / "weights.bin").read_bytes() == b"mine"
