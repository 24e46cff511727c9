"""Every tensor of a file, read once: a hash of its elements, and what they are."""

import hashlib
import struct

import numpy as np
from msgspec.structs import replace

from onnx_autodoc.analysis.weights.canonical import canonical
from onnx_autodoc.analysis.weights.files import Files
from onnx_autodoc.analysis.weights.listing import Entry, entries
from onnx_autodoc.analysis.weights.statistics import COUNTERS, Tally
from onnx_autodoc.analysis.weights.types import Surveyed, Unread, Weights
from onnx_autodoc.card import Numbers
from onnx_autodoc.ir import BITS, Model, Tensor

_Key = tuple[object, ...]


def survey(model: Model) -> Weights:
    """The numbers of every tensor, in pieces: memory does not grow with the weights."""
    read: dict[_Key, Numbers] = {}  # of external files: two tensors may be the same bytes
    found: list[Surveyed] = []
    with Files(model) as files, np.errstate(all="ignore"):
        for entry in entries(model):
            numbers = _once(entry, files, read)
            named = replace(numbers, name=entry.path + entry.name)
            found.append(Surveyed(entry.owner, entry.name, entry.tensor.location, named))
        return Weights(tuple(found), files.bytes_read)


def external_hashes(model: Model) -> dict[str, str | None]:
    """The sha256 of each external file as a whole; None where it cannot be read."""
    with Files(model) as files:
        return {file.path: files.sha256(file.path) for file in model.external}


def _once(entry: Entry, files: Files, read: dict[_Key, Numbers]) -> Numbers:
    tensor = entry.tensor
    place = tensor.location
    if entry.unread is not None:
        return _header(tensor, entry.unread)
    if place is None or place.path is None:
        return _numbers(tensor, files)
    key = (place, tensor.dtype, tensor.dims)
    if key not in read:
        read[key] = _numbers(tensor, files)
    return read[key]


def _numbers(tensor: Tensor, files: Files) -> Numbers:
    header = _header(tensor)
    try:
        if tensor.dtype == "string":
            return replace(header, sha256=_texts(tensor))
        return _counted(header, tensor, files)
    except Unread as reason:
        return replace(header, unread=str(reason))


def _header(tensor: Tensor, unread: str | None = None) -> Numbers:
    nbytes = tensor.nbytes if min(tensor.dims, default=0) >= 0 else None
    return Numbers("", tensor.dtype, tensor.dims, nbytes, unread=unread)


def _counted(header: Numbers, tensor: Tensor, files: Files) -> Numbers:
    digest, left, total = hashlib.sha256(), tensor.elements, Tally()
    count = COUNTERS.get(tensor.dtype or "")
    for piece in canonical(tensor, files):
        digest.update(piece)
        if count is not None:
            here = min(left, len(piece) * 8 // BITS[tensor.dtype or ""])
            total, left = total + count(piece, here), left - here
    hashed = replace(header, sha256=digest.hexdigest())
    return hashed if count is None else _with(hashed, total)


def _with(header: Numbers, total: Tally) -> Numbers:
    return replace(
        header,
        nan=total.nan,
        infinite=total.up + total.down,
        zeros=total.zeros,
        least=total.least,
        most=total.most,
        constant=total.constant,
    )


def _texts(tensor: Tensor) -> str:
    """Of each text its length in 8 bytes, then the text: so no two lists of texts look alike."""
    payload, digest = tensor.payload, hashlib.sha256()
    texts = payload.data if payload is not None and isinstance(payload.data, tuple) else ()
    if tensor.location is not None and tensor.location.path is not None:
        raise Unread("texts in an external file")
    if payload is not None and (not payload.is_canonical or sum(map(len, texts)) != payload.nbytes):
        raise Unread("texts in another field, or too long to be kept")
    if len(texts) != tensor.elements or tensor.stored_elements is not None:
        raise Unread("it holds more or fewer texts than its dimensions say")
    for text in texts:
        digest.update(struct.pack("<Q", len(text)))
        digest.update(text)
    return digest.hexdigest()
