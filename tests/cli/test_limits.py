"""Each limit: a file at the limit has its card, a file above it has one line that names the option."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from onnx_autodoc.cli import main
from onnx_autodoc.limits import OPTIONS, Limits
from tests._wire import chunk, integer, model, node, value

Captured = pytest.CaptureFixture[str]


def build_chain(nodes: int) -> bytes:
    links = b"".join(node("Relu", f"v{at}", f"v{at + 1}") for at in range(nodes))
    return model(value(11, "v0", (1,)) + links + value(12, f"v{nodes}", (1,)))


def build_nested_ifs(levels: int) -> bytes:
    """Return a model with `levels` nested subgraphs."""
    body = node("Relu", "x", "y") + value(12, "y", (1,))
    for _ in range(levels):
        branches = (chunk(1, name) + chunk(6, body) + integer(20, 5) for name in ("then_branch", "else_branch"))
        body = node("If", "c", "y", next(branches)) + value(12, "y", (1,))
    return model(value(11, "x", (1,)) + value(11, "c", (), 9) + body)


def build_calls(times: int) -> bytes:
    """Return a model that calls a function of one node `times` times."""
    inside = chunk(7, chunk(1, "a") + chunk(2, "b") + chunk(4, "Relu"))
    body = chunk(1, "f") + chunk(4, "a") + chunk(5, "b") + inside + chunk(9, integer(2, 17)) + chunk(10, "own")
    calls = b"".join(
        chunk(1, chunk(1, f"v{at}") + chunk(2, f"v{at + 1}") + chunk(4, "f") + chunk(7, "own")) for at in range(times)
    )
    return model(value(11, "v0", (1,)) + calls + value(12, f"v{times}", (1,)), extra=chunk(25, body))


def run_main(capsys: Captured, *words: object) -> tuple[int, str, str]:
    status = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return status, out, err


def assert_refused(capsys: Captured, option: str, *words: object) -> str:
    status, out, err = run_main(capsys, *words)
    assert (status, out) == (3, "")
    assert err.startswith("onnx-autodoc: error: ")
    assert err.count("\n") == 1
    assert option in err
    return err


@pytest.fixture
def write_model(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(data: bytes) -> Path:
        path = tmp_path / "model.onnx"
        path.write_bytes(data)
        return path

    return write


def test_node_limit(capsys: Captured, write_model: Callable[[bytes], Path]) -> None:
    assert run_main(capsys, write_model(build_chain(50)), "--max-nodes", 50)[0] == 0
    assert_refused(capsys, "--max-nodes", write_model(build_chain(51)), "--max-nodes", 50)


def test_node_limit_counts_subgraphs_and_functions(capsys: Captured, write_model: Callable[[bytes], Path]) -> None:
    assert run_main(capsys, write_model(build_nested_ifs(3)), "--max-nodes", 4)[0] == 0
    assert_refused(capsys, "--max-nodes", write_model(build_nested_ifs(3)), "--max-nodes", 3)
    assert run_main(capsys, write_model(build_calls(5)), "--max-nodes", 6)[0] == 0
    assert_refused(capsys, "--max-nodes", write_model(build_calls(5)), "--max-nodes", 5)


@pytest.mark.parametrize("levels", [3, 30])
def test_depth_limit(capsys: Captured, write_model: Callable[[bytes], Path], levels: int) -> None:
    assert run_main(capsys, write_model(build_nested_ifs(levels)), "--max-depth", levels)[0] == 0
    assert_refused(capsys, "--max-depth", write_model(build_nested_ifs(levels + 1)), "--max-depth", levels)


def test_types_nest_as_deep_as_protobuf_reads(capsys: Captured, write_model: Callable[[bytes], Path]) -> None:
    def build_nested_types(levels: int) -> bytes:
        inner = chunk(1, integer(1, 1))
        for _ in range(levels):
            inner = chunk(4, chunk(1, inner))
        return model(chunk(11, chunk(1, "x") + chunk(2, inner)) + node("SequenceLength", "x", "y"))

    assert run_main(capsys, write_model(build_nested_types(20)))[0] == 0
    status, out, err = run_main(capsys, write_model(build_nested_types(10_000)))
    assert (status, out) == (2, "")
    assert "nested 100 levels deep, the limit of protobuf" in err


def test_row_limit(capsys: Captured, write_model: Callable[[bytes], Path]) -> None:
    path = write_model(build_calls(10))  # ten calls, and a node in each
    status, out, _ = run_main(capsys, path, "--format", "nodes", "--max-rows", 20)
    assert (status, out.count("\n")) == (0, 20)
    assert_refused(capsys, "--max-rows", path, "--format", "nodes", "--max-rows", 19)


def test_string_limit(capsys: Captured, write_model: Callable[[bytes], Path]) -> None:
    path = write_model(build_chain(3) + chunk(6, b"x" * 1000))
    assert run_main(capsys, path, "--max-string", 1000)[0] == 0
    assert_refused(capsys, "--max-string", path, "--max-string", 999)


def test_text_limit(capsys: Captured, write_model: Callable[[bytes], Path], tmp_path: Path) -> None:
    path = write_model(build_chain(3))
    card = tmp_path / "card.json"
    assert run_main(capsys, path, "-o", card)[0] == 0
    size = card.stat().st_size
    assert run_main(capsys, "compare", card, path, "--max-text", size)[0] == 0
    assert_refused(capsys, "--max-text", "compare", card, path, "--max-text", size - 1)


def test_memory_limit(capsys: Captured, write_model: Callable[[bytes], Path], tmp_path: Path) -> None:
    notes = b"".join(chunk(14, chunk(1, str(at)) + chunk(2, bytes([97 + at]) * 10_000_000)) for at in range(25))
    path = write_model(build_chain(3) + notes)  # metadata, which is read completely
    assert_refused(capsys, "--max-memory", path, "--max-memory", "300MB")
    assert run_main(capsys, path, "--max-memory", "4GB", "-o", tmp_path / "card.md")[0] == 0


def test_time_limit(capsys: Captured, write_model: Callable[[bytes], Path]) -> None:
    path = write_model(build_chain(20_000))
    assert_refused(capsys, "--timeout", path, "--timeout", "0.5")
    assert run_main(capsys, path, "--timeout", 300)[0] == 0


def test_small_graph_does_not_reach_the_step_limit(capsys: Captured, write_model: Callable[[bytes], Path]) -> None:
    """A small graph stays far below the default limit."""
    path = write_model(build_chain(40))
    gaps = json.loads(run_main(capsys, path, "--format", "json")[1])["gaps"]
    assert not [gap for gap in gaps if "--max-steps" in gap["reason"]]


def test_every_limit_has_an_option_in_the_help(capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["card", "--help"])
    out = capsys.readouterr().out
    assert set(OPTIONS) == set(Limits._fields)
    assert [option for option in OPTIONS.values() if option not in out] == []


@pytest.mark.parametrize(
    "words",
    [
        ("--max-nodes", "0"),
        ("--max-nodes", "x"),
        ("--max-depth", "5000"),
        ("--max-memory", "1MB"),
        ("--max-memory", "much"),
        ("--timeout", "0"),
        ("--timeout", "-1"),
        ("--max-text", "0"),
    ],
)
def test_invalid_limit_is_refused(capsys: Captured, words: tuple[str, str]) -> None:
    status, out, err = run_main(capsys, "demo.onnx", *words)
    assert (status, out) == (2, "")
    assert words[0] in err
    assert err.count("\n") == 1
