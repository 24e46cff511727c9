"""Cards to compare: of the corpus, of small networks, and of text."""

import tempfile
from pathlib import Path

import onnx

from onnx_autodoc.api import load_or_make_card
from onnx_autodoc.card import Card
from onnx_autodoc.compare import Diff, compare
from onnx_autodoc.shapes import parse_request
from tests._corpus import load_report
from tests._text import proto


def of_corpus(name: str) -> Card:
    return load_report(name).card


def of_proto(model: onnx.ModelProto, *dims: str, weights: bool = False) -> Card:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        return load_or_make_card(path, parse_request(dims=dims), weights=weights)


def of_text(text: str, *dims: str) -> Card:
    return of_proto(proto(text), *dims)


def compare_cards(was: Card, now: Card) -> Diff:
    return compare([was, now], ["was", "now"]).diffs[0]


def compare_corpus_models(was: str, now: str) -> Diff:
    return compare_cards(of_corpus(was), of_corpus(now))
