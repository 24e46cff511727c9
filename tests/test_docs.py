"""Documents that are written from the code say what the code says."""

from pathlib import Path

from scripts import costs_page, rules_page

DOCS = Path(__file__).parent.parent / "docs"


def test_the_page_of_costs_is_that_of_the_operators() -> None:
    assert (DOCS / "costs.md").read_text(encoding="utf-8") == costs_page.page(), "run `make docs`"


def test_the_page_of_rules_is_that_of_the_rules() -> None:
    assert (DOCS / "rules.md").read_text(encoding="utf-8") == rules_page.page(), "run `make docs`"
