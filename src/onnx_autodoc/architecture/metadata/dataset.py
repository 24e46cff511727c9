"""What a model says of its data: classes, characters, image sizes, sample rates, and where it says so.

Exporters leave this in the metadata of the file, each in its own form; classifiers of ai.onnx.ml hold their labels in
attributes. All of it is a claim of the file: `contradictions` compares it with the shapes.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from onnx_autodoc.architecture.metadata import _keys as keys
from onnx_autodoc.architecture.metadata._keys import Entry
from onnx_autodoc.architecture.metadata._labels import Labels, held, labels, listed, plain
from onnx_autodoc.architecture.metadata._literal import parsed
from onnx_autodoc.ir import Model

_MAX_CHARACTERS: Final = 1 << 22  # of text, in a list of characters
_MOSTLY: Final = 0.8  # of a list's items are single characters where it is an alphabet
_MARKS: Final = {"ultralytics": "Ultralytics", "k2-fsa": "sherpa-onnx", "sherpa-onnx": "sherpa-onnx"}


class Dataset(Struct, frozen=True):
    """None and empty: the file does not say. Lists are cut after 20,000; the counts beside them are exact."""

    task: str | None = None  # in the exporter's own word
    classes: int | None = None
    names: tuple[str, ...] = ()
    numbered: int | None = None  # the highest class number and one, where numbers are left out
    characters: int | None = None  # that a recognizer can read; blanks and ends are the model's own
    alphabet: tuple[str, ...] = ()
    vocabulary: int | None = None
    image_size: tuple[int, int] | None = None  # height, width
    channels: int | None = None
    stride: int | None = None
    batch: int | None = None
    keypoints: tuple[int, int] | None = None  # points, numbers for each
    end_to_end: bool | None = None  # boxes come out chosen, not raw
    sample_rate: int | None = None
    languages: tuple[str, ...] = ()
    speakers: int | None = None
    features: int | None = None  # columns of a table
    feature_names: tuple[str, ...] = ()
    pixel_format: str | None = None
    color_gamma: str | None = None
    pixel_range: str | None = None
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    extras: dict[str, str] = {}
    sources: dict[str, str] = {}  # field -> where it stands in the file
    problems: tuple[str, ...] = ()  # what the metadata cannot mean


def dataset(model: Model) -> Dataset:
    reading = _Reading(keys.entries(model.metadata))
    for field, names, read in keys.FIELDS:
        reading.take(field, names, read)
    reading.classes()
    reading.characters()
    reading.operators(model)
    reading.count()
    reading.table()
    reading.boxes()
    reading.languages()
    return reading.done()


class _Reading:
    """What was found so far, field by field."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        self._found: dict[str, Any] = {}
        self._sources: dict[str, str] = {}
        self._problems: list[str] = []
        said = " ".join(str(entry.value)[:300].lower() for key, entry in entries.items() if key in _WHO)
        maker = next((name for mark, name in _MARKS.items() if mark in said), None)
        self._maker = f" ({maker})" if maker else ""

    def take(self, field: str, names: tuple[str, ...], read: keys.Read) -> None:
        for name in names:
            entry = self._entries.get(name)
            value = read(entry.value) if entry else None
            if entry is not None and value is not None and field not in self._found:
                self._set(self._where(entry), **{field: value})

    def _where(self, entry: Entry) -> str:
        return f"metadata {plain(entry.key)!r}{self._maker}"

    def _set(self, source: str, **found: object) -> None:
        self._found.update(found)
        self._sources.update(dict.fromkeys(found, source))

    def _set_labels(self, source: str, found: Labels) -> None:
        self._set(source, classes=found.count, names=found.names)
        if found.numbered is not None:
            self._found["numbered"] = found.numbered

    def classes(self) -> None:
        for name in keys.NAMES:
            entry = self._entries.get(name)
            found = listed(entry.value) if entry else None
            if entry is not None and found is not None:
                return self._set_labels(self._where(entry), found)
        return None

    def characters(self) -> None:
        """A list of characters; RapidOCR's converter leaves class names and table tags under the same key."""
        for name in keys.CHARACTERS:
            entry = self._entries.get(name)
            items = _characters(entry.value) if entry else None
            if entry is None or items is None:
                continue
            found = labels(items)
            if found is None or _is_page(items):
                self._problems.append(f"{self._where(entry)} holds a web page where a list of characters belongs")
            elif _is_alphabet(items):
                self._set(self._where(entry), characters=found.count, alphabet=found.names)
            elif "classes" not in self._found:
                self._set_labels(self._where(entry), found)
            return

    def operators(self, model: Model) -> None:
        found = held(model.graph)
        if found is None:
            return
        given, source = found
        if "classes" not in self._found:
            self._set_labels(source, given)
        elif given.count != self._found["classes"]:
            self._differ(f"{source} holds {given.count:,}")

    def count(self) -> None:
        """A number of classes beside their names, or instead of them."""
        for name in keys.COUNTS:
            entry = self._entries.get(name)
            number = keys.class_count(entry.value) if entry else None
            if entry is None or number is None:
                continue
            if "classes" not in self._found:
                self._set(self._where(entry), classes=number)
            elif number != self._found["classes"]:
                self._differ(f"{self._where(entry)} says {number:,}")

    def _differ(self, other: str) -> None:
        self._problems.append(f"{self._sources['classes']} names {self._found['classes']:,} classes, but {other}")

    def table(self) -> None:
        """The columns of a table, by name."""
        for name in keys.FEATURE_NAMES:
            entry = self._entries.get(name)
            found = listed(entry.value) if entry else None
            if entry is not None and found is not None:
                self._set(self._where(entry), feature_names=found.names)
                number = self._found.get("features", found.count)
                if number != found.count:
                    self._problems.append(f"{self._where(entry)} names {found.count:,} features, not {number:,}")
                self._found["features"] = found.count
                return

    def boxes(self) -> None:
        """Whether boxes are chosen in the file: said by itself, or among the arguments of the export."""
        entry, asked = self._entries.get("end2end"), self._entries.get("args")
        chosen = keys.flag(entry.value) if entry else None
        arguments = parsed(asked.value) if asked and isinstance(asked.value, str) else None
        filtered = arguments.get("nms") if isinstance(arguments, dict) else None
        if asked is not None and filtered is True:
            self._set(self._where(asked), end_to_end=True)
        elif entry is not None and chosen is not None:
            self._set(self._where(entry), end_to_end=chosen)

    def languages(self) -> None:
        """SenseVoice models have a number for each language, under a key of its own."""
        found = [entry.key[5:] for entry in self._entries.values() if entry.key.startswith("lang_")]
        known = tuple(plain(language) for language in found[:200] if language not in ("auto", ""))
        if known and self._found.get("languages", ("auto",)) == ("auto",):
            self._set(f"metadata 'lang_…'{self._maker}", languages=known)

    def done(self) -> Dataset:
        extras = {}
        for field, names in keys.EXTRAS.items():
            text = next((str(self._entries[name].value) for name in names if name in self._entries), "").strip()
            if text:
                extras[field] = plain(text)
        return Dataset(**self._found, extras=extras, sources=self._sources, problems=tuple(self._problems))


