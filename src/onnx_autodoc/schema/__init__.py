"""The published JSON Schemas of cards, comparisons, policies and verdicts, generated from the types."""

import re
from collections.abc import Callable, Iterator
from inspect import cleandoc
from typing import Any, Final

import msgspec

from onnx_autodoc.card import SCHEMA_VERSION, Card
from onnx_autodoc.compare import COMPARISON_VERSION, Comparison
from onnx_autodoc.policy import FAIL_ON, RULES, RUNTIMES, VERDICT_VERSION, Outcome, Policy, list_figures

JsonSchema = dict[str, Any]

_COUNTABLE: Final = frozenset(("number", "list", "table"))
_NUMBER: Final = {"type": "number"}
_TYPES: Final = {"number": _NUMBER, "text": {"type": "string"}, "flag": {"type": "boolean"}}
_NUMBER_CHANGES: Final = ("max_percent", "max_drop_percent", "max_increase", "max_decrease")
_NESTED_BOXES: Final = r"^structure\.tree\.children\..+"


def _policy_schema() -> JsonSchema:
    """Return the schema of policies, which lists every path of the card by name for editors.

    Limits and changes are from the types of the card, the rest from the types of a policy. Two rules are left to the
    reader of policies: `min` is at most `max`, and numbers are finite.
    """
    schema = msgspec.json.schema(Policy)
    defs = {name: entry for name, entry in schema["$defs"].items() if name not in ("Limit", "Change", "Severity")}
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

    def __init__(self, prefix: str, make: Callable[[frozenset[str]], JsonSchema]) -> None:
        self.prefix, self.make, self.schemas = prefix, make, dict[str, Any]()

    def ref(self, kinds: frozenset[str]) -> JsonSchema:
        name = "-".join((self.prefix, *sorted(kinds)))
        self.schemas.setdefault(name, self.make(kinds))
        return {"$ref": f"#/$defs/{name}"}


def _paths_schema(entries: Iterator[tuple[str, JsonSchema]]) -> JsonSchema:
    """Return a table schema: fixed paths are properties; paths with the name of a row are patterns."""
    fixed, named = dict[str, Any](), dict[str, Any]()
    schemas = dict(entries)
    open_ended = tuple(f"{path}." for path in schemas if path.endswith(">"))
    for path, schema in schemas.items():
        if "<" not in path:
            fixed[path] = schema
        elif path.startswith(open_ended) or any(longer.startswith(f"{path}.") for longer in schemas):
            named[_pattern(path)] = {"type": "object"}  # several patterns match one path
        else:
            named[_pattern(path)] = schema
    named[_NESTED_BOXES] = {"type": "object"}
    return {"type": "object", "properties": fixed, "patternProperties": named, "additionalProperties": False}


def _pattern(path: str) -> str:
    path = path.replace("findings.<rule>", f"findings.(?:{'|'.join(RULES)}|[0-9]+)")
    return "^" + re.sub(r"<[^>]*>", ".+", re.sub(r"\.(?![^<]*>)", r"\\.", path)) + "$"


def _limit_schema(kinds: frozenset[str]) -> JsonSchema:
    types = [_TYPES[kind] for kind in sorted(kinds & _TYPES.keys())] or [_NUMBER]
    operand = types[0] if len(types) == 1 else {"anyOf": types}
    bounds = {"equals": operand, "one_of": {"type": "array", "items": operand, "minItems": 1}}
    return _bounds_schema({**({"max": _NUMBER, "min": _NUMBER} if kinds & _COUNTABLE else {}), **bounds})


def _change_schema(kinds: frozenset[str], breaking: bool = False) -> JsonSchema:
    bounds: dict[str, Any] = dict.fromkeys(_NUMBER_CHANGES, _NUMBER) if kinds & _COUNTABLE else {}
    return _bounds_schema({**bounds, "equal": {"const": True}, **({"breaking": {"const": False}} if breaking else {})})


def _bounds_schema(bounds: JsonSchema) -> JsonSchema:
    """Return the schema of a table with at least one bound."""
    return {
        "type": "object",
        "properties": {**bounds, "allow_gaps": {"type": "boolean", "default": False}},
        "anyOf": [{"required": [name]} for name in bounds],
        "additionalProperties": False,
    }


def _restrict_rules(defs: JsonSchema) -> None:
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


def _format(schema: JsonSchema, title: str) -> str:
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"ONNX Autodoc {title}"}
    for entry in schema["$defs"].values():
        if "description" in entry:  # a docstring, which Python dedents since 3.13
            entry["description"] = cleandoc(entry["description"])
    return msgspec.json.format(msgspec.json.encode({**head, **schema}), indent=2).decode() + "\n"


SCHEMAS: Final[dict[str, Callable[[], str]]] = {
    "card": lambda: _format(msgspec.json.schema(Card), f"card, version {SCHEMA_VERSION}"),
    "comparison": lambda: _format(msgspec.json.schema(Comparison), f"comparison, version {COMPARISON_VERSION}"),
    "policy": lambda: _format(_policy_schema(), "policy, version 1"),
    "verdict": lambda: _format(msgspec.json.schema(Outcome), f"verdict, version {VERDICT_VERSION}"),
}
