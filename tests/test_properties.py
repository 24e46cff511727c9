"""Corrupted real files give a card or a one-line error, never a traceback."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onnx_autodoc.api import make_card
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.render import FORMATS
from onnx_autodoc.shapes import Request
from tests._corpus import graph

SEEDS = {
    name: graph(name).read_bytes()
    for name in (
        "control-flow-loop-if",
        "local-functions-mlp",
        "bilstm-gru-tagger",
        "onnx-light-bvlc-alexnet",
        "all-minilm-l6-v2-ortfused",
        "magika-standard-v3-3",
        "silero-vad-half",
    )
}


def assert_card_or_one_line(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    try:
        report = make_card(path, Request())
        for entry in (entry for name, entry in FORMATS.items() if name != "pdf"):  # its layout is slow
            assert entry.render(report)
    except AutodocError as error:
        assert "\n" not in str(error)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutants") / "model.onnx"


RELAXED = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@RELAXED
@given(name=st.sampled_from(sorted(SEEDS)), share=st.floats(0, 1))
def test_truncated_file_gives_card_or_one_line(place: Path, name: str, share: float) -> None:
    whole = SEEDS[name]
    assert_card_or_one_line(whole[: int(share * len(whole))], place)


@RELAXED
@given(
    name=st.sampled_from(sorted(SEEDS)),
    flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=12),
)
def test_flipped_bytes_give_card_or_one_line(place: Path, name: str, flips: list[tuple[float, int]]) -> None:
    content = bytearray(SEEDS[name])
    for where, byte in flips:
        content[int(where * len(content))] = byte
    assert_card_or_one_line(bytes(content), place)


@RELAXED
@given(
    name=st.sampled_from(sorted(SEEDS)),
    start=st.floats(0, 1),
    length=st.integers(1, 400),
    to=st.floats(0, 1),
)
def test_moved_bytes_give_card_or_one_line(place: Path, name: str, start: float, length: int, to: float) -> None:
    whole = SEEDS[name]
    at, target = int(start * len(whole)), int(to * len(whole))
    piece = whole[at : at + length]
    assert_card_or_one_line(whole[:target] + piece + whole[target:], place)


@RELAXED
@given(content=st.binary(max_size=300))
def test_random_bytes_give_card_or_one_line(place: Path, content: bytes) -> None:
    assert_card_or_one_line(b"\x08\x08" + content, place)
