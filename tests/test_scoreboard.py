"""The pure parts of `make scoreboard`: what a figure is worth, why there is none, and the page. Needs no peer."""

from pathlib import Path

import pytest

from benchmarks import scoreboard
from benchmarks._entries import Entry, entries
from benchmarks._measure import Ended, Run
from benchmarks._ours import found
from benchmarks._page import Column, page, table
from benchmarks._results import SHOWN, Result, kept, reason
from benchmarks._verdicts import Verdict, percent, verdict

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
def test_a_figure_is_judged_by_its_distance_from_the_truth(figure: int | None, expected: Verdict) -> None:
    assert verdict(figure, 1000) is expected


def test_a_tolerance_is_exact_and_ends() -> None:
    assert verdict(516, 500, tolerance=16) is Verdict.EXACT
    assert verdict(517, 500, tolerance=16) is Verdict.WRONG


def test_a_lower_bound_counts_as_one_only_below_the_truth() -> None:
    assert verdict(500, 1000, at_least=True) is Verdict.BOUND
    assert verdict(1500, 1000, at_least=True) is Verdict.WRONG
    assert verdict(1000, 1000, at_least=True) is Verdict.EXACT


def test_nothing_but_zero_is_right_where_the_truth_is_zero() -> None:
    assert verdict(0, 0) is Verdict.EXACT
    assert verdict(1, 0) is Verdict.WRONG


def test_an_error_is_never_rounded_to_none_or_all() -> None:
    assert percent(1_000_001, 1_000_000) == "+0.0001 %"
    assert percent(1, 1_000_000) == "-99.9999 %"
    assert percent(0, 1_000_000) == "-100.0 %"
    assert percent(1_025, 1_000) == "+2.5 %"
    assert percent(7, 0) == "of 0"


def test_a_failure_is_the_last_line_shortened_and_without_our_paths() -> None:
    ended = Ended(RUN, code=1, late=False)
    assert reason(ended, "Traceback\nKeyError: /models/a/net.onnx\n", ["/models/a/"]) == "failed: KeyError: net.onnx"
    assert reason(ended, "", ()) == "failed: (it says nothing)"
    assert len(reason(ended, "x" * 500)) == len("failed: ") + SHOWN


def test_a_crash_and_a_timeout_are_shown_as_what_they_are() -> None:
    assert reason(Ended(RUN, code=-11, late=False), "") == "failed: SIGSEGV"
    assert reason(Ended(RUN, code=-9, late=True), "") == "no answer in 120 s"
    assert reason(Ended(RUN, code=0, late=False), "a warning") == ""


def test_a_section_our_card_lacks_is_no_answer() -> None:
    assert found("{}") == {"macs": None, "params": None, "at_least": False}
    full = '{"compute": {"macs": 7, "coverage": {"gaps": [{"macs": true}]}}, "parameters": {"total": 5}}'
    assert found(full) == {"macs": 7, "params": 5, "at_least": True}


def test_a_result_is_kept_for_its_version_alone(tmp_path: Path) -> None:
    place = tmp_path / "results" / "tool-net.json"
    assert kept(place, "1.0", lambda: Result(macs=1)) == Result(macs=1)
    assert kept(place, "1.0", lambda: Result(macs=2)) == Result(macs=1)
    assert kept(place, "1.1", lambda: Result(macs=2)) == Result(macs=2)


def test_the_page_shows_figures_failures_and_counts() -> None:
    right = Column("right", "1.0", "Asked\nso.", {"net": Result(1000, 501, wall=0.5, peak=3 << 20)})
    short = Column("short", "2.0", "", {"net": Result(900, None, at_least=True, wall=0.5, peak=3 << 20)})
    broken = Column("broken", "3.0", "", {"net": Result(failure="failed: a|b")})
    lines = page([MODEL], [right, short, broken]).splitlines()
    assert "| right | 1.0 | 1 | 0 | 0 | 0 | 0 | 0.50 s | 3 MiB |" in lines
    assert "| short | 2.0 | 0 | 0 | 1 | 0 | 0 | 0.50 s | 3 MiB |" in lines
    assert "| broken | 3.0 | 0 | 0 | 0 | 0 | 1 | - | - |" in lines
    assert "| net | 1,000 | exact | ≥ 900 (-10.0 %) | failed: a\\|b |" in lines
    assert "| net | 500 | exact | no answer | failed: a\\|b |" in lines
    assert "- **right**: Asked so." in lines


def test_every_row_of_a_table_has_a_cell_for_each_head() -> None:
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_every_peer_is_on_its_shelf_and_says_how_it_is_asked() -> None:
    shelf = Path(scoreboard.__file__).parent / "peers"
    assert {path.stem for path in shelf.glob("[!_]*.py")} == {peer.module for peer in scoreboard.PEERS}
    assert all(scoreboard.words(shelf / f"{peer.module}.py") for peer in scoreboard.PEERS)


def test_the_models_are_those_of_the_corpus_in_order() -> None:
    names = [entry.name for entry in entries()]
    assert names == sorted(names)
    assert len(names) >= 39
