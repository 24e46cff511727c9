"""Charts of the model itself: parameters and MACs by block, operators, KV cache, batch scaling.

Parts are the boxes of the diagram, or operators; their bars sum to the model's total. An amount that no part has
(weights of a branch that does not run) is a bar too. Where parts sum to more than the total, there are no bars. A chart
is None where a sentence would state as much.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import BatchRow, Box, Card, OperatorRow, is_lower_bound
from onnx_autodoc.render.charts import svg
from onnx_autodoc.render.charts.bars import Bar, BarPanel, draw_bars
from onnx_autodoc.render.charts.svg import Chart
from onnx_autodoc.render.content import UNKNOWN
from onnx_autodoc.render.numbers import at_least
from onnx_autodoc.render.palette import block_category
from onnx_autodoc.text import (
    format_bytes,
    format_count,
    format_number,
    format_percent,
    format_short,
    pluralize,
    sanitize,
)

_MAX_OPERATORS: Final = 15
_MIN_OPERATORS: Final = 3
_MIN_BATCHES: Final = 3
_REMAINDER: Final = "Not in the diagram"
_MAX_NAME_LENGTH: Final = 90
_MAX_PARTS: Final = 10
_MAJORITY: Final = 0.5  # share of weights or MACs from which on a repeated layer is split into its blocks
T = TypeVar("T")


class Amount(Struct, frozen=True):
    """How much of one quantity a part has; None where that is unknown. `note` follows the number."""

    name: str
    value: int | None
    kind: str = "bar"
    detail: str = ""
    note: str = ""

    @property
    def label(self) -> str:
        return " ".join(filter(None, (sanitize(self.name, _MAX_NAME_LENGTH), sanitize(self.detail, _MAX_NAME_LENGTH))))

    @property
    def rank(self) -> tuple[bool, int]:
        """Sort key: by value, named parts above the remainder."""
        return self.kind != "rest", self.value or 0


class Quantity(Struct, frozen=True):
    """A total that is distributed over parts. `whole` names what shares are shares of."""

    total: int
    unit: str
    whole: str = "all"

    def complete(self, amounts: list[Amount], remainder: str) -> list[Amount]:
        """Add what is missing to the total as an amount; [] where amounts exceed the total or there is none."""
        left = self.total - sum(amount.value or 0 for amount in amounts)
        if not self.total or left < 0:
            return []
        return [*amounts, Amount(remainder, left, "rest")] if left and amounts else amounts

    def panel(self, title: str, note: str, amounts: list[Amount], noun: str, max_bars: int = 14) -> BarPanel:
        return BarPanel(title, note, tuple(map(self.bar, limit_amounts(amounts, max_bars, noun))))

    def bar(self, amount: Amount) -> Bar:
        name, detail = sanitize(amount.name, _MAX_NAME_LENGTH), sanitize(amount.detail, _MAX_NAME_LENGTH)
        if not amount.value:
            return Bar(name, amount.value, UNKNOWN if amount.value is None else "none", "", amount.kind, detail)
        share = format_percent(amount.value / self.total)
        label = " · ".join(filter(None, (format_short(amount.value), share, amount.note)))
        tooltip = f"{amount.label}: {format_count(amount.value)} {self.unit}, {share} of {self.whole}"
        return Bar(name, amount.value, label, tooltip, amount.kind, detail)

    def describe_largest(self, amounts: Sequence[Amount]) -> str:
        """Return the largest amount: "largest: Embedding, 11.9 M (53%)"."""
        largest = max(amounts, key=lambda amount: amount.rank)
        value = largest.value or 0
        return f"largest: {largest.label}, {format_short(value)} ({format_percent(value / self.total)})"


def limit_amounts(amounts: list[Amount], max_amounts: int, noun: str) -> list[Amount]:
    """Merge the smallest amounts into one, so that `max_amounts` remain, in their order; the remainder stays last."""
    if len(amounts) <= max_amounts:
        return amounts
    named = [amount for amount in amounts if amount.kind != "rest"]
    remainder = [amount for amount in amounts if amount.kind == "rest"]
    large, small = _split_largest(named, max_amounts - 1 - len(remainder), lambda amount: amount.value or 0)
    merged = Amount(f"{format_count(len(small))} more {noun}", _sum_known(amount.value for amount in small), "rest")
    return [*large, merged, *remainder]


def _split_largest(items: list[T], count: int, size: Callable[[T], float]) -> tuple[list[T], list[T]]:
    """Return the `count` largest items, the first of equal ones, and the others, both in their order."""
    largest = set(sorted(range(len(items)), key=lambda index: -size(items[index]))[:count])
    return [items[index] for index in sorted(largest)], [x for index, x in enumerate(items) if index not in largest]


def _sum_known(values: Iterable[int | None]) -> int | None:
    """Return the sum of the known values; None where none is known."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def select_panels(total: str, *panels: BarPanel) -> tuple[BarPanel, ...]:
    """Keep panels with several bars, since text states one bar better; the first states the total that all share."""
    selected = [panel for panel in panels if len(panel.bars) > 1]
    first = [replace(panel, note=", ".join(filter(None, (total, panel.note)))) for panel in selected[:1]]
    return tuple(first + selected[1:])


