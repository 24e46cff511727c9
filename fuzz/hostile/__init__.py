"""Hostile files: each is another idea. A family is a file here with `FILES`, and a line in `FAMILIES`."""

from collections.abc import Callable, Mapping
from typing import Final

from fuzz.hostile import bombs, graphs, oddities, operators, strangers, tensors, texts, wires
from fuzz.wire import Case

FAMILIES: Final[dict[str, Mapping[str, Callable[[], bytes | Case]]]] = {
    "wire": wires.FILES,
    "strangers": strangers.FILES,
    "graphs": graphs.FILES,
    "tensors": tensors.FILES,
    "bombs": bombs.FILES,
    "oddities": oddities.FILES,
    "texts": texts.FILES,
}


def files(systematic: bool = True) -> dict[str, Callable[[], Case]]:
    """All of them by name; `systematic`: also every operator at its extremes."""
    families = {**FAMILIES, **({"operators": operators.files()} if systematic else {})}
    return {f"{family}/{name}": _case(made) for family, shelf in families.items() for name, made in shelf.items()}


def _case(made: Callable[[], bytes | Case]) -> Callable[[], Case]:
    def build() -> Case:
        found = made()
        return found if isinstance(found, Case) else Case(found)

    return build
