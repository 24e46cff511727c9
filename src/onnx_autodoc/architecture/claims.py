"""Claims of a file about a model's data: classes, characters, image sizes, sample rates, each with its source.

Exporters write them to the metadata, each in its own form; ai.onnx.ml classifiers store their labels in attributes.
`contradictions` compares them with the shapes.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from onnx_autodoc.architecture.metadata_fields import (
    CHARACTER_KEYS,
    CLASS_COUNT_KEYS,
    CLASS_NAME_KEYS,
    EXTRAS,
    FEATURE_NAME_KEYS,
    FIELDS,
    MAX_NAME_LENGTH,
    MetadataEntry,
    clean_text,
    collect_entries,
    parse_class_count,
    parse_count,
    parse_data,
    parse_flag,
)
from onnx_autodoc.card import Dataset
from onnx_autodoc.ir import Graph, Model, Node, Tensor, TruncatedList
from onnx_autodoc.ops import Trait, has_trait, tensor_info
from onnx_autodoc.text import pluralize

MAX_NAMES: Final = 20_000
_MAX_CLASS_NUMBER: Final = 10_000_000
_MAX_RESHAPES: Final = 8
_ML_DOMAIN: Final = "ai.onnx.ml"
_LABEL_ATTRIBUTES: Final = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
_ENCODER_ATTRIBUTES: Final = ("values_strings", "classes_strings")


class Labels(Struct, frozen=True):
    """The number of names, and the first `MAX_NAMES` of them."""

    count: int
    names: tuple[str, ...]
    numbered: int | None = None  # the highest class number plus one, if numbers are missing


def make_labels(items: Iterable[object], count: int | None = None) -> Labels | None:
    all_items = list(items)
    names = tuple(clean_text(item) for item in all_items[:MAX_NAMES])
    return Labels(len(all_items) if count is None else count, names) if names else None


def parse_labels(value: object) -> Labels | None:
    """Return the names in a metadata value: a list, a mapping between numbers and names, or separated text."""
    data = parse_data(value) if isinstance(value, str) else value
    if isinstance(data, Mapping):
        pairs = [(key, _category_name(value)) for key, value in data.items()]
        has_number_keys = all(parse_count(key) is not None for key, _ in pairs)
        return _labels_of_pairs(pairs if has_number_keys else [(value, key) for key, value in pairs])
    if isinstance(data, list):
        return _labels_of_list(data)
    return _labels_of_lines(value) if isinstance(value, str) and data is None else None


def _labels_of_pairs(pairs: list[tuple[object, object]]) -> Labels | None:
    numbers = {parse_count(number): name for number, name in pairs if name is not None}
    known = sorted(number for number in numbers if number is not None and number < _MAX_CLASS_NUMBER)
    if not known or len(known) != len(pairs):
        return None
    labels = make_labels(numbers[number] for number in known)
    return Labels(labels.count, labels.names, known[-1] + 1 if known[-1] >= len(known) else None) if labels else None


def _labels_of_list(data: list[object]) -> Labels | None:
    if data and all(isinstance(item, Mapping) for item in data):
        pairs = [(item.get("id"), _category_name(item)) for item in data if isinstance(item, Mapping)]
        names = [name for _, name in pairs]
        return _labels_of_pairs(pairs) or (make_labels(names) if None not in names else None)
    return make_labels(data) if all(isinstance(item, str | int | float) for item in data) else None


def _category_name(item: object) -> object:
    if isinstance(item, Mapping):
        return next((item[key] for key in ("name", "label", "display_name") if isinstance(item.get(key), str)), None)
    return item if isinstance(item, str | int | float) else None


def _labels_of_lines(text: str) -> Labels | None:
    """Return names separated by line breaks, semicolons or commas. A single one could be anything."""
    separator = next((character for character in "\n;," if character in text.strip()), None)
    if separator is None or text.lstrip()[:1] in ("{", "[", "("):
        return None
    items = [item.strip() for item in text.strip().split(separator)]
    return make_labels(items) if all(0 < len(item) <= MAX_NAME_LENGTH for item in items) else None


def find_graph_labels(graph: Graph) -> tuple[Labels, str] | None:
    """Return the labels that the graph outputs, and where they are stored."""
    outputs = {value.name for value in graph.outputs}
    candidates = [
        (node, key)
        for node in graph.nodes
        if node.domain == _ML_DOMAIN
        for key in _LABEL_ATTRIBUTES
        if node.attributes.get(key)
    ]
    returned = [(node, key) for node, key in candidates if not outputs.isdisjoint(node.outputs)]
    if returned or len({str(node.attributes[key]) for node, key in candidates}) == 1:
        node, key = (returned or candidates)[-1]
        value = node.attributes[key]
        labels = make_labels(value.first, value.count) if isinstance(value, TruncatedList) else None
        labels = make_labels(value) if isinstance(value, tuple) else labels
        return _with_source(labels, f"attribute {key!r}", node)
    return _labels_before_output(graph)


def _with_source(labels: Labels | None, place: str, node: Node) -> tuple[Labels, str] | None:
    return (labels, f"{place} of {clean_text(node.op)} {clean_text(node.name)!r}") if labels else None


def _labels_before_output(graph: Graph) -> tuple[Labels, str] | None:
    """Return the labels of the encoder or of the constant list that computes an output."""
    for value in graph.outputs:
        source = graph.index.trace_back(value.name, lambda node: has_trait(node, Trait.KEEPS_SCALAR), _MAX_RESHAPES)
        node = graph.index.producer(source)
        if node is None or node.domain != _ML_DOMAIN:
            continue
        key = next((key for key in _ENCODER_ATTRIBUTES if node.attributes.get(key)), None)
        if node.is_op("LabelEncoder", "ai.onnx.ml") and key:
            names = node.attributes[key]  # several numbers may have one label; those of a truncated list are unknown
            labels = make_labels(dict.fromkeys(names)) if isinstance(names, tuple) else None
            return _with_source(labels, f"attribute {key!r}", node)
        if node.is_op("ArrayFeatureExtractor", "ai.onnx.ml") and node.inputs:
            tensor = graph.index.constants.get(node.inputs[0])
            return _with_source(_labels_of_tensor(tensor), "list", node) if tensor is not None else None
    return None


def _labels_of_tensor(tensor: Tensor) -> Labels | None:
    payload = tensor.payload
    if tensor.dtype == "string" and payload is not None and isinstance(payload.data, tuple):
        return make_labels(item.decode("utf-8", "replace") for item in payload.data)
    if tensor.dtype not in ("int64", "int32"):
        return None
    value = tensor_info(tensor).value
    return make_labels(value.ravel().tolist()) if value is not None else None


_MAX_ALPHABET_TEXT: Final = 1 << 22  # characters
_MIN_SINGLE_CHARACTERS: Final = 0.8  # share of single characters among the items of an alphabet
_MAX_LANGUAGES: Final = 200
_EXPORTERS: Final = {"ultralytics": "Ultralytics", "k2-fsa": "sherpa-onnx", "sherpa-onnx": "sherpa-onnx"}
_EXPORTER_KEYS: Final = frozenset(("author", "description", "docs", "url", "license", "comment", "modelauthor"))


def read_claims(model: Model) -> Dataset:
    reader = _ClaimReader(collect_entries(model.metadata))
    for field, keys, parse in FIELDS:
        for entry in reader.entries_of(keys):
            value = parse(entry.value)
            if value is not None and field not in reader.values:
                reader.set(reader.source_of(entry), **{field: value})
    reader.read_class_names()
    reader.read_characters()
    reader.read_graph_labels(model)
    reader.read_class_count()
    reader.read_feature_names()
    reader.read_box_selection()
    reader.read_language_keys()
    return reader.dataset()


class _ClaimReader:
    """The claims found so far, by field of `Dataset`."""

    def __init__(self, entries: Mapping[str, MetadataEntry]) -> None:
        self._entries = entries
        self.values: dict[str, Any] = {}
        self._sources: dict[str, str] = {}
        self._problems: list[str] = []
        text = " ".join(str(entry.value)[:300].lower() for key, entry in entries.items() if key in _EXPORTER_KEYS)
        exporter = next((name for mark, name in _EXPORTERS.items() if mark in text), None)
        self._exporter = f" ({exporter})" if exporter else ""

    def entries_of(self, keys: tuple[str, ...]) -> Iterator[MetadataEntry]:
        return (self._entries[key] for key in keys if key in self._entries)

    def source_of(self, entry: MetadataEntry) -> str:
        return f"metadata {clean_text(entry.key)!r}{self._exporter}"

    def set(self, source: str, **values: object) -> None:
        self.values.update(values)
        self._sources.update(dict.fromkeys(values, source))

    def _set_labels(self, source: str, labels: Labels) -> None:
        self.set(source, classes=labels.count, names=labels.names)
        if labels.numbered is not None:
            self.values["numbered"] = labels.numbered

    def read_class_names(self) -> None:
        for entry in self.entries_of(CLASS_NAME_KEYS):
            labels = parse_labels(entry.value)
            if labels is not None:
                self._set_labels(self.source_of(entry), labels)
                return

    def read_characters(self) -> None:
        """Read an alphabet. RapidOCR's converter writes class names and table tags under the same key."""
        for entry in self.entries_of(CHARACTER_KEYS):
            items = _parse_characters(entry.value)
            if items is None:
                continue
            labels = make_labels(items)
            is_web_page = any(item.lstrip().lower().startswith(("<!doctype", "<html")) for item in items[:100])
            has_tags = any(item.startswith("<") and item.endswith(">") for item in items)
            single = sum(len(item) == 1 for item in items)
            if labels is None or is_web_page:  # a failed download, as in a package of PaddleOCR models
                self._problems.append(f"{self.source_of(entry)} is a web page, not a list of characters")
            elif has_tags or single >= _MIN_SINGLE_CHARACTERS * len(items):
                self.set(self.source_of(entry), characters=labels.count, alphabet=labels.names)
            elif "classes" not in self.values:
                self._set_labels(self.source_of(entry), labels)
            return

    def read_graph_labels(self, model: Model) -> None:
        labels_and_source = find_graph_labels(model.graph)
        if labels_and_source is None:
            return
        labels, source = labels_and_source
        if "classes" not in self.values:
            self._set_labels(source, labels)
        elif labels.count != self.values["classes"]:
            self._add_class_problem(f"{source} declares {labels.count:,}")

    def read_class_count(self) -> None:
        """Read a number of classes beside their names, or instead of them."""
        for entry in self.entries_of(CLASS_COUNT_KEYS):
            count = parse_class_count(entry.value)
            if count is None:
                continue
            if "classes" not in self.values:
                self.set(self.source_of(entry), classes=count)
            elif count != self.values["classes"]:
                self._add_class_problem(f"{self.source_of(entry)} declares {count:,}")

    def _add_class_problem(self, contradiction: str) -> None:
        classes = pluralize(self.values["classes"], "class", "classes")
        self._problems.append(f"{self._sources['classes']} declares {classes}, but {contradiction}")

    def read_feature_names(self) -> None:
        for entry in self.entries_of(FEATURE_NAME_KEYS):
            labels = parse_labels(entry.value)
            if labels is None:
                continue
            self.set(self.source_of(entry), feature_names=labels.names)
            count = self.values.get("features", labels.count)
            if count != labels.count:
                self._problems.append(
                    f"{self.source_of(entry)} lists {pluralize(labels.count, 'feature')}, not {count:,}"
                )
            self.values["features"] = labels.count
            return

    def read_box_selection(self) -> None:
        """Read whether the model selects boxes: declared directly, or among the export arguments."""
        entry, arguments = self._entries.get("end2end"), self._entries.get("args")
        data = parse_data(arguments.value) if arguments and isinstance(arguments.value, str) else None
        is_end_to_end = parse_flag(entry.value) if entry else None
        if arguments is not None and isinstance(data, dict) and data.get("nms") is True:
            self.set(self.source_of(arguments), end_to_end=True)
        elif entry is not None and is_end_to_end is not None:
            self.set(self.source_of(entry), end_to_end=is_end_to_end)

    def read_language_keys(self) -> None:
        """Read the languages of SenseVoice models, which have one key per language."""
        codes = [entry.key[5:] for entry in self._entries.values() if entry.key.startswith("lang_")]
        languages = tuple(clean_text(code) for code in codes[:_MAX_LANGUAGES] if code not in ("auto", ""))
        if languages and self.values.get("languages", ("auto",)) == ("auto",):
            self.set(f"metadata 'lang_…'{self._exporter}", languages=languages)

    def dataset(self) -> Dataset:
        extras = {}
        for name, keys in EXTRAS.items():
            text = next((str(entry.value) for entry in self.entries_of(keys)), "").strip()
            if text:
                extras[name] = clean_text(text)
        return Dataset(**self.values, extras=extras, sources=self._sources, problems=tuple(self._problems))


def _parse_characters(value: object) -> list[str] | None:
    """Return the items of an alphabet: one per line, a JSON list, or a text of nothing but characters."""
    if not isinstance(value, str):
        return [str(item) for item in value] if isinstance(value, list) else None
    if len(value) > _MAX_ALPHABET_TEXT:
        return None
    data = parse_data(value) if value[:1] in ("[", "{") else None
    if isinstance(data, list):
        return [str(item) for item in data]
    if isinstance(data, dict):
        return [str(item) for item in (data if all(isinstance(key, str) for key in data) else data.values())]
    if "\n" in value.strip("\n"):
        lines = [line.removesuffix("\r") for line in value.split("\n")]
        return lines[:-1] if not lines[-1] else lines
    return list(value) if len(value) > 1 else None
