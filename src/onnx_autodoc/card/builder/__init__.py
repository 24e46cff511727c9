"""Build the card from the results of the analysis, section by section."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.analysis import Facts
from onnx_autodoc.analysis.weights import Weights
from onnx_autodoc.architecture import Structure
from onnx_autodoc.card import (
    SCHEMA_VERSION,
    Assumptions,
    Card,
    DatasetSection,
    ExternalFile,
    File,
    FlowRow,
    Gap,
    Generated,
    GraphSection,
    HardwareSection,
    Interface,
    ModelSection,
    Port,
    Producer,
    Resolution,
    Sample,
    StructureSection,
    Summary,
    Verified,
    WeightsSection,
)
from onnx_autodoc.card.builder.cost_sections import (
    compute_section,
    memory_section,
    operator_rows,
    parameters_section,
    scaling_rows,
)
from onnx_autodoc.card.builder.node_rows import add_measured_times, node_rows
from onnx_autodoc.card.summary import summarize
from onnx_autodoc.card.uncertainty import with_uncertainty
from onnx_autodoc.ir import ExternalData, Value
from onnx_autodoc.lint import LintResult
from onnx_autodoc.ops import ValueInfo
from onnx_autodoc.shapes import required_inputs
from onnx_autodoc.text import quote_name

__all__ = ["add_measured_times", "build_card", "node_rows"]

_NOT_HASHED: Final[Mapping[str, str | None]] = {}


def build_card(
    facts: Facts,
    structure: Structure,
    generated: Generated,
    lint: LintResult,
    hashes: Mapping[str, str | None] = _NOT_HASHED,
    weights: Weights | None = None,
    hardware: HardwareSection | None = None,
    measured: Verified | None = None,
    failures: tuple[Gap, ...] = (),
) -> Card:
    """Build the card. `hashes` are those of the model file ("") and of external files by path, where requested.

    `failures` are the gaps of sections that could not be computed.
    """
    findings, unchecked = lint
    structure_gaps = (Gap("structure", structure.gap),) if structure.gap else ()
    lint_gaps = (Gap("findings", f"the rule {rule} could not be checked: {reason}") for rule, reason in unchecked)
    card = Card(
        schema_version=SCHEMA_VERSION,
        generated=generated,
        model=_model_section(facts, hashes),
        interface=_interface_section(facts, structure),
        assumptions=_assumptions(facts),
        graph=_graph_section(facts),
        parameters=parameters_section(facts),
        compute=compute_section(facts, structure.sizes.context),
        memory=memory_section(facts),
        structure=_structure_section(structure),
        task=structure.task,
        dataset=DatasetSection(structure.dataset, structure.contradictions),
        scaling=scaling_rows(facts),
        findings=findings,
        summary=Summary("", "", "", ""),
        gaps=(*facts.gaps, *structure_gaps, *failures, *lint_gaps),
        weights=_weights_section(weights) if weights is not None else None,
        hardware=hardware,
        measured=measured,
    )
    card = with_uncertainty(card, tuple(rule for rule, _ in unchecked))
    return replace(card, summary=summarize(card))


def _weights_section(weights: Weights) -> WeightsSection:
    tensors = tuple(each.numbers for each in weights.tensors)
    return WeightsSection(tensors, weights.bytes_read, sum(each.unread is not None for each in tensors))


def _external_file(item: ExternalData, hashes: Mapping[str, str | None]) -> ExternalFile:
    sha256 = hashes.get(item.path) if item.path else None
    return ExternalFile(item.path, item.nbytes, item.nbytes is not None, sha256, item.reason)


def _model_section(facts: Facts, hashes: Mapping[str, str | None]) -> ModelSection:
    model = facts.model
    external = tuple(_external_file(item, hashes) for item in model.external)
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


def _structure_section(structure: Structure) -> StructureSection:
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


def _interface_section(facts: Facts, structure: Structure) -> Interface:
    values, roles, samples = facts.shapes.values, structure.roles, structure.samples
    return Interface(
        tuple(_port(value, values.get(value.name), roles, samples) for value in required_inputs(facts.model)),
        tuple(_port(value, values.get(value.name), roles, {}) for value in facts.model.graph.outputs),
    )


def _port(value: Value, info: ValueInfo | None, roles: Mapping[str, str], samples: Mapping[str, Sample]) -> Port:
    declared = value.type
    dtype = (declared.dtype if declared else None) or (info.dtype if info else None)
    dims = declared.dims if declared else None
    kind, bound = declared.kind if declared else "tensor", info.concrete if info else None
    return Port(value.name, dtype, dims, roles.get(value.name), kind, bound, samples.get(value.name))


def _assumptions(facts: Facts) -> Assumptions:
    binding = facts.binding
    dims = dict(sorted(binding.chosen.items()))
    values = {name: array.reshape(-1).tolist()[0] for name, array in binding.values.items()}
    notes = list(facts.costs.total.notes)
    if binding.defaults:
        sizes = ", ".join(f"{quote_name(key)} = {binding.sizes[key]}" for key in binding.defaults)
        notes.append(f"default sizes for dynamic dimensions: {sizes}; set them with --batch, --seq, --size or --dim")
    return Assumptions(dims, values, tuple(notes))


def _graph_section(facts: Facts) -> GraphSection:
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
