"""Under which keys exporters leave what about the data: one table, read as data.

Keys are compared without case and signs: the specification says so for images, and the same key is `sample_rate`,
`samplingRate` or `SampleRate` depending on who wrote it.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from onnx_autodoc.architecture.metadata._labels import plain
from onnx_autodoc.architecture.metadata._literal import parsed, positive, whole

Read = Callable[[object], object]

_MAX_KEYS: Final = 5_000
_MAX_SIDE: Final = 100_000
_MAX_FLOAT: Final = 1e6
_CHANNELS: Final = (1, 3, 4)
# JSON objects that hold the settings of a whole model (RVC, TTS exporters, transformers): their entries count too
_WRAPPERS: Final = frozenset(("config", "inference", "meta", "metadata", "modelconfig", "modelmetadata", "preprocess"))
_OBJECTIVE: Final = re.compile(r"\bnum_class:(\d{1,9})\b")


class Entry:
    """One value, under the key that the file has for it."""

    __slots__ = ("key", "value")

    def __init__(self, key: str, value: object) -> None:
        self.key, self.value = key, value


def bare(key: str) -> str:
    return "".join(sign for sign in key.lower() if sign.isalnum())


def entries(metadata: Mapping[str, str]) -> dict[str, Entry]:
    """Everything by its bare key; what stands directly in the metadata comes before what stands in a wrapper."""
    found: dict[str, Entry] = {}
    wrapped: list[tuple[str, object]] = []
    for key, text in list(metadata.items())[:_MAX_KEYS]:
        found.setdefault(bare(key), Entry(key, text))
        if bare(key) in _WRAPPERS and isinstance(data := parsed(text), Mapping):
            wrapped += [(f"{key}.{inner}", value) for inner, value in list(data.items())[:_MAX_KEYS]]
    for key, value in wrapped:
        found.setdefault(bare(key.partition(".")[2]), Entry(key, value))
    return found


def _data(value: object) -> object:
    return parsed(value) if isinstance(value, str) else value


def _word(value: object) -> str | None:
    """One line of text, as it was written."""
    text = plain(value).strip() if isinstance(value, str | int | float) else ""
    return text if text and "\n" not in text else None


def _numbers(value: object) -> list[int] | None:
    """Whole numbers in a list, or with an x or a comma between them."""
    data = _data(value)
    if data is None and isinstance(value, str):
        data = value.lower().replace("x", ",").split(",")
    if not isinstance(data, list) or not 0 < len(data) <= 8:
        return None
    found = [positive(item) for item in data]
    return [item for item in found if item is not None] if None not in found else None


def _size(value: object) -> tuple[int, int] | None:
    """Height and width: of a square if one number, without batch and channels if more than two."""
    side = positive(value)
    sides = [side, side] if side else _numbers(value) or []
    if len(sides) == 4:
        sides = sides[1:]
    if len(sides) == 3:
        sides = sides[1:] if sides[0] in _CHANNELS else sides[:2] if sides[2] in _CHANNELS else []
    return (sides[0], sides[1]) if len(sides) == 2 and max(sides) <= _MAX_SIDE else None


def _size_in_shape(value: object) -> tuple[int, int] | None:
    """Of a whole input's shape: with fewer numbers it may be no image's."""
    return _size(value) if len(_numbers(value) or ()) > 2 else None


def _pair(value: object) -> tuple[int, int] | None:
    found = _numbers(value)
    return (found[0], found[1]) if found and len(found) == 2 else None


def _largest(value: object) -> int | None:
    return positive(value) or max(_numbers(value) or [0]) or None


def _floats(value: object) -> tuple[float, ...] | None:
    """A few numbers, one for each channel; long lists (statistics of audio features) are none."""
    data = _data(value)
    if not isinstance(data, list) or not 0 < len(data) <= 4:
        return None
    found = [float(item) for item in data if type(item) in (int, float) and abs(item) <= _MAX_FLOAT]
    return tuple(found) if len(found) == len(data) else None


def _languages(value: object) -> tuple[str, ...] | None:
    data = _data(value)
    items = data if isinstance(data, list) else str(value).replace(";", ",").split(",")
    found = tuple(plain(item).strip() for item in items[:200] if isinstance(item, str) and 0 < len(item.strip()) <= 60)
    return found or None


def class_count(value: object) -> int | None:
    """A number, or the one in LightGBM's objective: `multiclass num_class:7`."""
    told = _OBJECTIVE.search(value[:200]) if isinstance(value, str) else None
    return positive(told[1]) if told else positive(value)


