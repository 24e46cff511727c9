"""Parts of sentences that several rules say."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.text import clean, named, told

_MOST: Final = 5  # operators that are listed in a sentence
_MOST_SIZES: Final = 6


def by_operator(spots: Iterable[Spot]) -> str:
    """ "3 Cast, 2 Mul": how many of which, most first."""
    rows = sorted(Counter(clean(told(spot.node.op, 40)) for spot in spots).items(), key=lambda row: (-row[1], row[0]))
    return ", ".join(f"{count:,} {op}" for op, count in rows[:_MOST]) + (" …" if len(rows) > _MOST else "")


def at_sizes(case: Case) -> str:
    """ "at batch = 1, seq = 128": the sizes that a number holds for, where the file leaves them open."""
    listed = [f"{named(key, 40)} = {size}" for key, size in case.facts.binding.chosen.items()]
    return f" at {', '.join(listed[:_MOST_SIZES])}{' …' if len(listed) > _MOST_SIZES else ''}" if listed else ""
