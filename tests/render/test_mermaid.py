"""Mermaid texts by their letters. What a browser makes of them is seen in tests/browser."""

import re

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Box
from onnx_autodoc.render._palette import COLOURS, family
from onnx_autodoc.render.mermaid import MOST_BOXES, MOST_EDGES, MOST_TEXT, diagrams, layer, main_layer, mermaid
from tests.render import _trees as trees
from tests.render._trees import box, chain, edge, root

NODE = re.compile(r'^    ([nm]\d+)(\(\[|\[\[|\[)"(.*)"(\]\)|\]\]|\])$')
EDGE = re.compile(r'^    [nm]\d+ (-->|-\.->)(\|"[^"]*"\|)? [nm]\d+$')
OTHER = re.compile(
    r"^    (classDef|class|style|linkStyle|subgraph layer\[|direction TB$|end$|n\d+ -\.- layer$|n0x)|^%%|^flow"
)


def nodes(text: str) -> dict[str, str]:
    return {found[1]: found[3] for line in text.splitlines() if (found := NODE.match(line))}


def edges(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if EDGE.match(line)]


def test_a_box_has_its_count_detail_parameters_and_share() -> None:
    text = mermaid(trees.encoder())
    assert nodes(text)["n4"] == "<b>6 × Encoder layer</b><br/>post-norm<br/>10.6 M params · 100 #37; of MACs"
    assert nodes(text)["n5"] == "<b>last_hidden_state</b>"
    assert '    n4[["' in text, "what stands for several has double sides"
    assert '    n0(["' in text, "ports are round"


def test_edges_have_shapes_and_types_that_are_not_the_usual_one() -> None:
    text = mermaid(trees.encoder())
    assert 'n0 -->|"1×128 int64"| n2' in edges(text)
    assert 'n2 -->|"1×128×384"| n4' in edges(text)
    boxes = (box("a"), box("b"), box("c"))
    plain = mermaid(root(boxes, (edge("a", "b"), edge("b", "c", dtype=None), edge("a", "z"), edge("c", "c"))))
    assert edges(plain) == ["n0 --> n1", "n1 --> n2"]


def test_a_scalar_is_called_one() -> None:
    boxes = (box("a"), box("b"))
    link = replace(edge("a", "b"), shape=())
    assert edges(mermaid(root(boxes, (link,)))) == ['n0 -->|"scalar"| n1']


def test_skips_are_dotted_and_drawn_stronger() -> None:
    text = mermaid(trees.unet())
    assert [line.split()[1].split("|")[0] for line in edges(text)].count("-.->") == 4
    assert "linkStyle 10,11,12,13 stroke-width:2px" in text


def test_the_layer_that_matters_most_is_opened() -> None:
    tree = trees.encoder()
    inside = layer(tree)
    assert inside is not None
    assert 'subgraph layer["one of 6 × Encoder layer"]' in inside
    assert nodes(inside)["m2"].endswith("1.18 M params · 63 #37; of its MACs")
    both = diagrams(tree)
    assert nodes(both) == nodes(mermaid(tree)) | nodes(inside)
    assert "n4 -.- layer" in both, "the box that is opened leads to its inside"
    assert layer(trees.unet()) is None
    assert diagrams(trees.unet()) == mermaid(trees.unet())


def test_a_layer_inside_of_a_part_counts_as_often_as_its_part() -> None:
    parts = (box("x"), box("y"))
    small = box("s", "block", "Small", count=2, share=0.1, repeats=True, children=parts)
    stage = box("st", "stage", "Stage", count=4, repeats=True, children=(small,))
    large = box("b", "block", "Large", count=2, share=0.3, repeats=True, children=parts)
    assert main_layer(root((stage, large), ())) is small
    assert "n0 -.- layer" in diagrams(root((stage, large), ()))


def test_few_boxes_go_across_and_many_go_down() -> None:
    assert "flowchart LR" in mermaid(trees.few())
    assert "flowchart TB" in mermaid(trees.long_chain())


def test_a_model_without_boxes_is_a_box() -> None:
    assert nodes(mermaid(box("root", label="empty"))) == {"n0": "<b>empty</b>"}


def test_what_there_is_no_room_for_is_named() -> None:
    many = tuple(box(f"b{at}", params=10) for at in range(40))
    text = mermaid(root(many, chain(many)))
    assert len(nodes(text)) == MOST_BOXES
    assert nodes(text)["n29"] == "<b>11 more blocks</b><br/>110 params"
    assert edges(text)[-1] == "n28 --> n29"
    links = tuple(edge(one.id, two.id) for one in many[:25] for two in many[:25])
    text = mermaid(root(many[:25], links))
    assert len(edges(text)) == MOST_EDGES
    assert f'["{25 * 24 - MOST_EDGES} more connections, not drawn"]' in text


@pytest.mark.parametrize("name", trees.HOSTILE)
def test_names_cannot_leave_their_label(name: str) -> None:
    parts = (box("p", "other", name, name), box("q", name, name))
    layers = box("l", "layer", name, name, count=3, share=1.0, repeats=True, children=parts, edges=chain(parts))
    boxes = (layers, box("b", name, name, name))
    links = (replace(edge("l", "b"), dtype=name), replace(edge("l", name), kind=name))
    text = diagrams(root(boxes, links))
    for line in text.splitlines():
        assert NODE.match(line) or EDGE.match(line) or OTHER.match(line), line
        if NODE.match(line):
            inside = line[line.index('"') + 1 : line.rindex('"')]
            assert not re.search(r'["`\\$*~|{}@:;%&]', re.sub(r"#\d+;", "", inside)), inside
            assert set(re.findall(r"<[^>]*>", inside)) <= {"<b>", "</b>", "<br/>"}
    assert not re.search("[`\u202e\u200b\x00]", text), "nor can they close the fence of a Markdown block"


def test_long_names_are_broken_between_words_and_shortened() -> None:
    words = nodes(mermaid(root((box("a", label="a rather long name for a block of a model " * 3),), ())))["n0"]
    assert words == "<b>a rather long name for a</b><br/><b>block of a model a rather…</b>"
    assert nodes(mermaid(root((box("a", label="x" * 99),), ())))["n0"] == f"<b>{'x' * 28}</b><br/><b>{'x' * 27}…</b>"


@pytest.mark.parametrize("char", ["*", "\U0001f600", "x", '"', "W "])
def test_the_text_stays_within_what_mermaid_reads(char: str) -> None:
    def wide(prefix: str) -> tuple[Box, ...]:
        return tuple(
            box(f"{prefix}{at}", "other", char * 400, char * 400, params=999_999, share=0.5) for at in range(30)
        )

    parts = wide("p")
    links = tuple(edge(one.id, two.id, *[4096] * 8) for one in parts for two in parts)
    first = replace(wide("b")[0], count=3, repeats=True, children=parts, edges=links)
    boxes = (first, *wide("b")[1:])
    text = diagrams(root(boxes, tuple(edge(one.id, two.id, *[4096] * 8) for one in boxes for two in boxes)))
    assert len(text) <= MOST_TEXT


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
def test_every_kind_has_a_family_and_every_family_a_colour(kind: str, name: str) -> None:
    assert family(kind) == name
    assert name in COLOURS


def test_dark_text_reads_on_every_fill() -> None:
    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in COLOURS.values():
        assert (light(colour.fill) + 0.05) / (light("#111827") + 0.05) > 7
        assert (light(colour.fill) + 0.05) / (light(colour.border) + 0.05) > 3
