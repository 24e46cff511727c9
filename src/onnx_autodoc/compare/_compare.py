"""Cards in, differences out: each part of a comparison is made by a function of its own."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from onnx_autodoc.card import Card, Generated, Port
from onnx_autodoc.compare._blocks import block_changes, box_marks
from onnx_autodoc.compare._facts import fact_changes, leftovers
from onnx_autodoc.compare._figures import Figures, assigned, figure_changes
from onnx_autodoc.compare._interface import interface_changes
from onnx_autodoc.compare._numbers import OTHER_INPUTS, OTHER_SIZES, measures, number_changes
from onnx_autodoc.compare._parts import (
    attention_changes,
    finding_changes,
    kind_changes,
    operator_changes,
    precision_change,
)
from onnx_autodoc.compare._ports import same_inputs, same_sizes, unlike
from onnx_autodoc.compare._relation import relation
from onnx_autodoc.compare._types import COMPARISON_VERSION, BlockChange, Comparison, Diff, Relation, Side, Sizes
from onnx_autodoc.compare._weights import tensors_of, weight_changes
from onnx_autodoc.errors import BadInput
from onnx_autodoc.text import count, named

_MOST_DIMS = 8


def compare(
    cards: Sequence[Card],
    names: Sequence[str],
    figures: Mapping[str, Mapping[str, int | float]] | None = None,
    *,
    generated: Generated | None = None,
    weights: bool = False,
) -> Comparison:
    """The first card against each of the others. `names` is what they are called, `figures` what a user knows of them.

    Weights are compared where both cards have their hashes; with `weights` every card must.
    """
    if len(cards) < 2:
        raise BadInput("compare: one model alone has nothing to be compared with; name two or more")
    if weights:
        _hashed(cards, names)
    brought = assigned(figures or {}, names)
    first = cards[0]
    sides = tuple(_side(card, name) for card, name in zip(cards, names, strict=True))
    try:
        diffs = tuple(difference_of(first, card, names[0], name, brought) for card, name in zip(cards[1:], names[1:]))
    except RecursionError:
        raise BadInput(f"{names[0]}: boxes in boxes, too deep to compare (no card of this tool is)") from None
    return Comparison(COMPARISON_VERSION, generated or first.generated, sides, brought, diffs)


def _hashed(cards: Sequence[Card], names: Sequence[str]) -> None:
    for card, name in zip(cards, names, strict=True):
        if tensors_of(card) is None:
            raise BadInput(
                f"{name}: the card has no hashes of its weights; "
                "write it anew with `card MODEL --weights -o card.json`, or name the model itself"
            )


def _side(card: Card, name: str) -> Side:
    return Side(
        name=name,
        file=card.model.name,
        what=card.summary.what,
        precision=card.model.precision.label,
        dims=card.assumptions.dims,
        measures=measures(card),
        tree=card.structure.tree,
    )


def difference_of(was: Card, now: Card, first: str, name: str, figures: Figures) -> Diff:
    other = None if same_sizes(was, now) else OTHER_SIZES if same_inputs(was, now) else OTHER_INPUTS
    marks = box_marks(was.structure.tree, now.structure.tree)
    diff = Diff(
        name=name,
        relation=Relation("", "", (), ()),
        sizes=_sizes(was, now, other) if other else None,
        interface=interface_changes(was, now),
        numbers=number_changes(measures(was), measures(now), other),
        precision=precision_change(was, now),
        operators=operator_changes(was, now),
        blocks=_blocks(was, now),
        marks_was=marks[0],
        marks_is=marks[1],
        kinds=kind_changes(was, now),
        weights=weight_changes(was, now),
        findings=finding_changes(was, now),
        facts=fact_changes(was, now),
        also=(),
        figures=figure_changes(figures, first, name),
    )
    diff = replace(diff, also=leftovers(was, now, _told(diff)))
    return replace(diff, relation=relation(was, now, diff))


def _sizes(was: Card, now: Card, other: str) -> Sizes:
    dims = _bounds(was, now)
    text = f"Costs are {other}: {dims[0]} against {dims[1]}."
    if other == OTHER_SIZES:
        text += (
            " Give all models the same sizes (--dim, --batch, --seq, --size), or write their cards anew at one size."
        )
    return Sizes(was=was.assumptions.dims, now=now.assumptions.dims, text=text)


def _bounds(was: Card, now: Card) -> list[str]:
    """The first input whose size differs, else whatever was assumed."""
    for pair in unlike(was, now):
        return [_bound(port) for port in pair]
    return [_dims(card) for card in (was, now)]


def _bound(port: Port) -> str:
    size = "×".join(map(str, port.bound or ()))
    return f"{named(port.name)} {size or 'of no known size'}"


def _dims(card: Card) -> str:
    given = [*card.assumptions.dims.items(), *card.assumptions.values.items()]
    shown = [f"{named(name)} {count(size) if isinstance(size, int) else size}" for name, size in given[:_MOST_DIMS]]
    return ", ".join(shown) + (" …" if len(given) > _MOST_DIMS else "") or "the sizes that the file fixes"


def _blocks(was: Card, now: Card) -> tuple[BlockChange, ...]:
    """Heads are counted over the whole model where no box of the drawing says how they changed."""
    drawn = block_changes(was.structure.tree, now.structure.tree)
    if any(change.kind != "parameters" for change in drawn):
        return drawn
    return (*drawn, *attention_changes(was, now))


def _told(diff: Diff) -> frozenset[str]:
    """What the other parts have said already."""
    told = {"assumptions.dims", "assumptions.values"} if diff.sizes else set()
    told |= {"graph.operators"} if diff.operators else set()
    told |= {"findings"} if not diff.findings.empty else set()
    told |= {"structure.tree"} if diff.blocks else set()
    told |= {"structure.blocks"} if diff.kinds else set()
    told |= {"structure.attention"} if any(change.kind == "attention" for change in diff.blocks) else set()
    told |= {"model.precision.story", "parameters.by_dtype"} if diff.precision else set()
    return frozenset(told)
