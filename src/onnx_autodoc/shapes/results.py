"""The result of shape inference: types, dims and small values of every node's inputs and outputs, for one binding."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct, field

from onnx_autodoc.ir import Deep, Node, deeply
from onnx_autodoc.ops import Dim, ValueInfo, unknown_value
from onnx_autodoc.shapes.call_cache import CallCache
from onnx_autodoc.text import quote_name, repr_name


class Body(Struct, frozen=True, eq=False):
    """One run of a subgraph or function inside a node: `times` is 0 for a branch that is not taken."""

    name: str  # the attribute that holds the subgraph, or the function's name
    steps: "tuple[Step, ...]"
    times: Dim = 1
    either: bool = False  # one of several branches, selected by the data
    least: int = 0  # a lower bound where `times` is unknown
    passes: "tuple[tuple[Step, ...], ...]" = ()  # the steps of each pass, where the loop was unrolled


class Step(Struct, frozen=True, eq=False):
    """One node of the file with its inferred inputs and outputs. `gap` is the reason for an unknown output."""

    node: Node
    at: int  # its index in its graph
    inputs: tuple[ValueInfo | None, ...]
    outputs: tuple[ValueInfo, ...]
    gap: str = ""
    bodies: tuple[Body, ...] = ()
    version: int | None = None  # of the operator set of the node's domain
    call_id: int = 0  # equal for equal calls (with equal costs) of one `CallCache`; 0 where that is unknown


class Conflict(Struct, frozen=True):
    """Something in the file that contradicts the shapes of its nodes."""

    code: Literal["cannot-run", "undefined", "misdeclared"]
    subject: str  # the label of a node that cannot run, else the name of a value
    reason: str = ""  # why the node cannot run
    declared: str = ""  # the value's shape in the file
    inferred: str = ""  # the value's inferred shape

    @property
    def sentence(self) -> str:
        return _SENTENCES[self.code].format(
            quoted=quote_name(self.subject),
            literal=repr_name(self.subject),
            reason=self.reason,
            declared=self.declared,
            inferred=self.inferred,
        )


_SENTENCES: Final = {
    "cannot-run": "{quoted}: {reason}",
    "undefined": "{literal} is used but never defined",
    "misdeclared": "the file declares {quoted} as {declared}, but its inferred shape is {inferred}",
}


class Shapes(Struct, frozen=True, eq=False):
    steps: tuple[Step, ...]
    values: Mapping[str, ValueInfo]  # the main graph's values by name
    contradictions: tuple[Conflict, ...] = ()  # nodes that cannot run, and undefined values
    misdeclared: tuple[Conflict, ...] = ()
    assumed: tuple[str, ...] = ()  # values whose shape is only declared, for lack of a rule
    work: int = 0  # number of rules applied
    avoided: tuple[Conflict, ...] = ()  # contradictions in branches that therefore do not run
    calls: CallCache = field(default_factory=CallCache)  # for inference of the same model at other sizes

    def rows(self) -> Iterator[tuple[str, Step]]:
        """Yield every step with its scope, in file order, the steps inside a node right after it."""
        stack = [("", iter(self.steps))]
        while stack:
            scope, steps = stack[-1]
            step = next(steps, None)
            if step is None:
                stack.pop()
                continue
            yield scope, step
            if step.bodies:
                path = f"{scope}/{step.node.label(step.at)}" if scope else step.node.label(step.at)
                stack.extend((f"{path}/{body.name}", iter(body.steps)) for body in reversed(step.bodies))


def skip_steps(nodes: Sequence[Node], why: str) -> tuple[Step, ...]:
    """Return steps without inference, subgraphs included, for nodes that do not run or are not inferred."""
    return deeply(_skip_steps(nodes, why))


def _skip_steps(nodes: Sequence[Node], why: str) -> Deep[tuple[Step, ...]]:
    steps = []
    for at, node in enumerate(nodes):
        bodies = []
        for name, graph in node.subgraphs() if node.has_subgraphs else ():
            bodies.append(Body(name, (yield _skip_steps(graph.nodes, why)), 0))
        outputs = (unknown_value(why),) * len(node.outputs)
        steps.append(Step(node, at, (None,) * len(node.inputs), outputs, why, tuple(bodies)))
    return tuple(steps)


def find_gap(outputs: Sequence[ValueInfo]) -> str:
    """Return the reason for the first tensor whose shape is not fully known; empty if there is none."""
    return next((known.reason for known in outputs if known.kind == "tensor" and known.reason), "")
