"""What a figure is worth against the recorded truth."""

from enum import Enum


class Verdict(Enum):
    EXACT = "exact"
    CLOSE = "within 1 %"
    BOUND = "a lower bound, and said so"
    WRONG = "wrong"
    NONE = "failed or no answer"


def verdict(figure: int | None, truth: int, tolerance: int = 0, at_least: bool = False) -> Verdict:
    """`at_least`: the tool says of its figure that there is more. What is exact or close is so all the same."""
    if figure is None:
        return Verdict.NONE
    off = abs(figure - truth)
    if off <= tolerance:
        return Verdict.EXACT
    if 100 * off <= truth:
        return Verdict.CLOSE
    return Verdict.BOUND if at_least and figure < truth else Verdict.WRONG


def percent(figure: int, truth: int) -> str:
    """The signed error. Zero is only printed for zero, and -100 only for all: digits are added until that holds."""
    if not truth:
        return "of 0"
    error = 100 * (figure - truth) / truth
    for digits in range(1, 12):
        text = f"{error:+.{digits}f}"
        if float(text) not in (0, -100) or float(text) == error:
            break
    return f"{text} %"
