"""The types of a comparison: plain data, from which every format is written.

Its keys are a published interface, as those of the card: keys are added, never renamed. `was` belongs to the first
model, `is` to the second; None is unknown or absent. `was`, `is`, `port` and `path` contain strings of model files
unchanged, sentences contain them sanitized. The docstrings are descriptions in the JSON Schema.
"""

from typing import Final

from msgspec import Struct, field

from onnx_autodoc.card import Box, Generated

COMPARISON_VERSION: Final = "1.0"
Plain = str | int | float | bool | None


class Measure(Struct, frozen=True):
    """A number of a card by its path. `least`: there may be more. `sized`: it holds for the sizes assumed."""

    path: str
    label: str
    unit: str
    value: int | float | None
    least: bool
    sized: bool


class Side(Struct, frozen=True):
    """One of the models: what it is called here, what it is, its numbers and its drawing."""

    name: str
    file: str
    what: str
    precision: str | None
    dims: dict[str, int]
    measures: tuple[Measure, ...]
    tree: Box | None


class Relation(Struct, frozen=True):
    """What the second is to the first, what in the cards speaks for it and what against."""

    kind: str
    text: str
    evidence: tuple[str, ...]
    against: tuple[str, ...]


class PortChange(Struct, frozen=True):
    """`kind` is input or output, `what` a word for machines, `reason` the sentence that says whom it breaks."""

    kind: str
    port: str
    what: str
    breaking: bool
    was: str | None
    now: str | None = field(name="is")
    reason: str


class NumberChange(Struct, frozen=True):
    """`change` and `percent` are None where the two are no measures of the same; `note` says why."""

    path: str
    label: str
    unit: str
    was: int | float | None
    now: int | float | None = field(name="is")
    change: int | float | None
    percent: float | None
    was_least: bool
    is_least: bool
    note: str | None


class Shares(Struct, frozen=True):
    dtype: str
    was: float | None
    now: float | None = field(name="is")


class PrecisionChange(Struct, frozen=True):
    was: str | None
    now: str | None = field(name="is")
    scheme_was: str | None
    scheme_is: str | None
    weights: tuple[Shares, ...]
    stayed: str | None


class CountChange(Struct, frozen=True):
    """How often an operator (`domain` given) or a kind of block comes."""

    name: str
    domain: str | None
    was: int
    now: int = field(name="is")


class BlockChange(Struct, frozen=True):
    """`text` is the sentence. `kind` is one of

    changed, replaced, added, gone, count: what it says;
    moved: the same part, elsewhere in the order of the drawing;
    untold: one of the cards does not tell;
    skips, wiring: connections between parts;
    attention: heads over the whole model, where no box says it;
    parameters: boxes drawn alike hold other numbers of them;
    spelling: another kind of block with the same name and sizes (a norm that is folded or not);
    retold: as much weight and work, told in other words (an activation that is drawn or not);
    more: how many were cut off.

    `light`: only parts without weights and multiply-adds are concerned.
    """

    kind: str
    path: str
    was: str | None
    now: str | None = field(name="is")
    text: str
    light: bool = False


class Renamed(Struct, frozen=True):
    was: str
    now: str = field(name="is")


class WeightsChange(Struct, frozen=True):
    """Tensors by name. Lists are cut; the counts are of all. `unread` could not be compared, with the reason."""

    tensors_was: int
    tensors_is: int
    equal: int
    changed: int
    retyped: int
    reshaped: int
    renamed: int
    added: int
    gone: int
    unread: int
    text: str
    names: dict[str, tuple[str, ...]]
    pairs: tuple[Renamed, ...]

    @property
    def empty(self) -> bool:
        return not (self.changed or self.retyped or self.reshaped or self.renamed or self.added or self.gone)

    @property
    def same_numbers(self) -> bool:
        """Whether every tensor is in both, be it under another name."""
        return self.equal + self.renamed == self.tensors_was == self.tensors_is


class FindingChange(Struct, frozen=True):
    rule: str
    about: str | None
    severity: str
    message: str
    was: int | None  # places
    now: int | None = field(name="is")


class FindingsChange(Struct, frozen=True):
    new: tuple[FindingChange, ...]
    gone: tuple[FindingChange, ...]
    changed: tuple[FindingChange, ...]

    @property
    def empty(self) -> bool:
        return not (self.new or self.gone or self.changed)


class FactChange(Struct, frozen=True):
    """Something else that the cards say: producer, opset, task, metadata …"""

    path: str
    label: str
    was: Plain
    now: Plain = field(name="is")


class Sizes(Struct, frozen=True):
    """The cards hold for other sizes: which, and what to do about it."""

    was: dict[str, int]
    now: dict[str, int] = field(name="is")
    text: str


class FigureChange(Struct, frozen=True):
    """A figure that the user brought."""

    name: str
    was: int | float | None
    now: int | float | None = field(name="is")
    change: int | float | None
    percent: float | None


class Diff(Struct, frozen=True):
    """What differs between the first model and another one. `also` names what of the cards differs besides.

    `marks_was` and `marks_is` say of boxes of the two drawings, by their ids: changed, gone, added.
    """

    name: str
    relation: Relation
    sizes: Sizes | None
    interface: tuple[PortChange, ...]
    numbers: tuple[NumberChange, ...]
    precision: PrecisionChange | None
    operators: tuple[CountChange, ...]
    blocks: tuple[BlockChange, ...]
    marks_was: dict[str, str]
    marks_is: dict[str, str]
    kinds: tuple[CountChange, ...]
    weights: WeightsChange | None
    findings: FindingsChange
    facts: tuple[FactChange, ...]
    also: tuple[str, ...]
    figures: tuple[FigureChange, ...]

    @property
    def empty(self) -> bool:
        """Whether the cards say the same. Figures that a user brought are no part of them."""
        lists = (self.interface, self.numbers, self.operators, self.blocks, self.kinds, self.facts, self.also)
        moved = self.weights is not None and not self.weights.empty
        return not (any(lists) or self.sizes or self.precision or moved or not self.findings.empty)

    @property
    def breaking(self) -> bool:
        return any(change.breaking for change in self.interface)


class Comparison(Struct, frozen=True):
    """The first of `models` is what each of the others is compared with, in `diffs`, in their order."""

    schema_version: str
    generated: Generated
    models: tuple[Side, ...]
    figures: dict[str, dict[str, int | float]]
    diffs: tuple[Diff, ...]

    @property
    def empty(self) -> bool:
        return all(diff.empty for diff in self.diffs)
