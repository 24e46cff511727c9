"""What the card knows and CycloneDX has no field for: properties, named as their place in the JSON card.

Names are ours, strings of the file are only ever values. A number that is a lower bound has a name of its own, so that
nobody who looks for the exact one finds it.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, ExternalFile
from onnx_autodoc.render._bom import Property
from onnx_autodoc.text import clean

_SPACE: Final = "onnx-autodoc:"
_LEAST: Final = ".at_least"
_LONGEST: Final = 300
_MOST: Final = 1000  # of what a file may have any number of

Fact = tuple[str, object]


def file_properties(card: Card) -> tuple[Property, ...]:
    """Of the file: what it is written in, by whom, and what it says of itself."""
    return _properties((*_file(card), *_stated(card)))


def model_properties(card: Card) -> tuple[Property, ...]:
    """Of the model in it: what it is and costs, at which sizes, and what is not known."""
    return _properties((*_holdings(card), *_costs(card), *_structure(card), *_limits(card)))


def file_facts(file: ExternalFile) -> tuple[Property, ...]:
    """Of a file beside the model; named as those of the model's own file are."""
    present = "true" if file.present else "false"
    return _properties((("model.file.external.bytes", file.bytes), ("model.file.external.present", present)))


def _properties(facts: tuple[Fact, ...]) -> tuple[Property, ...]:
    """Those that are known. Texts for people have no hidden characters and an end."""
    known = ((name, str(value)) for name, value in facts if value not in (None, ""))
    return tuple(Property(clean(_SPACE + name), clean(text, _LONGEST)) for name, text in known)


def _file(card: Card) -> Iterator[Fact]:
    model = card.model
    yield "model.format", model.format
    yield "model.file.bytes", model.file.bytes
    yield "model.ir_version", model.ir_version
    for domain, version in list(model.opsets.items())[:_MOST]:
        yield "model.opsets", f"{domain} {version}"
    yield "model.producer.name", model.producer.name
    yield "model.producer.version", model.producer.version
    yield "model.domain", model.domain


def _stated(card: Card) -> Iterator[Fact]:
    """Claims of whoever wrote the metadata: who is the author of an exporter or of a model, a file does not tell."""
    for name, text in card.dataset.said.extras.items():
        yield f"dataset.said.extras.{name}", text


def _holdings(card: Card) -> Iterator[Fact]:
    held, precision = card.parameters, card.model.precision
    yield "parameters.total", held.total
    yield "parameters.bytes", held.bytes
    for dtype, count in held.by_dtype.items():
        yield "parameters.by_dtype", f"{dtype} {count}"
    yield "model.precision.label", precision.label
    yield "model.precision.scheme", precision.scheme
    yield "graph.nodes_total", card.graph.nodes_total


def _costs(card: Card) -> Iterator[Fact]:
    done, used = card.compute, card.memory
    gaps = done.coverage.gaps
    yield _bounded("compute.macs", any(gap.macs for gap in gaps)), done.macs
    yield _bounded("compute.flops", bool(gaps)), done.flops
    if done.cheapest is not None:
        yield _bounded("compute.cheapest.macs", any(gap.macs for gap in gaps)), done.cheapest.macs
        yield _bounded("compute.cheapest.flops", bool(gaps)), done.cheapest.flops
    yield "memory.weights_bytes", used.weights_bytes
    yield _bounded("memory.peak_activation_bytes", bool(used.unsized)), used.peak_activation_bytes
    yield "memory.kv_cache.bytes_per_token", used.kv_cache.bytes_per_token if used.kv_cache else None


def _bounded(name: str, more: bool) -> str:
    return name + _LEAST if more else name


def _structure(card: Card) -> Iterator[Fact]:
    found, task = card.structure, card.task
    yield "structure.layers", found.layers
    yield "structure.hidden", found.hidden
    yield "structure.heads", found.heads
    yield "structure.kv_heads", found.kv_heads
    yield "structure.vocab", found.vocab
    yield "structure.context", found.context
    if task.name is not None:
        yield "task.name", task.name
        yield "task.confidence", task.confidence
        yield "task.classes", task.classes


def _limits(card: Card) -> Iterator[Fact]:
    """The sizes that costs hold for, and what they leave out."""
    for name, size in list(card.assumptions.dims.items())[:_MOST]:
        yield "assumptions.dims", f"{clean(name)} = {size}"
    for name, value in list(card.assumptions.values.items())[:_MOST]:
        yield "assumptions.values", f"{clean(name)} = {value}"
    for gap in card.gaps[:_MOST]:
        yield "gaps", f"{gap.section}: {gap.reason}"
