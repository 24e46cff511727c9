"""The oracle of the fuzzers: each kind of wrong run is a finding, a correct run is none."""

from collections.abc import Iterator

import pytest

from fuzz._plans import MODEL, PLANS, Plan, plan_for
from fuzz.runner import Runner
from fuzz.wire import Case
from onnx_autodoc.render import FORMATS
from tests._wire import relu

VIOLATIONS = [
    ("two_lines", "terminal", "not one line"),
    ("no_line", "terminal", "not one line"),
    ("raises", "terminal", "a traceback: KeyError"),
    ("hangs", "terminal", "over 20 s"),
    ("loops_in_child", "terminal", "over 20 s"),
    ("exhausts_memory", "terminal", "over 1 GB"),
    ("exhausts_memory_in_child", "terminal", "over 1 GB"),
    ("dies", "terminal", "died of SIGSEGV"),
    ("not_a_number", "json", "NaN is no JSON"),
    ("not_a_number", "nodes", "NaN is no JSON"),
    ("half_json", "sarif", "cannot be parsed"),
    ("half_json", "junit", "cannot be parsed"),
    ("uneven_rows", "csv", "rows of different lengths"),
    ("negative", "json", "a negative amount: macs of Conv"),
    ("says_nothing", "terminal", "without output"),
    ("prints_escapes", "terminal", "raw control"),
    ("reverses_text", "markdown", "raw control or bidi"),
    ("internal_error", "terminal", "a mistake: internal error: KeyError"),
    ("part_failed", "json", "a part failed: internal error: KeyError"),
    ("writes_and_fails", "terminal", "exit 2 with output: ['out.json']"),
    ("prints_and_fails", "terminal", "exit 2 with output"),
    ("leaves", "terminal", "exit 7"),
    ("warns", "terminal", "something on standard error"),
]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as server:
        yield server


@pytest.mark.parametrize(("stub", "format_name", "finding"), VIOLATIONS)
def test_wrong_run_is_a_finding(stub: str, format_name: str, finding: str, runner: Runner) -> None:
    runner.configure(f"tests.fuzz._stubs:{stub}", seconds=2, memory=200 << 20)
    result = runner.run("stub", Case(relu()), Plan(("card", MODEL), format_name))
    assert any(finding in violation for violation in result.findings), result


@pytest.mark.parametrize("stub", ["right", "refused"])
def test_correct_run_is_no_finding(stub: str, runner: Runner) -> None:
    runner.configure(f"tests.fuzz._stubs:{stub}")
    assert runner.run("stub", Case(relu()), Plan(("card", MODEL), "terminal")).findings == []


def test_forked_run_equals_a_real_one(runner: Runner) -> None:
    """Compare output and memory with those of a new process."""
    runner.configure()
    good = runner.run("relu", Case(relu()), Plan(("card", MODEL, "--format", "json"), "json"))
    bad = runner.run("nothing", Case(b""), Plan(("card", MODEL), "terminal"))
    assert (good.code, good.findings, bad.code, bad.findings) == (0, [], 2, [])
    assert bad.error_text == "onnx-autodoc: error: model.onnx: not an ONNX model: the file is empty\n"
    assert 20e6 < good.peak < 400e6


def test_plans_cover_all_formats_and_commands() -> None:
    plans = [plan_for(at) for at in range(200)]
    assert {each_plan.format for each_plan in plans} >= set(FORMATS)
    assert {each_plan.argv[0] for each_plan in plans} == {"card", "compare", "check"}
    assert any("--weights" in each_plan.argv for each_plan in plans)
    assert all(plan_for(at) in plans for at in range(len(PLANS)))
