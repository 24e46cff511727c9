"""docs/devices.md is written from the device files."""

from pathlib import Path

from scripts import devices_page

PAGE = Path(__file__).parents[3] / "docs" / "devices.md"


def test_the_page_of_devices_is_that_of_their_files() -> None:
    assert PAGE.read_text(encoding="utf-8") == devices_page.page(), "run `make docs`"
