"""From Facts to the Card: what was measured, section by section."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.analysis import Facts, Gap
from onnx_autodoc.analysis.weights import Weights
from onnx_autodoc.architecture import Sample, Structure
from onnx_autodoc.card._costs import (
    compute_section,
    memory_section,
    operator_rows,
    parameters_section,
    scaling_rows,
)
from onnx_autodoc.card._summary import summary_of
from onnx_autodoc.card._types import (
    SCHEMA_VERSION,
    Assumptions,
    Card,
    DatasetSection,
    ExternalFile,
    File,
    FlowRow,
    Generated,
    GraphSection,
    Interface,
    ModelSection,
    Port,
    Producer,
    Resolution,
    StructureSection,
    Summary,
)
from onnx_autodoc.card._weight_types import WeightsSection
from onnx_autodoc.hardware import HardwareSection
from onnx_autodoc.ir import External, Value
from onnx_autodoc.lint import Judged
from onnx_autodoc.ops import Known
from onnx_autodoc.runtime import Verified
from onnx_autodoc.shapes import inputs_of
from onnx_autodoc.text import told

_NOT_HASHED: Final[Mapping[str, str | None]] = {}


def build(
    facts: Facts,
    structure: Structure,
    generated: Generated,
    judged: Judged,
    hashes: Mapping[str, str | None] = _NOT_HASHED,
    weights: Weights | None = None,
    hardware: HardwareSection | None = None,
    measured: Verified | None = None,
    lost: tuple[Gap, ...] = (),
) -> Card:
    """`hashes` are of the model's own file ("") and of external ones by path, where they were asked for.

    `lost` are parts that could not be made.
    """
    findings, unchecked = judged
    made = Card(
        schema_version=SCHEMA_VERSION,
        generated=generated,
        model=_model(facts, hashes),
        interface=_interface(facts, structure),
        assumptions=_assumptions(facts),
        graph=_graph(facts),
        parameters=parameters_section(facts),
        compute=compute_section(facts, structure.sizes.context),
        memory=memory_section(facts),
        structure=structure_section(structure),
        task=structure.task,
        dataset=DatasetSection(structure.dataset, structure.contradictions),
        scaling=scaling_rows(facts),
        findings=findings,
        summary=Summary("", "", "", ""),
        gaps=(*facts.gaps, *_structure_gaps(structure), *lost, *unchecked),
        weights=_weights(weights) if weights is not None else None,
        hardware=hardware,
        measured=measured,
    )
    return replace(made, summary=summary_of(made))


def _weights(weights: Weights) -> WeightsSection:
    tensors = tuple(each.numbers for each in weights.tensors)
    return WeightsSection(tensors, weights.bytes_read, sum(each.unread is not None for each in tensors))


def _beside(item: External, hashes: Mapping[str, str | None]) -> ExternalFile:
    sha256 = hashes.get(item.path) if item.path else None
    return ExternalFile(item.path, item.nbytes, item.nbytes is not None, sha256, item.reason)


def _model(facts: Facts, hashes: Mapping[str, str | None]) -> ModelSection:
    model = facts.model
    external = tuple(_beside(item, hashes) for item in model.external)
    return ModelSection(
        name=Path(model.path).name,
        format="onnx",
        file=File(model.nbytes, hashes.get(""), external),
        ir_version=model.ir_version,
        opsets={domain or "ai.onnx": version for domain, version in sorted(model.opsets.items())},
        producer=Producer(model.producer or None, model.producer_version or None),
        domain=model.domain or None,
        version=model.version,
        doc=model.doc or None,
        metadata=dict(model.metadata),
        precision=facts.precision,
    )


def structure_section(structure: Structure) -> StructureSection:
    sizes = structure.sizes
    return StructureSection(
        family=structure.family.name,
        layers=sizes.layers,
        hidden=sizes.hidden,
        heads=sizes.heads,
        kv_heads=sizes.kv_heads,
        head_dim=sizes.head_dim,
        vocab=sizes.vocab,
        context=sizes.context,
        patch=sizes.patch,
        blocks=structure.blocks,
        attention=structure.attention,
        in_float=structure.in_float,
        residuals=structure.residuals,
        work=structure.work,
        tree=structure.tree,
        evidence=structure.family.evidence,
    )


def _structure_gaps(structure: Structure) -> tuple[Gap, ...]:
    return (Gap("structure", structure.gap),) if structure.gap else ()


def _interface(facts: Facts, structure: Structure) -> Interface:
    known, roles, samples = facts.shapes.values, structure.roles, structure.samples
    return Interface(
        tuple(_port(value, known.get(value.name), roles, samples) for value in inputs_of(facts.model)),
        tuple(_port(value, known.get(value.name), roles, {}) for value in facts.model.graph.outputs),
    )


def _port(value: Value, known: Known | None, roles: Mapping[str, str], samples: Mapping[str, Sample]) -> Port:
    declared = value.type
    dtype = (declared.dtype if declared else None) or (known.dtype if known else None)
    dims = declared.dims if declared else None
    kind, bound = declared.kind if declared else "tensor", known.concrete if known else None
    return Port(value.name, dtype, dims, roles.get(value.name), kind, bound, samples.get(value.name))


def _assumptions(facts: Facts) -> Assumptions:
    binding = facts.binding
    dims = dict(sorted(binding.chosen.items()))
    values = {name: array.reshape(-1).tolist()[0] for name, array in binding.values.items()}
    notes = list(facts.costs.total.notes)
    if binding.defaults:
        sizes = ", ".join(f"{told(key)} = {binding.sizes[key]}" for key in binding.defaults)
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
        flow=tuple(FlowRow(source, target, count) for source, target, count in facts.flow),
        shapes=Resolution(facts.resolved, facts.outputs),
    )
