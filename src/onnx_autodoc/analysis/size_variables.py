"""The dynamic dimensions of a model as variables, and the sizes at which its costs are evaluated again.

Dimensions that always have the same size are one variable: those of one name, and those without a name in one role. A
total that is the sum of past and new tokens is no variable, nor is a size that the graph determines.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import ne
from typing import Final

from msgspec import Struct, structs

from onnx_autodoc.analysis.polynomial import Point
from onnx_autodoc.ir import Model
from onnx_autodoc.shapes import Binding, Request, Role, bind, dynamic_axes

_MIN_HALVED: Final = 8
_MIN_LOWERED: Final = 64  # sizes from here on are varied downwards: position tables are finite
_DOWN: Final = (3, 7, 12, 5, 20, 30, 17, 41, 26, 50, 36)  # below the card's size
_UP: Final = (1, 2, 4, 7, 3, 11, 5, 13, 8, 17, 9)  # steps above the card's size
_FAR: Final = (40, 4, 1)  # times the card's size: shows what holds only up to some size (a window, a table)
_FAR_BATCH: Final = 4098  # above the card's: more tokens than any vocabulary has rows
_SOME_BATCH: Final = 130
_NEIGHBOURS: Final = 17
_MOVE_OFFSET: Final = 2  # each variable starts so many moves after the one before


class Variable(Struct, frozen=True):
    name: str
    keys: tuple[str, ...]  # the dimensions that it sizes, as --dim names them
    role: Role
    size: int  # in the binding of the card


class SizeVariables:
    """The variables of a model, the batch first, and bindings with other sizes for them."""

    def __init__(self, model: Model, binding: Binding) -> None:
        self._model, self._binding, self._axes = model, binding, dynamic_axes(model)
        # Totals that get the card's size when only the other dimensions are bound are derived from these.
        sums = {axis.key for axis in self._axes if axis.role is Role.TOTAL or "+" in axis.key}
        chosen = binding.chosen
        rebound = self._bind({key: size for key, size in chosen.items() if key not in sums}).chosen
        self._derived = {key for key in sums if rebound.get(key) == chosen.get(key)}
        keys: dict[tuple[Role, str], dict[str, None]] = {}
        excluded = self._derived | binding.determined
        for axis in self._axes:
            if axis.key in chosen and axis.key not in excluded:
                keys.setdefault((axis.role, axis.name or axis.role.value), {})[axis.key] = None
        groups = [Variable(name, tuple(same), role, chosen[next(iter(same))]) for (role, name), same in keys.items()]
        self.all = tuple(sorted(groups, key=lambda variable: variable.role is not Role.BATCH))

    def bind(self, sizes: Mapping[str, int]) -> Binding:
        """Return the card's binding with other sizes for some variables, by name."""
        chosen = {key: size for key, size in self._binding.chosen.items() if key not in self._derived}
        for variable in self.all:
            chosen |= dict.fromkeys(variable.keys, sizes.get(variable.name, variable.size))
        return self._bind(chosen)

    def _bind(self, chosen: Mapping[str, int]) -> Binding:
        binding = bind(self._model, Request(dims=chosen), axes=self._axes)
        return structs.replace(binding, values=self._binding.values)

    def merge_roles(self) -> None:
        """Merge the variables of each role into one, whatever the file names them."""
        roles: dict[Role, list[Variable]] = {}
        for variable in self.all:
            roles.setdefault(variable.role, []).append(variable)
        self.all = tuple(
            structs.replace(same[0], keys=tuple(key for variable in same for key in variable.keys))
            for same in roles.values()
        )


