"""The pipeline in one call each: a path goes in, a card or a report comes out."""

import hashlib
import os
import time
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from onnx_autodoc import __version__
from onnx_autodoc.document import Card, Generated, build, node_rows
from onnx_autodoc.facts import Facts, measure
from onnx_autodoc.graph import Model
from onnx_autodoc.read import read
from onnx_autodoc.render import Report
from onnx_autodoc.resolve import Request, fit
from onnx_autodoc.structure import describe

_PIECE = 1 << 20


def card(
    path: str | PathLike[str],
    *,
    dims: dict[str, int] | None = None,
    batch: int | None = None,
    seq: int | None = None,
    size: tuple[int, int] | None = None,
    values: dict[str, int] | None = None,
) -> Card:
    """The card of a model file, with its open dimensions bound as the command line's options of these names do."""
    asked = tuple(f"{name}={number}" for name, number in (dims or {}).items())
    given = tuple(f"{name}={number}" for name, number in (values or {}).items())
    return report(path, Request(asked, batch, seq, size, given)).card


def report(path: str | PathLike[str], request: Request, sha256: bool = False) -> Report:
    """The card and the rows of its nodes, for rendering."""
    model = read(path)
    facts = facts_of(model, request)
    structure = describe(facts)
    digest = _sha256(model.path) if sha256 else None
    return Report(build(facts, structure, _generated(), digest), lambda: node_rows(facts, structure.places))


def facts_of(model: Model, request: Request) -> Facts:
    binding, shapes = fit(model, request)
    return measure(model, binding, shapes)


def _generated() -> Generated:
    """When and by what. SOURCE_DATE_EPOCH fixes the time, so that the same model gives the same bytes."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(fixed) if fixed.isdigit() else int(time.time())
    at = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Generated("onnx-autodoc", __version__, at)


def _sha256(path: str) -> str:
    """Of the whole file, weights included, in pieces."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