def flag(value: object) -> bool | None:
    return {"true": True, "false": False, "1": True, "0": False}.get(str(value).strip().lower())


# keys of lists of names, in the order in which they are trusted
NAMES: Final = (
    *("names", "id2label", "classnames", "classes", "labels", "labelnames", "classlabels", "categories", "label2id"),
    *("idxtoclass", "idx2label", "classtoidx", "class2idx", "classmap", "labelmap", "id2name", "outputclasses"),
)
COUNTS: Final = ("nc", "numclasses", "nclasses", "classcount", "classes", "numlabels", "objective")
CHARACTERS: Final = ("character", "characters", "charset", "chars", "alphabet", "dict", "dictionary", "characterdict")
FEATURE_NAMES: Final = ("featurenames", "inputfeatures", "features", "columns", "featurecolumns")

# a field, its keys, how a value is read
FIELDS: Final[tuple[tuple[str, tuple[str, ...], Read], ...]] = (
    ("task", ("task", "tasktype", "pipelinetag", "problemtype"), _word),
    ("image_size", ("imgsz", "imagesize", "imgsize", "tilessize"), _size),
    ("image_size", ("inputsize", "inputshape"), _size_in_shape),
    ("channels", ("channels", "ch", "inputchannels", "numchannels", "inchans"), positive),
    ("stride", ("stride",), _largest),
    ("batch", ("batch", "batchsize", "maxbatchsize"), positive),
    ("keypoints", ("kptshape",), _pair),
    ("sample_rate", ("samplerate", "samplingrate", "targetsamplerate", "audiosamplerate"), positive),
    ("vocabulary", ("vocabsize", "vocabularysize"), positive),
    ("languages", ("language", "languages", "lang", "modellanguage"), _languages),
    ("speakers", ("nspeakers", "numspeakers"), positive),
    ("features", ("nfeatures", "numfeatures", "featurecount"), whole),
    ("pixel_format", ("imagebitmappixelformat",), _word),
    ("color_gamma", ("imagecolorspacegamma",), _word),
    ("pixel_range", ("imagenominalpixelrange",), _word),
    ("mean", ("mean", "imagemean", "normmean"), _floats),
    ("std", ("std", "imagestd", "normstd"), _floats),
)

# what else is worth a line, by the name under which the card has it
EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "description": ("description", "comment", "modeldescription"),
    "author": ("author", "modelauthor", "company", "maintainer"),
    "date": ("date", "created", "exportdate", "timestamp"),
    "version": ("version", "modelversion"),
    "license": ("license", "modellicense"),
    "url": ("docs", "url", "homepage", "repo", "repository"),
    "model_type": ("modeltype", "architecture", "arch", "modelname", "variant"),
    "framework": ("framework", "trainedwith"),
    "head": ("head",),
    "objective": ("objective", "loss"),
    "trees": ("ntrees",),
    "hop_length": ("hopsize", "hoplength"),
    "mel_bands": ("nmels", "featuredim", "nummels"),
    "window": ("windowsize", "nfft", "framelength"),
    "subsampling": ("subsamplingfactor", "subsampling"),
    "voice": ("voice",),
    "normalization": ("normalizetype", "featurenormalizetype", "normalizesamples"),
    "network": ("network",),
    "frontend": ("frontend",),
    "output_format": ("format",),
    "export_arguments": ("args",),
    "quantized_by": ("onnxinfer",),
    "preprocessed_by": ("onnxquantpreprocess",),
    "checkpoint": ("checkpointsha256",),
}
