"""The judge can fail: each way to be wrong is a finding, and what is right is none."""

from collections.abc import Iterator

import pytest

from fuzz._plans import MODEL, PLANS, Plan, plan
from fuzz.runner import Runner
from fuzz.wire import Case
from onnx_autodoc.render import FORMATS
from tests._wire import relu

FOUND = [
    ("two_lines", "terminal", "not one line"),
    ("no_line", "terminal", "not one line"),
    ("raises", "terminal", "a traceback: KeyError"),
    ("hangs", "terminal", "over 20 s"),
    ("works", "terminal", "over 20 s"),
    ("eats", "terminal", "over 1 GB"),
    ("eats_in_a_child", "terminal", "over 1 GB"),
    ("dies", "terminal", "died of SIGSEGV"),
    ("not_a_number", "json", "NaN is no JSON"),
    ("not_a_number", "nodes", "NaN is no JSON"),
    ("half_json", "sarif", "cannot be parsed"),
    ("half_json", "junit", "cannot be parsed"),
    ("crooked", "csv", "rows of different lengths"),
    ("negative", "json", "a negative amount: macs of Conv"),
    ("says_nothing", "terminal", "without output"),
    ("escapes", "terminal", "raw control"),
    ("turns", "markdown", "raw control or bidi"),
    ("mistaken", "terminal", "a mistake: internal: KeyError"),
    ("part_failed", "json", "a part failed: internal: KeyError"),
    ("writes_and_fails", "terminal", "exit 2 with output: ['out.json']"),
    ("prints_and_fails", "terminal", "exit 2 with output"),
    ("leaves", "terminal", "exit 7"),
    ("warns", "terminal", "something on standard error"),
]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as started:
        yield started


@pytest.mark.parametrize(("stub", "format_name", "finding"), FOUND)
def test_what_is_wrong_is_found(stub: str, format_name: str, finding: str, runner: Runner) -> None:
    runner.using(f"tests.fuzz._stubs:{stub}", seconds=2, memory=200 << 20)
    result = runner.run("stub", Case(relu()), Plan(("card", MODEL), format_name))
    assert any(finding in found for found in result.findings), result


@pytest.mark.parametrize("stub", ["right", "refused"])
def test_what_is_right_is_no_finding(stub: str, runner: Runner) -> None:
    runner.using(f"tests.fuzz._stubs:{stub}")
    assert runner.run("stub", Case(relu()), Plan(("card", MODEL), "terminal")).findings == []


def test_a_run_is_a_real_one(runner: Runner) -> None:
    """The fork prints what a fresh process prints, and has its memory."""
    runner.using()
    good = runner.run("relu", Case(relu()), Plan(("card", MODEL, "--format", "json"), "json"))
    bad = runner.run("nothing", Case(b""), Plan(("card", MODEL), "terminal"))
    assert (good.code, good.findings, bad.code, bad.findings) == (0, [], 2, [])
    assert bad.said == "onnx-autodoc: error: model.onnx: not an ONNX model: the file is empty\n"
    assert 20e6 < good.peak < 400e6


def test_every_format_gets_its_turn() -> None:
    planned = [plan(at) for at in range(200)]
    assert {one.format for one in planned} >= set(FORMATS)
    assert {one.argv[0] for one in planned} == {"card", "compare", "check"}
    assert any("--weights" in one.argv for one in planned)
    assert all(plan(at) in planned for at in range(len(PLANS)))
