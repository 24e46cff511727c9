"""Numbers for people: the only place that rounds and scales. Files are in MB, memory is in MiB."""

from typing import Final

_FILES: Final = ((1e12, " TB"), (1e9, " GB"), (1e6, " MB"), (1e3, " kB"))


def count(number: int) -> str:
    """A count in full, with separators: 1,088."""
    return f"{number:,}"


def file_size(nbytes: int) -> str:
    """A file's size in decimal units: 435.8 MB."""
    for scale, unit in _FILES:
        if nbytes >= scale:
            return f"{nbytes / scale:.1f}{unit}"
    return f"{nbytes} bytes"


def percent(share: float) -> str:
    """A share of 0 to 1; "0 %" is said only of nothing and "100 %" only of all."""
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{share * 100:.0f} %"


def plural(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
