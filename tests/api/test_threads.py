"""Cards made by threads at the same time are those made one after the other."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from onnx_autodoc import AutodocError, BadInput, Card, LimitReached, Limits, card, within
from tests._corpus import graph

SMALL_MODELS = (
    *("bilstm-gru-tagger", "control-flow-loop-if", "local-functions-mlp", "onnx-light-bvlc-alexnet"),
    *("resnet50-ts-op17", "all-minilm-l6-v2-ortfused", "silero-vad-half", "whisper-tiny-encoder"),
)
FORMATS = ("json", "markdown", "html", "terminal", "csv", "mermaid")
THREADS = 6


@pytest.fixture(autouse=True)
def frequent_switches(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Switch threads a hundred times as often as usual."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    interval = sys.getswitchinterval()
    sys.setswitchinterval(interval / 100)
    yield
    sys.setswitchinterval(interval)


def render_all(model_card: Card) -> list[str | bytes]:
    return [model_card.render(name) for name in FORMATS]


def make(name: str) -> list[str | bytes]:
    return render_all(card(graph(name)))


def run_threads(work: list[partial[list[str | bytes]]]) -> list[list[str | bytes]]:
    """Start all calls at once."""
    barrier = threading.Barrier(len(work))

    def start(call: partial[list[str | bytes]]) -> list[str | bytes]:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(work)) as pool:
        return list(pool.map(start, work))


def test_different_models_have_equal_cards() -> None:
    expected = [make(name) for name in SMALL_MODELS]
    assert run_threads([partial(make, name) for name in SMALL_MODELS]) == expected


def test_same_model_has_equal_cards() -> None:
    expected = make(SMALL_MODELS[0])
    assert run_threads([partial(make, SMALL_MODELS[0])] * THREADS) == [expected] * THREADS


def test_one_card_is_rendered_by_several_threads() -> None:
    shared = card(graph("resnet50-ts-op17"))
    expected = render_all(card(graph("resnet50-ts-op17")))
    assert run_threads([partial(render_all, shared)] * THREADS) == [expected] * THREADS


def test_first_cards_of_a_program_are_equal() -> None:
    """The tables that are loaded on first use are loaded by several threads at once."""
    program = (
        "import sys, threading\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "sys.setswitchinterval(1e-5)\n"
        "from onnx_autodoc import card\n"
        f"barrier, models = threading.Barrier(4), {[str(graph(name)) for name in SMALL_MODELS[:2]] * 2!r}\n"
        "def make(path): barrier.wait(); return card(path)\n"
        "with ThreadPoolExecutor(4) as pool: cards = list(pool.map(make, models))\n"
        "first = [(c.to_json(), c.to_html()) for c in cards]\n"
        "assert first == [(c.to_json(), c.to_html()) for c in map(card, models)]\n"
    )
    done = subprocess.run(  # faulthandler prints the traceback of each thread if the program crashes
        [sys.executable, "-X", "faulthandler", "-W", "error", "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_limits_hold_in_one_thread() -> None:
    """`within` in a thread has no effect on the others."""
    name = "resnet50-ts-op17"
    nodes = card(graph(name)).graph.nodes_total
    barrier = threading.Barrier(THREADS)

    def count(limit: int | None) -> int | str:
        barrier.wait()
        try:
            with within(Limits(nodes=limit) if limit else Limits()):
                return card(graph(name)).graph.nodes_total
        except LimitReached as error:
            return str(error)

    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(count, [5, None] * (THREADS // 2)))
    assert results[1::2] == [nodes] * (THREADS // 2)
    assert all("more than 5 nodes; --max-nodes" in str(message) for message in results[::2])


def test_errors_are_raised_in_the_thread_of_the_file(tmp_path: Path) -> None:
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"not a model")

    def attempt(path: Path) -> str:
        try:
            return card(path).model.name
        except AutodocError as error:
            return type(error).__name__

    paths = [bad, graph("bilstm-gru-tagger")] * 4
    with ThreadPoolExecutor(len(paths)) as pool:
        assert list(pool.map(attempt, paths)) == [BadInput.__name__, card(graph("bilstm-gru-tagger")).model.name] * 4