_WHO: Final = frozenset(("author", "description", "docs", "url", "license", "comment", "modelauthor"))


def _characters(value: object) -> list[str] | None:
    """The items of a list of characters: one to a line, a JSON list, or a text of nothing but them."""
    if not isinstance(value, str):
        return [str(item) for item in value] if isinstance(value, list) else None
    if len(value) > _MAX_CHARACTERS:
        return None
    data = parsed(value) if value[:1] in ("[", "{") else None
    if isinstance(data, list):
        return [str(item) for item in data]
    if isinstance(data, dict):
        return [str(item) for item in (data if all(isinstance(key, str) for key in data) else data.values())]
    if "\n" in value.strip("\n"):
        lines = [line.removesuffix("\r") for line in value.split("\n")]
        return lines[:-1] if not lines[-1] else lines
    return list(value) if len(value) > 1 else None


def _is_page(items: list[str]) -> bool:
    """A download that went wrong: seen in a package of PaddleOCR models."""
    return any(item.lstrip().lower().startswith(("<!doctype", "<html")) for item in items[:100])


def _is_alphabet(items: list[str]) -> bool:
    single = sum(len(item) == 1 for item in items)
    return single >= _MOSTLY * len(items) or any(item.startswith("<") and item.endswith(">") for item in items)
