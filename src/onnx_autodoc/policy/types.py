"""The types of a policy and of a verdict, from which their JSON Schemas are generated."""

from enum import StrEnum
from typing import Annotated, Any, Final

from msgspec import Meta, Struct, field

from onnx_autodoc.card import Severity

Number = int | float
Plain = bool | int | float | str
Reason = Annotated[str, Meta(pattern=r"\S", description="Why the finding is acceptable; must not be blank")]
Values = Annotated[tuple[Plain, ...], Meta(min_length=1)]

NEVER: Final = "never"
VERDICT_VERSION: Final = "1.0"


class Limit(Struct, frozen=True, forbid_unknown_fields=True):
    """Limits on a figure of the card. With `allow_gaps`, an unknown figure passes and a lower bound counts as exact."""

    max: Number | None = None
    min: Number | None = None
    equals: Plain | None = None
    one_of: Values | None = None
    allow_gaps: bool = False

    @property
    def bounds(self) -> dict[str, Any]:
        return _set_fields(self, "max", "min", "equals", "one_of")


class Change(Struct, frozen=True, forbid_unknown_fields=True):
    """Limits on the change of a figure from the baseline. `equal` also applies to texts, lists and whole sections."""

    max_percent: Number | None = None
    max_drop_percent: Number | None = None
    max_increase: Number | None = None
    max_decrease: Number | None = None
    equal: bool | None = None
    breaking: bool | None = None
    allow_gaps: bool = False

    @property
    def numbers(self) -> dict[str, Number]:
        return _set_fields(self, "max_percent", "max_drop_percent", "max_increase", "max_decrease")

    @property
    def bounds(self) -> dict[str, Any]:
        return {**self.numbers, **_set_fields(self, "equal", "breaking")}


def _set_fields(value: Struct, *names: str) -> dict[str, Any]:
    return {name: bound for name in names if (bound := getattr(value, name)) is not None}


class Allow(Struct, frozen=True, forbid_unknown_fields=True):
    """A suppressed finding. `evidence` is a glob that every location of the finding must match."""

    rule: str
    reason: Reason
    about: str | None = None
    evidence: str | None = None


class Rules(Struct, frozen=True, forbid_unknown_fields=True):
    """The severity from which findings fail, suppressed findings, and overridden severities."""

    fail_on: str = Severity.ERROR.value
    allow: tuple[Allow, ...] = ()
    severity: dict[str, Severity] = field(default_factory=dict)
    only_new: bool = False
    allow_gaps: bool = False

    @property
    def rule_ids(self) -> frozenset[str]:
        return frozenset((*(entry.rule for entry in self.allow), *self.severity))


class Runtimes(Struct, frozen=True, forbid_unknown_fields=True):
    """The runtimes that must support every operator of the model."""

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


class Kind(StrEnum):
    """`gap` is a rule that could not be checked."""

    LIMIT = "limit"
    CHANGE = "change"
    RULE = "rule"
    RUNTIME = "runtime"
    GAP = "gap"


class Status(StrEnum):
    """`allowed`: would fail, but the policy accepts it with a reason. `skipped`: not checked, and not required."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    ALLOWED = "allowed"
    SKIPPED = "skipped"


class Check(Struct, frozen=True):
    """`id` is the path of a figure, a rule or a runtime; `bound` is the key in the policy, `limit` its value.

    `measured` is the value on the card, None if unknown; `baseline` is that of the baseline. `found`: whether the check
    is a finding of a rule. `reason`: why the policy allows it.
    """

    kind: Kind
    id: str
    status: Status
    message: str
    do: str = ""
    bound: str | None = None
    limit: bool | int | float | str | tuple[bool | int | float | str, ...] | None = None
    measured: bool | int | float | str | None = None
    baseline: bool | int | float | str | None = None
    found: bool = False
    severity: Severity | None = None
    about: str | None = None
    evidence: tuple[str, ...] = ()
    count: int = 0
    reason: str | None = None


class Verdict(Struct, frozen=True):
    """The verdict on one model. `unneeded`: entries of the policy's allow-list that matched no finding."""

    model: str
    passed: bool
    checks: tuple[Check, ...]
    unneeded: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.status is Status.FAIL)


class Outcome(Struct, frozen=True):
    """The verdicts of one run of `check`, with the tool, policy and baseline that they depend on."""

    schema_version: str
    tool: str
    version: str
    at: str
    passed: bool
    policy: str | None
    baseline: str | None
    verdicts: tuple[Verdict, ...]
