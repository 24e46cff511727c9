"""Compare the card of a model with the cards of others."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.card import Card, Generated, Port
from onnx_autodoc.compare.blocks import block_changes, box_marks
from onnx_autodoc.compare.figures import OTHER_INPUTS, OTHER_SIZES, list_measures, number_changes
from onnx_autodoc.compare.interface import has_same_inputs, interface_changes, resized_inputs, same_sizes
from onnx_autodoc.compare.relation import find_relation
from onnx_autodoc.compare.sections import (
    attention_changes,
    fact_changes,
    finding_changes,
    kind_changes,
    operator_changes,
    other_changes,
    precision_change,
)
from onnx_autodoc.compare.types import COMPARISON_VERSION, Comparison, Diff, Relation, Side, Sizes
from onnx_autodoc.compare.user_figures import Figures, assign_figures, figure_changes
from onnx_autodoc.compare.weights import weight_changes
from onnx_autodoc.errors import BadInput
from onnx_autodoc.text import display_name, format_count

_MAX_LISTED_DIMS: Final = 8


def compare(
    cards: Sequence[Card],
    names: Sequence[str],
    figures: Mapping[str, Mapping[str, int | float]] | None = None,
    *,
    generated: Generated | None = None,
    weights: bool = False,
) -> Comparison:
    """Compare the first card with each of the others.

    `names` label the models; `figures` are the user's own, by model. Weights are compared where both cards have
    hashes; with `weights` every card must have them.
    """
    if len(cards) < 2:
        raise BadInput("compare: expected at least two models")
    for card, name in zip(cards, names, strict=True):
        if weights and card.weights is None:
            raise BadInput(
                f"{name}: the card has no weight hashes; "
                "regenerate it with `card MODEL --weights -o card.json`, or pass the model itself"
            )
    user_figures = assign_figures(figures or {}, names)
    sides = tuple(
        Side(
            name=name,
            file=card.model.name,
            what=card.summary.what,
            precision=card.model.precision.label,
            dims=card.assumptions.dims,
            measures=tuple(list_measures(card)),
            tree=card.structure.tree,
        )
        for card, name in zip(cards, names, strict=True)
    )
    try:
        diffs = tuple(_diff(cards[0], sides[0], card, side, user_figures) for card, side in zip(cards[1:], sides[1:]))
    except RecursionError:
        raise BadInput(f"{names[0]}: the diagram is nested too deep to compare (not a card of this tool)") from None
    return Comparison(COMPARISON_VERSION, generated or cards[0].generated, sides, user_figures, diffs)


def _diff(was: Card, old_side: Side, now: Card, new_side: Side, user_figures: Figures) -> Diff:
    same = same_sizes(was, now)
    incomparable = None if same else OTHER_SIZES if has_same_inputs(was, now) else OTHER_INPUTS
    blocks = block_changes(was.structure.tree, now.structure.tree)
    if all(change.kind == "parameters" for change in blocks):
        # No box of the diagram shows a change of the heads.
        blocks = (*blocks, *attention_changes(was, now))
    marks = box_marks(was.structure.tree, now.structure.tree)
    diff = Diff(
        name=new_side.name,
        relation=Relation("", "", (), ()),
        sizes=_size_change(was, now, incomparable) if incomparable else None,
        interface=interface_changes(was, now),
        numbers=tuple(number_changes(old_side.measures, new_side.measures, incomparable)),
        precision=precision_change(was, now),
        operators=operator_changes(was, now),
        blocks=blocks,
        marks_was=marks[0],
        marks_is=marks[1],
        kinds=kind_changes(was, now),
        weights=weight_changes(was, now),
        findings=finding_changes(was, now),
        facts=tuple(fact_changes(was, now)),
        also=(),
        figures=tuple(figure_changes(user_figures, old_side.name, new_side.name)),
    )
    diff = replace(diff, also=other_changes(was, now, diff))
    return replace(diff, relation=find_relation(was, now, diff))


def _size_change(was: Card, now: Card, incomparable: str) -> Sizes:
    """Describe the first input whose size differs, else all assumed dimensions."""
    resized = resized_inputs(was, now)
    old, new = map(_format_size, resized[0]) if resized else map(_format_dims, (was, now))
    text = f"Costs are {incomparable}: {old} vs. {new}."
    if incomparable == OTHER_SIZES:
        text += (
            " Bind the same sizes for all models (--dim, --batch, --seq, --size) or regenerate the cards at one size."
        )
    return Sizes(was=was.assumptions.dims, now=now.assumptions.dims, text=text)


def _format_size(port: Port) -> str:
    size = "×".join(map(str, port.bound or ()))
    return f"{display_name(port.name)} {size or 'of unknown size'}"


def _format_dims(card: Card) -> str:
    sizes = [*card.assumptions.dims.items(), *card.assumptions.values.items()]
    shown = [
        f"{display_name(name)} {format_count(size) if isinstance(size, int) else size}"
        for name, size in sizes[:_MAX_LISTED_DIMS]
    ]
    return ", ".join(shown) + (" …" if len(sizes) > _MAX_LISTED_DIMS else "") or "the fixed sizes of the file"
