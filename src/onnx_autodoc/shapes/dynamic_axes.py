"""The dynamic axes of a model's inputs: their names and roles, and inputs that select a branch."""

from collections.abc import Collection, Iterator

import numpy as np
from msgspec import Struct, structs

from onnx_autodoc.ir import Model, Node, Value
from onnx_autodoc.ops import Array, Trait, has_trait
from onnx_autodoc.shapes.roles import Role, dim_name, role_of


class DynamicAxis(Struct, frozen=True):
    value: Value
    axis: int
    name: str | None
    role: Role

    @property
    def key(self) -> str:
        """Its name on the card and in --dim."""
        return self.name or f"{self.value.name}.{self.axis}"


def required_inputs(model: Model) -> list[Value]:
    """Return the inputs without a default: an initializer of the same name is one."""
    defaults = {tensor.name for tensor in model.graph.initializers}
    return [value for value in model.graph.inputs if value.name not in defaults]


def dynamic_axes(model: Model) -> list[DynamicAxis]:
    """Return the dynamic axes of all inputs. Axes of one name have one role, that of the most reliable place."""
    axes = list(_dynamic_axes(model))
    first: dict[str, DynamicAxis] = {}
    for item in axes:
        if item.key not in first or (_is_unreliable(first[item.key]) and not _is_unreliable(item)):
            first[item.key] = item
    return [structs.replace(item, role=first[item.key].role) for item in axes]


def _is_unreliable(item: DynamicAxis) -> bool:
    """Whether its place says little: a mask may cover the past or not, the only axis of a list may be no batch."""
    is_only = item.value.type is not None and len(item.value.type.dims or ()) == 1
    return item.role in (Role.TOTAL, Role.OTHER) or (item.role is Role.BATCH and is_only)


def _dynamic_axes(model: Model) -> Iterator[DynamicAxis]:
    for value in required_inputs(model):
        for axis, dim in enumerate((value.type.dims if value.type else None) or ()):
            role = role_of(value, axis)
            if not is_fixed(dim, role):
                yield DynamicAxis(value, axis, dim_name(dim), role)


def is_fixed(dim: int | str | None, role: Role) -> bool:
    """Whether a declared dimension has a size. Some exporters write 0 for a dynamic one; only a cache may be empty."""
    return isinstance(dim, int) and (dim > 0 or role is Role.PAST)


def branch_flags(model: Model, inputs: Collection[Value], past: Collection[str]) -> dict[str, Array]:
    """Return boolean inputs that alone select between a branch that reads the past and one that does not.

    They are set so that the past is read: default sizes are those of a run over a past.
    """
    flags = {value.name: value for value in inputs if value.type is not None and value.type.dtype == "bool"}
    values: dict[str, Array] = {}
    for node in model.graph.nodes if flags else ():
        if not (node.has_subgraphs and node.is_op("If") and node.inputs):
            continue
        flag = flags.get(model.graph.index.trace_back(node.inputs[0], _keeps_scalar))
        if flag is None or flag.type is None:
            continue
        reads_past = {name: not graph.captures.isdisjoint(past) for name, graph in node.subgraphs()}
        dims = flag.type.dims or ()
        if len(set(reads_past.values())) == 2 and all(dim == 1 for dim in dims):
            values[flag.name] = np.full((1,) * len(dims), reads_past.get("then_branch", False))
    return values


def _keeps_scalar(node: Node) -> bool:
    return has_trait(node, Trait.KEEPS_SCALAR)
