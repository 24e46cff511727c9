"""The published JSON Schemas, generated from the types."""

import msgspec

from onnx_autodoc.document import SCHEMA_VERSION, Card


def card_schema() -> str:
    """The schema of the JSON card, as text."""
    schema = msgspec.json.schema(Card)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"ONNX Autodoc card, version {SCHEMA_VERSION}",
    }
    return msgspec.json.format(msgspec.json.encode({**head, **schema}), indent=2).decode() + "\n"
