"""A policy from its file: every key, path, rule and runtime is one that there is, or the policy is refused."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Final

import msgspec

from onnx_autodoc.errors import BadInput
from onnx_autodoc.lint import RULES
from onnx_autodoc.policy._files import data_of
from onnx_autodoc.policy._known import vocabularies
from onnx_autodoc.policy._paths import Reading, known, readings
from onnx_autodoc.policy._policy import Change, Limit, Policy
from onnx_autodoc.policy._ruling import rules_of, runtimes_of
from onnx_autodoc.policy._typed import Wrong, fields_of, near, only, typed

INTERFACE: Final = "interface"
_COUNTED: Final = frozenset(("number", "list", "table"))
_LONGEST: Final = 1_000  # letters of what is wrong
_MOST_ENTRIES: Final = 5_000  # of one table, each looked up and looked for among names that are near
_LONGEST_PATH: Final = 1_000  # letters
_MOST_PIECES: Final = 60  # of a path, dots between them


def read_policy(path: str | PathLike[str]) -> Policy:
    file = Path(path)
    try:
        data = data_of(file)
        found = _printable(policy_of(data))
        if not any(data.values()):  # perhaps what an accident left of it
            raise Wrong('it asks for nothing; for the rules alone write fail_on = "error" under [rules]')
        return found
    except Wrong as wrong:
        raise BadInput(f"{file}: {_shortened(str(wrong))}") from None


def _shortened(text: str) -> str:
    """Both ends: it begins with the place, and ends with what to do."""
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"


def _printable(found: Policy) -> Policy:
    """Half a letter (JSON and YAML can write one) would end in reports that cannot be written."""
    try:
        msgspec.json.encode(found)
    except UnicodeEncodeError:
        raise Wrong("a text in it has half of a surrogate pair, which is no letter") from None
    return found


def policy_of(data: Mapping[str, Any]) -> Policy:
    """The same of plain data. What is wrong with it is said without a file."""
    only(data, Policy, "")
    limits = {path: _limit(path, value) for path, value in _table(data, "limits").items()}
    changes = {path: _change(path, value) for path, value in _table(data, "changes").items()}
    return Policy(limits, changes, rules_of(_table(data, "rules")), runtimes_of(_table(data, "runtimes")))


def _table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise Wrong(f"[{name}] is a table")
    if len(found) > _MOST_ENTRIES:
        raise Wrong(f"[{name}] has {len(found):,} entries; {_MOST_ENTRIES:,} are the most that are read")
    odd = [key for key in found if not isinstance(key, str)]
    if odd:
        raise Wrong(f"[{name}] {odd[0]!r}: a key is a text; put it in quotes")
    return found


def _limit(path: str, value: Any) -> Limit:
    where = f'[limits] "{path}"'
    _whole(path, value, Limit, "limits")
    found = typed(value, Limit, where)
    kinds = _kinds(path, where)
    if not found.bounds:
        raise Wrong(f"{where} limits nothing; give max, min, equals or one_of")
    if (found.max is not None or found.min is not None) and not kinds & _COUNTED:
        raise Wrong(f"{where} is {_said(kinds)}, no number; use equals or one_of")
    if found.max is not None and found.min is not None and found.min > found.max:
        raise Wrong(f"{where}: nothing is at least {found.min} and at most {found.max}")
    for wanted in (*(found.one_of or ()), *(() if found.equals is None else (found.equals,))):
        if not _fits(wanted, kinds):
            raise Wrong(f"{where} is {_said(kinds)}; it never equals {wanted!r}")
    return found


def _change(path: str, value: Any) -> Change:
    where = f'[changes] "{path}"'
    _whole(path, value, Change, "changes")
    found = typed(value, Change, where)
    kinds = _kinds(path, where, sections=True)
    if not found.bounds:
        raise Wrong(f"{where} limits nothing; give {', '.join(Change.__struct_fields__[:5])}")
    for name, off in (("equal", found.equal is False), ("breaking", found.breaking is True)):
        if off:
            raise Wrong(f"{where}: {name} = {str(name != 'equal').lower()} limits nothing; leave it out")
    if found.breaking is not None and path != INTERFACE:
        raise Wrong(f'{where}: breaking is asked of "{INTERFACE}" alone')
    if found.numbers and not kinds & _COUNTED:
        raise Wrong(f"{where} is {_said(kinds)}, no number; use equal = true")
    return found


def _whole(path: str, value: Any, kind: type, table: str) -> None:
    """Without quotes TOML takes compute.macs for a table in a table, as an indented list of keys is in YAML."""
    way, fields = path, fields_of(kind)
    while isinstance(value, Mapping) and value and not set(fields) & set(value) and len(way) < _LONGEST_PATH:
        key = next(iter(value))
        way, value = f"{way}.{key}", value[key]
    if way != path and isinstance(value, Mapping):
        raise Wrong(f'[{table}] {way}: a path is one key; put it in quotes, "{way}"')


def _kinds(path: str, where: str, sections: bool = False) -> frozenset[str]:
    """What stands at a path of the card, which has to be there."""
    if len(path) > _LONGEST_PATH or path.count(".") > _MOST_PIECES:
        raise Wrong(f"[{where.partition(']')[0][1:]}] {path[:80]!r}…: no path of a card is as long")
    ways = readings(path)
    if not ways:
        raise Wrong(
            f"{where}: a card has no such figure{near(path, known(), '`onnx-autodoc schema policy` lists them')}"
        )
    if ways[0].kinds == {"section"} and not (sections and ways[0].steps[-1].how == "field"):
        inner = [each for each in known() if each.startswith(f"{_shown(ways[0])}.")]
        raise Wrong(f"{where} has several figures; name one of them, for example {', '.join(inner[:3])}")
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
        raise Wrong(f"{where}: there is no rule {rule!r}{near(rule, RULES, '`onnx-autodoc rules` lists them')}")


def _check_name(way: Reading, where: str) -> None:
    """What the card does not have counts as none, so a name that is a slip would pass."""
    for table, vocabulary in vocabularies().items():
        name = way.steps[table.count(".") + 1].name if way.pattern.startswith(f"{table}.*") else None
        if name is None or name in vocabulary.names or name.isdecimal():
            continue
        sure = vocabulary.closed or "." not in name
        alike = near(name, vocabulary.names, "", 0.6 if sure else 0.85)
        if sure or alike != "; ":
            own = "" if vocabulary.closed else " (one of your own: DOMAIN.NAME)"
            raise Wrong(f"{where}: there is no {vocabulary.what} {name!r}{alike.rstrip('; ')}{own}")


def _said(kinds: frozenset[str]) -> str:
    words = {"number": "a number", "text": "a text", "flag": "true or false", "list": "a list", "table": "a table"}
    return " or ".join(words.get(kind, f"a {kind}") for kind in sorted(kinds))


def _fits(wanted: object, kinds: frozenset[str]) -> bool:
    if isinstance(wanted, bool):
        return "flag" in kinds
    return "text" in kinds if isinstance(wanted, str) else bool(kinds & _COUNTED)
