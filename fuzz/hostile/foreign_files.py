"""Files of other formats with the suffix .onnx."""

import base64
import gzip
import io
import json
import pickle
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import Final

from tests._wire import relu


class _Runs:
    """A pickle that would run a command if it were loaded."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return print, ("a pickle was loaded",)


def _zip(name: str, data: bytes, bomb: bool = False) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if bomb else zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def _tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("../../model.onnx")
        info.size = len(relu())
        archive.addfile(info, io.BytesIO(relu()))
    return out.getvalue()


def _safetensors() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(8)


FILES: Final[dict[str, Callable[[], bytes]]] = {
    "a zip": lambda: _zip("model.onnx", relu()),
    "a zip bomb": lambda: _zip("model.onnx", bytes(1 << 24), bomb=True),
    "a pickle that would run": lambda: pickle.dumps(_Runs(), protocol=4),
    "a pickle of protocol 0": lambda: pickle.dumps(_Runs(), protocol=0),
    "a gguf": lambda: b"GGUF" + struct.pack("<IQQ", 3, 1 << 62, 1 << 62),
    "a safetensors": _safetensors,
    "a safetensors with a header of 2^63": lambda: struct.pack("<Q", 1 << 63) + b'{"',
    "an HDF5": lambda: b"\x89HDF\r\n\x1a\n" + bytes(64),
    "an ELF": lambda: b"\x7fELF\x02\x01\x01" + bytes(57),
    "a PNG": lambda: b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + bytes(17),
    "a git-lfs pointer": lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    "an error page": lambda: b"<!DOCTYPE html><html><title>403</title><script>alert(1)</script></html>",
    "an error page behind blanks": lambda: b"\xef\xbb\xbf \r\n\t<HTML>" + b"x" * 600,
    "an XML with entities": lambda: b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aa">]><l>&a;</l>',
    "a JSON": lambda: b'{"nodes": [' + b"[" * 50_000,
    "a JSON card of nothing": lambda: b'{"schema_version": "1.0"}',
    "a gzip of a model": lambda: gzip.compress(relu(), mtime=0),
    "a zlib stream": lambda: zlib.compress(relu()),
    "a bzip2": lambda: b"BZh91AY&SY" + bytes(32),
    "an xz": lambda: b"\xfd7zXZ\0" + bytes(32),
    "a zstd": lambda: b"\x28\xb5\x2f\xfd" + bytes(32),
    "a 7z": lambda: b"7z\xbc\xaf\x27\x1c" + bytes(32),
    "a rar": lambda: b"Rar!\x1a\x07\x01\0" + bytes(32),
    "a tar that climbs": _tar,
    "a numpy array": lambda: b"\x93NUMPY\x01\0v\0{'descr': '|O', 'fortran_order': False, 'shape': (1,)}" + bytes(60),
    "a TensorFlow Lite": lambda: b"\x1c\0\0\0TFL3" + bytes(64),
    "an ort model": lambda: b"\x1c\0\0\0ORTM" + bytes(64),
    "a PDF": lambda: b"%PDF-1.7\n" + b"\xe2\xe3\xcf\xd3" * 20,
    "a shell script": lambda: b"#!/bin/sh\nrm -rf /\n",
    "a text of escapes": lambda: b"\x1b]0;title\x07\x1b[2J" + b"x" * 600,
    "UTF-16 text": lambda: "\ufeffmodel".encode("utf-16-le") * 100,
    "a Torch archive": lambda: _zip("archive/data.pkl", pickle.dumps(_Runs(), protocol=2)),
    "a Java class": lambda: b"\xca\xfe\xba\xbe\0\0\0\x34" + bytes(40),
    "a Windows program": lambda: b"MZ\x90\0" + bytes(200),
    "a SQLite": lambda: b"SQLite format 3\0" + bytes(100),
    "a model behind a byte order mark": lambda: b"\xef\xbb\xbf" + relu(),
    "a model behind its length": lambda: struct.pack("<I", len(relu())) + relu(),
    "two models in one file": lambda: relu() + relu(),
    "a model in base64": lambda: base64.b64encode(relu()),
}