class SampleLattice:
    """Points around the card's: near it, half of it, far above and far below, all whole steps away from it.

    No two variables move by the same amount, so that growth with one is distinguished from growth with another. `far`:
    whether sizes far above the card's may be tried; loops make them expensive.
    """

    def __init__(self, variables: Sequence[Variable], steps: Mapping[str, int], far: bool) -> None:
        self._variables, self._far = variables, far
        self._steps = [steps.get(variable.name, 1) for variable in variables]
        self.card: Point = tuple(variable.size for variable in variables)
        self.smallest: Point = tuple(
            variable.size % step
            if variable.role is Role.PAST
            else (variable.size - 1) % step + 1  # a past may be empty
            for variable, step in zip(variables, self._steps, strict=True)
        )

    def groups(self) -> Iterator[Sequence[Point]]:
        """Yield groups of points; of each, the first one at which the model runs is used."""
        yield [self._half()]
        yield [self._far_above(times) for times in (_FAR if self._far else _FAR[-1:])]
        yield [self.smallest, *(self._far_below(times) for times in _FAR[:2])]
        for move in range(len(_UP)):
            yield [self._near(move), self._near(move, down=True)]

    def off_card(self) -> list[Point]:
        """Return at most two points where every size differs from the card's."""
        points = (self._half(), self._near(0), self._near(0, down=True))
        return [point for point in points if all(map(ne, point, self.card))][:2]

    def between(self, part: int, whole: int) -> Point:
        """Return a point `part / whole` of the way from the smallest sizes to the card's; the batch stays small."""
        sizes = []
        for variable, smallest, step in zip(self._variables, self.smallest, self._steps, strict=True):
            way = 0 if variable.role is Role.BATCH else variable.size - smallest
            sizes.append(smallest + -(-way // step * part // whole) * step)
        return tuple(sizes)

    def odd_steps(self, coarser: "SampleLattice", turn: int) -> Point:
        """Return a point of this lattice that is not on a coarser one: odd steps away, different for each variable."""
        pairs = zip(self.card, self._steps, coarser._steps, strict=True)
        return tuple(
            size + (0 if step == coarse else step * (2 * (at + turn) + 1))
            for at, (size, step, coarse) in enumerate(pairs)
        )

    def around(self) -> Iterator[Point]:
        """Yield points next to the card's, where a formula must at least be an integer."""
        for count in range(1, _NEIGHBOURS):
            moved = tuple(size + step * count for size, step in zip(self.card, self._steps, strict=True))
            yield moved
            for at in range(len(moved)):
                yield (*self.card[:at], moved[at], *self.card[at + 1 :])

    def spread_roles(self) -> Iterator[Point]:
        """Yield points with some sizes of a role as on the card and others far below: exposes costs by the larger."""
        roles = [variable.role for variable in self._variables]
        shared = [at for at, role in enumerate(roles) if role is not Role.BATCH and roles.count(role) > 1]
        below = self._snap([size // 4 + 1 for size in self.card], 0)
        for small in (shared[::2], shared[1::2]):
            if small:
                yield tuple(below[at] if at in small else size for at, size in enumerate(self.card))

    def along(self, which: int) -> Iterator[Point]:
        """Yield points that differ from the card's in one variable only."""
        for point in (self._near(0), self._near(0, down=True), self._near(1)):
            if point[which] != self.card[which]:
                yield (*self.card[:which], point[which], *self.card[which + 1 :])

    def _near(self, move: int, down: bool = False) -> Point:
        """Move small sizes up, or with `down` (where the model does not run above) down, and large ones down."""
        sizes = []
        for at, (variable, step) in enumerate(zip(self._variables, self._steps, strict=True)):
            turn, is_batch = (move + _MOVE_OFFSET * at) % len(_UP), variable.role is Role.BATCH
            if step == 1 and variable.size >= _MIN_LOWERED and not is_batch:
                sizes.append(variable.size - _DOWN[turn])
            elif down and not is_batch:
                sizes.append(max(self.smallest[at], variable.size - step * _UP[turn]))
            else:
                sizes.append(variable.size + step * _UP[turn])
        return tuple(sizes)

    def _half(self) -> Point:
        return self._snap([size // 2 + 1 if size >= _MIN_HALVED else size + 4 for size in self.card], 1)

    def _far_above(self, times: int) -> Point:
        sizes = [times * size + times // _FAR[0] for size in self.card]
        return self._snap(self._with_batch(sizes, _FAR_BATCH if self._far else _SOME_BATCH), -1)

    def _far_below(self, times: int) -> Point:
        return self._snap(self._with_batch([size // times + 1 for size in self.card], 4), 1)

    def _with_batch(self, sizes: Sequence[int], more: int) -> list[int]:
        """Return the sizes with a batch that is so much larger than the card's."""
        pairs = enumerate(zip(self._variables, sizes, strict=True))
        return [
            variable.size + more + 3 * at if variable.role is Role.BATCH else size for at, (variable, size) in pairs
        ]

    def _snap(self, sizes: Sequence[int], turn: int) -> Point:
        """Return the nearest point of the lattice, moved by a different number of steps for each variable."""
        snapped = []
        for at, (own, size, step) in enumerate(zip(self.card, sizes, self._steps, strict=True)):
            moved = own + (size - own + step // 2) // step * step
            snapped.append(max(self.smallest[at], moved + turn * step * at))
        return tuple(snapped)
