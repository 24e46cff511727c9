"""What cards say besides numbers and blocks, and the names of whatever differs and is listed nowhere else.

Together with the other parts this makes a comparison complete: it is empty only where the cards say the same.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from onnx_autodoc.card import Card
from onnx_autodoc.compare._ports import paired
from onnx_autodoc.compare._types import FactChange, Plain

# What is compared elsewhere, or follows from it in words (the summary), or says nothing of the model: when and by
# whom the card was made, and what its file is called.
_ELSEWHERE: Final[dict[str, frozenset[str]]] = {
    "model": frozenset(("name", "format", "file", "ir_version", "opsets", "producer", "domain", "version", "doc"))
    | {"metadata", "precision"},
    "graph": frozenset(("nodes", "nodes_total", "initializers", "depth", "operator_types", "shapes")),
    "parameters": frozenset(("total", "bytes", "tensors", "statistics", "quantization", "constants", "unread")),
    "compute": frozenset(("macs", "flops", "cheapest", "bytes_moved", "arithmetic_intensity", "coverage")),
    "memory": frozenset(("weights_bytes", "peak_activation_bytes", "run_bytes", "unsized", "kv_cache")),
    "structure": frozenset(("family", "layers", "hidden", "heads", "kv_heads", "head_dim", "vocab", "context", "patch"))
    | {"blocks", "residuals", "tree"},
    "task": frozenset(("name", "classes")),
}
_WHOLE: Final = frozenset(("schema_version", "generated", "interface", "summary", "gaps", "weights"))
SIZES: Final = ("family", "layers", "hidden", "heads", "kv_heads", "head_dim", "vocab", "context", "patch")


def fact_changes(was: Card, now: Card) -> tuple[FactChange, ...]:
    old, new = (dict(_facts(card)) for card in (was, now))
    changed = [
        _change(key, old.get(key), new.get(key)) for key in dict.fromkeys((*old, *new)) if old.get(key) != new.get(key)
    ]
    return (*changed, *_hashes(was, now), *_gaps(was, now))


Key = tuple[str, str]


def _change(key: Key, was: Plain, now: Plain) -> FactChange:
    return FactChange(path=key[0], label=key[1], was=was, now=now)


def _facts(card: Card) -> Iterator[tuple[Key, Plain]]:
    yield from _sizes(card)
    yield ("task.name", "Task"), card.task.name
    yield ("task.classes", "Classes"), card.task.classes
    model = card.model
    for domain, version in model.opsets.items():
        yield (f"model.opsets.{domain}", f"Opset of {domain}"), version
    producer = " ".join(filter(None, (model.producer.name, model.producer.version)))
    yield ("model.producer", "Producer"), producer or None
    yield ("model.format", "Format"), model.format
    yield ("model.ir_version", "IR version"), model.ir_version
    yield ("model.domain", "Domain"), model.domain
    yield ("model.version", "Version"), model.version
    yield ("model.doc", "Documentation"), model.doc
    for key, value in model.metadata.items():
        yield (f"model.metadata.{key}", f"Metadata {key}"), value
    for item in model.file.external:
        size = "not there" if not item.present else "of unknown size" if item.bytes is None else f"{item.bytes} bytes"
        yield (f"model.file.external.{item.path}", f"File beside it, {item.path}"), size


def _sizes(card: Card) -> Iterator[tuple[Key, Plain]]:
    found = card.structure
    for name in SIZES:
        value = getattr(found, name)
        said = "×".join(map(str, value)) if isinstance(value, tuple) else value
        yield (f"structure.{name}", _LABELS.get(name, name.capitalize())), said
    kept = card.memory.kv_cache
    if kept is not None:
        yield ("memory.kv_cache.layers", "KV cache layers"), kept.layers
        yield ("memory.kv_cache.kv_heads", "KV cache heads"), kept.kv_heads
        yield ("memory.kv_cache.head_dim", "KV cache head width"), kept.head_dim
        yield ("memory.kv_cache.dtype", "KV cache type"), kept.dtype


_LABELS: Final = {"hidden": "Width", "kv_heads": "Heads for keys and values", "head_dim": "Head width"} | {
    "vocab": "Vocabulary",
    "context": "Longest context",
    "patch": "Patch size",
}


def _hashes(was: Card, now: Card) -> Iterator[FactChange]:
    """Hashes differ where both cards have one; one alone says nothing."""
    old, new = was.model.file.sha256, now.model.file.sha256
    if old is not None and new is not None and old != new:
        yield _change(("model.file.sha256", "SHA-256 of the file"), old, new)
    beside = {item.path: item.sha256 for item in was.model.file.external}
    for item in now.model.file.external:
        known = beside.get(item.path)
        if known is not None and item.sha256 is not None and known != item.sha256:
            yield _change((f"model.file.external.{item.path}.sha256", f"SHA-256 of {item.path}"), known, item.sha256)


def _gaps(was: Card, now: Card) -> Iterator[FactChange]:
    for gap in was.gaps:
        if gap not in now.gaps:
            yield _change((f"gaps.{gap.section}", "Was not known"), gap.reason, None)
    for gap in now.gaps:
        if gap not in was.gaps:
            yield _change((f"gaps.{gap.section}", "Is not known"), None, gap.reason)


def leftovers(was: Card, now: Card, told: frozenset[str]) -> tuple[str, ...]:
    """Paths of what differs besides; `told` are those that another part of the comparison has said."""
    found = [*_sections(was, now), *_ports(was, now), *_inner(was, now)]
    return tuple(path for path in found if path not in told)


def _sections(was: Card, now: Card) -> Iterator[str]:
    for name in was.__struct_fields__:
        old, new = (msgspec.to_builtins(getattr(card, name, None)) for card in (was, now))
        if name in _WHOLE or old == new:
            continue
        if not isinstance(old, dict) or not isinstance(new, dict):
            yield name
            continue
        yield from (f"{name}.{key}" for key in old if key not in _ELSEWHERE.get(name, ()) and old[key] != new.get(key))


def _ports(was: Card, now: Card) -> Iterator[str]:
    for side in ("inputs", "outputs"):
        pairs = paired(getattr(was.interface, side), getattr(now.interface, side)).both
        if any(old.role != new.role for old, new in pairs):
            yield f"interface.{side}.role"
        if any((old.bound, old.sample) != (new.bound, new.sample) for old, new in pairs):
            yield f"interface.{side}.bound"


def _inner(was: Card, now: Card) -> Iterator[str]:
    """Parts of what is mostly compared elsewhere."""
    if was.model.precision.story != now.model.precision.story:
        yield "model.precision.story"
    if was.compute.coverage.gaps != now.compute.coverage.gaps:
        yield "compute.coverage.gaps"
    if _cache_rest(was) != _cache_rest(now):
        yield "memory.kv_cache"
    if sorted(was.gaps, key=str) == sorted(now.gaps, key=str) and was.gaps != now.gaps:
        yield "gaps"
    if was.structure.blocks != now.structure.blocks or was.structure.residuals != now.structure.residuals:
        yield "structure.blocks"
    if _tree(was) != _tree(now):
        yield "structure.tree"


def _cache_rest(card: Card) -> Any:
    kept = card.memory.kv_cache
    return None if kept is None else (kept.at, kept.tensors)


def _tree(card: Card) -> Any:
    """The drawing without the name of the file, which its root bears."""
    tree = card.structure.tree
    return None if tree is None else msgspec.structs.replace(tree, label="")
