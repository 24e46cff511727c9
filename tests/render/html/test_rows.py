"""The rows of the nodes on the page: unpacked by the page's own script, they are the rows of the card."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc.card import NodeRow, OutputCell
from onnx_autodoc.render.html._assets import asset
from onnx_autodoc.render.html._data import as_json
from onnx_autodoc.render.html._rows import MOST_ROWS, packed
from tests._corpus import reported
from tests.render.html._node import run

UNPACK = """
const rows = Array.from({ length: Nodes.size }, (_, at) => ({ ...Nodes.row(at), moved: String(Nodes.moved(at)) }));
"""


def unpacked(rows: list[NodeRow]) -> list[dict[str, Any]]:
    data = json.dumps(as_json(packed(rows).columns))
    before = f"const document = {{ getElementById: () => ({{ textContent: {data} }}) }};"
    return run(before, asset("nodes.js"), UNPACK, "rows")


def row(name: str, **more: Any) -> NodeRow:
    plain = {"scope": "", "op": "Add", "domain": "ai.onnx", "outputs": (), "params": 0, "macs": 0, "flops": 0}
    return NodeRow(**{"name": name, "read_bytes": 0, "written_bytes": 0, **plain, **more})


@pytest.mark.parametrize("name", ["all-minilm-l6-v2-ts-op14", "silero-vad", "local-functions-mlp"])
def test_what_the_page_unpacks_is_what_the_card_has(name: str) -> None:
    rows = list(reported(name).nodes())
    found = unpacked(rows)
    assert len(found) == len(rows)
    for given, seen in zip(rows, found):
        assert seen["name"].endswith(given.name or f"({given.op})")
        assert seen["op"] == given.op if given.domain == "ai.onnx" else f"{given.domain}.{given.op}"
        assert (seen["params"], seen["macs"], seen["flops"]) == (given.params, given.macs, given.flops)
        assert (seen["read"], seen["written"]) == (given.read_bytes, given.written_bytes)
        assert (seen["block"], seen["gap"]) == (given.block, given.gap)
        shapes = [
            "not known" if cell.shape is None else "×".join(map(str, cell.shape)) or "scalar" for cell in given.outputs
        ]
        assert [output["shape"] for output in seen["outputs"]] == shapes
        assert [output["name"] for output in seen["outputs"]] == [cell.name for cell in given.outputs]


def test_names_come_back_whatever_letters_they_have() -> None:
    names = ["a", "ab", "a", "", "é😀x", "é😀y", "é😁", "\u2028", "</script>", "b" * 300]
    outputs = (OutputCell("é😀y_out", "float32", (1, 2)), OutputCell("é😁", None, None))
    found = unpacked([row(name, outputs=outputs) for name in names])
    shown = [one["name"] for one in found]
    assert shown[:7] == ["a", "ab", "a", "(Add)", "é😀x", "é😀y", "é😁"]
    assert shown[7:9] == ["\\u2028", "</script>"]
    assert len(shown[9]) == 200
    assert all([one["name"] for one in each["outputs"]] == ["é😀y_out", "é😁"] for each in found)


def test_large_numbers_stay_exact_and_unknown_ones_unknown() -> None:
    (large, unknown) = unpacked(
        [row("a", macs=2**70 + 1, read_bytes=2**60, written_bytes=1), row("b", macs=None, read_bytes=None)]
    )
    assert large["macs"] == str(2**70 + 1)
    assert large["moved"] == str(2**60 + 1)
    assert unknown["macs"] is None
    assert unknown["moved"] == "null"


def test_beyond_a_limit_rows_are_counted_and_not_kept() -> None:
    found = packed(row(f"n{at}") for at in range(MOST_ROWS + 5))
    assert (found.shown, found.total) == (MOST_ROWS, MOST_ROWS + 5)
    assert len(found.columns["ops"]) == MOST_ROWS


def test_a_name_that_two_nodes_have_leads_nowhere() -> None:
    found = packed([row("a"), row("b"), row("a"), row("c", scope="loop"), row("", scope="loop"), row("")])
    assert found.places == {"b": 1, "loop/c": 3}


def test_scripts_are_read_as_they_are_written() -> None:
    """No file of ours needs a build: node parses each of them by itself."""
    folder = Path(__file__).parents[3] / "src" / "onnx_autodoc" / "render" / "html" / "assets"
    ours = [path for path in sorted(folder.glob("*.js")) if path.name != "vendor.js"]
    assert len(ours) >= 10
    for path in ours:
        done = subprocess.run(["node", "--check", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert path.read_text(encoding="utf-8").startswith('"use strict";\n')
        assert len(path.read_text(encoding="utf-8").splitlines()) < 300
