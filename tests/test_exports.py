"""Structure of models from several exporters, compared with counts from PyTorch.

`data/exports.zip` has small models with random weights (which are left out) as TorchScript at several opsets, dynamo,
optimizers, int8, fp16, int4 and onnxruntime-genai write them. `truth.json` in it was counted on the PyTorch modules
while they ran, not read off a graph. Left out of it: what an exporter folds away for good (a norm of constants, a
first attention whose queries are constants, an activation that is computed once for many readers).
"""

import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc.api import make_card
from onnx_autodoc.card import Card
from onnx_autodoc.shapes import Request

EXPORTS = Path(__file__).parent / "data" / "exports.zip"
SIZES = ("family", "layers", "hidden", "heads", "kv_heads", "head_dim", "vocab")


def truth() -> dict[str, dict[str, Any]]:
    with zipfile.ZipFile(EXPORTS) as held:
        found: dict[str, dict[str, Any]] = json.loads(held.read("truth.json"))
    return found


TRUTH = truth()
MODELS = sorted({name.split(".")[0] for name in TRUTH})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("exports")
    with zipfile.ZipFile(EXPORTS) as held:
        held.extractall(made)
    return made


@cache
def card(path: Path) -> Card:
    return make_card(path, Request()).card


def counted(found: Card) -> dict[str, int]:
    return {block.kind: block.count for block in found.structure.blocks} | {
        "residual-add": found.structure.residuals.get("add", 0)
    }


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_structure_equals_recorded_run(name: str, folder: Path) -> None:
    found, record = card(folder / name), TRUTH[name]
    counts = counted(found)
    said = {key: record[key] for key in SIZES if key in record}
    assert {key: getattr(found.structure, key) for key in said} == said
    assert {kind: counts.get(kind, 0) for kind in record["blocks"]} == record["blocks"]


@pytest.mark.parametrize("model", MODELS)
def test_every_exporter_gives_the_same_diagram(model: str, folder: Path) -> None:
    """The same layers, as often: whatever the exporter did inside them."""
    names = [name for name in TRUTH if name.startswith(f"{model}.")]
    layers = ("encoder-layer", "decoder-layer")
    drawn = {
        name: [(box.count, box.kind) for box in tree.children if box.kind in layers]
        for name in names
        if (tree := card(folder / name).structure.tree) is not None
    }
    assert len({str(boxes) for boxes in drawn.values()}) == 1, drawn
