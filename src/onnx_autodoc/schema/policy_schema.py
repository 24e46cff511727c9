"""The JSON Schema of policies, which lists every path of the card by name for editors.

Two rules are left to the reader of policies: `min` is at most `max`, and numbers are finite.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from onnx_autodoc.policy import FAIL_ON, RULES, RUNTIMES, Policy, list_figures

_COUNTABLE: Final = frozenset(("number", "list", "table"))
_NUMBER: Final = {"type": "number"}
_TYPES: Final = {"number": _NUMBER, "text": {"type": "string"}, "flag": {"type": "boolean"}}
_NUMBER_CHANGES: Final = ("max_percent", "max_drop_percent", "max_increase", "max_decrease")
_NESTED_BOXES: Final = r"^structure\.tree\.children\..+"

_Schema = dict[str, Any]


def policy_schema() -> _Schema:
    """Return the schema: limits and changes from the types of the card, the rest from the types of a policy."""
    schema = msgspec.json.schema(Policy)
    defs = {name: each for name, each in schema["$defs"].items() if name not in ("Limit", "Change", "Severity")}
    limits, changes = _Definitions("limit", _limit_schema), _Definitions("change", _change_schema)
    tables = defs["Policy"]["properties"]
    figures = list_figures().items()
    tables["limits"] = _paths_schema((path, limits.ref(kinds)) for path, kinds in figures if kinds != {"section"})
    tables["changes"] = _paths_schema(
        (path, changes.ref(kinds)) for path, kinds in figures if not (path.endswith(">") and kinds == {"section"})
    )
    tables["changes"]["properties"]["interface"] = _change_schema(frozenset(("section",)), breaking=True)
    _restrict_rules(defs)
    defs["Runtimes"]["properties"]["require"]["items"] = {"enum": list(RUNTIMES)}
    for name in ("rules", "runtimes"):
        tables[name] = {"$ref": f"#/$defs/{name.capitalize()}"}
    return {"$ref": "#/$defs/Policy", "$defs": {**defs, **limits.schemas, **changes.schemas}}


class _Definitions:
    """One definition for all figures of a kind."""

    def __init__(self, what: str, make: Callable[[frozenset[str]], _Schema]) -> None:
        self.what, self.make, self.schemas = what, make, dict[str, Any]()

    def ref(self, kinds: frozenset[str]) -> _Schema:
        name = "-".join((self.what, *sorted(kinds)))
        self.schemas.setdefault(name, self.make(kinds))
        return {"$ref": f"#/$defs/{name}"}


def _paths_schema(entries: Iterator[tuple[str, _Schema]]) -> _Schema:
    """Fixed paths are properties; paths with the name of a row are patterns."""
    fixed, named = dict[str, Any](), dict[str, Any]()
    every = dict(entries)
    open_ended = tuple(f"{path}." for path in every if path.endswith(">"))
    for path, schema in every.items():
        if "<" not in path:
            fixed[path] = schema
        elif path.startswith(open_ended) or any(other.startswith(f"{path}.") for other in every):
            named[_pattern(path)] = {"type": "object"}  # several patterns match one path
        else:
            named[_pattern(path)] = schema
    named[_NESTED_BOXES] = {"type": "object"}
    return {"type": "object", "properties": fixed, "patternProperties": named, "additionalProperties": False}


def _pattern(path: str) -> str:
    path = path.replace("findings.<rule>", f"findings.(?:{'|'.join(RULES)}|[0-9]+)")
    return "^" + re.sub(r"<[^>]*>", ".+", re.sub(r"\.(?![^<]*>)", r"\\.", path)) + "$"


def _limit_schema(kinds: frozenset[str]) -> _Schema:
    types = [_TYPES[kind] for kind in sorted(kinds & _TYPES.keys())] or [_NUMBER]
    wanted = types[0] if len(types) == 1 else {"anyOf": types}
    bounds = {"equals": wanted, "one_of": {"type": "array", "items": wanted, "minItems": 1}}
    return _bounds_schema({**({"max": _NUMBER, "min": _NUMBER} if kinds & _COUNTABLE else {}), **bounds})


def _change_schema(kinds: frozenset[str], breaking: bool = False) -> _Schema:
    bounds: dict[str, Any] = dict.fromkeys(_NUMBER_CHANGES, _NUMBER) if kinds & _COUNTABLE else {}
    return _bounds_schema({**bounds, "equal": {"const": True}, **({"breaking": {"const": False}} if breaking else {})})


def _bounds_schema(bounds: _Schema) -> _Schema:
    """A table with one bound at least."""
    return {
        "type": "object",
        "properties": {**bounds, "allow_gaps": {"type": "boolean", "default": False}},
        "anyOf": [{"required": [name]} for name in bounds],
        "additionalProperties": False,
    }


def _restrict_rules(defs: _Schema) -> None:
    """Allow only ids of rules and severities that exist."""
    rules, allow = defs["Rules"]["properties"], defs["Allow"]["properties"]
    allow["rule"] = {"enum": list(RULES)}
    for name in ("about", "evidence"):
        allow[name] = {"type": "string"}
    rules["fail_on"] = {"enum": list(FAIL_ON), "default": "error"}
    rules["severity"] = {
        "type": "object",
        "propertyNames": {"enum": list(RULES)},
        "additionalProperties": {"enum": list(FAIL_ON[:-1])},
    }
