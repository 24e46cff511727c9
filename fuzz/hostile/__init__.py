"""Hostile files, each with another defect. A family is a module with `FILES` and a line in `FAMILIES`."""

from collections.abc import Callable, Mapping
from typing import Final

from fuzz.hostile import (
    differentials,
    foreign_files,
    graphs,
    large_models,
    operators,
    resource_bombs,
    tensors,
    texts,
    unusual_models,
    wire_formats,
)
from fuzz.wire import Case

FAMILIES: Final[dict[str, Mapping[str, Callable[[], bytes | Case]]]] = {
    "wire": wire_formats.FILES,
    "differentials": differentials.FILES,
    "foreign": foreign_files.FILES,
    "graphs": graphs.FILES,
    "tensors": tensors.FILES,
    "bombs": resource_bombs.FILES,
    "large": large_models.FILES,
    "oddities": unusual_models.FILES,
    "texts": texts.FILES,
}


def hostile_files(systematic: bool = True) -> dict[str, Callable[[], Case]]:
    """Return a builder of each file by name; `systematic` includes every operator with extreme attributes."""
    families = {**FAMILIES, **({"operators": operators.make_files()} if systematic else {})}
    return {
        f"{family}/{name}": _with_case(make) for family, members in families.items() for name, make in members.items()
    }


def _with_case(make: Callable[[], bytes | Case]) -> Callable[[], Case]:
    def build() -> Case:
        content = make()
        return content if isinstance(content, Case) else Case(content)

    return build
