"""Build a policy from the data of its file, and reject unknown names and invalid values."""

import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from onnx_autodoc.architecture import BLOCK_KINDS
from onnx_autodoc.card import MAX_FIGURE
from onnx_autodoc.decoding import convert
from onnx_autodoc.ir import BITS
from onnx_autodoc.lint import RULES, RUNTIMES
from onnx_autodoc.ops import OPERATORS
from onnx_autodoc.policy.paths import FigurePath, list_figures, parse_path
from onnx_autodoc.policy.types import FAIL_ON, Allow, Change, Limit, Policy, Rules, Runtimes

_MAX_ENTRIES: Final = 5_000  # of one table
_MAX_PATH_CHARS: Final = 1_000
_MAX_PATH_DOTS: Final = 60
_MIN_NAME_SIMILARITY: Final = 0.6
_MIN_CUSTOM_NAME_SIMILARITY: Final = 0.85
_INTERFACE: Final = "interface"
_COUNTABLE: Final = frozenset(("number", "list", "table"))
_RESIDUALS: Final = ("add", "concat", "gate", "subtract")
_LIST_RULES: Final = "`onnx-autodoc rules` lists them"
_KIND_WORDS: Final = {
    "number": "a number",
    "text": "text",
    "flag": "true or false",
    "list": "a list",
    "table": "a table",
}

_T = TypeVar("_T")


class InvalidPolicy(Exception):
    """A policy is invalid. The message does not name its file."""


def parse_policy(data: Mapping[str, Any]) -> Policy:
    """Build a policy from plain data; raises `InvalidPolicy`."""
    _check_keys(data, Policy, "")
    limits = {path: _parse_limit(path, value) for path, value in _table(data, "limits").items()}
    changes = {path: _parse_change(path, value) for path, value in _table(data, "changes").items()}
    rules = _parse_rules(_table(data, "rules"))
    required = tuple(dict.fromkeys(_convert(_table(data, "runtimes"), Runtimes, "[runtimes]").require))
    for runtime in required:
        if runtime not in RUNTIMES:
            near = _suggest(runtime, RUNTIMES, "use one of: " + ", ".join(RUNTIMES))
            raise InvalidPolicy(f"[runtimes] unknown runtime {runtime!r}{near}")
    return Policy(limits, changes, rules, Runtimes(required))


def _table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, dict):
        raise InvalidPolicy(f"[{name}] must be a table")
    if len(table) > _MAX_ENTRIES:
        raise InvalidPolicy(f"[{name}] has {len(table):,} entries; at most {_MAX_ENTRIES:,} are allowed")
    for key in table:
        if not isinstance(key, str):
            raise InvalidPolicy(f"[{name}] {key!r}: a key must be a string; put it in quotes")
    return table


def _convert(value: Any, kind: type[_T], where: str) -> _T:
    _check_keys(value, kind, f"{where}: ")
    for name, item in value.items():
        if item is None:
            raise InvalidPolicy(f"{where}: {name} has no value")
    try:
        converted = convert(value, kind)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        message = f"{message[:1].lower()}{message[1:]}".replace(" | null`", "`")
        raise InvalidPolicy(f"{where}{place.rstrip('`')}: {message}") from None
    for name, item in value.items():
        numbers = item if isinstance(item, list | tuple) else (item,)
        if any(isinstance(number, float) and not math.isfinite(number) for number in numbers):
            raise InvalidPolicy(f"{where}: {name} must be a finite number")
        if any(isinstance(number, int) and abs(number) > MAX_FIGURE for number in numbers):
            raise InvalidPolicy(f"{where}: {name} must be an integer of 64 bits")
    return converted


def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.encode_name for field in msgspec.structs.fields(kind))


def _check_keys(value: Any, kind: type, where: str) -> None:
    fields = _field_names(kind)
    if not isinstance(value, Mapping):
        raise InvalidPolicy(f"{where.rstrip(': ')} must be a table, such as {{ {fields[0]} = 1 }}")
    for key in value:
        if key not in fields:
            near = _suggest(str(key), fields, "use one of: " + ", ".join(fields))
            raise InvalidPolicy(f"{where}unknown key {key!r}{near}")


def _suggest(name: str, names: Iterable[str], otherwise: str, similarity: float = _MIN_NAME_SIMILARITY) -> str:
    close = get_close_matches(name, list(names), 3, similarity)
    return f"; similar: {', '.join(close)}" if close else f"; {otherwise}"


