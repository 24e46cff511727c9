"""The parts of `make scoreboard` that need no peer: comparison of figures, failures, the page."""

from pathlib import Path

import pytest

from benchmarks import scoreboard
from benchmarks._autodoc import parse_card
from benchmarks._entries import Entry, load_entries
from benchmarks._measure import CommandOutcome, Run
from benchmarks._page import Column, render_page, table
from benchmarks._results import MAX_FAILURE_CHARS, Result, cached_result, failure_reason
from benchmarks._verdicts import Verdict, judge_figure, percent

RUN = Run(wall=1.0, cpu=1.0, peak=1 << 20)
MODEL = Entry("net", Path("net.onnx"), {"x": [1, 2]}, {}, macs=1000, params=500, tolerance=16)


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (1000, Verdict.EXACT),
        (1010, Verdict.CLOSE),
        (990, Verdict.CLOSE),
        (1011, Verdict.WRONG),
        (0, Verdict.WRONG),
        (None, Verdict.NONE),
    ],
)
def test_verdict_depends_on_distance_from_reference(figure: int | None, expected: Verdict) -> None:
    assert judge_figure(figure, 1000) is expected


def test_figure_within_tolerance_is_exact() -> None:
    assert judge_figure(516, 500, tolerance=16) is Verdict.EXACT
    assert judge_figure(517, 500, tolerance=16) is Verdict.WRONG


def test_lower_bound_above_reference_is_wrong() -> None:
    assert judge_figure(500, 1000, at_least=True) is Verdict.BOUND
    assert judge_figure(1500, 1000, at_least=True) is Verdict.WRONG
    assert judge_figure(1000, 1000, at_least=True) is Verdict.EXACT


def test_reference_of_zero_requires_zero() -> None:
    assert judge_figure(0, 0) is Verdict.EXACT
    assert judge_figure(1, 0) is Verdict.WRONG


def test_error_is_never_rounded_to_zero_or_all() -> None:
    assert percent(1_000_001, 1_000_000) == "+0.0001%"
    assert percent(1, 1_000_000) == "-99.9999%"
    assert percent(0, 1_000_000) == "-100.0%"
    assert percent(1_025, 1_000) == "+2.5%"
    assert percent(7, 0) == "of 0"


def test_failure_is_the_last_line_shortened_without_paths() -> None:
    outcome = CommandOutcome(RUN, code=1, timed_out=False)
    assert (
        failure_reason(outcome, "Traceback\nKeyError: /models/a/net.onnx\n", ["/models/a/"])
        == "failed: KeyError: net.onnx"
    )
    assert failure_reason(outcome, "", ()) == "failed: (no message)"
    assert len(failure_reason(outcome, "x" * 500)) == len("failed: ") + MAX_FAILURE_CHARS


def test_crash_and_timeout_have_distinct_failures() -> None:
    assert failure_reason(CommandOutcome(RUN, code=-11, timed_out=False), "") == "failed: SIGSEGV"
    assert failure_reason(CommandOutcome(RUN, code=-9, timed_out=True), "") == "no answer in 120 s"
    assert failure_reason(CommandOutcome(RUN, code=0, timed_out=False), "a warning") == ""


def test_missing_section_is_no_result() -> None:
    assert parse_card("{}") == {"macs": None, "params": None, "at_least": False}
    full = '{"compute": {"macs": 7, "coverage": {"gaps": [{"macs": true}]}}, "parameters": {"total": 5}}'
    assert parse_card(full) == {"macs": 7, "params": 5, "at_least": True}


def test_cached_result_is_valid_for_one_version(tmp_path: Path) -> None:
    cache = tmp_path / "results" / "tool-net.json"
    assert cached_result(cache, "1.0", lambda: Result(macs=1)) == Result(macs=1)
    assert cached_result(cache, "1.0", lambda: Result(macs=2)) == Result(macs=1)
    assert cached_result(cache, "1.1", lambda: Result(macs=2)) == Result(macs=2)


def test_page_has_figures_failures_and_counts() -> None:
    right = Column("right", "1.0", "Run\nso.", {"net": Result(1000, 501, wall=0.5, peak=3 << 20)})
    short = Column("short", "2.0", "", {"net": Result(900, None, at_least=True, wall=0.5, peak=3 << 20)})
    broken = Column("broken", "3.0", "", {"net": Result(failure="failed: a|b")})
    lines = render_page([MODEL], [right, short, broken]).splitlines()
    assert "| right | 1.0 | 1 | 0 | 0 | 0 | 0 | 0.50 s | 3 MiB |" in lines
    assert "| short | 2.0 | 0 | 0 | 1 | 0 | 0 | 0.50 s | 3 MiB |" in lines
    assert "| broken | 3.0 | 0 | 0 | 0 | 0 | 1 | - | - |" in lines
    assert "| net | 1,000 | exact | ≥ 900 (-10.0%) | failed: a\\|b |" in lines
    assert "| net | 500 | exact | no result | failed: a\\|b |" in lines
    assert "- **right**: Run so." in lines


def test_table_has_a_cell_per_column() -> None:
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_every_peer_has_a_runner_that_describes_its_method() -> None:
    folder = Path(scoreboard.__file__).parent / "peers"
    assert {path.stem for path in folder.glob("[!_]*.py")} == {peer.module for peer in scoreboard.PEERS}
    assert all(scoreboard.read_method(folder / f"{peer.module}.py") for peer in scoreboard.PEERS)


def test_models_are_those_of_the_corpus_sorted() -> None:
    names = [entry.name for entry in load_entries()]
    assert names == sorted(names)
    assert len(names) >= 39
