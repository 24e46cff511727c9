"""The dynamic dimensions of a model as variables, and bindings with other sizes for them.

Dimensions that always have the same size are one variable: those of one name, and those without a name in one role. A
total that is the sum of past and new tokens is no variable, nor is a size that the graph determines.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from onnx_autodoc.ir import Model
from onnx_autodoc.shapes import Binding, Request, Role, bind, dynamic_axes


class Variable(Struct, frozen=True):
    name: str
    keys: tuple[str, ...]  # the dimensions that it sizes, as --dim names them
    role: Role
    size: int  # in the binding of the card


class SizeVariables:
    def __init__(self, model: Model, binding: Binding) -> None:
        self._model, self._binding, self._axes = model, binding, dynamic_axes(model)
        self._derived = self._find_derived()
        self.all = tuple(self._group())

    def bind(self, sizes: Mapping[str, int]) -> Binding:
        """The card's binding with other sizes for some variables, by name."""
        chosen = {key: size for key, size in self._binding.chosen.items() if key not in self._derived}
        for variable in self.all:
            chosen |= dict.fromkeys(variable.keys, sizes.get(variable.name, variable.size))
        return self._bind(chosen)

    def _bind(self, chosen: Mapping[str, int]) -> Binding:
        binding = bind(self._model, Request(dims=chosen), axes=self._axes)
        return structs.replace(binding, values=self._binding.values)

    def _find_derived(self) -> set[str]:
        """Totals that get the card's size when only the other dimensions are given."""
        sums = {item.key for item in self._axes if item.role is Role.TOTAL or "+" in item.key}
        chosen = self._binding.chosen
        again = self._bind({key: size for key, size in chosen.items() if key not in sums}).chosen
        return {key for key in sums if again.get(key) == chosen.get(key)}

    def _group(self) -> Sequence[Variable]:
        keys: dict[tuple[Role, str], dict[str, None]] = {}
        sizes, excluded = self._binding.chosen, self._derived | self._binding.determined
        for item in self._axes:
            if item.key in sizes and item.key not in excluded:
                keys.setdefault((item.role, item.name or item.role.value), {})[item.key] = None
        return [Variable(name, tuple(each), role, sizes[next(iter(each))]) for (role, name), each in keys.items()]

    def merge_roles(self) -> None:
        """Make variables of one role one, whatever the file names them."""
        roles: dict[Role, list[Variable]] = {}
        for variable in self.all:
            roles.setdefault(variable.role, []).append(variable)
        self.all = tuple(
            Variable(each[0].name, tuple(key for one in each for key in one.keys), role, each[0].size)
            for role, each in roles.items()
        )

    def keep(self, some: Sequence[Variable]) -> None:
        """Vary only these; all other sizes stay as they are on the card."""
        self.all = tuple(some)