def operator_name(row: OperatorRow) -> str:
    return row.op if row.domain in ("", "ai.onnx") else f"{row.op} ({row.domain})"


def amounts_by_box(card: Card, value: Callable[[Box], int | None]) -> list[Amount]:
    amounts = [
        Amount(_count_label(box.count, box.label), value(box), f"of-{block_category(box.kind)}", box.detail or "")
        for box in _top_level_boxes(card)
    ]
    return [amount for amount in amounts if amount.value != 0]


def _count_label(count: int, label: str) -> str:
    return f"{format_count(count)} × {label}" if count > 1 else label


def _top_level_boxes(card: Card) -> tuple[Box, ...]:
    """Return the boxes of the diagram in data order, without inputs and outputs, which hold and cost nothing."""
    tree = card.structure.tree
    return tuple(box for box in tree.children if box.kind not in ("input", "output")) if tree is not None else ()


class ModelPart(Struct, frozen=True):
    """Boxes of the same label and detail together. `macs` is None where all of them are unknown."""

    label: str
    detail: str
    kind: str
    count: int
    params: int
    macs: int | None

    def __add__(self, other: "ModelPart") -> "ModelPart":
        detail = self.detail if self.detail == other.detail else ""
        sums = self.count + other.count, self.params + other.params, _sum_known((self.macs, other.macs))
        return ModelPart(self.label, detail, self.kind, *sums)

    def amount(self, value: int | None) -> Amount:
        return Amount(_count_label(self.count, self.label), value, self.kind, self.detail)

    def share(self, card: Card) -> float:
        """Return its share of the weights or of the MACs, whichever is larger."""
        pairs = (self.params, card.parameters.total), (self.macs, card.compute.macs)
        return max(value / total if value and total else 0.0 for value, total in pairs)


def model_parts(card: Card) -> list[ModelPart]:
    """Return at most ten parts in data order, merged by label and detail, by label alone where those are too many."""
    split = [part for box in _top_level_boxes(card) for part in _split_box(box, card) if part.params or part.macs != 0]
    merged = _merge_parts(split, by_detail=True)
    if len(merged) > _MAX_PARTS:
        merged = _merge_parts(split, by_detail=False)
    if len(merged) <= _MAX_PARTS:
        return merged
    large, small = _split_largest(merged, _MAX_PARTS - 1, lambda part: part.share(card))
    rest = sum(small[1:], small[0])
    return [*large, ModelPart(f"{len(small)} more kinds of blocks", "", "rest", 1, rest.params, rest.macs)]


def _merge_parts(parts: list[ModelPart], by_detail: bool) -> list[ModelPart]:
    merged: dict[tuple[str, str], ModelPart] = {}
    for part in parts:
        key = part.label, part.detail if by_detail else ""
        merged[key] = merged[key] + part if key in merged else part
    return list(merged.values())


def _split_box(box: Box, card: Card) -> Iterator[ModelPart]:
    """Split a repeated layer that is most of the model into its blocks, where these sum to it."""
    inner = [child for child in box.children if child.kind != "input"]
    sums = sum(child.params for child in inner) * box.count, sum(child.macs or 0 for child in inner) * box.count
    if box.repeats and sums == (box.params, box.macs) and _box_part(box, 1).share(card) > _MAJORITY:
        yield from (_box_part(child, box.count) for child in inner)
    else:
        yield _box_part(box, 1)


def _box_part(box: Box, times: int) -> ModelPart:
    macs = box.macs * times if box.macs is not None else None
    kind = f"of-{block_category(box.kind)}"
    return ModelPart(box.label, box.detail or "", kind, box.count * times, box.params * times, macs)


def _macs_quantity(card: Card) -> Quantity:
    whole = "the counted MACs" if is_lower_bound(card, "compute.macs") else "all MACs"
    return Quantity(card.compute.macs or 0, "MACs", whole)


