"""Setup of the test suite: signals, options, order."""

import signal

import pytest

# Shells and nohup start background jobs with these signals ignored; the programs that tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the golden cards again; review the difference")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the README's commands first: they take longest and run in parallel with the other tests."""
    items.sort(key=lambda item: "test_readme" not in item.nodeid)
