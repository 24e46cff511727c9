"""What the gate says: one check for each thing that the policy asks, and whether all of them passed."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from onnx_autodoc.lint import Severity

VERDICT_VERSION: Final = "1.0"


class Kind(StrEnum):
    """`gap` is a rule that could not be checked."""

    LIMIT = "limit"
    CHANGE = "change"
    RULE = "rule"
    RUNTIME = "runtime"
    GAP = "gap"


class Status(StrEnum):
    """`allowed` would have failed, and the policy gives a reason why it may stay. `skipped` was not asked for."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    ALLOWED = "allowed"
    SKIPPED = "skipped"


class Check(Struct, frozen=True):
    """`id` is the path of a figure, a rule or a runtime; `bound` the key of the policy that asks, `limit` its value.

    `measured` is None where it is not known, `baseline` is what it was. `found`: whether a rule found something.
    `reason` is the policy's word for what is allowed.
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
    """On one model. `unneeded` are entries of the policy's allow-list that nothing matched."""

    model: str
    passed: bool
    checks: tuple[Check, ...]
    unneeded: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.status is Status.FAIL)


class Outcome(Struct, frozen=True):
    """The verdicts of one call, and what they were given by."""

    schema_version: str
    tool: str
    version: str
    at: str
    passed: bool
    policy: str | None
    baseline: str | None
    verdicts: tuple[Verdict, ...]
