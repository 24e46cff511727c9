"""Options of the suite."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the golden cards anew; then read the difference")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The README's commands take longest: begun first, they run beside all the others."""
    items.sort(key=lambda item: "test_readme" not in item.nodeid)
