"""What resolving a model gives: every node's inputs and outputs, for one binding of the open dimensions."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import Node, label
from onnx_autodoc.ops import Dim, Known

ONCE: Final = 1


class Body(Struct, frozen=True, eq=False):
    """One run of a subgraph or function inside a node: `times` is 0 for a branch that is not taken."""

    name: str  # the attribute that holds the subgraph, or the function's name
    steps: "tuple[Step, ...]"
    times: Dim = ONCE
    either: bool = False  # one of several branches, and the data decides which
    least: int = 0  # how often it surely runs, where `times` is not known
    passes: "tuple[tuple[Step, ...], ...]" = ()  # each pass of its own, where they differ and were followed


class Step(Struct, frozen=True, eq=False):
    """One node of the file with all that is known of what goes in and out. `gap` says why something is not known."""

    node: Node
    at: int  # its place in its graph
    inputs: tuple[Known | None, ...]
    outputs: tuple[Known, ...]
    gap: str = ""
    bodies: tuple[Body, ...] = ()
    version: int | None = None  # of the operator set of the node's domain


class Shapes(Struct, frozen=True, eq=False):
    steps: tuple[Step, ...]
    values: Mapping[str, Known]  # the main graph's values by name
    contradictions: tuple[str, ...] = ()  # nodes that cannot run as the file has them
    misdeclared: tuple[str, ...] = ()  # values that the file declares otherwise than its nodes make them
    assumed: tuple[str, ...] = ()  # values whose shape is the file's own claim
    work: int = 0  # rules that were applied
    avoided: tuple[str, ...] = ()  # nodes that cannot run, in branches that then are not the ones that run

    def rows(self) -> Iterator[tuple[str, Step]]:
        """Every step with its scope, in file order, the steps inside a node right after it."""
        stack = [("", iter(self.steps))]
        while stack:
            scope, steps = stack[-1]
            step = next(steps, None)
            if step is None:
                stack.pop()
                continue
            yield scope, step
            if step.bodies:
                path = f"{scope}/{label(step.node, step.at)}" if scope else label(step.node, step.at)
                stack.extend((f"{path}/{body.name}", iter(body.steps)) for body in reversed(step.bodies))
