"""Documents that are written from the code say what the code says."""

from pathlib import Path

from scripts.costs_page import page

DOCS = Path(__file__).parent.parent / "docs"


def test_the_page_of_costs_is_that_of_the_operators() -> None:
    assert (DOCS / "costs.md").read_text(encoding="utf-8") == page(), "run `make docs`"