def _format_macs(card: Card) -> str:
    macs = card.compute.macs
    return UNKNOWN if macs is None else at_least(card, "compute.macs") + format_short(macs)


def overview(card: Card) -> Chart | None:
    """Compare each part's share of the parameters with its share of the MACs.

    A part with half of the parameters and no MACs (an embedding) calls for other optimizations than the reverse. Parts
    are the boxes of the diagram, so that both columns sum to the model's totals.
    """
    weights, work, parts = Quantity(card.parameters.total, "parameters"), _macs_quantity(card), model_parts(card)
    params = weights.complete([part.amount(part.params) for part in parts], _REMAINDER)
    macs = work.complete([part.amount(part.macs) for part in parts], _REMAINDER)
    if not params or not macs:
        return None
    rows, zero = max(len(params), len(macs)), Amount(_REMAINDER, 0, "rest")
    params += [zero] * (rows - len(params))
    macs += [zero] * (rows - len(macs))
    if rows < 2:
        return None
    panels = (
        BarPanel("Parameters", format_short(weights.total), tuple(map(weights.bar, params))),
        BarPanel("MACs", _format_macs(card), tuple(map(work.bar, macs))),
    )
    bindings = svg.format_bindings(card)
    notes = [f"MACs {bindings}"] if bindings else []
    notes += [f"shares of {work.whole}"] if is_lower_bound(card, "compute.macs") else []
    footnote = svg.fit_text("; ".join(notes), svg.WIDTH, svg.SMALL_FONT_SIZE)
    largest = dict.fromkeys(max(range(rows), key=lambda row: column[row].rank) for column in (params, macs))
    alt = "; ".join(_describe_part(params[row], macs[row], weights, work) for row in largest) + "."
    return draw_bars("overview", "Parameters and MACs by block", alt, panels, side_by_side=True, footnote=footnote)


def _describe_part(params: Amount, macs: Amount, weights: Quantity, work: Quantity) -> str:
    share = f"{params.label}: {format_percent((params.value or 0) / weights.total)} of the parameters"
    if macs.value is None:
        return f"{share}, MACs unknown"
    return f"{share}, {format_percent(macs.value / work.total)} of {work.whole}"


def operators(card: Card) -> Chart | None:
    """Count nodes by operator type; nodes of subgraphs and functions count once."""
    rows = card.graph.operators
    total = sum(row.count for row in rows)
    if len(rows) < _MIN_OPERATORS or not total:
        return None
    amounts = sorted((Amount(operator_name(row), row.count) for row in rows), key=lambda amount: -(amount.value or 0))
    note = f"{pluralize(total, 'node')} of {pluralize(len(rows), 'type')}"
    panel = Quantity(total, "nodes").panel("Operators", note, amounts, "types", _MAX_OPERATORS)
    count = amounts[0].value or 0
    first = f"{sanitize(amounts[0].name, 40)}, {format_count(count)} ({format_percent(count / total)})"
    alt = f"{note}; most frequent: {first}."
    return draw_bars("operators", "Operators by count", alt, (panel,))


def parameters(card: Card) -> Chart | None:
    """Distribute the weights by block and by operator."""
    weights = Quantity(card.parameters.total, "parameters")
    blocks = weights.complete(amounts_by_box(card, lambda box: box.params), _REMAINDER)
    rows = sorted((row for row in card.graph.operators if row.params), key=lambda row: -row.params)
    by_operator = [Amount(operator_name(row), row.params, note=format_bytes(row.weight_bytes)) for row in rows]
    by_operator = weights.complete(by_operator, "Not read by any operator")
    panels = select_panels(
        format_short(weights.total),
        weights.panel("Parameters by block", "in data-flow order", blocks, "blocks"),
        weights.panel("Parameters by operator", "with their size", by_operator, "types", max_bars=8),
    )
    if not panels:
        return None
    tensors = pluralize(card.parameters.tensors, "tensor")
    largest = weights.describe_largest(blocks or by_operator)
    alt = f"{format_short(weights.total)} parameters in {tensors}; {largest}."
    return draw_bars("parameters", "Distribution of parameters", alt, panels)


