"""The open dimensions of a model as variables, and bindings with other sizes for them.

Dimensions that always go together are one variable: those of one name, those without a name in one role. A total that
is the sum of past and new tokens is none: it follows. Nor is a size that the graph itself tells.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from onnx_autodoc.ir import Model
from onnx_autodoc.shapes import Binding, Request, Role, bind, open_axes


class Variable(Struct, frozen=True):
    name: str
    keys: tuple[str, ...]  # the dimensions that it sizes, as --dim calls them
    role: Role
    size: int  # in the binding of the card


class Variables:
    def __init__(self, model: Model, binding: Binding) -> None:
        self._model, self._binding = model, binding
        self._follows = self._following()
        self.all = tuple(self._grouped())

    def at(self, sizes: Mapping[str, int]) -> Binding:
        """The card's binding with other sizes for some variables, by name."""
        chosen = {key: size for key, size in self._binding.chosen.items() if key not in self._follows}
        for variable in self.all:
            chosen |= dict.fromkeys(variable.keys, sizes.get(variable.name, variable.size))
        return self._bound(chosen)

    def _bound(self, chosen: Mapping[str, int]) -> Binding:
        request = Request(dims=tuple(f"{key}={size}" for key, size in chosen.items()))
        return structs.replace(bind(self._model, request), values=self._binding.values)

    def _following(self) -> set[str]:
        """Totals that come out as they are on the card where only the others are given."""
        sums = {item.key for item in open_axes(self._model) if item.role is Role.TOTAL or "+" in item.key}
        chosen = self._binding.chosen
        again = self._bound({key: size for key, size in chosen.items() if key not in sums}).chosen
        return {key for key in sums if again.get(key) == chosen.get(key)}

    def _grouped(self) -> Sequence[Variable]:
        found: dict[tuple[Role, str], dict[str, None]] = {}
        sizes, others = self._binding.chosen, self._follows | self._binding.told
        for item in open_axes(self._model):
            if item.key in sizes and item.key not in others:
                found.setdefault((item.role, item.name or item.role.value), {})[item.key] = None
        return [Variable(name, tuple(keys), role, sizes[next(iter(keys))]) for (role, name), keys in found.items()]

    def merged(self) -> None:
        """Variables of one role that the file gives different names, as one: sizes that cannot be told apart."""
        roles: dict[Role, list[Variable]] = {}
        for variable in self.all:
            roles.setdefault(variable.role, []).append(variable)
        self.all = tuple(
            Variable(each[0].name, tuple(key for one in each for key in one.keys), role, each[0].size)
            for role, each in roles.items()
        )

    def kept(self, some: Sequence[Variable]) -> None:
        """Only these; all other sizes stay as they are on the card."""
        self.all = tuple(some)
