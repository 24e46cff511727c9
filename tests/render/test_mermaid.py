"""Mermaid texts by their letters. What a browser makes of them is seen in tests/browser."""

import re

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Box
from onnx_autodoc.render.mermaid import (
    MAX_BOXES,
    MAX_EDGES,
    MAX_TEXT_LENGTH,
    draw_layer,
    draw_mermaid,
    draw_model,
    main_layer,
)
from onnx_autodoc.render.palette import COLORS, block_category
from tests.render import _trees as trees
from tests.render._trees import box, chain, edge, root

NODE = re.compile(r'^    ([nm]\d+)(\(\[|\[\[|\[)"(.*)"(\]\)|\]\]|\])$')
EDGE = re.compile(r'^    [nm]\d+ (-->|-\.->)(\|"[^"]*"\|)? [nm]\d+$')
OTHER = re.compile(
    r"^    (classDef|class|style|linkStyle|subgraph layer\[|direction TB$|end$|n\d+ -\.- layer$|n0x)|^%%|^flow"
)


def read_nodes(text: str) -> dict[str, str]:
    return {match[1]: match[3] for line in text.splitlines() if (match := NODE.match(line))}


def read_edges(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if EDGE.match(line)]


def test_box_has_count_detail_parameters_and_share() -> None:
    text = draw_model(trees.encoder())
    assert read_nodes(text)["n4"] == "<b>6 × Encoder layer</b><br/>post-norm<br/>10.6 M params · 100#37; of MACs"
    assert read_nodes(text)["n5"] == "<b>last_hidden_state</b>"
    assert '    n4[["' in text, "a repeated box has double sides"
    assert '    n0(["' in text, "ports are round"


def test_edges_have_shapes_and_unusual_dtypes() -> None:
    text = draw_model(trees.encoder())
    assert 'n0 -->|"1×128 int64"| n2' in read_edges(text)
    assert 'n2 -->|"1×128×384"| n4' in read_edges(text)
    boxes = (box("a"), box("b"), box("c"))
    plain = draw_model(root(boxes, (edge("a", "b"), edge("b", "c", dtype=None), edge("a", "z"), edge("c", "c"))))
    assert read_edges(plain) == ["n0 --> n1", "n1 --> n2"]


def test_scalar_edge_is_labelled() -> None:
    boxes = (box("a"), box("b"))
    link = replace(edge("a", "b"), shape=())
    assert read_edges(draw_model(root(boxes, (link,)))) == ['n0 -->|"scalar"| n1']


def test_skip_edges_are_dotted_and_thick() -> None:
    text = draw_model(trees.unet())
    assert [line.split()[1].split("|")[0] for line in read_edges(text)].count("-.->") == 4
    assert "linkStyle 10,11,12,13 stroke-width:2px" in text


def test_main_layer_is_opened() -> None:
    tree = trees.encoder()
    inside = draw_layer(tree)
    assert inside is not None
    assert 'subgraph layer["one of 6 × Encoder layer"]' in inside
    assert read_nodes(inside)["m2"].endswith("1.18 M params · 63#37; of its MACs")
    both = draw_mermaid(tree)
    assert read_nodes(both) == read_nodes(draw_model(tree)) | read_nodes(inside)
    assert "n4 -.- layer" in both, "the box that is opened leads to its inside"
    assert draw_layer(trees.unet()) is None
    assert draw_mermaid(trees.unet()) == draw_model(trees.unet())


def test_nested_layer_counts_with_its_parent() -> None:
    parts = (box("x"), box("y"))
    small = box("s", "block", "Small", count=2, share=0.1, repeats=True, children=parts)
    stage = box("st", "stage", "Stage", count=4, repeats=True, children=(small,))
    large = box("b", "block", "Large", count=2, share=0.3, repeats=True, children=parts)
    assert main_layer(root((stage, large), ())) is small
    assert "n0 -.- layer" in draw_mermaid(root((stage, large), ()))


def test_direction_follows_number_of_boxes() -> None:
    assert "flowchart LR" in draw_model(trees.few())
    assert "flowchart TB" in draw_model(trees.long_chain())


