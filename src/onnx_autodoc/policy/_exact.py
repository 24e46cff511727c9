"""Numbers held against each other without rounding, and said in full."""

from fractions import Fraction

from onnx_autodoc.text import clean, count


def exact(number: int | float) -> Fraction:
    """A number as its decimal text says it: 0.1 is a tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def said(value: object) -> str:
    """A value of a card or a policy: whole numbers with separators, whatever they were written as."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, int):
        return count(value)
    if isinstance(value, Fraction):
        return said(value.numerator if value.denominator == 1 else float(value))
    if isinstance(value, tuple | list):
        return ", ".join(map(said, value))
    return "not known" if value is None else clean(str(value))


def alike(one: object, other: object) -> bool:
    """Whether two values are the same: a flag is no number, and 5e9 is 5,000,000,000."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return exact(one) == exact(other)
    return one == other
