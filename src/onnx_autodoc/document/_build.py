"""From Facts to the Card: what was measured, section by section."""

from pathlib import Path

from onnx_autodoc.document._costs import compute_section, memory_section, operator_rows, parameters_section
from onnx_autodoc.document._types import (
    SCHEMA_VERSION,
    Assumptions,
    Card,
    ExternalFile,
    File,
    Generated,
    GraphSection,
    Interface,
    ModelSection,
    Port,
    Producer,
    Resolution,
)
from onnx_autodoc.facts import Facts
from onnx_autodoc.graph import Value
from onnx_autodoc.ops import Known
from onnx_autodoc.resolve import inputs_of


def build(facts: Facts, generated: Generated, sha256: str | None = None) -> Card:
    return Card(
        schema_version=SCHEMA_VERSION,
        generated=generated,
        model=_model(facts, sha256),
        interface=_interface(facts),
        assumptions=_assumptions(facts),
        graph=_graph(facts),
        parameters=parameters_section(facts),
        compute=compute_section(facts),
        memory=memory_section(facts),
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
    notes = list(facts.costs.total.notes)
    if binding.defaults:
        sizes = ", ".join(f"{key} = {binding.sizes[key]}" for key in binding.defaults)
        notes.append(f"defaults for open dimensions: {sizes}; set them with --batch, --seq, --size or --dim")
    return Assumptions(dims, values, tuple(notes))


def _graph(facts: Facts) -> GraphSection:
    rows = operator_rows(facts)
    return GraphSection(
        nodes=len(facts.model.graph.nodes),
        nodes_total=facts.nodes_total,
        initializers=len(facts.model.graph.initializers),
        depth=facts.depth,
        operator_types=len(rows),
        operators=rows,
        shapes=Resolution(facts.resolved, facts.outputs),
    )
