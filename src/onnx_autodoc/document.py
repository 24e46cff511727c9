"""The published document: plain data, the only thing that renderers see.

Its keys are a contract (schema/card-1.json is generated from these types): add to them, rename nothing. Base units:
bytes, counts, shares from 0 to 1. None means not applicable or not known; `gaps` and `assumptions` say which.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from onnx_autodoc.errors import LimitReached
from onnx_autodoc.facts import Facts, Gap, Precision
from onnx_autodoc.graph import Value
from onnx_autodoc.ops import Known
from onnx_autodoc.resolve import Step, inputs_of

SCHEMA_VERSION = "1.0"
MOST_ROWS = 100_000  # and eight for each node of the file: functions that call functions can ask for any number


class Generated(Struct, frozen=True):
    tool: str
    version: str
    at: str


class ExternalFile(Struct, frozen=True):
    path: str
    bytes: int | None
    present: bool


class File(Struct, frozen=True):
    bytes: int
    sha256: str | None
    external: tuple[ExternalFile, ...]


class Producer(Struct, frozen=True):
    name: str | None
    version: str | None


class ModelSection(Struct, frozen=True):
    name: str
    format: str
    file: File
    ir_version: int | None
    opsets: dict[str, int]
    producer: Producer
    domain: str | None
    version: int | None
    doc: str | None
    metadata: dict[str, str]
    precision: Precision


class Port(Struct, frozen=True):
    """An input or an output. `shape` is what the file declares, `bound` what it is under the assumptions."""

    name: str
    dtype: str | None
    shape: tuple[int | str | None, ...] | None
    role: str | None
    kind: str
    bound: tuple[int, ...] | None


class Interface(Struct, frozen=True):
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


class Assumptions(Struct, frozen=True):
    dims: dict[str, int]
    values: dict[str, int | float]
    notes: tuple[str, ...]


class OperatorRow(Struct, frozen=True):
    op: str
    domain: str
    count: int
    share: float
    params: int | None = None
    weight_bytes: int | None = None
    macs: int | None = None
    flops: int | None = None


class Resolution(Struct, frozen=True):
    """Of how many node outputs that run the concrete shape is known."""

    resolved: int
    outputs: int


class GraphSection(Struct, frozen=True):
    nodes: int
    nodes_total: int
    initializers: int
    depth: int
    operator_types: int
    operators: tuple[OperatorRow, ...]
    shapes: Resolution


class Card(Struct, frozen=True):
    schema_version: str
    generated: Generated
    model: ModelSection
    interface: Interface
    assumptions: Assumptions
    graph: GraphSection
    gaps: tuple[Gap, ...]


class OutputCell(Struct, frozen=True):
    name: str
    dtype: str | None
    shape: tuple[int, ...] | None


class NodeRow(Struct, frozen=True):
    """One node of the file. What later measurements fill in is None until then."""

    scope: str
    name: str
    op: str
    domain: str
    outputs: tuple[OutputCell, ...]
    params: int | None = None
    macs: int | None = None
    flops: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    block: str | None = None
    gap: str | None = None


def build(facts: Facts, generated: Generated, sha256: str | None = None) -> Card:
    return Card(
        schema_version=SCHEMA_VERSION,
        generated=generated,
        model=_model(facts, sha256),
        interface=_interface(facts),
        assumptions=_assumptions(facts),
        graph=_graph(facts),
        gaps=facts.gaps,
    )


def _model(facts: Facts, sha256: str | None) -> ModelSection:
    model = facts.model
    external = tuple(ExternalFile(item.path, item.nbytes, item.nbytes is not None) for item in model.external)
    return ModelSection(
        name=Path(model.path).name,
        format="onnx",
        file=File(model.nbytes, sha256, external),
        ir_version=model.ir_version,
        opsets={domain or "ai.onnx": version for domain, version in sorted(model.opsets.items())},
        producer=Producer(model.producer or None, model.producer_version or None),
        domain=model.domain or None,
        version=model.version,
        doc=model.doc or None,
        metadata=dict(model.metadata),
        precision=facts.precision,
    )


def _interface(facts: Facts) -> Interface:
    known = facts.shapes.values
    return Interface(
        tuple(_port(value, known.get(value.name)) for value in inputs_of(facts.model)),
        tuple(_port(value, known.get(value.name)) for value in facts.model.graph.outputs),
    )


def _port(value: Value, known: Known | None) -> Port:
    declared = value.type
    dtype = (declared.dtype if declared else None) or (known.dtype if known else None)
    dims = declared.dims if declared else None
    return Port(
        value.name, dtype, dims, None, declared.kind if declared else "tensor", known.concrete if known else None
    )


def _assumptions(facts: Facts) -> Assumptions:
    binding = facts.binding
    dims = dict(sorted(binding.chosen.items()))
    values = {name: array.reshape(-1).tolist()[0] for name, array in binding.values.items()}
    notes = []
    if binding.defaults:
        sizes = ", ".join(f"{key} = {binding.sizes[key]}" for key in binding.defaults)
        notes.append(f"defaults for open dimensions: {sizes}; set them with --batch, --seq, --size or --dim")
    return Assumptions(dims, values, tuple(notes))


def _graph(facts: Facts) -> GraphSection:
    total = facts.nodes_total
    rows = tuple(OperatorRow(op, domain or "ai.onnx", count, count / total) for domain, op, count in facts.operators)
    return GraphSection(
        nodes=len(facts.model.graph.nodes),
        nodes_total=total,
        initializers=len(facts.model.graph.initializers),
        depth=facts.depth,
        operator_types=len(rows),
        operators=rows,
        shapes=Resolution(facts.resolved, facts.outputs),
    )


def node_rows(facts: Facts) -> Iterator[NodeRow]:
    """Every node in file order, what is inside a node right after it, a function's nodes after each of its calls."""
    most = MOST_ROWS + 8 * facts.nodes_total
    for at, (scope, step) in enumerate(facts.shapes.rows()):
        if at >= most:
            raise LimitReached(f"{facts.model.path}: with functions listed at every call there are over {most:,} nodes")
        yield NodeRow(scope, step.node.name, step.node.op, step.node.domain, _cells(step), gap=step.gap or None)


def _cells(step: Step) -> tuple[OutputCell, ...]:
    named = zip(step.node.outputs, step.outputs)
    return tuple(OutputCell(name, known.dtype, known.concrete) for name, known in named)
