"""What a card says of a model's structure beyond the corpus: kinds of attention, families, pyramids, types by block."""

from functools import cache
from pathlib import Path

import pytest

from onnx_autodoc.analysis import measure
from onnx_autodoc.architecture import describe
from onnx_autodoc.card import Card
from onnx_autodoc.limits import Limits, within
from onnx_autodoc.shapes import Request, bind_and_infer
from tests._corpus import KEPT, reported
from tests._text import model
from tests.architecture._described import described


@cache
def card(name: str) -> Card:
    return reported(name).card


def test_attention_is_told_apart() -> None:
    kinds = card("whisper-tiny-decoder").structure.attention
    assert [(kind.count, kind.causal, kind.cross) for kind in kinds] == [(4, True, False), (4, False, True)]


@pytest.mark.parametrize("name", ["smollm2-135m-kv-op17", "smollm2-135m-genai-int4"])
def test_positions_may_be_turned_into_queries_and_keys(name: str) -> None:
    (kind,) = card(name).structure.attention
    assert (kind.count, kind.causal, kind.rotary, kind.heads, kind.kv_heads) == (30, True, True, 9, 3)


def test_encoders_neither_look_back_nor_turn() -> None:
    (kind,) = card("bert-base-qa-dynamo").structure.attention
    assert (kind.causal, kind.cross, kind.rotary, kind.windowed, kind.relative_bias) == (False,) * 5


def blocks(found: Card) -> dict[str, int]:
    return {block.kind: block.count for block in found.structure.blocks}


def test_a_detector_has_a_pyramid() -> None:
    found = blocks(card("yolov8l-nc1"))
    assert (found["top-down-merge"], found["csp"], found["spp"], found["residual-block"]) == (2, 8, 1, 18)


def test_dense_layers_bottlenecks_and_mobile_blocks_are_counted() -> None:
    assert blocks(card("onnx-light-densenet121"))["dense-layer"] == 58
    assert blocks(card("resnet50-ts-op17"))["bottleneck"] == 16
    assert blocks(card("mobilenetv2-qoperator-int8"))["inverted-residual"] == 16
    assert blocks(card("onnx-light-squeezenet"))["inception"] == 8


def test_a_spectrum_by_convolution_is_no_layer_of_the_net() -> None:
    assert blocks(card("silero-vad"))["stft"] == 1


def test_what_was_quantized_is_said_block_by_block() -> None:
    types = {block.kind: block.dtypes for block in card("all-minilm-l6-v2-int4-matmulnbits").structure.blocks}
    assert set(types["layer-norm"]) == set(types["embedding"]) == {"float32"}
    assert types["linear"]["int4"] == 10_616_832
    assert types["linear"]["float32"] == types["linear"].get("float32") == 6 * (4 * 384 + 1536 + 384)  # the biases


@pytest.mark.parametrize("name", KEPT)
def test_places_of_nodes_name_blocks_that_are_counted(name: str) -> None:
    made = reported(name)
    places = {row.block for row in made.nodes() if row.block is not None}
    layers = {place.split("[")[0] for place in places if "[" in place}
    drawn = {box.kind for box in made.card.structure.tree.children if box.repeats}  # type: ignore[union-attr]
    assert layers <= drawn


def test_every_node_of_a_layer_says_which() -> None:
    made = reported("all-minilm-l6-v2-ts-op14")
    found = [row.block for row in made.nodes() if row.op == "Softmax"]
    assert found == [f"encoder-layer[{at}]/attention" for at in range(6)]


def test_functions_that_multiply_leave_the_structure_unknown_with_a_reason(tmp_path: Path) -> None:
    """A function that calls another twice, which calls another twice, and so on."""
    head = '<domain: "local", opset_import: ["" : 18, "local" : 1]>'
    calls = [f"{{ z = local.f{at + 1}(x) y = local.f{at + 1}(z) }}" for at in range(20)]
    functions = "".join(f"{head} f{at} (x) => (y) {body}\n" for at, body in enumerate(calls))
    functions += '<domain: "local", opset_import: ["" : 18]> f20 (x) => (y) { y = Relu(x) }'
    found = described("g (float[4] x) => (float y) { y = local.f0(x) }", functions=functions)
    assert found.family.name == "unknown"
    assert "over 100,336 nodes, too many for the architecture analysis; --max-rows raises the limit" in found.gap


WEIGHTS = "w = Constant <value = float[4,4] {1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}> ()"


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (f"{WEIGHTS} y = MatMul(x, w)", "unknown"),
        (f"{WEIGHTS} h = MatMul(x, w) r = Relu(h) y = MatMul(r, w)", "mlp"),
        ("y = Relu(x)", "unknown"),
    ],
    ids=["one linear layer", "two with an activation", "no weights"],
)
def test_small_families(body: str, name: str) -> None:
    assert described(f"g (float[1,4] x) => (float y) {{ {body} }}").family.name == name


