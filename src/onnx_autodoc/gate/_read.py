"""A policy from its file: every key, path, rule and runtime is one that there is, or the policy is refused."""

import math
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from onnx_autodoc.errors import BadInput
from onnx_autodoc.gate._files import data_of
from onnx_autodoc.gate._known import vocabularies
from onnx_autodoc.gate._paths import Reading, known, readings
from onnx_autodoc.gate._policy import FAIL_ON, Allow, Change, Limit, Policy, Rules, Runtimes
from onnx_autodoc.rules import RULES, RUNTIMES

INTERFACE: Final = "interface"
_COUNTED: Final = frozenset(("number", "list", "table"))
_T = TypeVar("_T")


def read_policy(path: str | PathLike[str]) -> Policy:
    file = Path(path)
    try:
        return policy_of(data_of(file))
    except _Wrong as wrong:
        raise BadInput(f"{file}: {wrong}") from None


class _Wrong(Exception):
    """What is wrong with a policy, without the name of its file."""


def policy_of(data: Mapping[str, Any]) -> Policy:
    """The same of plain data. What is wrong with it is said without a file."""
    _only(data, Policy, "")
    limits = {path: _limit(path, value) for path, value in _table(data, "limits").items()}
    changes = {path: _change(path, value) for path, value in _table(data, "changes").items()}
    return Policy(limits, changes, _rules(_table(data, "rules")), _runtimes(_table(data, "runtimes")))


def _table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise _Wrong(f"[{name}] is a table")
    odd = next((key for key in found if not isinstance(key, str)), None)
    if odd is not None:
        raise _Wrong(f"[{name}] {odd!r}: a key is a text; put it in quotes")
    return found


def _limit(path: str, value: Any) -> Limit:
    found, where = _typed(value, Limit, f'[limits] "{path}"'), f'[limits] "{path}"'
    kinds = _kinds(path, where)
    if not found.bounds:
        raise _Wrong(f"{where} limits nothing; give max, min, equals or one_of")
    if (found.max is not None or found.min is not None) and not kinds & _COUNTED:
        raise _Wrong(f"{where} is {_said(kinds)}, no number; use equals or one_of")
    if found.max is not None and found.min is not None and found.min > found.max:
        raise _Wrong(f"{where}: nothing is at least {found.min} and at most {found.max}")
    for wanted in (*(found.one_of or ()), *(() if found.equals is None else (found.equals,))):
        if not _fits(wanted, kinds):
            raise _Wrong(f"{where} is {_said(kinds)}; it never equals {wanted!r}")
    return found


def _change(path: str, value: Any) -> Change:
    where = f'[changes] "{path}"'
    found = _typed(value, Change, where)
    kinds = _kinds(path, where, sections=True)
    if not found.bounds:
        raise _Wrong(f"{where} limits nothing; give {', '.join(Change.__struct_fields__[:5])}")
    for name, off in (("equal", found.equal is False), ("breaking", found.breaking is True)):
        if off:
            raise _Wrong(f"{where}: {name} = {str(name != 'equal').lower()} limits nothing; leave it out")
    if found.breaking is not None and path != INTERFACE:
        raise _Wrong(f'{where}: breaking is asked of "{INTERFACE}" alone')
    if found.numbers and not kinds & _COUNTED:
        raise _Wrong(f"{where} is {_said(kinds)}, no number; use equal = true")
    return found


def _kinds(path: str, where: str, sections: bool = False) -> frozenset[str]:
    """What stands at a path of the card, which has to be there."""
    ways = readings(path)
    if not ways:
        raise _Wrong(f"{where}: a card has no such figure{_near(path, known(), 'docs/card.md lists its keys')}")
    if ways[0].kinds == {"section"} and not (sections and ways[0].steps[-1].how == "field"):
        inner = [each for each in known() if each.startswith(f"{_shown(ways[0])}.")]
        raise _Wrong(f"{where} has several figures; name one of them, for example {', '.join(inner[:3])}")
    _check_rule(ways[0], where)
    _check_name(ways[0], where)
    return frozenset(kind for way in ways for kind in way.kinds)


def _shown(way: Reading) -> str:
    """As `known` has it, up to what rows are called."""
    pieces = way.pattern.split(".")
    fits = (path for path in known() if len(path.split(".")) == len(pieces))
    alike = (path for path in fits if all(a in ("*", b) for a, b in zip(pieces, path.split("."))))
    return next(alike, way.pattern)


