"""An ML-BOM by the CycloneDX specification: the model and its weight files for an inventory.

It contains only what the file proves or declares: no supplier, no training data, no quality metrics. Findings are
annotations of this tool, not vulnerabilities. cyclonedx-python-lib is not used: it writes no model card, sorts
properties by value, and takes 0.3 s to import; tests validate documents with it. Version 1.6 of the specification is
read by more tools than 1.7; documents are valid under both.
"""

import re
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any, Final
from uuid import NAMESPACE_DNS, uuid5

from onnx_autodoc.card import CERTAIN_TASK, Card, ExternalFile, Finding, Port, is_lower_bound
from onnx_autodoc.render.card_text import EVIDENCE, RECOMMENDATION, format_dtype
from onnx_autodoc.render.content import Report
from onnx_autodoc.render.hub_metadata import GNU_LICENSES, SPDX_IDS, license_id
from onnx_autodoc.render.json import format_json
from onnx_autodoc.render.sections.interface import format_dims
from onnx_autodoc.text import format_count, sanitize

_SPEC_VERSION: Final = "1.6"
_SCHEMA: Final = f"http://cyclonedx.org/schema/bom-{_SPEC_VERSION}.schema.json"
_NAMESPACE: Final = uuid5(NAMESPACE_DNS, "onnx-autodoc")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_MAX_TEXT_LENGTH: Final = 1000
_MAX_PROPERTY_LENGTH: Final = 300
_MAX_REPEATED_PROPERTIES: Final = 1000
_MAX_EVIDENCE: Final = 5
_EXACT_GNU_IDS: Final = {
    f"{name}-{suffix}": f"{SPDX_IDS[name]}-{suffix}" for name in GNU_LICENSES for suffix in ("only", "or-later")
}
_STRUCTURE_FIELDS: Final = ("layers", "hidden", "heads", "kv_heads", "vocab", "context")

CardFact = tuple[str, object]  # path in the JSON card, value
BomObject = dict[str, Any]  # of the specification, with the keys of its JSON Schema


def render_cyclonedx(report: Report) -> str:
    """Return the document; its serial number is a hash of its content, so equal inputs give equal documents."""
    digest = uuid5(_NAMESPACE, format_json(_make_bom(report.card)).rstrip())
    return format_json(_make_bom(report.card, f"urn:uuid:{digest}"))


def _make_bom(card: Card, serial_number: str | None = None) -> BomObject:
    model = _model_component(card)
    ref, parts = model["bom-ref"], [part["bom-ref"] for part in model.get("components", ())]
    tool = {"type": "application", "name": sanitize(card.generated.tool), "version": sanitize(card.generated.version)}
    annotation = {"subjects": [ref], "annotator": {"component": tool}, "timestamp": card.generated.at}
    return _object(
        ("$schema", _SCHEMA),
        ("bomFormat", "CycloneDX"),
        ("specVersion", _SPEC_VERSION),
        ("serialNumber", serial_number),
        ("version", 1),
        ("metadata", {"timestamp": card.generated.at, "tools": {"components": [tool]}, "component": model}),
        ("dependencies", [_object(("ref", ref), ("dependsOn", parts)), *({"ref": part} for part in parts)]),
        ("compositions", [{"aggregate": "incomplete", "dependencies": [ref]}]),  # the file names no runtime, no kernels
        ("annotations", [annotation | {"text": text} for text in dict.fromkeys(map(_describe_finding, card.findings))]),
    )


def _object(*fields: tuple[str, object]) -> BomObject:
    """Return an object without the fields that are None or empty lists."""
    return {name: value for name, value in fields if value is not None and value != []}


def _model_component(card: Card) -> BomObject:
    model = card.model
    hashes = _hashes(model.file.sha256)
    # The same in every document on the same file, so that documents can be merged.
    ref = f"model:{hashes[0]['content'] if hashes else sanitize(model.name)}"
    properties = _make_properties((*_cost_facts(card), *_structure_facts(card), *_assumption_facts(card)))
    return _object(
        ("type", "machine-learning-model"),
        ("name", sanitize(model.name)),
        ("bom-ref", ref),
        ("version", str(model.version) if model.version else None),
        ("description", sanitize(card.summary.tldr, _MAX_TEXT_LENGTH)),
        ("hashes", hashes),
        ("licenses", declared_licenses(card.dataset.said.extras.get("license", ""))),
        ("components", [_file_component(f"{ref}#{at}", file) for at, file in enumerate(model.file.external, 1)]),
        ("modelCard", _object(("modelParameters", _model_parameters(card)), ("properties", properties))),
        ("properties", _make_properties(_file_facts(card))),
    )


def _file_component(ref: str, file: ExternalFile) -> BomObject:
    """Return a weight file, of type `file`: `data` would mark training data."""
    facts = (
        ("model.file.external.bytes", file.bytes),
        ("model.file.external.present", "true" if file.present else "false"),
    )
    return _object(
        ("type", "file"),
        ("name", sanitize(file.path, _MAX_TEXT_LENGTH)),
        ("bom-ref", ref),
        ("description", "weights" if file.present else "weights; file not found when this document was generated"),
        ("hashes", _hashes(file.sha256)),
        ("properties", _make_properties(facts)),
    )


def _hashes(sha256: str | None) -> list[BomObject]:
    return [{"alg": "SHA-256", "content": sha256}] if sha256 and _SHA256.fullmatch(sha256) else []