def work(card: Card) -> Chart | None:
    """Distribute the MACs by kind of layer, by block and by operator."""
    quantity = _macs_quantity(card)
    kinds = [Amount(part.part[:1].upper() + part.part[1:], part.macs) for part in card.structure.work]
    kinds = quantity.complete(kinds, "Other")
    blocks = quantity.complete(amounts_by_box(card, lambda box: box.macs), _REMAINDER)
    rows = [Amount(operator_name(row), row.macs) for row in card.graph.operators if row.macs != 0]
    by_operator = quantity.complete(sorted(rows, key=lambda amount: -(amount.value or 0)), "Other")
    total = f"{_format_macs(card)} {svg.format_bindings(card)}".rstrip()
    total += f", shares of {quantity.whole}" if is_lower_bound(card, "compute.macs") else ""
    panels = select_panels(
        total,
        quantity.panel("MACs by kind of layer", "", kinds, "kinds"),
        quantity.panel("MACs by block", "in data-flow order", blocks, "blocks"),
        quantity.panel("MACs by operator", "", by_operator, "types", max_bars=8),
    )
    if not panels:
        return None
    alt = f"MACs: {total}; {quantity.describe_largest(kinds or blocks or by_operator)}."
    return draw_bars("work", "Distribution of MACs", alt, panels)


def kv_cache(card: Card) -> Chart | None:
    """Compare the KV cache at several token counts with the weights."""
    cache, weights = card.memory.kv_cache, card.memory.weights_bytes
    if cache is None or len(cache.at) < 2:
        return None
    rows = [(pluralize(size.tokens, "token"), pluralize(size.tokens, "token"), size.bytes, "bar") for size in cache.at]
    rows += [("Weights, for comparison", "Weights", weights, "rest")] if weights else []
    bars = tuple(
        Bar(name, nbytes, format_bytes(nbytes), f"{subject}: {pluralize(nbytes, 'byte')}", kind)
        for name, subject, nbytes, kind in rows
    )
    per_token, last = pluralize(cache.bytes_per_token, "byte") + " per token", cache.at[-1]
    comparison = f", compared with {format_bytes(weights)} of weights" if weights else ""
    alt = f"{per_token}: {format_bytes(last.bytes)} at {pluralize(last.tokens, 'token')}{comparison}."
    panel = BarPanel("KV cache", f"of one sequence in {cache.dtype}, {per_token}", bars)
    return draw_bars("cache", "KV cache by context length", alt, (panel,))


def batch_scaling(card: Card) -> Chart | None:
    """Show memory and arithmetic intensity by batch size."""
    weights = card.memory.weights_bytes
    note = at_least(card, "memory.peak_activation_bytes") + ("weights (solid) and " if weights else "")
    columns = (
        BarPanel("Memory", f"{note}peak activations", tuple(_memory_bar(row, weights) for row in card.scaling)),
        BarPanel("Arithmetic intensity", "FLOPs per byte", tuple(map(_intensity_bar, card.scaling))),
    )
    panels = tuple(panel for panel in columns if sum(bar.value is not None for bar in panel.bars) >= _MIN_BATCHES)
    if not panels:
        return None
    ranges = (_describe_range("Memory", columns[0]), _describe_range("FLOPs per byte", columns[1]))
    alt = "; ".join(filter(None, ranges)) + "."
    return draw_bars("scaling", "Memory and arithmetic intensity by batch size", alt, panels, side_by_side=True)


def _memory_bar(row: BatchRow, weights: int) -> Bar:
    name, nbytes = f"batch {format_count(row.batch)}", row.memory_bytes
    if nbytes is None:
        return Bar(name, None, UNKNOWN, "")
    tooltip = f"{name}: {format_count(nbytes)} bytes, {format_count(weights)} of them weights"
    return Bar(name, nbytes, format_bytes(nbytes), tooltip, "pale", solid=weights)


def _intensity_bar(row: BatchRow) -> Bar:
    name, intensity = f"batch {format_count(row.batch)}", row.arithmetic_intensity
    if intensity is None:
        return Bar(name, None, UNKNOWN, "")
    # Bar values are integers: thousandths.
    return Bar(name, round(intensity * 1000), format_number(intensity), f"{name}: {intensity:.3f} FLOPs per byte")


def _describe_range(subject: str, panel: BarPanel) -> str:
    """Return the first and the last known value: "Memory from 1 MiB at batch 1 to 4 MiB at batch 8"."""
    known = [(bar.name, bar.label) for bar in panel.bars if bar.value is not None]
    if len(known) < _MIN_BATCHES:
        return ""
    (first, low), (last, high) = known[0], known[-1]
    if len({label for _, label in known}) == 1:
        return f"{subject}: {low} at every batch"
    return f"{subject} from {low} at {first} to {high} at {last}"
