"""The rows of the nodes on the page: unpacked by the page's own script, they are the rows of the card."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc.card import NodeRow, OutputCell
from onnx_autodoc.render.html.data import MAX_ROWS, pack_rows, to_script_json
from onnx_autodoc.render.html.templates import read_asset
from tests._corpus import reported
from tests.render.html._node import run

UNPACK = """
const rows = Array.from({ length: Nodes.size }, (_, at) => ({ ...Nodes.row(at), moved: String(Nodes.moved(at)) }));
"""


def unpacked(rows: list[NodeRow]) -> list[dict[str, Any]]:
    data = json.dumps(to_script_json(pack_rows(rows).columns))
    before = f"const document = {{ getElementById: () => ({{ textContent: {data} }}) }};"
    return run(before, read_asset("nodes.js"), UNPACK, "rows")


def row(name: str, **more: Any) -> NodeRow:
    plain = {"scope": "", "op": "Add", "domain": "ai.onnx", "outputs": (), "params": 0, "macs": 0, "flops": 0}
    return NodeRow(**{"name": name, "read_bytes": 0, "written_bytes": 0, **plain, **more})


@pytest.mark.parametrize("name", ["all-minilm-l6-v2-ts-op14", "silero-vad", "local-functions-mlp"])
def test_unpacked_rows_match_the_card(name: str) -> None:
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


def test_unicode_names_survive_packing() -> None:
    names = ["a", "ab", "a", "", "é😀x", "é😀y", "é😁", "\u2028", "</script>", "b" * 300]
    outputs = (OutputCell("é😀y_out", "float32", (1, 2)), OutputCell("é😁", None, None))
    found = unpacked([row(name, outputs=outputs) for name in names])
    shown = [one["name"] for one in found]
    assert shown[:7] == ["a", "ab", "a", "(Add)", "é😀x", "é😀y", "é😁"]
    assert shown[7:9] == ["\\u2028", "</script>"]
    assert len(shown[9]) == 200
    assert all([one["name"] for one in each["outputs"]] == ["é😀y_out", "é😁"] for each in found)


def test_large_and_unknown_numbers_survive_packing() -> None:
    (large, unknown) = unpacked(
        [row("a", macs=2**70 + 1, read_bytes=2**60, written_bytes=1), row("b", macs=None, read_bytes=None)]
    )
    assert large["macs"] == str(2**70 + 1)
    assert large["moved"] == str(2**60 + 1)
    assert unknown["macs"] is None
    assert unknown["moved"] == "null"


def test_rows_beyond_limit_are_only_counted() -> None:
    found = pack_rows(row(f"n{at}") for at in range(MAX_ROWS + 5))
    assert (found.shown, found.total) == (MAX_ROWS, MAX_ROWS + 5)
    assert len(found.columns["ops"]) == MAX_ROWS


def test_ambiguous_name_has_no_link() -> None:
    found = pack_rows([row("a"), row("b"), row("a"), row("c", scope="loop"), row("", scope="loop"), row("")])
    assert found.row_indices == {"b": 1, "loop/c": 3}


def test_scripts_parse_without_build() -> None:
    folder = Path(__file__).parents[3] / "src" / "onnx_autodoc" / "render" / "html" / "assets"
    scripts = [path for path in sorted(folder.glob("*.js")) if path.name != "vendor.js"]
    assert len(scripts) >= 10
    texts = [path.read_text(encoding="utf-8") for path in scripts]
    parse = "for (const path of process.argv.slice(1)) new vm.Script(fs.readFileSync(path, 'utf8'), { filename: path })"
    done = subprocess.run(["node", "-e", parse, *scripts], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(text.startswith('"use strict";\n') for text in texts)
    assert all(len(text.splitlines()) < 300 for text in texts)
