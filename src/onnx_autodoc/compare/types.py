"""The types of a comparison: plain data, from which every format is written.

The keys are a published interface, like those of the card: keys are added, never renamed. `was` is the value of the
first model, `is` that of the second; None is unknown or absent. `was`, `is`, `port` and `path` contain strings of model
files unchanged; sentences contain them sanitized. The docstrings are descriptions in the JSON Schema.
"""

from typing import Final

from msgspec import Struct, field

from onnx_autodoc.card import Box, Generated

COMPARISON_VERSION: Final = "1.0"
Plain = str | int | float | bool | None


class Measure(Struct, frozen=True):
    """A figure of a card by its path. `least`: a lower bound. `sized`: valid for the assumed sizes only."""

    path: str
    label: str
    unit: str
    value: int | float | None
    least: bool
    sized: bool


class Side(Struct, frozen=True):
    """One of the compared models: name, description, figures and architecture diagram."""

    name: str
    file: str
    what: str
    precision: str | None
    dims: dict[str, int]
    measures: tuple[Measure, ...]
    tree: Box | None


class Relation(Struct, frozen=True):
    """The relation of the second model to the first, with the evidence for it in the cards and that against it."""

    kind: str
    text: str
    evidence: tuple[str, ...]
    against: tuple[str, ...]


class PortChange(Struct, frozen=True):
    """A change of an input or output (`kind`). `what` is an identifier; `reason` states the effect on callers."""

    kind: str
    port: str
    what: str
    breaking: bool
    was: str | None
    now: str | None = field(name="is")
    reason: str


class NumberChange(Struct, frozen=True):
    """A changed figure. `change` and `percent` are None where the values are not comparable; `note` is the reason."""

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
    """The number of nodes of an operator (`domain` is set) or of blocks of a kind."""

    name: str
    domain: str | None
    was: int
    now: int = field(name="is")


class BlockChange(Struct, frozen=True):
    """A difference between the architecture diagrams, described by `text`. `kind` is one of

    changed, replaced, added, gone (removed), count (number of equal layers);
    moved: the same block at another position;
    undescribed: one of the boxes has no details;
    skips, wiring: connections between blocks;
    attention: heads over the whole model, where no box shows the change;
    parameters: otherwise identical boxes with different parameter counts;
    spelling: a different kind of block with the same name and sizes (a folded or separate norm);
    relabeled: a different kind of block with the same parameter count and MACs (an activation shown or not);
    more: the number of further differences that are not listed.

    `light`: only blocks without weights and MACs are affected.
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
    """Differences between tensors by name. Counts cover all tensors, lists are cut. `unread` were not compared."""

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
        """Whether both models have all tensors, possibly under different names."""
        return self.equal + self.renamed == self.tensors_was == self.tensors_is


class FindingChange(Struct, frozen=True):
    rule: str
    about: str | None
    severity: str
    message: str
    was: int | None  # occurrences
    now: int | None = field(name="is")


class FindingsChange(Struct, frozen=True):
    new: tuple[FindingChange, ...]
    gone: tuple[FindingChange, ...]
    changed: tuple[FindingChange, ...]

    @property
    def empty(self) -> bool:
        return not (self.new or self.gone or self.changed)


class FactChange(Struct, frozen=True):
    """Another field of the cards that differs: producer, opset, task, metadata …"""

    path: str
    label: str
    was: Plain
    now: Plain = field(name="is")


class Sizes(Struct, frozen=True):
    """The assumed sizes of both cards where they differ; `text` states what to do."""

    was: dict[str, int]
    now: dict[str, int] = field(name="is")
    text: str


class FigureChange(Struct, frozen=True):
    """A figure supplied by the user."""

    name: str
    was: int | float | None
    now: int | float | None = field(name="is")
    change: int | float | None
    percent: float | None


class Diff(Struct, frozen=True):
    """The differences between the first model and another one. `also` lists further fields that differ.

    `marks_was` and `marks_is` map ids of boxes in the two diagrams to changed, gone or added.
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
        """Whether the cards are equal. Figures supplied by the user are not part of them."""
        lists = (self.interface, self.numbers, self.operators, self.blocks, self.kinds, self.facts, self.also)
        moved = self.weights is not None and not self.weights.empty
        return not (any(lists) or self.sizes or self.precision or moved or not self.findings.empty)

    @property
    def breaking(self) -> bool:
        return any(change.breaking for change in self.interface)


class Comparison(Struct, frozen=True):
    """A comparison of models: `diffs` compares the first of `models` with each of the others, in order."""

    schema_version: str
    generated: Generated
    models: tuple[Side, ...]
    figures: dict[str, dict[str, int | float]]
    diffs: tuple[Diff, ...]

    @property
    def empty(self) -> bool:
        return all(diff.empty for diff in self.diffs)
