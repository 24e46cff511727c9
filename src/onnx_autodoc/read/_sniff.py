"""What a file is when it is not an ONNX model, told by its first bytes, so that the error can say what to do."""

from typing import Final

# (offset, magic, what it is and what to do)
_MAGIC: Final = (
    (0, b"PK\x03\x04", "a zip archive; unpack it first (a PyTorch .pt is one too: export it with torch.onnx)"),
    (0, b"PK\x05\x06", "an empty zip archive"),
    (0, b"\x1f\x8b", "gzip-compressed; unpack it first"),
    (0, b"BZh", "bzip2-compressed; unpack it first"),
    (0, b"\xfd7zXZ", "xz-compressed; unpack it first"),
    (0, b"\x28\xb5\x2f\xfd", "zstd-compressed; unpack it first"),
    (0, b"7z\xbc\xaf", "a 7z archive; unpack it first"),
    (257, b"ustar", "a tar archive; unpack it first"),
    (0, b"version https://git-lfs", "a Git LFS pointer, not the model; run `git lfs pull`"),
    (0, b"\x89HDF", "an HDF5 file (Keras?); convert it to ONNX first"),
    (0, b"\x93NUMPY", "a numpy array"),
    (0, b"GGUF", "a GGUF model, not ONNX"),
    (4, b"TFL3", "a TensorFlow Lite model; convert it with tf2onnx first"),
    (4, b"ORTM", "an onnxruntime .ort model; give the .onnx file it was made from"),
    (8, b'{"', "a safetensors file: weights without a graph"),
    (0, b"\x7fELF", "a program (ELF), not a model"),
    (0, b"%PDF", "a PDF document"),
    (0, b"\x89PNG", "a picture (PNG)"),
)
_PICKLES: Final = tuple(bytes((0x80, version)) for version in range(2, 6))
_TEXT: Final = frozenset(range(0x20, 0x7F)) | {9, 10, 13} | frozenset(range(0x80, 0x100))


def sniff(head: bytes) -> str | None:
    """What the file is if it is surely not ONNX, else None. `head` is its first few hundred bytes."""
    if not head:
        return "empty"
    for offset, magic, what in _MAGIC:
        if head[offset : offset + len(magic)] == magic:
            return what
    if head.startswith(_PICKLES):
        return "a Python pickle (it is not opened: a pickle can run code)"
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:64].lower()
    if start.startswith((b"<!doctype", b"<html")):
        return "an HTML page (a download that needed a login?)"
    if start.startswith(b"<?xml"):
        return "an XML file (OpenVINO?), not ONNX"
    # A model's first byte is a field's tag, its second that field's value or length: never both printable.
    return "text, not a binary ONNX model" if _TEXT.issuperset(head) else None