def _parse_limit(path: str, value: Any) -> Limit:
    where = f'[limits] "{path}"'
    _check_quoted(path, value, Limit, "limits")
    limit = _convert(value, Limit, where)
    kinds = _value_kinds(path, where)
    if not limit.bounds:
        raise InvalidPolicy(f"{where} limits nothing; set max, min, equals or one_of")
    if (limit.max is not None or limit.min is not None) and not kinds & _COUNTABLE:
        raise InvalidPolicy(f"{where} is {_describe_kinds(kinds)}, not a number; use equals or one_of")
    if limit.max is not None and limit.min is not None and limit.min > limit.max:
        raise InvalidPolicy(f"{where}: min {limit.min} is greater than max {limit.max}")
    for allowed in (*(limit.one_of or ()), *(() if limit.equals is None else (limit.equals,))):
        kind = {"flag"} if isinstance(allowed, bool) else {"text"} if isinstance(allowed, str) else _COUNTABLE
        if not kinds & kind:
            raise InvalidPolicy(f"{where} is {_describe_kinds(kinds)}; it cannot equal {allowed!r}")
    return limit


def _parse_change(path: str, value: Any) -> Change:
    where = f'[changes] "{path}"'
    _check_quoted(path, value, Change, "changes")
    change = _convert(value, Change, where)
    kinds = _value_kinds(path, where, sections=True)
    if not change.bounds:
        raise InvalidPolicy(f"{where} limits nothing; set {', '.join(Change.__struct_fields__[:5])}")
    if change.equal is False or change.breaking is True:
        useless = "equal = false" if change.equal is False else "breaking = true"
        raise InvalidPolicy(f"{where}: {useless} limits nothing; leave it out")
    if change.breaking is not None and path != _INTERFACE:
        raise InvalidPolicy(f'{where}: breaking applies only to "{_INTERFACE}"')
    if change.numbers and not kinds & _COUNTABLE:
        raise InvalidPolicy(f"{where} is {_describe_kinds(kinds)}, not a number; use equal = true")
    return change


def _check_quoted(path: str, value: Any, kind: type, table: str) -> None:
    """Reject a path without quotes: TOML reads compute.macs as a table in a table."""
    whole, fields = path, _field_names(kind)
    while isinstance(value, Mapping) and value and not set(fields) & set(value) and len(whole) < _MAX_PATH_CHARS:
        key = next(iter(value))
        whole, value = f"{whole}.{key}", value[key]
    if whole != path and isinstance(value, Mapping):
        raise InvalidPolicy(f'[{table}] {whole}: a path is one key; put it in quotes, "{whole}"')


def _describe_kinds(kinds: frozenset[str]) -> str:
    return " or ".join(_KIND_WORDS.get(kind, f"a {kind}") for kind in sorted(kinds))


def _value_kinds(path: str, where: str, sections: bool = False) -> frozenset[str]:
    """Return the kinds of values at a path, which must exist. `sections`: it may be a whole section."""
    if len(path) > _MAX_PATH_CHARS or path.count(".") > _MAX_PATH_DOTS:
        raise InvalidPolicy(f"[{where.partition(']')[0][1:]}] {path[:80]!r}…: path too long")
    readings = parse_path(path)
    if not readings:
        near = _suggest(path, list_figures(), "`onnx-autodoc schema policy` lists them")
        raise InvalidPolicy(f"{where}: unknown figure{near}")
    first = readings[0]
    if first.kinds == {"section"} and not (sections and first.steps[-1].how == "field"):
        prefix = f"{_listed_path(first)}."
        inner = [figure for figure in list_figures() if figure.startswith(prefix)]
        raise InvalidPolicy(f"{where} is a section; limit one of its figures, for example {', '.join(inner[:3])}")
    _check_names(first, where)
    return frozenset(kind for reading in readings for kind in reading.kinds)


def _listed_path(path: FigurePath) -> str:
    """Return the path in the form of `list_figures`."""
    pieces = path.pattern.split(".")
    for listed in list_figures():
        names = listed.split(".")
        if len(names) == len(pieces) and all(piece in ("*", name) for piece, name in zip(pieces, names)):
            return listed
    return path.pattern


