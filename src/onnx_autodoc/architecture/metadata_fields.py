"""Metadata fields: the keys that exporters use, and parsers of their values.

Values are JSON, or Python literals as exporters write them with `str()`. The text is untrusted: its length, nesting
and number of items are checked before a parser reads it.
"""

import ast
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import msgspec

from onnx_autodoc.decoding import decode_json

MAX_TEXT: Final = 1 << 21  # characters; the names of 21,843 ImageNet classes take half of that
MAX_NAME_LENGTH: Final = 200
MAX_ITEMS: Final = 1 << 16
_MAX_JSON_DEPTH: Final = 64
_MAX_PYTHON_DEPTH: Final = 6
_MAX_COUNT: Final = 1 << 53

_JSON_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
_TOKEN: Final = re.compile(
    r"""\s*+(?:
    (?P<text>[uU]?(?:'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+"))
    |(?P<number>[-+]?\d{1,20}(?:\.\d{0,20})?(?:[eE][-+]?\d{1,3})?)(?![\w.])
    |(?P<word>True|False|None|true|false|null)\b
    |(?P<open>[\[({])|(?P<close>[\])}])|(?P<separator>[,:])|(?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_JSON_WORDS: Final = {"true": "True", "false": "False", "null": "None"}
_ESCAPE_OR_NEWLINE: Final = re.compile(r"\\(.)|[\n\r]", re.DOTALL)


def clean_text(text: object) -> str:
    """Return text of bounded length that is valid Unicode."""
    return str(text)[:MAX_NAME_LENGTH].encode("utf-8", "replace").decode()


def parse_data(text: str) -> object:
    """Return the data that a text holds, with lists for tuples; None if it holds none."""
    if len(text) > MAX_TEXT or _is_nested_too_deep(text):
        return None
    try:
        return decode_json(text, object)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        pass
    source = _python_source(text)
    try:
        return _plain_data(ast.literal_eval(source)) if source is not None else None
    except (SyntaxError, ValueError, TypeError):
        return None


def _is_nested_too_deep(text: str) -> bool:
    """Whether JSON would nest deeper than the stack of a small thread allows."""
    if text.count("[") + text.count("{") <= _MAX_JSON_DEPTH:
        return False
    depth = 0
    for match in _JSON_BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth > _MAX_JSON_DEPTH:
            return True
    return False


def _python_source(text: str) -> str | None:
    """Return the source of a literal that is safe to evaluate; None if the text is no literal, too deep or too long."""
    tokens: list[str] = []
    position = depth = commas = 0
    is_after_value = False
    while (match := _TOKEN.match(text, position)) is not None and match.lastgroup != "end":
        position, kind = match.end(), match.lastgroup or ""
        source = match[kind]
        is_value = kind in ("text", "number", "word")
        depth += (kind == "open") - (kind == "close")
        commas += source == ","
        is_misplaced = is_after_value and (is_value or kind == "open")  # no calls, no operators between numbers
        if (
            is_misplaced
            or not 0 <= depth <= _MAX_PYTHON_DEPTH
            or commas > MAX_ITEMS
            or (kind == "separator" and not depth)
        ):
            return None
        is_after_value = is_value or kind == "close"
        if kind == "text":
            source = _ESCAPE_OR_NEWLINE.sub(_python_escape, source)
        tokens.append(_JSON_WORDS.get(source, source))
    return " ".join(tokens) if match is not None else None


def _python_escape(match: re.Match[str]) -> str:
    """Escape line breaks, and drop the backslash of characters that need none."""
    escaped = match[1]
    if escaped is None:
        return {"\n": "\\n", "\r": "\\r"}[match[0]]
    if escaped in ("\n", "0"):
        return {"\n": "", "0": "\\x00"}[escaped]
    return match[0] if escaped in "\\'\"abfnrtvxuU" else escaped


def _plain_data(data: object) -> object:
    """Return data with lists for tuples. Raise ValueError for sets and for keys that are neither text nor integers."""
    if isinstance(data, list | tuple):
        return [_plain_data(item) for item in data]
    if isinstance(data, dict):
        if any(isinstance(key, bool) or not isinstance(key, int | str) for key in data):
            raise ValueError("unsupported key")
        return {key: _plain_data(value) for key, value in data.items()}
    if isinstance(data, str | int | float | None):
        return data
    raise ValueError("unsupported type")


def parse_count(data: object) -> int | None:
    """Return a count: a number of at least 0, or a text that is one."""
    if isinstance(data, str):
        text = data.strip()
        data = int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None
    if isinstance(data, float) and data.is_integer():
        data = int(data)
    return data if type(data) is int and 0 <= data < _MAX_COUNT else None


def parse_positive(data: object) -> int | None:
    return parse_count(data) or None


FieldParser = Callable[[object], object]

_MAX_KEYS: Final = 5_000
_MAX_IMAGE_SIDE: Final = 100_000
_MAX_FLOAT: Final = 1e6
_COLOUR_CHANNELS: Final = (1, 3, 4)
# keys of JSON objects with the settings of a whole model (RVC, TTS exporters, transformers)
_WRAPPER_KEYS: Final = frozenset(
    ("config", "inference", "meta", "metadata", "modelconfig", "modelmetadata", "preprocess")
)
_LIGHTGBM_CLASSES: Final = re.compile(r"\bnum_class:(\d{1,9})\b")


class MetadataEntry(NamedTuple):
    key: str  # as in the file
    value: object


def normalize_key(key: str) -> str:
    return "".join(character for character in key.lower() if character.isalnum())


def collect_entries(metadata: Mapping[str, str]) -> dict[str, MetadataEntry]:
    """Return the entries by normalized key. Those of the metadata precede those of wrapped objects."""
    entries: dict[str, MetadataEntry] = {}
    wrapped: list[tuple[str, object]] = []
    for key, text in list(metadata.items())[:_MAX_KEYS]:
        entries.setdefault(normalize_key(key), MetadataEntry(key, text))
        if normalize_key(key) in _WRAPPER_KEYS and isinstance(data := parse_data(text), Mapping):
            wrapped += [(f"{key}.{inner}", value) for inner, value in list(data.items())[:_MAX_KEYS]]
    for key, value in wrapped:
        entries.setdefault(normalize_key(key.partition(".")[2]), MetadataEntry(key, value))
    return entries


def _as_data(value: object) -> object:
    return parse_data(value) if isinstance(value, str) else value


def _parse_line(value: object) -> str | None:
    """Return a single line of text."""
    text = clean_text(value).strip() if isinstance(value, str | int | float) else ""
    return text if text and "\n" not in text else None


def _parse_numbers(value: object) -> list[int] | None:
    """Return positive integers in a list, or separated by an x or a comma."""
    data = _as_data(value)
    if data is None and isinstance(value, str):
        data = value.lower().replace("x", ",").split(",")
    if not isinstance(data, list) or not 0 < len(data) <= 8:
        return None
    numbers = [parse_positive(item) for item in data]
    return [item for item in numbers if item is not None] if None not in numbers else None


def _parse_image_size(value: object) -> tuple[int, int] | None:
    """Return height and width: of a square from one number, without batch and channels from three or four."""
    side = parse_positive(value)
    sides = [side, side] if side else _parse_numbers(value) or []
    if len(sides) == 4:
        sides = sides[1:]
    if len(sides) == 3:
        sides = sides[1:] if sides[0] in _COLOUR_CHANNELS else sides[:2] if sides[2] in _COLOUR_CHANNELS else []
    return (sides[0], sides[1]) if len(sides) == 2 and max(sides) <= _MAX_IMAGE_SIDE else None


def _parse_floats(value: object) -> tuple[float, ...] | None:
    """Return a number per channel. Long lists are statistics of audio features."""
    data = _as_data(value)
    if not isinstance(data, list) or not 0 < len(data) <= 4:
        return None
    numbers = [float(item) for item in data if type(item) in (int, float) and abs(item) <= _MAX_FLOAT]
    return tuple(numbers) if len(numbers) == len(data) else None


def _parse_languages(value: object) -> tuple[str, ...] | None:
    data = _as_data(value)
    items = data if isinstance(data, list) else str(value).replace(";", ",").split(",")
    languages = tuple(
        clean_text(item).strip() for item in items[:200] if isinstance(item, str) and 0 < len(item.strip()) <= 60
    )
    return languages or None


def parse_class_count(value: object) -> int | None:
    """Return a number, or the one in an objective of LightGBM: `multiclass num_class:7`."""
    match = _LIGHTGBM_CLASSES.search(value[:200]) if isinstance(value, str) else None
    return parse_positive(match[1]) if match else parse_positive(value)


def parse_flag(value: object) -> bool | None:
    return {"true": True, "false": False, "1": True, "0": False}.get(str(value).strip().lower())


# keys of class names, most trusted first
CLASS_NAME_KEYS: Final = (
    *("names", "id2label", "classnames", "classes", "labels", "labelnames", "classlabels", "categories", "label2id"),
    *("idxtoclass", "idx2label", "classtoidx", "class2idx", "classmap", "labelmap", "id2name", "outputclasses"),
)
CLASS_COUNT_KEYS: Final = ("nc", "numclasses", "nclasses", "classcount", "classes", "numlabels", "objective")
CHARACTER_KEYS: Final = (
    "character",
    "characters",
    "charset",
    "chars",
    "alphabet",
    "dict",
    "dictionary",
    "characterdict",
)
FEATURE_NAME_KEYS: Final = ("featurenames", "inputfeatures", "features", "columns", "featurecolumns")

# field of `Dataset`, its keys, the parser of its value
FIELDS: Final[tuple[tuple[str, tuple[str, ...], FieldParser], ...]] = (
    ("task", ("task", "tasktype", "pipelinetag", "problemtype"), _parse_line),
    ("image_size", ("imgsz", "imagesize", "imgsize", "tilessize"), _parse_image_size),
    (
        "image_size",  # with fewer than three numbers an input shape may be no image
        ("inputsize", "inputshape"),
        lambda value: _parse_image_size(value) if len(_parse_numbers(value) or ()) > 2 else None,
    ),
    ("channels", ("channels", "ch", "inputchannels", "numchannels", "inchans"), parse_positive),
    ("stride", ("stride",), lambda value: parse_positive(value) or max(_parse_numbers(value) or [0]) or None),
    ("batch", ("batch", "batchsize", "maxbatchsize"), parse_positive),
    ("keypoints", ("kptshape",), lambda value: tuple(pair) if len(pair := _parse_numbers(value) or []) == 2 else None),
    ("sample_rate", ("samplerate", "samplingrate", "targetsamplerate", "audiosamplerate"), parse_positive),
    ("vocabulary", ("vocabsize", "vocabularysize"), parse_positive),
    ("languages", ("language", "languages", "lang", "modellanguage"), _parse_languages),
    ("speakers", ("nspeakers", "numspeakers"), parse_positive),
    ("features", ("nfeatures", "numfeatures", "featurecount"), parse_count),
    ("pixel_format", ("imagebitmappixelformat",), _parse_line),
    ("color_gamma", ("imagecolorspacegamma",), _parse_line),
    ("pixel_range", ("imagenominalpixelrange",), _parse_line),
    ("mean", ("mean", "imagemean", "normmean"), _parse_floats),
    ("std", ("std", "imagestd", "normstd"), _parse_floats),
)

# further entries of the card, by their name there
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