def _check_rule(way: Reading, where: str) -> None:
    rule = way.steps[1].name if way.pattern.startswith("findings.*") else None
    if rule is not None and rule not in RULES and not rule.isdecimal():
        raise _Wrong(f"{where}: there is no rule {rule!r}{_near(rule, RULES, '`onnx-autodoc rules` lists them')}")


def _check_name(way: Reading, where: str) -> None:
    """What the card does not have counts as none, so a name that is a slip would pass."""
    for table, vocabulary in vocabularies().items():
        name = way.steps[table.count(".") + 1].name if way.pattern.startswith(f"{table}.*") else None
        if name is None or name in vocabulary.names or name.isdecimal():
            continue
        near = _near(name, vocabulary.names, "", 0.6 if vocabulary.closed else 0.85)
        if vocabulary.closed or near != "; ":
            own = "" if vocabulary.closed else " (one of your own: DOMAIN.NAME)"
            raise _Wrong(f"{where}: there is no {vocabulary.what} {name!r}{near.rstrip('; ')}{own}")


def _said(kinds: frozenset[str]) -> str:
    words = {"number": "a number", "text": "a text", "flag": "true or false", "list": "a list", "table": "a table"}
    return " or ".join(words.get(kind, f"a {kind}") for kind in sorted(kinds))


def _fits(wanted: object, kinds: frozenset[str]) -> bool:
    if isinstance(wanted, bool):
        return "flag" in kinds
    return "text" in kinds if isinstance(wanted, str) else bool(kinds & _COUNTED)


def _rules(data: dict[str, Any]) -> Rules:
    _only(data, Rules, "[rules] ")
    entries = data.get("allow", [])
    if not isinstance(entries, list | tuple):
        raise _Wrong("[rules] allow is a list of tables with rule and reason")
    allow = tuple(_typed(entry, Allow, f"[rules] allow, entry {at}") for at, entry in enumerate(entries, 1))
    if isinstance(data.get("severity"), dict) and "off" in data["severity"].values():
        raise _Wrong("[rules] severity is never off; let findings stay with allow, which says why")
    found = _typed({**data, "allow": ()}, Rules, "[rules]")
    for rule in (*(entry.rule for entry in allow), *found.severity):
        if rule not in RULES:
            raise _Wrong(f"[rules] there is no rule {rule!r}{_near(rule, RULES, '`onnx-autodoc rules` lists them')}")
    if found.fail_on not in FAIL_ON:
        raise _Wrong(f"[rules] fail_on = {found.fail_on!r} is none of {', '.join(FAIL_ON)}")
    return msgspec.structs.replace(found, allow=allow)


def _runtimes(data: dict[str, Any]) -> Runtimes:
    found = _typed(data, Runtimes, "[runtimes]")
    for runtime in found.require:
        if runtime not in RUNTIMES:
            near = _near(runtime, RUNTIMES, "there are " + ", ".join(RUNTIMES))
            raise _Wrong(f"[runtimes] there is no runtime {runtime!r}{near}")
    return found


def _typed(value: Any, kind: type[_T], where: str) -> _T:
    _only(value, kind, f"{where}: ")
    empty = [name for name in value if value[name] is None]
    if empty:
        raise _Wrong(f"{where}: {empty[0]} has no value")
    try:
        found = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        what, _, at = str(error).partition(" - at `$")
        raise _Wrong(f"{where}{at.rstrip('`')}: {what[:1].lower()}{what[1:]}") from None
    endless = [name for name in value if isinstance(value[name], float) and not math.isfinite(value[name])]
    if endless:
        raise _Wrong(f"{where}: {endless[0]} is no number that anything can be held against")
    return found


def _only(value: Any, kind: type, where: str) -> None:
    """Whether a table has only keys that mean something."""
    if not isinstance(value, Mapping):
        raise _Wrong(f"{where.rstrip(': ')} is a table, such as {{ max = 1 }}")
    fields = tuple(field.encode_name for field in msgspec.structs.fields(kind))
    for key in value:
        if key not in fields:
            raise _Wrong(f"{where}there is no key {key!r}{_near(str(key), fields, 'there are ' + ', '.join(fields))}")


def _near(name: str, every: Iterable[str], otherwise: str, alike: float = 0.6) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, list(every), 3, alike)
    return f"; near it: {', '.join(near)}" if near else f"; {otherwise}"
