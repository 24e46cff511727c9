"""The published JSON Schemas, generated from the types."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from onnx_autodoc.card import SCHEMA_VERSION, Card
from onnx_autodoc.compare import COMPARISON_VERSION, Comparison
from onnx_autodoc.policy import VERDICT_VERSION, Outcome
from onnx_autodoc.schema._policy import policy_form


def card_schema() -> str:
    """The schema of the JSON card, as text."""
    return _text(msgspec.json.schema(Card), f"card, version {SCHEMA_VERSION}")


def comparison_schema() -> str:
    """The schema of what `compare --format json` writes, as text."""
    return _text(msgspec.json.schema(Comparison), f"comparison, version {COMPARISON_VERSION}")


def policy_schema() -> str:
    """The schema of policies for `check`, as text."""
    return _text(policy_form(), "policy, version 1")


def verdict_schema() -> str:
    """The schema of what `check --format json` writes, as text."""
    return _text(msgspec.json.schema(Outcome), f"verdict, version {VERDICT_VERSION}")


def _text(schema: dict[str, Any], what: str) -> str:
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"ONNX Autodoc {what}"}
    return msgspec.json.format(msgspec.json.encode({**head, **schema}), indent=2).decode() + "\n"


SCHEMAS: Final[dict[str, Callable[[], str]]] = {
    "card": card_schema,
    "comparison": comparison_schema,
    "policy": policy_schema,
    "verdict": verdict_schema,
}
