"""What a policy file may say. Its JSON Schema comes from these types; what a path or a rule is, `_read` knows."""

from typing import Annotated, Final

from msgspec import Meta, Struct, field

from onnx_autodoc.lint import Severity

Number = int | float
Plain = bool | int | float | str
Reason = Annotated[str, Meta(pattern=r"\S", description="why it is right to allow it; a blank one is refused")]
Words = Annotated[tuple[Plain, ...], Meta(min_length=1)]

NEVER: Final = "never"


class Limit(Struct, frozen=True, forbid_unknown_fields=True):
    """What a figure of the card may be. With `allow_gaps`, what is not known passes and "at least" counts as it is."""

    max: Number | None = None
    min: Number | None = None
    equals: Plain | None = None
    one_of: Words | None = None
    allow_gaps: bool = False

    @property
    def bounds(self) -> dict[str, object]:
        every = {"max": self.max, "min": self.min, "equals": self.equals, "one_of": self.one_of}
        return {name: bound for name, bound in every.items() if bound is not None}


class Change(Struct, frozen=True, forbid_unknown_fields=True):
    """How far a figure may go from the baseline's. `equal` holds for texts, lists and whole sections, too."""

    max_percent: Number | None = None
    max_drop_percent: Number | None = None
    max_increase: Number | None = None
    max_decrease: Number | None = None
    equal: bool | None = None
    breaking: bool | None = None
    allow_gaps: bool = False

    @property
    def numbers(self) -> dict[str, Number]:
        names = ("max_percent", "max_drop_percent", "max_increase", "max_decrease")
        return {name: bound for name in names if (bound := getattr(self, name)) is not None}

    @property
    def bounds(self) -> dict[str, object]:
        rest = {"equal": self.equal, "breaking": self.breaking}
        return {**self.numbers, **{name: bound for name, bound in rest.items() if bound is not None}}


class Allow(Struct, frozen=True, forbid_unknown_fields=True):
    """A finding that does not fail. `evidence` is a glob that every place of it must match."""

    rule: str
    reason: Reason
    about: str | None = None
    evidence: str | None = None


class Rules(Struct, frozen=True, forbid_unknown_fields=True):
    """From which severity on findings fail, which ones may stay, and which are worse or milder here."""

    fail_on: str = Severity.ERROR.value
    allow: tuple[Allow, ...] = ()
    severity: dict[str, Severity] = field(default_factory=dict)
    only_new: bool = False
    allow_gaps: bool = False

    @property
    def named(self) -> frozenset[str]:
        return frozenset((*(entry.rule for entry in self.allow), *self.severity))


class Runtimes(Struct, frozen=True, forbid_unknown_fields=True):
    """The runtimes that have to know every operator of the model."""

    require: tuple[str, ...] = ()


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    limits: dict[str, Limit] = field(default_factory=dict)
    changes: dict[str, Change] = field(default_factory=dict)
    rules: Rules = Rules()
    runtimes: Runtimes = Runtimes()

    @property
    def needs_baseline(self) -> bool:
        return bool(self.changes) or self.rules.only_new


FAIL_ON: Final = (*(severity.value for severity in Severity), NEVER)