def test_where_sizes_are_not_known_a_net_of_convolutions_is_one_all_the_same() -> None:
    text = """
    g (float[n] x, int64[4] d) => (float y)
    { s = Constant <value_ints = [4, 4, 3, 3]> () w = ConstantOfShape(s) t = Constant <value_ints = [4, 4]> ()
       l = ConstantOfShape(t) i = Reshape(x, d) a = Conv(i, w) b = Relu(a) c = Conv(b, w) e = Relu(c) f = Conv(e, w)
       p = GlobalAveragePool(f) q = Flatten(p) r = MatMul(q, l) u = Relu(r) y = MatMul(u, l) }
    """
    found = described(text)
    assert found.tree is not None and found.tree.macs is None
    assert found.family.name == "cnn"


WINDOW = "s = Constant <value_ints = [66, 1, 64]> () w = ConstantOfShape(s)"
MEL = "t = Constant <value_ints = [33, 20]> () b = ConstantOfShape(t)"
POWER = "c = Conv <strides = [32]> (x, w) z = Constant <value_ints = [1, 2, 33, -1]> () h = Reshape(c, z)"
BANDS = (
    "o = Constant <value_ints = [1]> () p = ReduceSumSquare <keepdims = 0> (h, o) q = Transpose <perm = [0, 2, 1]> (p)"
)


def test_a_spectrogram_is_preparation_and_a_net_behind_it_is_one() -> None:
    """What a convolution with a long window makes is a spectrum; one more map makes its bands."""
    front = f"{WINDOW} {MEL} {POWER} {BANDS} q = Transpose <perm = [0, 2, 1]> (p) m = MatMul(q, b)"
    alone = described(f"g (float[1,1,4096] x) => (float y) {{ {front} y = Log(m) }}")
    assert alone.family.name == "preprocessing"
    net = "f = Constant <value_ints = [20, 20]> () g = ConstantOfShape(f) r = MatMul(m, g) u = Relu(r) y = MatMul(u, g)"
    behind = described(f"g (float[1,1,4096] x) => (float y) {{ {front} {net} }}")
    assert behind.family.name == "mlp"


def depthwise_net(layers: int) -> str:
    """ConvNeXt's layers: a filter of each channel alone, then two maps over channels that do nearly all the work."""
    sizes = "s = Constant <value_ints = [64, 1, 3, 3]> () t = Constant <value_ints = [64, 256]> ()"
    front = f"{sizes} r = Constant <value_ints = [256, 64]> ()"
    front += " k = ConstantOfShape(s) w = ConstantOfShape(t) v = ConstantOfShape(r) h0 = Identity(x)"
    layer = """ c{at} = Conv <group = 64, pads = [1, 1, 1, 1]> (h{at}, k)
        l{at} = Transpose <perm = [0, 2, 3, 1]> (c{at})
        m{at} = MatMul(l{at}, w) g{at} = Relu(m{at}) n{at} = MatMul(g{at}, v)
        o{at} = Transpose <perm = [0, 3, 1, 2]> (n{at}) h{to} = Add(h{at}, o{at})"""
    body = "".join(layer.format(at=at, to=at + 1) for at in range(layers))
    return f"g (float[1,64,8,8] x) => (float y) {{ {front} {body} y = Identity(h{layers}) }}"


@pytest.mark.parametrize(("layers", "name"), [(6, "cnn"), (1, "mlp")])
def test_a_filter_in_every_layer_makes_a_net_of_convolutions_however_little_it_costs(layers: int, name: str) -> None:
    assert described(depthwise_net(layers)).family.name == name


def test_many_of_a_thing_are_said_in_the_plural() -> None:
    assert "4 MLPs" in card("local-functions-mlp").structure.evidence


def test_nodes_that_read_too_many_values_are_not_looked_at() -> None:
    sums = " ".join(f"s{at} = Sum({', '.join(['x'] * 9)})" for at in range(3))
    found = model(f"g (float[4] x) => (float[4] s2) {{ {sums} }}")
    binding, shapes = bind_and_infer(found, Request())
    with within(Limits(rows=27)):
        assert describe(measure(found, binding, shapes)).gap == ""
    with within(Limits(rows=26)):
        gap = describe(measure(found, binding, shapes)).gap
    assert (
        gap == "nodes have over 26 inputs in total, too many for the architecture analysis; --max-rows raises the limit"
    )
