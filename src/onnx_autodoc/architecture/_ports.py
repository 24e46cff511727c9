"""Inputs and outputs as boxes: those that one would name, and one box for the many that are alike."""

from typing import Final

from onnx_autodoc.architecture._boxes import Box, Edge, edge
from onnx_autodoc.architecture._diagram_groups import Group, Sketch
from onnx_autodoc.patterns import Net

_MOST: Final = 5  # that are drawn one by one


class Ports:
    def __init__(self, net: Net, roles: dict[str, str]) -> None:
        self._net = net
        used = {name: value for name, value in net.inputs.items() if net.readers[value] or value in net.leaving}
        self._inputs = _folded(net, used, roles)
        self._outputs = _folded(net, net.outputs, roles)
        self.givers = tuple(_port("input", names, roles) for names in self._inputs.values())
        self.takers = tuple(_port("output", names, roles) for names in self._outputs.values())
        self.count = len(self.givers) + len(self.takers)

    def edges(self, sketch: Sketch, ids: dict[Group, str]) -> list[Edge]:
        return [*self._entering(sketch, ids), *self._leaving(sketch, ids)]

    def _entering(self, sketch: Sketch, ids: dict[Group, str]) -> list[Edge]:
        homes = {name: home for home, names in self._inputs.items() for name in names}
        found: dict[tuple[str, str], Edge] = {}
        for group in sketch.groups:
            for term in group.terms:
                for value in self._net.varying(term):
                    for name in sketch.names(value):
                        key = (_id("in", homes[name]), ids[group])
                        found.setdefault(key, edge(self._net, *key, self._net.inputs[name]))
        return list(found.values())

    def _leaving(self, sketch: Sketch, ids: dict[Group, str]) -> list[Edge]:
        found: dict[tuple[str, str], Edge] = {}
        homes = {name: home for home, names in self._inputs.items() for name in names}
        for home, names in self._outputs.items():
            for name in names:
                value = self._net.outputs[name]
                group = sketch.maker(value)
                givers = [ids[group]] if group is not None else [_id("in", homes[each]) for each in sketch.names(value)]
                for giver in givers:
                    found.setdefault((giver, home), edge(self._net, giver, _id("out", home), value))
        return list(found.values())


def _id(side: str, name: str) -> str:
    return f"{side}:{name}"


def _port(kind: str, names: list[str], roles: dict[str, str]) -> Box:
    """States of a decoder are many of one kind; other ports are only many."""
    name, role = names[0], roles.get(names[0])
    alike = len({roles.get(each) for each in names}) == 1 and role is not None
    label = name if alike or len(names) == 1 else f"{name} + {len(names) - 1} more"
    side = "in" if kind == "input" else "out"
    return Box(_id(side, name), kind, label, role, len(names) if alike else 1, 0, 0, 0.0, 0, False, (), ())


def _folded(net: Net, values: dict[str, int], roles: dict[str, str]) -> dict[str, list[str]]:
    """Names by the box that they are drawn in. Past and present states are many and alike: one box for them."""
    if len(values) <= _MOST:
        return {name: [name] for name in values}
    alike: dict[tuple[object, ...], list[str]] = {}
    for name, value in values.items():
        known = net.knowns[value]
        mark = (roles.get(name), known.dtype if known is not None else None, net.shape(value))
        alike.setdefault(mark, []).append(name)
    groups = sorted(alike.values(), key=len)
    shown = {names[0]: names for names in groups[:_MOST]}
    rest = [name for names in groups[_MOST:] for name in names]
    return shown | ({rest[0]: rest} if rest else {})
