"""The rows of the nodes on the page: unpacked by the page's own script, they are the rows of the card."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc.card import NodeRow, OutputCell
from onnx_autodoc.render.html.data import MAX_ROWS, pack_rows, to_script_json
from onnx_autodoc.render.html.templates import read_asset
from tests._corpus import load_report
from tests.render.html._node import run

UNPACK = """
const rows = Array.from({ length: Nodes.size }, (_, at) => ({ ...Nodes.row(at), moved: String(Nodes.moved(at)) }));
"""


def unpack_rows(rows: list[NodeRow]) -> list[dict[str, Any]]:
    data = json.dumps(to_script_json(pack_rows(rows).columns))
    before = f"const document = {{ getElementById: () => ({{ textContent: {data} }}) }};"
    return run(before, read_asset("nodes.js"), UNPACK, "rows")


def make_row(name: str, **more: Any) -> NodeRow:
    plain = {"scope": "", "op": "Add", "domain": "ai.onnx", "outputs": (), "params": 0, "macs": 0, "flops": 0}
    return NodeRow(**{"name": name, "read_bytes": 0, "written_bytes": 0, **plain, **more})


@pytest.mark.parametrize("name", ["all-minilm-l6-v2-ts-op14", "silero-vad", "local-functions-mlp"])
def test_unpacked_rows_match_the_card(name: str) -> None:
    rows = list(load_report(name).nodes())
    unpacked_rows = unpack_rows(rows)
    assert len(unpacked_rows) == len(rows)
    for expected, actual in zip(rows, unpacked_rows):
        assert actual["name"].endswith(expected.name or f"({expected.op})")
        assert actual["op"] == expected.op if expected.domain == "ai.onnx" else f"{expected.domain}.{expected.op}"
        assert (actual["params"], actual["macs"], actual["flops"]) == (expected.params, expected.macs, expected.flops)
        assert (actual["read"], actual["written"]) == (expected.read_bytes, expected.written_bytes)
        assert (actual["block"], actual["gap"]) == (expected.block, expected.gap)
        shapes = [
            "unknown" if cell.shape is None else "×".join(map(str, cell.shape)) or "scalar" for cell in expected.outputs
        ]
        assert [output["shape"] for output in actual["outputs"]] == shapes
        assert [output["name"] for output in actual["outputs"]] == [cell.name for cell in expected.outputs]


def test_unicode_names_survive_packing() -> None:
    names = ["a", "ab", "a", "", "é😀x", "é😀y", "é😁", "\u2028", "</script>", "b" * 300]
    outputs = (OutputCell("é😀y_out", "float32", (1, 2)), OutputCell("é😁", None, None))
    unpacked_rows = unpack_rows([make_row(name, outputs=outputs) for name in names])
    shown = [record["name"] for record in unpacked_rows]
    assert shown[:7] == ["a", "ab", "a", "(Add)", "é😀x", "é😀y", "é😁"]
    assert shown[7:9] == ["\\u2028", "</script>"]
    assert len(shown[9]) == 200
    assert all([output["name"] for output in record["outputs"]] == ["é😀y_out", "é😁"] for record in unpacked_rows)


def test_large_and_unknown_numbers_survive_packing() -> None:
    (large, unknown) = unpack_rows(
        [make_row("a", macs=2**70 + 1, read_bytes=2**60, written_bytes=1), make_row("b", macs=None, read_bytes=None)]
    )
    assert large["macs"] == str(2**70 + 1)
    assert large["moved"] == str(2**60 + 1)
    assert unknown["macs"] is None
    assert unknown["moved"] == "null"


def test_rows_beyond_limit_are_only_counted() -> None:
    packed = pack_rows(make_row(f"n{at}") for at in range(MAX_ROWS + 5))
    assert (packed.shown, packed.total) == (MAX_ROWS, MAX_ROWS + 5)
    assert len(packed.columns["ops"]) == MAX_ROWS


def test_ambiguous_name_has_no_link() -> None:
    packed = pack_rows(
        [
            make_row("a"),
            make_row("b"),
            make_row("a"),
            make_row("c", scope="loop"),
            make_row("", scope="loop"),
            make_row(""),
        ]
    )
    assert packed.row_indices == {"b": 1, "loop/c": 3}


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
