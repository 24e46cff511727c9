"""Structure of models from several exporters, compared with counts from PyTorch.

`data/exports.zip` has small models with random weights (which are left out) as TorchScript at several opsets, dynamo,
optimizers, int8, fp16, int4 and onnxruntime-genai write them. `truth.json` in it was counted on the PyTorch modules
while they ran. It leaves out blocks that an exporter folds away (a norm of constants, a first attention whose queries
are constants, an activation that is computed once for many readers).
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


def read_truth() -> dict[str, dict[str, Any]]:
    with zipfile.ZipFile(EXPORTS) as archive:
        records: dict[str, dict[str, Any]] = json.loads(archive.read("truth.json"))
    return records


TRUTH = read_truth()
MODELS = sorted({name.split(".")[0] for name in TRUTH})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    exports = tmp_path_factory.mktemp("exports")
    with zipfile.ZipFile(EXPORTS) as archive:
        archive.extractall(exports)
    return exports


@cache
def load_card(path: Path) -> Card:
    return make_card(path, Request()).card


def count_blocks(model_card: Card) -> dict[str, int]:
    return {block.kind: block.count for block in model_card.structure.blocks} | {
        "residual-add": model_card.structure.residuals.get("add", 0)
    }


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_structure_equals_recorded_run(name: str, folder: Path) -> None:
    model_card, record = load_card(folder / name), TRUTH[name]
    counts = count_blocks(model_card)
    expected = {key: record[key] for key in SIZES if key in record}
    assert {key: getattr(model_card.structure, key) for key in expected} == expected
    assert {kind: counts.get(kind, 0) for kind in record["blocks"]} == record["blocks"]


@pytest.mark.parametrize("model", MODELS)
def test_every_exporter_gives_the_same_diagram(model: str, folder: Path) -> None:
    """Compare the layers and their counts; exporters differ inside of layers."""
    names = [name for name in TRUTH if name.startswith(f"{model}.")]
    layers = ("encoder-layer", "decoder-layer")
    drawn = {
        name: [(box.count, box.kind) for box in tree.children if box.kind in layers]
        for name in names
        if (tree := load_card(folder / name).structure.tree) is not None
    }
    assert len({str(boxes) for boxes in drawn.values()}) == 1, drawn
