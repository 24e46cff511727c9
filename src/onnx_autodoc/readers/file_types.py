"""Identify files that are no ONNX models by their first bytes, so that the error can say what to do."""

from typing import Final

# (offset, magic number, description and advice)
_MAGIC: Final = (
    (0, b"PK\x03\x04", "a zip archive; unpack it first, or export it with torch.onnx if it is a PyTorch .pt file"),
    (0, b"PK\x05\x06", "an empty zip archive"),
    (0, b"\x1f\x8b", "gzip-compressed; unpack it first"),
    (0, b"BZh", "bzip2-compressed; unpack it first"),
    (0, b"\xfd7zXZ", "xz-compressed; unpack it first"),
    (0, b"\x28\xb5\x2f\xfd", "zstd-compressed; unpack it first"),
    (0, b"7z\xbc\xaf", "a 7z archive; unpack it first"),
    (0, b"\x04\x22\x4d\x18", "lz4-compressed; unpack it first"),
    (0, b"Rar!", "a RAR archive; unpack it first"),
    (257, b"ustar", "a tar archive; unpack it first"),
    (0, b"version https://git-lfs", "a Git LFS pointer, not the model; run `git lfs pull`"),
    (0, b"\x89HDF", "an HDF5 file (Keras?); convert it to ONNX first"),
    (0, b"\x93NUMPY", "a NumPy array without a graph"),
    (0, b"GGUF", "a GGUF model; export the original model to ONNX"),
    (0, b"ggml", "a GGML model; export the original model to ONNX"),
    (0, b"lmgg", "a GGML model; export the original model to ONNX"),
    (0, b"ptrt", "a TensorRT engine; use the .onnx file it was built from"),
    (0, b"ftrt", "a TensorRT engine; use the .onnx file it was built from"),
    (0, b"PAR1", "a Parquet table, not a model"),
    (4, b"TFL3", "a TensorFlow Lite model; convert it with tf2onnx first"),
    (4, b"ORTM", "an onnxruntime .ort model; use the .onnx file it was converted from"),
    (0, b"\x7fELF", "an ELF binary, not a model"),
    (0, b"MZ", "a Windows executable, not a model"),
    (0, b"%PDF", "a PDF document, not a model"),
    (0, b"\x89PNG", "a PNG image, not a model"),
    (0, b"\xff\xd8\xff", "a JPEG image, not a model"),
)
_GRAPH_DEF: Final = (b"\x12\x05Const", b"\x12\x0bPlaceholder")  # the first operators of a TensorFlow graph
_PADDLE: Final = b"\x0a\x04feed"
_PICKLES: Final = tuple(bytes((0x80, version)) for version in range(2, 6))
_MAX_SAFETENSORS_HEADER_BYTES: Final = 100_000_000  # the limit of safetensors itself
_MARKUP: Final = (b"<!doctype", b"<html", b"<?xml", b"<net ")
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_TEXT_BYTES: Final = frozenset(range(0x20, 0x7F)) | {9, 10, 13} | frozenset(range(0x80, 0x100))


def identify_foreign_file(head: bytes) -> str | None:
    """Return a description of a file that is certainly not ONNX, or None. `head` is its first few hundred bytes."""
    if not head:
        return "empty"
    for offset, magic, what in _MAGIC:
        if head[offset : offset + len(magic)] == magic:
            return what
    if head.startswith(_PICKLES):
        return "a Python pickle, which is not opened because it can run code; export a PyTorch model with torch.onnx"
    if head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < _MAX_SAFETENSORS_HEADER_BYTES:
        return "a safetensors file, which has weights but no graph; export the model to ONNX"
    if head[:1] == b"\n" and any(mark in head for mark in _GRAPH_DEF):
        return "a TensorFlow graph; convert it with tf2onnx first"
    if head[:1] == b"\n" and _PADDLE in head:
        return "a PaddlePaddle model; convert it with paddle2onnx first"
    if head.startswith(_UTF16_MARKS):
        return "text, not a binary ONNX model"
    # A model's first byte is a field's tag, its second that field's value or length: never both printable.
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return _identify_text(start) if _TEXT_BYTES.issuperset(head) or start[:9].lower().startswith(_MARKUP) else None


def _identify_text(start: bytes) -> str:
    """Return which kind of text a file is, and how to convert it."""
    lower = start[:64].lower()
    if lower.startswith(_MARKUP[:2]):
        return "an HTML page (does the download require a login?); download the model file itself"
    if lower.startswith(_MARKUP):
        return "an XML file (OpenVINO?), not ONNX"
    if start.startswith(b"<") and b"ir_version" in start:
        return "a model in ONNX text syntax; convert it with onnx.save(onnx.parser.parse_model(text), path)"
    if start.startswith(b"{") and (b"irVersion" in start or b"ir_version" in start):
        return 'an ONNX model as JSON text; convert it with onnx.save(onnx.load(path, format="json"), new)'
    if start.startswith(b"ir_version:"):
        return 'an ONNX model as protobuf text; convert it with onnx.save(onnx.load(path, format="textproto"), new)'
    return "text, not a binary ONNX model"
