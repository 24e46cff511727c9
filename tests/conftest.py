"""Options of the suite."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the golden cards again; review the difference")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the README's commands first: they take longest and run in parallel with the other tests."""
    items.sort(key=lambda item: "test_readme" not in item.nodeid)