def declared_licenses(text: str) -> list[BomObject]:
    """Return the declared license as SPDX id where it is certainly one, else as declared in the file."""
    text = text.strip()
    if not text:
        return []
    known = _EXACT_GNU_IDS.get(text.lower()) or SPDX_IDS.get(license_id(text) or "")
    return [{"license": {"acknowledgement": "declared", **({"id": known} if known else {"name": sanitize(text)})}}]


def _model_parameters(card: Card) -> BomObject:
    """Return task, family and interface; an uncertain task is only a property."""
    task, family = card.task, card.structure.family
    is_known = family != "unknown"
    return _object(
        ("task", sanitize(task.name) if task.name and task.confidence >= CERTAIN_TASK else None),
        ("architectureFamily", sanitize(family) if is_known else None),
        ("modelArchitecture", sanitize(card.summary.what, _MAX_TEXT_LENGTH) if is_known else None),
        ("inputs", [{"format": _describe_port(port)} for port in card.interface.inputs]),
        ("outputs", [{"format": _describe_port(port)} for port in card.interface.outputs]),
    )


def _describe_port(port: Port) -> str:
    """Describe a declared input or output: "input_ids: int64 [batch, 128], tokens"."""
    role = f", {sanitize(port.role)}" if port.role else ""
    shape = "of undeclared shape" if port.shape is None else format_dims(port.shape)
    return f"{sanitize(port.name)}: {format_dtype(port)} {shape}{role}"


def _describe_finding(finding: Finding) -> str:
    about = f" ({finding.about})" if finding.about else ""
    sentences = [
        f"{finding.severity}, rule {finding.rule}{about}, confidence {finding.confidence}:",
        sanitize(finding.message, _MAX_TEXT_LENGTH).rstrip(".") + ".",
        f"{RECOMMENDATION}: {sanitize(finding.recommendation, _MAX_TEXT_LENGTH).rstrip('.')}.",
    ]
    if finding.evidence:
        left = finding.count - len(finding.evidence[:_MAX_EVIDENCE])
        names = ", ".join(sanitize(name) for name in finding.evidence[:_MAX_EVIDENCE])
        sentences.append(f"{EVIDENCE}: {names}{f' and {format_count(left)} more' if left else ''}.")
    return sanitize(" ".join(sentences), 2 * _MAX_TEXT_LENGTH)


def _make_properties(facts: Iterable[CardFact]) -> list[BomObject]:
    """Return known facts as properties, named by their path in the JSON card."""
    return [
        {"name": sanitize(f"onnx-autodoc:{name}"), "value": sanitize(str(value), _MAX_PROPERTY_LENGTH)}
        for name, value in facts
        if value not in (None, "")
    ]


def _read_facts(card: Card, *paths: str) -> Iterator[CardFact]:
    return ((path, attrgetter(path)(card)) for path in paths)


def _file_facts(card: Card) -> Iterator[CardFact]:
    yield from _read_facts(card, "model.format", "model.file.bytes", "model.ir_version")
    for domain, version in list(card.model.opsets.items())[:_MAX_REPEATED_PROPERTIES]:
        yield "model.opsets", f"{domain} {version}"
    yield from _read_facts(card, "model.producer.name", "model.producer.version", "model.domain")
    for name, text in card.dataset.said.extras.items():
        yield f"dataset.said.extras.{name}", text


def _cost_facts(card: Card) -> Iterator[CardFact]:
    """Yield sizes and costs; a lower bound has another name, so that nobody takes it for the exact figure."""

    def costs(*paths: str) -> Iterator[CardFact]:
        for path, number in _read_facts(card, *paths):
            is_bound = is_lower_bound(card, path.replace(".cheapest", ""))
            yield path + ".at_least" * is_bound, number

    yield from _read_facts(card, "parameters.total", "parameters.bytes")
    for dtype, count in card.parameters.by_dtype.items():
        yield "parameters.by_dtype", f"{dtype} {count}"
    yield from _read_facts(card, "model.precision.label", "model.precision.scheme", "graph.nodes_total")
    yield from costs("compute.macs", "compute.flops")
    if card.compute.cheapest is not None:
        yield from costs("compute.cheapest.macs", "compute.cheapest.flops")
    yield from _read_facts(card, "memory.weights_bytes")
    yield from costs("memory.peak_activation_bytes")
    if card.memory.kv_cache is not None:
        yield from _read_facts(card, "memory.kv_cache.bytes_per_token")


def _structure_facts(card: Card) -> Iterator[CardFact]:
    yield from _read_facts(card, *(f"structure.{name}" for name in _STRUCTURE_FIELDS))
    if card.task.name is not None:
        yield from _read_facts(card, "task.name", "task.confidence", "task.classes")


def _assumption_facts(card: Card) -> Iterator[CardFact]:
    """Yield the sizes that costs are valid for, and what they leave out."""
    for kind, bindings in (("dims", card.assumptions.dims), ("values", card.assumptions.values)):
        for name, value in list(bindings.items())[:_MAX_REPEATED_PROPERTIES]:
            yield f"assumptions.{kind}", f"{sanitize(name)} = {value}"
    for gap in card.gaps[:_MAX_REPEATED_PROPERTIES]:
        yield "gaps", f"{gap.section}: {gap.reason}"
