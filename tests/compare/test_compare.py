"""A comparison is empty for equal cards, and complete for others."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from onnx_autodoc.api import load_or_make_card
from onnx_autodoc.card import Card, load
from onnx_autodoc.compare import Comparison, Diff, compare
from onnx_autodoc.errors import BadInput
from onnx_autodoc.shapes import Request
from tests._corpus import GRAPH_NAMES, graph
from tests.compare._cards import compare_cards, compare_corpus_models, of_corpus, of_text

LISTS = ("interface", "numbers", "operators", "blocks", "kinds", "facts", "also")
MINILM = "all-minilm-l6-v2-ts-op14"


def list_parts(diff: Diff) -> set[str]:
    """Return the parts of a comparison that differ."""
    names = {name for name in (*LISTS, "sizes", "precision") if getattr(diff, name)}
    return names | ({"findings"} if not diff.findings.empty else set())


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_model_equals_itself(name: str) -> None:
    card = of_corpus(name)
    read_back = load(msgspec.json.encode(card), name)
    comparison = compare([card, card, read_back], ["a", "b", "c"])
    assert comparison.empty
    for diff in comparison.diffs:
        assert list_parts(diff) == set()
        assert (diff.marks_was, diff.marks_is) == ({}, {})
        assert diff.relation.kind == "identical"
        assert diff.relation.text.startswith("No difference")


def test_renamed_copy_is_identical(tmp_path: Path) -> None:
    copy = tmp_path / "other.onnx"
    shutil.copy(graph("local-functions-mlp"), copy)
    original, copied = of_corpus("local-functions-mlp"), load_or_make_card(copy, Request())
    assert original.model.name != copied.model.name
    later = replace(copied, generated=replace(copied.generated, at="2001-01-01T00:00:00Z", version="9"))
    assert compare_cards(original, later).empty


def to_plain_data(card: Card) -> Any:
    return msgspec.json.decode(msgspec.json.encode(card))


def list_paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every number, string and boolean; of lists, those of the first and the last entry."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from list_paths(inner, (*path, key))
    elif isinstance(value, list):
        for index in {0, len(value) - 1} if value else ():
            yield from list_paths(value[index], (*path, index))
    elif value is not None:
        yield path


def change_field(card: Card, path: tuple[str | int, ...]) -> Card:
    data = to_plain_data(card)
    parent = data
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = _change_value(parent[path[-1]])
    return msgspec.convert(data, Card)


def _change_value(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return ENUMS.get(value, value + "!")
    return value + 1


ENUMS = {"float": "qdq", "info": "error", "note": "error", "warning": "error", "error": "info"} | {
    "high": "low",
    "medium": "low",
}
SILENT = {("schema_version",), ("generated",), ("summary",), ("model", "name"), ("model", "file", "sha256")}
SMALL = of_corpus("all-minilm-l6-v2-ortfused")
PATHS = [path for path in list_paths(to_plain_data(SMALL)) if not any(path[: len(end)] == end for end in SILENT)]


def test_every_changed_field_is_reported() -> None:
    """Excluded: the name of the file, date and tool of the card, and text derived from them."""
    root = ("structure", "tree", "label")
    where = ("model", "file", "external", 0, "reason")  # depends on the files of this machine, not on the model
    missed = [
        path for path in PATHS if path not in (root, where) and compare_cards(SMALL, change_field(SMALL, path)).empty
    ]
    assert missed == []
    assert len(PATHS) > 200


@pytest.mark.parametrize(
    ("path", "part"),
    [
        (("parameters", "total"), "numbers"),
        (("compute", "macs"), "numbers"),
        (("memory", "peak_activation_bytes"), "numbers"),
        (("model", "file", "bytes"), "numbers"),
        (("graph", "operators", 0, "count"), "operators"),
        (("interface", "inputs", 0, "name"), "interface"),
        (("interface", "outputs", 0, "shape", 2), "interface"),
        (("structure", "blocks", 0, "count"), "kinds"),
        (("structure", "layers"), "facts"),
        (("model", "producer", "version"), "facts"),
        (("model", "opsets", "ai.onnx"), "facts"),
        (("task", "name"), "facts"),
        (("model", "precision", "label"), "precision"),
        (("findings", 0, "severity"), "findings"),
        (("structure", "tree", "children", -2, "children", 1, "detail"), "blocks"),
        (("memory", "timeline", 0, "bytes"), "also"),
    ],
)
def test_single_change_is_reported_once(path: tuple[str | int, ...], part: str) -> None:
    assert list_parts(compare_cards(SMALL, change_field(SMALL, path))) == {part}


def test_hashes_are_compared_where_both_exist() -> None:
    def with_hash(digest: str | None) -> Card:
        return replace(SMALL, model=replace(SMALL.model, file=replace(SMALL.model.file, sha256=digest)))

    assert compare_cards(with_hash("a"), with_hash(None)).empty
    assert compare_cards(with_hash("a"), with_hash("a")).relation.text == "No difference: the files are byte-identical."
    diff = compare_cards(with_hash("a"), with_hash("b"))
    assert list_parts(diff) == {"facts"}
    assert diff.relation.kind == "other-bytes"


PAIRS = [
    (MINILM, "all-minilm-l6-v2-dynquant-int8"),
    (MINILM, "bert-base-qa-dynamo"),
    ("resnet50-ts-op17", "onnx-light-resnet50"),
    ("smollm2-135m-kv-op17", "smollm2-135m-genai-int4"),
    ("ppocrv4-det-ch", "ppocrv4-rec-ch"),
]


@pytest.mark.parametrize(("was", "now"), PAIRS)
def test_reversed_comparison_mirrors_the_changes(was: str, now: str) -> None:
    forward, backward = compare_corpus_models(was, now), compare_corpus_models(now, was)
    assert [
        (change.path, change.was, change.now) for change in sorted(forward.numbers, key=lambda change: change.path)
    ] == [(change.path, change.now, change.was) for change in sorted(backward.numbers, key=lambda change: change.path)]
    assert {(change.name, change.was, change.now) for change in forward.operators} == {
        (change.name, change.now, change.was) for change in backward.operators
    }
    assert [change.rule for change in forward.findings.new] == [change.rule for change in backward.findings.gone]
    assert sorted(forward.marks_was) == sorted(backward.marks_is)
    mirror = {"added": "removed", "removed": "added", "opened": "fixed", "fixed": "opened"}
    assert sorted(mirror.get(change.what, change.what) for change in forward.interface) == sorted(
        change.what for change in backward.interface
    )
    assert set(forward.also) == set(backward.also)


def test_every_model_is_compared_with_the_first() -> None:
    names = [MINILM, "all-minilm-l6-v2-fp16", MINILM]
    comparison = compare([of_corpus(name) for name in names], names)
    assert [diff.relation.kind for diff in comparison.diffs] == ["other-precision", "identical"]
    assert [side.file for side in comparison.models] == [f"{name}.onnx" for name in names]


def test_single_model_is_rejected() -> None:
    with pytest.raises(BadInput, match="expected at least two models"):
        compare([SMALL], ["a"])


def test_deeply_nested_card_is_rejected() -> None:
    box = SMALL.structure.tree
    assert box is not None
    for _ in range(2000):
        box = replace(box, children=(box,))
    deep = replace(SMALL, structure=replace(SMALL.structure, tree=box))
    with pytest.raises(BadInput, match="too deep"):
        compare([deep, SMALL], ["a", "b"])


def test_long_rows_of_equal_layers_stay_folded() -> None:
    def with_repeats(times: int) -> Card:
        tree = SMALL.structure.tree
        assert tree is not None
        boxes = tuple(replace(box, count=times) if box.repeats else box for box in tree.children)
        return replace(SMALL, structure=replace(SMALL.structure, tree=replace(tree, children=boxes)))

    diff = compare_cards(with_repeats(10**12), with_repeats(10**12 + 1))
    assert [change.text for change in diff.blocks] == ["Encoder layer 1: count 1,000,000,000,000 → 1,000,000,000,001"]


def test_comparison_round_trips_through_json() -> None:
    comparison = compare([of_corpus(MINILM), of_corpus("bert-base-qa-dynamo")], ["a", "b"])
    assert msgspec.json.decode(msgspec.json.encode(comparison), type=Comparison) == comparison


def test_lower_bounds_have_no_difference() -> None:
    text = "g (float[2, 3] x) => (float y) { a = Relu(x) \n y = custom.Mystery(a) }"
    more = "g (float[2, 3] x) => (float y) { a = Relu(x) \n b = Relu(a) \n y = custom.Mystery(b) }"
    change = next(
        change for change in compare_cards(of_text(text), of_text(more)).numbers if change.path == "compute.flops"
    )
    assert (change.change, change.percent, change.note) == (None, None, "at least")
    assert change.was_least
    assert change.is_least


def test_unknown_number_is_not_zero() -> None:
    unknown = replace(SMALL, compute=replace(SMALL.compute, macs=None))
    change = next(change for change in compare_cards(SMALL, unknown).numbers if change.path == "compute.macs")
    assert (change.now, change.change, change.percent) == (None, None, None)


def test_parameter_counts_beyond_floats_are_compared() -> None:
    card = of_text("agraph (float[2] x) => (float[2] y) { y = Relu(x) }")
    huge = replace(card, parameters=replace(card.parameters, total=10**400))
    assert compare_cards(card, huge).numbers
