"""An ML-BOM: a model and the files of its weights for whoever keeps an inventory, by the CycloneDX specification.

Only what the file proves or states is in it: no supplier, no training data, no measure of how good the model is.
Findings are annotations of this tool: they are opinions on a model, and no vulnerabilities.
"""

import re
from collections.abc import Iterator
from typing import Final
from uuid import NAMESPACE_DNS, uuid5

from msgspec.structs import replace

from onnx_autodoc.card import SURE, Card, ExternalFile, Finding, Port
from onnx_autodoc.render import _bom as bom
from onnx_autodoc.render._bom_facts import file_facts, file_properties, model_properties
from onnx_autodoc.render._bom_license import licenses
from onnx_autodoc.render._report import Report
from onnx_autodoc.render._within import pretty
from onnx_autodoc.render.sections._ports import type_of
from onnx_autodoc.text import clean, count

_NAMESPACE: Final = uuid5(NAMESPACE_DNS, "onnx-autodoc")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_INCOMPLETE: Final = "incomplete"  # a file does not name the runtime and the kernels that it needs
_LONGEST: Final = 1000
_MOST_DIMS: Final = 12
_NAMED: Final = 5  # places that are named in a finding


def render_cyclonedx(report: Report) -> str:
    """Numbered by its own content, so that the same model at the same time is the same document."""
    made = _bom(report.card)
    numbered = replace(made, serial_number=f"urn:uuid:{uuid5(_NAMESPACE, pretty(made).rstrip())}")
    return pretty(numbered)


def _bom(card: Card) -> bom.Bom:
    model = _model(card)
    parts = tuple(part.ref for part in model.components if part.ref)
    ref = model.ref or ""
    return bom.Bom(
        schema=bom.SCHEMA,
        bom_format="CycloneDX",
        spec_version=bom.SPEC_VERSION,
        version=1,
        metadata=bom.Metadata(card.generated.at, bom.Tools((_tool(card),)), model),
        dependencies=(bom.Dependency(ref, parts), *(bom.Dependency(part) for part in parts)),
        compositions=(bom.Composition(_INCOMPLETE, (ref,)),),
        annotations=tuple(dict.fromkeys(_annotation(card, ref, finding) for finding in card.findings)),
    )


def _tool(card: Card) -> bom.Component:
    return bom.Component("application", clean(card.generated.tool), version=clean(card.generated.version))


def _model(card: Card) -> bom.Component:
    model, ref = card.model, _ref(card)
    return bom.Component(
        type="machine-learning-model",
        name=clean(model.name),
        ref=ref,
        version=str(model.version) if model.version else None,
        description=clean(card.summary.tldr, _LONGEST),
        hashes=_hashes(model.file.sha256),
        licenses=licenses(card.dataset.said.extras.get("license", "")),
        components=tuple(_part(f"{ref}#{at}", file) for at, file in enumerate(model.file.external, 1)),
        model_card=bom.ModelCard(_parameters(card), model_properties(card)),
        properties=file_properties(card),
    )


def _ref(card: Card) -> str:
    """The same in every document on the same file, and another one for another file, so that they can be merged."""
    known = _hashes(card.model.file.sha256)
    return f"model:{known[0].content if known else clean(card.model.name)}"


def _part(ref: str, file: ExternalFile) -> bom.Component:
    """A `file`, not `data`: that is the type by which such documents list what a model was trained on."""
    return bom.Component(
        type="file",
        name=clean(file.path, _LONGEST),
        ref=ref,
        description="weights" if file.present else "weights; absent when this document was made",
        hashes=_hashes(file.sha256),
        properties=file_facts(file),
    )


def _hashes(sha256: str | None) -> tuple[bom.Hash, ...]:
    return (bom.Hash("SHA-256", sha256),) if sha256 and _SHA256.fullmatch(sha256) else ()


def _parameters(card: Card) -> bom.ModelParameters:
    """How it was learned and from what is not in a file. What is only probable is among the properties."""
    task, family = card.task, card.structure.family
    known = family != "unknown"
    return bom.ModelParameters(
        task=clean(task.name) if task.name and task.confidence >= SURE else None,
        architecture_family=clean(family) if known else None,
        model_architecture=clean(card.summary.what, _LONGEST) if known else None,
        inputs=tuple(map(_format, card.interface.inputs)),
        outputs=tuple(map(_format, card.interface.outputs)),
    )


def _format(port: Port) -> bom.InputOutput:
    """`input_ids: int64 [batch, 128], tokens`: what the file declares."""
    role = f", {clean(port.role)}" if port.role else ""
    return bom.InputOutput(f"{clean(port.name)}: {type_of(port)}{_shape(port)}{role}")


def _shape(port: Port) -> str:
    if port.shape is None:
        return " of undeclared shape"
    sizes = ["?" if dim is None else clean(str(dim), 40) for dim in port.shape[:_MOST_DIMS]]
    return f" [{', '.join([*sizes, *(['…'] if len(port.shape) > _MOST_DIMS else [])])}]"


def _annotation(card: Card, ref: str, finding: Finding) -> bom.Annotation:
    text = clean(" ".join(_sentences(finding)), 2 * _LONGEST)
    return bom.Annotation((ref,), bom.Annotator(_tool(card)), card.generated.at, text)


def _sentences(finding: Finding) -> Iterator[str]:
    about = f" ({finding.about})" if finding.about else ""
    yield f"{finding.severity}, rule {finding.rule}{about}, confidence {finding.confidence}:"
    yield clean(finding.message, _LONGEST).rstrip(".") + "."
    yield f"What to do: {clean(finding.recommendation, _LONGEST).rstrip('.')}."
    if finding.evidence:
        left = finding.count - len(finding.evidence[:_NAMED])
        named = ", ".join(clean(name) for name in finding.evidence[:_NAMED])
        yield f"Where: {named}{f' and {count(left)} more' if left else ''}."
