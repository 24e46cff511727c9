"""The schema of policies: what the reader takes, and for editors every path of the card by name.

Two things a schema cannot say and the reader does: that `min` is no more than `max`, and that a number is finite.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from onnx_autodoc.policy import FAIL_ON, RULE_IDS, RUNTIMES, Policy, figures

_COUNTED: Final = frozenset(("number", "list", "table"))
_NUMBER: Final = {"type": "number"}
_TYPES: Final = {"number": _NUMBER, "text": {"type": "string"}, "flag": {"type": "boolean"}}
_STEPS: Final = ("max_percent", "max_drop_percent", "max_increase", "max_decrease")
_BOXES: Final = r"^structure\.tree\.children\..+"  # boxes in boxes, as deep as a drawing goes


def policy_form() -> dict[str, Any]:
    """Objects by path come from the card's types, the rest from those of the policy itself."""
    form = msgspec.json.schema(Policy)
    defs = {name: each for name, each in form["$defs"].items() if name not in ("Limit", "Change", "Severity")}
    limits, changes = _Shelf("limit"), _Shelf("change")
    tables = defs["Policy"]["properties"]
    tables["limits"] = _paths((path, limits.ref(kinds, _limit)) for path, kinds in figures() if kinds != {"section"})
    tables["changes"] = _paths(
        (path, changes.ref(kinds, _change)) for path, kinds in figures() if not _is_row(path, kinds)
    )
    tables["changes"]["properties"]["interface"] = {**_change(frozenset(("section",)), breaking=True)}
    _rules(defs)
    defs["Runtimes"]["properties"]["require"]["items"] = {"enum": list(RUNTIMES)}
    for name in ("rules", "runtimes"):
        tables[name] = {"$ref": f"#/$defs/{name.capitalize()}"}
    return {"$ref": "#/$defs/Policy", "$defs": {**defs, **limits.made, **changes.made}}


def _is_row(path: str, kinds: frozenset[str]) -> bool:
    return path.endswith(">") and kinds == {"section"}


class _Shelf:
    """One definition for all figures of a kind."""

    def __init__(self, what: str) -> None:
        self.what, self.made = what, dict[str, Any]()

    def ref(self, kinds: frozenset[str], make: Any) -> dict[str, Any]:
        name = "-".join((self.what, *sorted(kinds)))
        self.made.setdefault(name, make(kinds))
        return {"$ref": f"#/$defs/{name}"}


def _paths(entries: Iterator[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Plain paths by name, those with the name of a row in them by pattern."""
    plain, named = dict[str, Any](), dict[str, Any]()
    every = dict(entries)
    open_ended = tuple(f"{path}." for path in every if path.endswith(">"))
    for path, form in every.items():
        if "<" not in path:
            plain[path] = form
        elif path.startswith(open_ended) or any(other.startswith(f"{path}.") for other in every):
            named[_pattern(path)] = {"type": "object"}  # a name may end anywhere: several patterns fit one path
        else:
            named[_pattern(path)] = form
    named[_BOXES] = {"type": "object"}
    return {"type": "object", "properties": plain, "patternProperties": named, "additionalProperties": False}


def _pattern(path: str) -> str:
    path = path.replace("findings.<rule>", f"findings.(?:{'|'.join(RULE_IDS)}|[0-9]+)")
    return "^" + re.sub(r"<[^>]*>", ".+", re.sub(r"\.(?![^<]*>)", r"\\.", path)) + "$"


def _limit(kinds: frozenset[str]) -> dict[str, Any]:
    types = [_TYPES[kind] for kind in sorted(kinds & _TYPES.keys())] or [_NUMBER]
    wanted = types[0] if len(types) == 1 else {"anyOf": types}
    bounds = {"equals": wanted, "one_of": {"type": "array", "items": wanted, "minItems": 1}}
    return _object({**({"max": _NUMBER, "min": _NUMBER} if kinds & _COUNTED else {}), **bounds})


def _change(kinds: frozenset[str], breaking: bool = False) -> dict[str, Any]:
    bounds: dict[str, Any] = dict.fromkeys(_STEPS, _NUMBER) if kinds & _COUNTED else {}
    return _object({**bounds, "equal": {"const": True}, **({"breaking": {"const": False}} if breaking else {})})


def _object(bounds: dict[str, Any]) -> dict[str, Any]:
    """A table that bounds something."""
    return {
        "type": "object",
        "properties": {**bounds, "allow_gaps": {"type": "boolean", "default": False}},
        "anyOf": [{"required": [name]} for name in bounds],
        "additionalProperties": False,
    }


def _rules(defs: dict[str, Any]) -> None:
    """Rules by their ids, and nothing left empty."""
    rules, allow = defs["Rules"]["properties"], defs["Allow"]["properties"]
    allow["rule"] = {"enum": list(RULE_IDS)}
    for name in ("about", "evidence"):
        allow[name] = {"type": "string"}
    rules["fail_on"] = {"enum": list(FAIL_ON), "default": "error"}
    rules["severity"] = {
        "type": "object",
        "propertyNames": {"enum": list(RULE_IDS)},
        "additionalProperties": {"enum": list(FAIL_ON[:-1])},
    }
