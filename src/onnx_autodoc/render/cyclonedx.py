"""An ML-BOM by the CycloneDX specification: the model and its weight files for an inventory.

It contains only what the file proves or declares: no supplier, no training data, no quality metrics. Findings are
annotations of this tool, not vulnerabilities. cyclonedx-python-lib is not used: it writes no model card, sorts
properties by value, and takes 0.3 s to import; tests validate documents with it. Version 1.6 of the specification is
read by more tools than 1.7; documents are valid under both.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final
from uuid import NAMESPACE_DNS, uuid5

from onnx_autodoc.card import CERTAIN_TASK, Card, ExternalFile, Finding, Port, is_lower_bound
from onnx_autodoc.render.card_text import EVIDENCE, RECOMMENDATION, format_dtype
from onnx_autodoc.render.content import Report
from onnx_autodoc.render.hub_metadata import license_id
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
_GNU_LICENSES: Final = ("AGPL-3.0", "GPL-2.0", "GPL-3.0", "LGPL-2.1", "LGPL-3.0")
_EXACT_GNU_IDS: Final = {
    f"{name}-{suffix}".lower(): f"{name}-{suffix}" for name in _GNU_LICENSES for suffix in ("only", "or-later")
}
# The Hub's licenses that are SPDX ids, as SPDX writes them. GNU ids without "only" or "or-later" are deprecated, but
# they are all that a file declares that states no more.
_SPDX_NAMES: Final = """
    AFL-3.0 AGPL-3.0 Apache-2.0 Artistic-2.0 BSD-2-Clause BSD-3-Clause BSD-3-Clause-Clear BSL-1.0 CC-BY-2.0 CC-BY-2.5
    CC-BY-3.0 CC-BY-4.0 CC-BY-NC-2.0 CC-BY-NC-3.0 CC-BY-NC-4.0 CC-BY-NC-ND-3.0 CC-BY-NC-ND-4.0 CC-BY-NC-SA-2.0
    CC-BY-NC-SA-3.0 CC-BY-NC-SA-4.0 CC-BY-ND-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0 CC0-1.0 CDLA-Permissive-1.0
    CDLA-Permissive-2.0 CDLA-Sharing-1.0 ECL-2.0 EPL-1.0 EPL-2.0 etalab-2.0 EUPL-1.1 GPL-2.0 GPL-3.0 ISC LGPL-2.1
    LGPL-3.0 LPPL-1.3c MIT MPL-2.0 MS-PL NCSA OFL-1.1 OSL-3.0 PostgreSQL Unlicense WTFPL Zlib
"""
SPDX_IDS: Final = {name.lower(): name for name in _SPDX_NAMES.split()}

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
        ("description", "weights" if file.present else "weights; absent when this document was made"),
        ("hashes", _hashes(file.sha256)),
        ("properties", _make_properties(facts)),
    )


def _hashes(sha256: str | None) -> list[BomObject]:
    return [{"alg": "SHA-256", "content": sha256}] if sha256 and _SHA256.fullmatch(sha256) else []


def declared_licenses(text: str) -> list[BomObject]:
    """Return the declared license as SPDX id where it is certainly one, else in the words of the file."""
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
    known = ((name, str(value)) for name, value in facts if value not in (None, ""))
    return [
        {"name": sanitize(f"onnx-autodoc:{name}"), "value": sanitize(text, _MAX_PROPERTY_LENGTH)}
        for name, text in known
    ]


def _file_facts(card: Card) -> Iterator[CardFact]:
    model = card.model
    yield "model.format", model.format
    yield "model.file.bytes", model.file.bytes
    yield "model.ir_version", model.ir_version
    for domain, version in list(model.opsets.items())[:_MAX_REPEATED_PROPERTIES]:
        yield "model.opsets", f"{domain} {version}"
    yield "model.producer.name", model.producer.name
    yield "model.producer.version", model.producer.version
    yield "model.domain", model.domain
    for name, text in card.dataset.said.extras.items():
        yield f"dataset.said.extras.{name}", text


def _cost_facts(card: Card) -> Iterator[CardFact]:
    """Yield sizes and costs; a lower bound has a name of its own, so that nobody takes it for the exact figure."""

    def bounded(path: str, bound_of: str = "") -> str:
        return path + ".at_least" * is_lower_bound(card, bound_of or path)

    held, precision, compute, used = card.parameters, card.model.precision, card.compute, card.memory
    yield "parameters.total", held.total
    yield "parameters.bytes", held.bytes
    for dtype, count in held.by_dtype.items():
        yield "parameters.by_dtype", f"{dtype} {count}"
    yield "model.precision.label", precision.label
    yield "model.precision.scheme", precision.scheme
    yield "graph.nodes_total", card.graph.nodes_total
    yield bounded("compute.macs"), compute.macs
    yield bounded("compute.flops"), compute.flops
    if compute.cheapest is not None:
        yield bounded("compute.cheapest.macs", "compute.macs"), compute.cheapest.macs
        yield bounded("compute.cheapest.flops", "compute.flops"), compute.cheapest.flops
    yield "memory.weights_bytes", used.weights_bytes
    yield bounded("memory.peak_activation_bytes"), used.peak_activation_bytes
    yield "memory.kv_cache.bytes_per_token", used.kv_cache.bytes_per_token if used.kv_cache else None


def _structure_facts(card: Card) -> Iterator[CardFact]:
    for name in ("layers", "hidden", "heads", "kv_heads", "vocab", "context"):
        yield f"structure.{name}", getattr(card.structure, name)
    if card.task.name is not None:
        for name in ("name", "confidence", "classes"):
            yield f"task.{name}", getattr(card.task, name)


def _assumption_facts(card: Card) -> Iterator[CardFact]:
    """Yield the sizes that costs are valid for, and what they leave out."""
    for name, size in list(card.assumptions.dims.items())[:_MAX_REPEATED_PROPERTIES]:
        yield "assumptions.dims", f"{sanitize(name)} = {size}"
    for name, value in list(card.assumptions.values.items())[:_MAX_REPEATED_PROPERTIES]:
        yield "assumptions.values", f"{sanitize(name)} = {value}"
    for gap in card.gaps[:_MAX_REPEATED_PROPERTIES]:
        yield "gaps", f"{gap.section}: {gap.reason}"
