"""The smallest devices that will do for what was asked, and what runs cost where someone knows a price."""

from collections.abc import Iterator, Mapping
from typing import Final

from onnx_autodoc.card import BOUND, MEASURED, Choice, HardwareSection, Price
from onnx_autodoc.render._blocks import Block, Column, Figure, Heading, Items, Paragraph, Strong, Table, Text
from onnx_autodoc.render._hardware_words import grade, listed
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.text import clean, three

_CENT: Final = 0.01
_LEVELS: Final = ("minimum", "recommended", "comfortable")


def requirements(found: HardwareSection) -> Iterator[Block]:
    """A list, or a sentence where one device is all three."""
    asked = found.requirements
    if asked is None:
        return
    yield Heading("What it needs")
    choices = {level: getattr(asked, level) for level in _LEVELS}
    devices = {choice.device if choice is not None else None for choice in choices.values()}
    target = f"For {clean(asked.target, 200)}."
    if None not in devices and len(devices) == 1:
        yield Paragraph((f"{target} ", *_alone(choices["comfortable"])))
    elif devices != {None}:
        yield Paragraph((f"{target} The smallest device that is known to do, with growing margins:",))
        yield Items(tuple(_levels(choices)))
    else:
        yield Paragraph((target,))
    yield from (Paragraph((f"{clean(note, 400)}.",)) for note in asked.notes)


def _alone(choice: Choice) -> Text:
    why = f" in {clean(choice.precision, 40)}, with room to spare: {clean(choice.why, 200)}."
    return "The smallest device that is known will do: ", Strong(clean(choice.name, 60)), why


def _levels(choices: Mapping[str, Choice | None]) -> Iterator[Text]:
    """Levels that the same device does for, together."""
    same: dict[Choice | None, list[str]] = {}
    for level, choice in choices.items():
        same.setdefault(choice, []).append(level)
    for choice, levels in same.items():
        if choice is None:
            yield Strong(f"{listed(levels)}: "), "none that is known"
        else:
            how = f" in {clean(choice.precision, 40)}: {clean(choice.why, 200)}"
            yield Strong(f"{listed(levels)}: "), clean(choice.name, 60) + how


def prices(found: HardwareSection) -> Iterator[Block]:
    if not found.prices:
        return
    yield Heading("What runs cost")
    yield Paragraph(("By your own price per hour, at the best batch, with the device busy all the time:",))
    columns = (Column("Device"), Column("Per hour", True), Column("Batch", True), Column("Per million samples", True))
    names = {row.device: row.name for row in found.devices}
    yield Table(
        (*columns, Column("Grade")), tuple(_price(row, names.get(row.device, row.device)) for row in found.prices)
    )


def _price(row: Price, name: str) -> tuple[Text, ...]:
    hour = Figure(f"{row.per_hour:g}", row.per_hour, basis="as you gave it")
    basis = row.basis if row.per_million is not None else ""
    return (clean(name, 60),), (hour,), (figures.number(row.batch, basis=""),), (_cost(row),), (basis,)


def _cost(row: Price) -> Figure:
    """A bound on the time is one on the price: it costs no less."""
    if row.per_million is None:
        return Figure("not known")
    least = {BOUND: "at least ", MEASURED: ""}.get(row.basis, "about ")
    shown = least + three(row.per_million) if row.per_million >= _CENT else "less than a hundredth"
    return Figure(shown, row.per_million, "for a million samples", basis=grade(row.basis))
