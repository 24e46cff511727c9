"""Cards for policy tests, from the corpus, from text and from plain data."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from onnx_autodoc.api import make_card
from onnx_autodoc.card import Card
from onnx_autodoc.policy import Check, Policy, check_card, parse_policy
from onnx_autodoc.shapes import parse_request
from tests._corpus import graph
from tests._text import proto

# One model of each kind: an encoder, a plain classifier, a decoder with a cache, control flow, integers.
SAMPLE = (
    "all-minilm-l6-v2-ts-op14",
    "resnet50-ts-op17",
    "smollm2-135m-genai-int4",
    "control-flow-loop-if",
    "mobilenetv2-qoperator-int8",
)


@cache
def card(name: str, *dims: str) -> Card:
    return make_card(graph(name), parse_request(dims=dims)).card


def card_from_text(text: str, *dims: str, opset: int = 18) -> Card:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(proto(text, opset).SerializeToString())
        return make_card(path, parse_request(dims=dims)).card


def policy(**tables: Any) -> Policy:
    return parse_policy(tables)


def check_bounds(subject: Card, baseline: Card | None = None, **tables: Any) -> list[Check]:
    """Return the checks of limits and changes; no rule fails."""
    limits = policy(**{"rules": {"fail_on": "never"}, **tables})
    return [check for check in check_card(subject, limits, baseline).checks if check.bound is not None]


def check_status(subject: Card, path: str, baseline: Card | None = None, **limit: Any) -> str:
    """Return the status of the only limit."""
    (check,) = check_bounds(subject, baseline, **{"changes" if baseline is not None else "limits": {path: limit}})
    return check.status.value


def replace_figure(subject: Card, path: str, value: Any) -> Card:
    """Return the card with another value at a path of fields."""
    data = msgspec.to_builtins(subject)
    *keys, last = path.split(".")
    section = data
    for key in keys:
        section = section[key]
    section[last] = value
    return msgspec.convert(data, Card)
