"""Generated documentation pages are current, and the recorded accuracy session meets its targets."""

from pathlib import Path

from benchmarks import _session as session
from scripts import accuracy_page, costs_page, rules_page

DOCS = Path(__file__).parent.parent / "docs"


def test_costs_page_is_current() -> None:
    assert (DOCS / "costs.md").read_text(encoding="utf-8") == costs_page.page(), "run `make docs`"


def test_rules_page_is_current() -> None:
    assert (DOCS / "rules.md").read_text(encoding="utf-8") == rules_page.page(), "run `make docs`"


def test_accuracy_page_is_current() -> None:
    assert (DOCS / "accuracy.md").read_text(encoding="utf-8") == accuracy_page.page(), "run `make docs`"


def test_calibrated_times_meet_error_targets() -> None:
    """Checks the recorded session; `make accuracy` records a new one on the current machine."""
    recorded = session.load_session()
    left = recorded.errors("left_out")
    assert len(left) >= 25
    assert left[len(left) // 2] <= 0.15
    assert session.percentile_90(left) <= 0.35


def test_recorded_session_has_no_shape_difference() -> None:
    recorded = session.load_session()
    assert sum(model.agreement.differed for model in recorded.models) == 0
    assert sum(model.agreement.executed for model in recorded.models) > 10_000
