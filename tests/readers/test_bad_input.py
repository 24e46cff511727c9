"""What is not a model is called so in one line, and nothing is written."""

import gzip
import io
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from onnx_autodoc.errors import AutodocError, BadInput
from onnx_autodoc.readers import read_model
from tests._corpus import graph
from tests._wire import chunk, integer, model, relu, value


def make_zip() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("model.onnx", relu())
    return data.getvalue()


FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "empty"),
    "text": (b"hello, this is not a model\n", "text"),
    "unicode text": ("Größe: 3 übrig\n".encode(), "text"),
    "html": (b"<!DOCTYPE html><html><body>Sign in</body></html>", "HTML"),
    "html after a blank line": (b"\n\n <html><body>404</body></html>", "HTML"),
    "zip": (make_zip(), "zip"),
    "gzip": (gzip.compress(relu()), "gzip"),
    "pickle": (pickle.dumps({"weights": [1, 2, 3]}), "pickle"),
    "git lfs pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n", "git lfs pull"),
    "json": (b'{"a": 8}', "text, not a binary"),
    "onnx as json": (b'{\n  "irVersion": "8",\n  "graph": {}}', 'format="json"'),
    "onnx as protobuf text": (b'ir_version: 8\ngraph {\n  name: "g"\n}\n', 'format="textproto"'),
    "onnx's own notation": (b'<ir_version: 8, opset_import: ["" : 17]>\ng (float[N] x) => (float y) {}', "parse_model"),
    "wide text": ("Größe".encode("utf-16"), "text"),
    "xml": (b'<?xml version="1.0"?><net name="x"/>', "OpenVINO"),
    "safetensors": ((60).to_bytes(8, "little") + b'{"w":{"dtype":"F32"}}', "safetensors"),
    "gguf": (b"GGUF\x03\0\0\0", "GGUF"),
    "tflite": (b"\x1c\0\0\0TFL3" + bytes(40), "tf2onnx"),
    "hdf5": (b"\x89HDF\r\n\x1a\n", "HDF5"),
    "a tensorflow graph": (chunk(1, chunk(1, "x") + chunk(2, "Placeholder")), "tf2onnx"),
    "a paddle model": (chunk(1, integer(1, 0) + chunk(4, chunk(1, chunk(1, "feed")))), "paddle2onnx"),
    "a tensorrt engine": (b"ptrt" + bytes(60), "TensorRT"),
    "an old torch file": (b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02", "torch.onnx"),
    "no graph": (integer(1, 8) + chunk(2, "pytorch") + chunk(8, integer(2, 17)), "no graph"),
    "an empty graph": (model(b""), "no graph"),
    "no opset": (integer(1, 8) + chunk(7, value(12, "y", (1,))), "declares no opset"),
    "two graphs": (relu() + chunk(7, b""), "more than one field graph"),
    "a graph that is a number": (integer(1, 8) + integer(7, 3), "wrong wire type"),
    "a name that is a number": (model(chunk(1, integer(4, 7))), "wrong wire type"),
    "a group": (integer(1, 8) + b"\x3b\x3c", "wire type"),
    "an endless number": (integer(1, 8) + b"\x08" + b"\xff" * 11, "unterminated varint"),
    "a graph longer than the file": (integer(1, 8) + b"\x3a\xff\xff\x7f" + b"\x00" * 9, "truncated"),
    "a tensor of 5,000 dims": (model(chunk(5, integer(1, 1) * 5_000 + integer(2, 1))), "5,000 dimensions"),
    "a node longer than its graph": (integer(1, 8) + chunk(7, b"\x0a\x7f\x00") + b"\x00" * 200, "its GraphProto ends"),
}


@pytest.mark.parametrize("name", FILES)
def test_foreign_file_is_identified(name: str, tmp_path: Path) -> None:
    content, word = FILES[name]
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(BadInput) as error:
        read_model(path)
    assert word in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def skip_creation(path: Path) -> None:
    pass


def make_link_to_itself(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [make_folder, make_pipe, skip_creation, make_link_to_itself])
def test_special_file_is_rejected_at_once(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    make(path)
    with pytest.raises(BadInput):
        read_model(path)


@pytest.mark.parametrize("name", ["control-flow-loop-if", "local-functions-mlp", "bilstm-gru-tagger"])
def test_truncated_file_is_read_or_rejected_with_one_line(name: str, tmp_path: Path) -> None:
    whole = graph(name).read_bytes()
    path = tmp_path / "model.onnx"
    refused = 0
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        try:
            read_model(path)
        except AutodocError:
            refused += 1
    # Only a cut between two whole top-level fields after the graph can leave a file that reads as a model.
    assert refused >= len(whole) - 8


@pytest.mark.parametrize("name", ["empty", "html", "a graph longer than the file"])
def test_command_rejects_bad_file_with_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(FILES[name][0])
    command = [sys.executable, "-m", "onnx_autodoc", "card", str(path), "-o", str(tmp_path / "out.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("onnx-autodoc: error: ")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["model.onnx"]
