"""The weights on the card: there if asked for, absent otherwise, and the same after JSON."""

import hashlib
import json
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest

from onnx_autodoc import BadInput, card
from onnx_autodoc.api import load_or_make_card
from onnx_autodoc.card import Card
from onnx_autodoc.cli import main
from onnx_autodoc.shapes import Request
from tests._text import proto
from tests.analysis.weights._made import external, model_of, some


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """One tensor inside, one beside it, and one in a file that is not there."""
    (tmp_path / "w.bin").write_bytes(some(4, 5).tobytes() + b"more")
    inside = onnx.numpy_helper.from_array(np.array([0, np.nan], np.float32), "inside")
    made = model_of(inside, external("w.bin", [4, 5]), external("none.bin", [4, 5]))
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    return tmp_path / "m.onnx"


def test_card_has_weights_only_on_request(model: Path) -> None:
    assert card(model).weights is None
    result = card(model, weights=True).weights
    assert result is not None and (result.bytes_read, result.unread) == (88, 1)
    assert [each.name for each in result.tensors] == ["inside", "w", "w"]
    assert [each.nan for each in result.tensors] == [1, 0, None]


def test_a_card_with_weights_is_the_same_after_json(model: Path, tmp_path: Path) -> None:
    made = card(model, weights=True)
    (tmp_path / "card.json").write_text(made.to_json(), encoding="utf-8")
    assert msgspec.json.decode(made.to_json(), type=Card).weights == made.weights
    assert load_or_make_card(tmp_path / "card.json", Request(), weights=True).weights == made.weights


def test_stored_card_without_weights_is_rejected_if_they_are_requested(model: Path, tmp_path: Path) -> None:
    older = json.loads(card(model).to_json())
    del older["weights"]
    (tmp_path / "card.json").write_text(json.dumps(older), encoding="utf-8")
    assert load_or_make_card(tmp_path / "card.json", Request()).weights is None
    with pytest.raises(BadInput, match="written without --weights"):
        load_or_make_card(tmp_path / "card.json", Request(), weights=True)


def test_the_command_line_reads_weights_and_hashes_every_file(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["card", str(model), "--weights", "--sha256", "--format", "json"]) == 0
    result = json.loads(capsys.readouterr().out)
    hashes = {each["path"]: each["sha256"] for each in result["model"]["file"]["external"]}
    assert hashes == {"w.bin": hashlib.sha256((model.parent / "w.bin").read_bytes()).hexdigest(), "none.bin": None}
    assert result["weights"]["tensors"][1]["sha256"] == hashlib.sha256(some(4, 5).tobytes()).hexdigest()
    assert result["weights"]["tensors"][2]["unread"] == "its external file was not found"


def test_without_the_option_no_weight_is_read(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("weights were read")

    monkeypatch.setattr("onnx_autodoc.api.pipeline.survey", never)
    monkeypatch.setattr("onnx_autodoc.api.pipeline.external_hashes", never)
    assert card(model).weights is None


def test_weight_rules_need_weights(tmp_path: Path) -> None:
    made = proto("g (float[2, 3] x) => (float[2, 3] y) { y = MatMul(x, w) }")
    made.graph.initializer.append(onnx.numpy_helper.from_array(np.full((3, 3), np.nan, np.float32), "w"))
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    result = [{each.rule for each in card(tmp_path / "m.onnx", weights=request).findings} for request in (False, True)]
    assert result[1] - result[0] == {"non-finite-weight"}