class Vocabulary(Struct, frozen=True):
    """The names of rows in a table of the card. Without `closed`, names with a domain are accepted, too."""

    row: str
    names: tuple[str, ...]
    closed: bool


@cache
def _vocabularies() -> dict[str, Vocabulary]:
    """Vocabularies by table. A missing row counts as 0, so a misspelt name would pass every limit."""
    operators = {op for _, op in OPERATORS} | {f"{domain or 'ai.onnx'}.{op}" for domain, op in OPERATORS}
    operator = Vocabulary("operator", tuple(sorted(operators)), closed=False)
    dtype = Vocabulary("element type", (*BITS, "unknown"), closed=True)
    return {
        **dict.fromkeys(("graph.operators", "memory.by_op"), operator),
        **dict.fromkeys(("parameters.by_dtype", "model.precision.weights"), dtype),
        "structure.blocks": Vocabulary("block kind", BLOCK_KINDS, closed=True),
        "structure.residuals": Vocabulary("residual connection", _RESIDUALS, closed=True),
    }


def _check_names(path: FigurePath, where: str) -> None:
    rule = path.steps[1].name if path.pattern.startswith("findings.*") else None
    if rule is not None and rule not in RULES and not rule.isdecimal():
        raise InvalidPolicy(f"{where}: unknown rule {rule!r}{_suggest(rule, RULES, _LIST_RULES)}")
    for table, vocabulary in _vocabularies().items():
        name = path.steps[table.count(".") + 1].name if path.pattern.startswith(f"{table}.*") else None
        if name is None or name in vocabulary.names or name.isdecimal():
            continue
        wrong = vocabulary.closed or "." not in name
        similarity = _MIN_NAME_SIMILARITY if wrong else _MIN_CUSTOM_NAME_SIMILARITY
        near = _suggest(name, vocabulary.names, "", similarity)
        if wrong or near != "; ":
            custom = "" if vocabulary.closed else " (for a custom operator: DOMAIN.NAME)"
            raise InvalidPolicy(f"{where}: unknown {vocabulary.row} {name!r}{near.rstrip('; ')}{custom}")


def _parse_rules(data: dict[str, Any]) -> Rules:
    _check_keys(data, Rules, "[rules] ")
    entries = data.get("allow", [])
    if not isinstance(entries, list | tuple):
        raise InvalidPolicy("[rules] allow must be a list of tables with rule and reason")
    allow = tuple(_parse_allow(entry, f"[rules] allow, entry {at}") for at, entry in enumerate(entries, 1))
    severities = data.get("severity")
    for rule, severity in severities.items() if isinstance(severities, Mapping) else ():
        if severity == "off":
            raise InvalidPolicy("[rules] severity cannot be off; suppress findings with allow and a reason")
        if severity not in FAIL_ON[:-1]:
            raise InvalidPolicy(f"[rules] severity of {rule!r}: {severity!r} is not one of {', '.join(FAIL_ON[:-1])}")
    rules = _convert({**data, "allow": ()}, Rules, "[rules]")
    for rule in (*(entry.rule for entry in allow), *rules.severity):
        if rule not in RULES:
            raise InvalidPolicy(f"[rules] unknown rule {rule!r}{_suggest(rule, RULES, _LIST_RULES)}")
    if rules.fail_on not in FAIL_ON:
        raise InvalidPolicy(f"[rules] fail_on = {rules.fail_on!r} is not one of {', '.join(FAIL_ON)}")
    return msgspec.structs.replace(rules, allow=allow)


def _parse_allow(entry: Any, where: str) -> Allow:
    if not isinstance(entry, Mapping):
        raise InvalidPolicy(
            f'{where} must be a table, such as {{ rule = "dynamic-input", reason = "the server batches" }}'
        )
    for key in ("rule", "reason"):
        if key not in entry:
            raise InvalidPolicy(f"{where} has no {key}")
    reason = entry["reason"]
    if isinstance(reason, str) and not any(letter.isalnum() for letter in reason):
        raise InvalidPolicy(f"{where}: the reason is blank; state why the finding is acceptable")
    allow = _convert(entry, Allow, where)
    for key, value in (("about", allow.about), ("evidence", allow.evidence)):
        if value is not None and not value.strip():
            raise InvalidPolicy(f"{where}: {key} is blank; omit it to allow all findings of the rule")
    return allow
