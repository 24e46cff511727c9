"""Comparison of the outputs of each node in a run with the types and shapes of the card."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.card import Agreement, Difference
from onnx_autodoc.ops import ValueInfo, format_dims
from onnx_autodoc.runtime.protocol import NodeExecution, NodePath, TensorType
from onnx_autodoc.shapes import Body, Step
from onnx_autodoc.text import pluralize

_MAX_EXAMPLES: Final = 20
_MAX_ALTERNATIVES: Final = 3
_KINDS_WITH_SHAPE: Final = ("tensor", "optional")  # whose shapes onnxruntime reports
_DTYPE_NAMES: Final = {"float": "float32", "double": "float64", "std::string": "string"}
_HALF_TYPES: Final = ("float16", "bfloat16")


class InferredNode(Struct, frozen=True, eq=False):
    """A node of the file with its inferred shapes: one step for each call, branch or iteration that contains it."""

    name: str
    steps: tuple[Step, ...]
    runs: bool


class NodeFinder:
    """Finds nodes by their path; indexes each subgraph once."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
        # by path of the subgraph: its scope, its steps in each pass, whether it runs
        self._subgraphs: dict[NodePath, tuple[str, list[tuple[Step, ...]], bool]] = {(): ("", [steps], True)}

    def find(self, path: NodePath) -> InferredNode | None:
        """Return None for a node inside one that was not analysed."""
        subgraph, index = self._find_subgraph(path[:-1]), path[-1]
        if subgraph is None or not isinstance(index, int):
            return None
        scope, passes, runs = subgraph
        steps = tuple(steps[index] for steps in passes if index < len(steps))
        if not steps:
            return None
        name = steps[0].node.label(steps[0].at)
        return InferredNode(f"{scope}/{name}" if scope else name, steps, runs)

    def _find_subgraph(self, path: NodePath) -> tuple[str, list[tuple[Step, ...]], bool] | None:
        if path not in self._subgraphs:
            parent = self.find(path[:-1])
            if parent is None:
                return None
            bodies = [body for step in parent.steps for body in step.bodies if body.name == path[-1]]
            if not bodies:
                return None
            passes = [steps for body in bodies for steps in (body.passes or (body.steps,))]
            distinct = list({id(steps): steps for steps in passes}.values())
            runs = parent.runs and any(map(_may_run, bodies))
            self._subgraphs[path] = f"{parent.name}/{path[-1]}", distinct, runs
        return self._subgraphs[path]


def compare_executions(facts: Facts, executions: Iterable[NodeExecution], truncated: bool) -> Agreement:
    """Count each node that ran once. A kernel of another operator than the node's replaces it, and is not counted."""
    finder = NodeFinder(facts.shapes.steps)
    verdicts: Counter[str] = Counter()
    examples: list[Difference] = []
    analysed = widened = 0
    for execution in executions:
        node = finder.find(execution.path)
        if node is None:
            verdicts["unknown"] += 1
        elif execution.op == node.steps[0].node.op:
            analysed += 1
            differences = list(find_differences(node, execution))
            verdicts[_judge(node, execution, differences)] += 1
            widened += not differences and _is_widened(node.steps[0], execution)
            examples += differences[: _MAX_EXAMPLES - len(examples)]
    return Agreement(
        executed=verdicts.total(),
        agreed=verdicts["agreed"],
        unknown_to_us=verdicts["unknown"],
        differed=verdicts["differed"],
        unseen=max(_count_running(facts.shapes.steps) - analysed, 0),
        widened=widened,
        examples=tuple(examples),
        notes=("kernels after the first million were not compared: onnxruntime records no more",) if truncated else (),
    )


def _judge(
    node: InferredNode, execution: NodeExecution, differences: list[Difference]
) -> Literal["differed", "agreed", "unknown"]:
    """Nodes agree only if all outputs could be compared and all their types are inferred."""
    if differences:
        return "differed"
    outputs = [known for step in node.steps for name, known in zip(step.node.outputs, step.outputs) if name]
    is_inferred = all(known.kind == "tensor" and known.concrete is not None and known.dtype for known in outputs)
    paired = all(_pair_outputs(node.steps[0], types) for types in execution.outputs)
    return "agreed" if paired and is_inferred else "unknown"


def find_differences(node: InferredNode, execution: NodeExecution) -> Iterator[Difference]:
    """Yield the first difference of each output."""
    op = node.steps[0].node.op
    if not node.runs:
        yield Difference(node.name, op, "", "does not run", f"ran {pluralize(execution.times, 'time')}")
        return
    reported = set[int]()
    for types in execution.outputs:
        for at, name, actual in _pair_outputs(node.steps[0], types):
            inferred = [step.outputs[at] for step in node.steps]
            if at not in reported and not any(_is_compatible(known, actual) for known in inferred):
                reported.add(at)
                texts = list(dict.fromkeys(_type_text(known.dtype or "?", known.shape) for known in inferred))
                more = " or …" if len(texts) > _MAX_ALTERNATIVES else ""
                expected = " or ".join(texts[:_MAX_ALTERNATIVES]) + more
                yield Difference(node.name, op, name, expected, _type_text(*_normalize(actual)))


def _pair_outputs(step: Step, types: tuple[TensorType, ...]) -> list[tuple[int, str, TensorType]]:
    """Pair a node's tensor outputs with those that onnxruntime reported; empty if their numbers differ."""
    named = [at for at, name in enumerate(step.node.outputs) if name]
    for kinds in (_KINDS_WITH_SHAPE, ("tensor",)):
        outputs = [at for at in named if step.outputs[at].kind in kinds]
        if len(outputs) == len(types):
            return [(at, step.node.outputs[at], actual) for at, actual in zip(outputs, types)]
    return []


def _is_compatible(known: ValueInfo, actual: TensorType) -> bool:
    """Return whether the dtype and every inferred dimension are as in the run."""
    if known.kind != "tensor":
        return True
    dtype, dims = _normalize(actual)
    if known.dtype and dtype != known.dtype and not (dtype == "float32" and known.dtype in _HALF_TYPES):
        return False
    if known.shape is None:
        return True
    same = (type(inferred) is not int or inferred == size for inferred, size in zip(known.shape, dims))
    return len(known.shape) == len(dims) and all(same)


def _is_widened(step: Step, execution: NodeExecution) -> bool:
    """Return whether a node of half precision ran in float32."""
    pairs = _pair_outputs(step, execution.outputs[0]) if execution.outputs else []
    return any(step.outputs[at].dtype in _HALF_TYPES and _normalize(actual)[0] == "float32" for at, _, actual in pairs)


def _may_run(body: Body) -> bool:
    return not (type(body.times) is int and body.times == 0)


def _count_running(steps: tuple[Step, ...]) -> int:
    """Count the nodes that run, or may run, by the card."""
    count, pending = 0, [steps]
    while pending:
        level = pending.pop()
        count += len(level)
        pending.extend(body.steps for step in level for body in step.bodies if _may_run(body))
    return count


def _normalize(actual: TensorType) -> TensorType:
    """Spell the dtype as ONNX does; onnxruntime reports 4-bit types in pairs (int4x2)."""
    name, dims = actual
    return _DTYPE_NAMES.get(name, name.lower().removesuffix("x2")), dims


def _type_text(dtype: str, shape: Sequence[object] | None) -> str:
    return f"{dtype} {'of unknown rank' if shape is None else format_dims(shape)}"
