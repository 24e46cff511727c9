"""Costs at other sizes, each worked out once, as long as there is work left to spend on them."""

from collections.abc import Callable, Mapping
from typing import Final

from onnx_autodoc.analysis._fitting import Parts
from onnx_autodoc.analysis._variables import Variables
from onnx_autodoc.shapes import Binding

MOST_WORK: Final = 36_000  # rules applied at other sizes, all together: about a second

Measure = Callable[[Binding], Parts]
_Key = tuple[tuple[tuple[str, int], int], ...]


class Meter:
    """The costs of one model around its card."""

    def __init__(self, variables: Variables, parts: Parts, work: int, measure: Measure) -> None:
        self.variables, self.parts = variables, parts
        self._work, self._left, self._measure = work, MOST_WORK, measure
        self._seen: dict[_Key, Parts | None] = {_key(variables.at({})): parts}

    def affords(self, points: int) -> bool:
        return points * self._work <= self._left

    def at(self, sizes: Mapping[str, int]) -> Parts | None:
        """None where it does not run, where less is known than on the card, other nodes run, or no work is left."""
        binding = self.variables.at(sizes)
        key = _key(binding)
        if key not in self._seen and self.affords(1):
            self._left -= self._work
            found = self._measure(binding)
            alike = found and all(len(found.get(name, ())) == len(own) for name, own in self.parts.items())
            self._seen[key] = found if alike else None
        return self._seen.get(key)


def _key(binding: Binding) -> _Key:
    """By the sizes of all axes: the same ones are never worked out twice, whichever variables they come from."""
    return tuple(sorted(binding.axes.items()))
