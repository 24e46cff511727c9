"""The published JSON Schemas of cards, comparisons, policies and verdicts, generated from the types."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from onnx_autodoc.card import SCHEMA_VERSION, Card
from onnx_autodoc.compare import COMPARISON_VERSION, Comparison
from onnx_autodoc.policy import VERDICT_VERSION, Outcome
from onnx_autodoc.schema.policy_schema import policy_schema


def _format(schema: dict[str, Any], title: str) -> str:
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"ONNX Autodoc {title}"}
    return msgspec.json.format(msgspec.json.encode({**head, **schema}), indent=2).decode() + "\n"


SCHEMAS: Final[dict[str, Callable[[], str]]] = {
    "card": lambda: _format(msgspec.json.schema(Card), f"card, version {SCHEMA_VERSION}"),
    "comparison": lambda: _format(msgspec.json.schema(Comparison), f"comparison, version {COMPARISON_VERSION}"),
    "policy": lambda: _format(policy_schema(), "policy, version 1"),
    "verdict": lambda: _format(msgspec.json.schema(Outcome), f"verdict, version {VERDICT_VERSION}"),
}
