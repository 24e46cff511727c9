"""The comparison of a figure with its reference value."""

from enum import Enum


class Verdict(Enum):
    EXACT = "exact"
    CLOSE = "within 1%"
    BOUND = "reported lower bound"
    WRONG = "wrong"
    NONE = "failed or no result"


def judge_figure(figure: int | None, truth: int, tolerance: int = 0, at_least: bool = False) -> Verdict:
    """Compare a figure with its reference; `at_least` marks a lower bound, which still can be exact or close."""
    if figure is None:
        return Verdict.NONE
    difference = abs(figure - truth)
    if difference <= tolerance:
        return Verdict.EXACT
    if 100 * difference <= truth:
        return Verdict.CLOSE
    return Verdict.BOUND if at_least and figure < truth else Verdict.WRONG


def percent(figure: int, truth: int) -> str:
    """Format the signed error, with enough digits that 0 and -100 are printed for exact values only."""
    if not truth:
        return "of 0"
    error = 100 * (figure - truth) / truth
    for digits in range(1, 12):
        text = f"{error:+.{digits}f}"
        if float(text) not in (0, -100) or float(text) == error:
            break
    return f"{text}%"
