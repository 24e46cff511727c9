"""Documents that are written from the code say what the code says."""

from pathlib import Path

from benchmarks import _session as session
from scripts import accuracy_page, costs_page, rules_page

DOCS = Path(__file__).parent.parent / "docs"


def test_the_page_of_costs_is_that_of_the_operators() -> None:
    assert (DOCS / "costs.md").read_text(encoding="utf-8") == costs_page.page(), "run `make docs`"


def test_the_page_of_rules_is_that_of_the_rules() -> None:
    assert (DOCS / "rules.md").read_text(encoding="utf-8") == rules_page.page(), "run `make docs`"


def test_the_page_on_accuracy_is_that_of_the_measurements() -> None:
    assert (DOCS / "accuracy.md").read_text(encoding="utf-8") == accuracy_page.page(), "run `make docs`"


def test_calibrated_times_were_measured_to_be_good_enough() -> None:
    """Of the session that is kept: `make accuracy` measures it anew, on whatever machine it runs."""
    kept = session.kept()
    left = kept.errors("left_out")
    assert len(left) >= 25
    assert left[len(left) // 2] <= 0.15
    assert session.most(left) <= 0.35


def test_every_shape_that_ran_in_that_session_was_as_the_card_says() -> None:
    kept = session.kept()
    assert sum(model.agreement.differed for model in kept.models) == 0
    assert sum(model.agreement.executed for model in kept.models) > 10_000
