"""Prices that several families share."""

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, Price
from onnx_autodoc.ops._known import Dim


def made(call: Call) -> Cost:
    """none, and nothing is read: data are made by a shape or a few numbers"""
    return Cost(read=0)


def folded(every: int, once: int, parts: str) -> Price:
    """So many operations for each element of the first input, and so many for each that is left of them."""

    def price(call: Call) -> Cost:
        return Cost(other=every * size(call.shape(0)) + (once * size(call.output()) if once else 0))

    left = f", {once} per element of the output" if once else ""
    price.__doc__ = f"{every} per element of the input{left}: {parts}"
    return price


def standardized(elements: Dim, rows: Dim, more: int = 0) -> Cost:
    """Elements less their row's mean, by the root of its variance; `more` is what is then done to each.

    5 per element: mean, difference, square, mean, quotient. 4 per row: two divisions for the means, epsilon, root.
    """
    return Cost(other=elements * (5 + more) + 4 * rows)


def between(taps: int) -> int:
    """What one element costs that is placed between others: each by its weight, and their sum."""
    return 2 * taps - 1 if taps > 1 else 0