def test_model_without_boxes_is_one_box() -> None:
    assert read_nodes(draw_model(box("root", label="empty"))) == {"n0": "<b>empty</b>"}


def test_omitted_boxes_and_edges_are_counted() -> None:
    many = tuple(box(f"b{at}", params=10) for at in range(40))
    text = draw_model(root(many, chain(many)))
    assert len(read_nodes(text)) == MAX_BOXES
    assert read_nodes(text)["n29"] == "<b>11 more blocks</b><br/>110 params"
    assert read_edges(text)[-1] == "n28 --> n29"
    links = tuple(edge(source.id, target.id) for source in many[:25] for target in many[:25])
    text = draw_model(root(many[:25], links))
    assert len(read_edges(text)) == MAX_EDGES
    assert f'["{25 * 24 - MAX_EDGES} more connections not shown"]' in text


@pytest.mark.parametrize("name", trees.HOSTILE)
def test_hostile_names_stay_in_their_label(name: str) -> None:
    parts = (box("p", "other", name, name), box("q", name, name))
    layers = box("l", "layer", name, name, count=3, share=1.0, repeats=True, children=parts, edges=chain(parts))
    boxes = (layers, box("b", name, name, name))
    links = (replace(edge("l", "b"), dtype=name), replace(edge("l", name), kind=name))
    text = draw_mermaid(root(boxes, links))
    for line in text.splitlines():
        assert NODE.match(line) or EDGE.match(line) or OTHER.match(line), line
        if NODE.match(line):
            inside = line[line.index('"') + 1 : line.rindex('"')]
            assert not re.search(r'["`\\$*~|{}@:;%&]', re.sub(r"#\d+;", "", inside)), inside
            assert set(re.findall(r"<[^>]*>", inside)) <= {"<b>", "</b>", "<br/>"}
    assert not re.search("[`\u202e\u200b\x00]", text), "nor can they close the fence of a Markdown block"


def test_long_names_are_wrapped_and_shortened() -> None:
    words = read_nodes(draw_model(root((box("a", label="a rather long name for a block of a model " * 3),), ())))["n0"]
    assert words == "<b>a rather long name for a</b><br/><b>block of a model a rather…</b>"
    assert (
        read_nodes(draw_model(root((box("a", label="x" * 99),), ())))["n0"]
        == f"<b>{'x' * 28}</b><br/><b>{'x' * 27}…</b>"
    )


@pytest.mark.parametrize("char", ["*", "\U0001f600", "x", '"', "W "])
def test_text_stays_within_mermaid_limit(char: str) -> None:
    def wide(prefix: str) -> tuple[Box, ...]:
        return tuple(
            box(f"{prefix}{at}", "other", char * 400, char * 400, params=999_999, share=0.5) for at in range(30)
        )

    parts = wide("p")
    links = tuple(edge(source.id, target.id, *[4096] * 8) for source in parts for target in parts)
    first = replace(wide("b")[0], count=3, repeats=True, children=parts, edges=links)
    boxes = (first, *wide("b")[1:])
    text = draw_mermaid(
        root(boxes, tuple(edge(source.id, target.id, *[4096] * 8) for source in boxes for target in boxes))
    )
    assert len(text) <= MAX_TEXT_LENGTH


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("conv-norm-act", "convolution"),
        ("layer-norm", "normal"),
        ("encoder-layer", "layer"),
        ("patch-embedding", "embedding"),
        ("gated-mlp", "dense"),
        ("lstm", "recurrent"),
        ("output", "port"),
        ("anything", "other"),
    ],
)
def test_every_kind_has_a_category_with_color(kind: str, name: str) -> None:
    assert block_category(kind) == name
    assert name in COLORS


def test_text_contrast_is_sufficient_on_every_fill() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in COLORS.values():
        assert (luminance(colour.fill) + 0.05) / (luminance("#111827") + 0.05) > 7
        assert (luminance(colour.fill) + 0.05) / (luminance(colour.border) + 0.05) > 3
