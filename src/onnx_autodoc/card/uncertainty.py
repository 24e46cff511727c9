"""Which figures of a card are lower bounds or unknown, and why: one table by path, built once with the card.

Every figure without an entry is exact under the card's assumptions. In a path, `*` stands for any row, key or place.
An entry for a section holds for all figures in it that have no entry; an entry for `structure.tree` holds for the boxes
of every level.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card.types import Card, Gap, Uncertainty, UncertaintyKind
from onnx_autodoc.text import pluralize, sanitize

MAX_FIGURE: Final = (1 << 63) - 1  # JSON readers of all languages take integers of 64 bits
UNCOUNTED_NODES: Final = "uncounted-nodes"
UNKNOWN_TRAFFIC: Final = "unknown-traffic"
UNSIZED_VALUES: Final = "unsized-values"
UNCOUNTED_PARAMETERS: Final = "uncounted-parameters"
UNKNOWN_STRUCTURE: Final = "unknown-structure"
UNCHECKED_RULES: Final = "unchecked-rules"
BEYOND_64_BITS: Final = "beyond-64-bits"

_LOWER_BOUND: Final = UncertaintyKind.LOWER_BOUND
_UNKNOWN: Final = UncertaintyKind.UNKNOWN
_MAX_REASONS: Final = 3
_BEYOND_RANGE: Final = f"figures that exceed 64 bits are given as {MAX_FIGURE:,}, a lower bound"
_MANY_DIGITS: Final = re.compile(rb"[0-9]{19}")  # of every integer beyond 64 bits, and of few others
_CHILD_BOXES: Final = re.compile(r"(?:\.children\.\*)+(?=\.)")

# The figures that each cause makes uncertain.
_MACS: Final = (
    *("compute.macs", "compute.cheapest.macs", "compute.top.*.macs", "graph.operators.*.macs", "scaling.*.macs"),
    *("structure.blocks.*.macs", "structure.work.*.macs", "structure.tree.macs"),
)
_MAC_SHARES: Final = ("compute.top.*.share", "structure.work.*.share", "structure.tree.share")
_FLOPS: Final = ("compute.flops", "compute.cheapest.flops", "graph.operators.*.flops", "scaling.*.flops")
_TRAFFIC: Final = (
    *("compute.bytes_moved", "graph.operators.*.bytes_moved", "memory.by_op.*.written_bytes", "scaling.*.bytes_moved"),
)
_INTENSITIES: Final = ("compute.arithmetic_intensity", "scaling.*.arithmetic_intensity")
_PEAKS: Final = (
    *("memory.peak_activation_bytes", "memory.run_bytes", "memory.timeline.*.bytes"),
    *("scaling.*.peak_activation_bytes", "scaling.*.memory_bytes"),
    *("hardware.devices.*.memory_bytes", "hardware.scaling.*.memory_bytes", "hardware.generation.*.memory_bytes"),
    *(f"hardware.requirements.{grade}.memory_bytes" for grade in ("minimum", "recommended", "comfortable")),
)
_PARAMETERS: Final = (
    *("parameters", "model.precision.story.*.params", "graph.operators.*.params", "graph.operators.*.weight_bytes"),
    *("memory.weights_bytes", "memory.by_op.*.weight_bytes"),
    *("structure.blocks.*.params", "structure.tree.params", "structure.tree.weight_bytes"),
)
_STRUCTURE: Final = ("structure", "task")
_STRUCTURE_SHARES: Final = ("structure.work.*.share", "structure.tree.share")
_STRUCTURE_COUNTS: Final = (
    *(f"structure.blocks.*.{name}" for name in ("count", "params", "macs", "dtypes")),
    *("structure.attention.*.count", "structure.residuals", "structure.work.*.macs"),
    *(f"structure.tree.{name}" for name in ("count", "params", "macs", "nodes", "weight_bytes")),
)


_Cause = tuple[Iterable[str], UncertaintyKind, str, dict[str, int]]


def with_uncertainty(card: Card, unchecked_rules: Iterable[str] = ("*",)) -> Card:
    """Return `card` with its table built from its coverage, unsized values and gaps. A later cause replaces earlier.

    `unchecked_rules` are the ids of the lint rules that failed; by default any rule may have failed. A figure beyond
    64 bits becomes a lower bound, the largest integer of 64 bits.
    """
    card, capped = cap_figures(card)
    beyond = Uncertainty(_LOWER_BOUND, BEYOND_64_BITS, {})
    table = {_CHILD_BOXES.sub("", path): beyond for path in capped}
    if table:
        card = replace(card, gaps=(*card.gaps, Gap("card", _BEYOND_RANGE)))
    for paths, kind, code, parameters in (*_cost_causes(card), *_gap_causes(card, unchecked_rules)):
        for path in paths:
            if _has_parent(card, path):
                table[path] = Uncertainty(_UNKNOWN if _is_null(card, path) else kind, code, parameters)
    return replace(card, uncertain=table)


def cap_figures(card: Card) -> tuple[Card, tuple[str, ...]]:
    """Return the card with figures of at most `MAX_FIGURE`, and the paths of those that exceeded it."""
    if not _has_many_digits(card):
        return card, ()
    capped: dict[str, None] = {}
    return _cap(card, "", capped), tuple(capped)


def _has_many_digits(card: Card) -> bool:
    buffer = bytearray()
    try:
        msgspec.json.Encoder().encode_into(card, buffer)
    except UnicodeEncodeError:  # a path that is no valid text
        return True
    return _MANY_DIGITS.search(buffer) is not None


def _cap(value: Any, path: str, capped: dict[str, None]) -> Any:
    if type(value) is int and value > MAX_FIGURE:
        capped[path] = None
        return MAX_FIGURE
    if isinstance(value, Struct):
        paths = {name: f"{path}.{name}" if path else name for name in value.__struct_fields__}
        return replace(value, **{name: _cap(getattr(value, name), inner, capped) for name, inner in paths.items()})
    if isinstance(value, tuple):
        return tuple(_cap(item, f"{path}.*", capped) for item in value)
    if isinstance(value, Mapping):
        return {key: _cap(item, f"{path}.*", capped) for key, item in value.items()}
    return value


def _cost_causes(card: Card) -> Iterator[_Cause]:
    covered, unsized = card.compute.coverage, {"values": card.memory.unsized}
    uncounted = {"nodes": sum(gap.count for gap in covered.gaps)}
    uncounted_macs = {"nodes": sum(gap.count for gap in covered.gaps if gap.macs)}
    if covered.unmoved:
        yield _TRAFFIC, _LOWER_BOUND, UNKNOWN_TRAFFIC, {"nodes": covered.unmoved}
        yield _INTENSITIES, _UNKNOWN, UNKNOWN_TRAFFIC, {"nodes": covered.unmoved}
    if covered.gaps:
        yield _FLOPS, _LOWER_BOUND, UNCOUNTED_NODES, uncounted
        yield _INTENSITIES, _UNKNOWN, UNCOUNTED_NODES, uncounted
    if any(gap.macs for gap in covered.gaps):
        yield _MACS, _LOWER_BOUND, UNCOUNTED_NODES, uncounted_macs
        yield _MAC_SHARES, _UNKNOWN, UNCOUNTED_NODES, uncounted_macs
    if card.memory.unsized:
        yield _PEAKS, _LOWER_BOUND, UNSIZED_VALUES, unsized
        yield ("memory.peak_node",), _UNKNOWN, UNSIZED_VALUES, unsized


def _gap_causes(card: Card, unchecked_rules: Iterable[str]) -> Iterator[_Cause]:
    sections = {gap.section for gap in card.gaps}
    if "parameters" in sections:
        yield _PARAMETERS, _LOWER_BOUND, UNCOUNTED_PARAMETERS, {}
    if "structure" in sections:
        yield (*_STRUCTURE, *_STRUCTURE_SHARES), _UNKNOWN, UNKNOWN_STRUCTURE, {}
        yield _STRUCTURE_COUNTS, _LOWER_BOUND, UNKNOWN_STRUCTURE, {}
    if "findings" in sections:
        yield ("findings",), _LOWER_BOUND, UNCHECKED_RULES, {}
        yield (f"findings.{rule}" for rule in unchecked_rules), _UNKNOWN, UNCHECKED_RULES, {}


def _has_parent(card: Card, path: str) -> bool:
    """Whether the section or the table that holds the figure is on the card."""
    return figure_at(card, path.partition(".*")[0].rpartition(".")[0]) is not None


def _is_null(card: Card, path: str) -> bool:
    return "*" not in path and not path.startswith("findings.") and figure_at(card, path) is None


def figure_at(card: Card, path: str) -> Any:
    """Return the value at a path of field names; None where a section on the way is absent."""
    value: Any = card
    for name in path.split(".") if path else ():
        value = getattr(value, name, None)
    return value


def find_uncertainty(card: Card, path: str) -> Uncertainty | None:
    """Return the entry of the figure at `path`, or of the nearest section around it; None where it is exact."""
    path = _CHILD_BOXES.sub("", path)
    while path:
        entry = card.uncertain.get(path)
        if entry is not None:
            return entry
        path = path.rpartition(".")[0]
    return None


def is_lower_bound(card: Card, path: str) -> bool:
    """Whether the figure at `path` is to be read as "at least"."""
    entry = find_uncertainty(card, path)
    return entry is not None and entry.kind is UncertaintyKind.LOWER_BOUND


def describe_uncertainty(card: Card, entry: Uncertainty) -> str:
    """Return the reason of an entry as a phrase, from the gaps of `card` that cause it."""
    match entry.code:
        case "uncounted-nodes":
            gaps = card.compute.coverage.gaps
            operators = (pluralize(gap.count, f"{sanitize(gap.op, 60)} node") for gap in gaps)
            return _join(f"{nodes}: {sanitize(gap.reason, 120)}" for nodes, gap in zip(operators, gaps))
        case "unknown-traffic":
            bound = entry.kind is UncertaintyKind.LOWER_BOUND
            nodes = pluralize(entry.parameters.get("nodes", 0), "node") if bound else "some nodes"
            return f"the bytes moved by {nodes} are unknown"
        case "unsized-values" if entry.kind is UncertaintyKind.LOWER_BOUND:
            return f"the size of {pluralize(entry.parameters.get('values', 0), 'value')} is unknown"
        case "unsized-values":
            return "the sizes of some values are unknown"
        case "beyond-64-bits":
            return _BEYOND_RANGE
    return gap_reasons(card, _GAP_SECTIONS.get(entry.code, ""))


_GAP_SECTIONS: Final = {
    UNCOUNTED_PARAMETERS: "parameters",
    UNKNOWN_STRUCTURE: "structure",
    UNCHECKED_RULES: "findings",
}


def gap_reasons(card: Card, section: str) -> str:
    """Return the first reasons of the gaps in a section, on one line."""
    return _join(sanitize(gap.reason) for gap in card.gaps if gap.section == section)


def _join(reasons: Iterable[str]) -> str:
    reasons = list(reasons)
    more = [f"{len(reasons) - _MAX_REASONS} more"] if len(reasons) > _MAX_REASONS else []
    return "; ".join([*reasons[:_MAX_REASONS], *more])
