"""The architecture of models: kinds of attention, blocks, families, dtypes by block, limits."""

from functools import cache
from pathlib import Path

import pytest

from onnx_autodoc.analysis import measure
from onnx_autodoc.architecture import describe
from onnx_autodoc.card import Card
from onnx_autodoc.limits import Limits, within
from onnx_autodoc.shapes import Request, bind_and_infer
from tests._corpus import GRAPH_NAMES, load_report
from tests._text import model
from tests.architecture._structures import describe_text


@cache
def build_card(name: str) -> Card:
    return load_report(name).card


def test_causal_and_cross_attention_are_distinguished() -> None:
    kinds = build_card("whisper-tiny-decoder").structure.attention
    assert [(kind.count, kind.causal, kind.cross) for kind in kinds] == [(4, True, False), (4, False, True)]


@pytest.mark.parametrize("name", ["smollm2-135m-kv-op17", "smollm2-135m-genai-int4"])
def test_decoder_attention_is_causal_rotary_and_grouped(name: str) -> None:
    (kind,) = build_card(name).structure.attention
    assert (kind.count, kind.causal, kind.rotary, kind.heads, kind.kv_heads) == (30, True, True, 9, 3)


def test_encoder_attention_is_plain() -> None:
    (kind,) = build_card("bert-base-qa-dynamo").structure.attention
    assert (kind.causal, kind.cross, kind.rotary, kind.windowed, kind.relative_bias) == (False,) * 5


def count_block_kinds(card: Card) -> dict[str, int]:
    return {block.kind: block.count for block in card.structure.blocks}


def test_detector_blocks_are_counted() -> None:
    counts = count_block_kinds(build_card("yolov8l-nc1"))
    assert (counts["top-down-merge"], counts["csp"], counts["spp"], counts["residual-block"]) == (2, 8, 1, 18)


def test_convolutional_blocks_are_counted() -> None:
    assert count_block_kinds(build_card("onnx-light-densenet121"))["dense-layer"] == 58
    assert count_block_kinds(build_card("resnet50-ts-op17"))["bottleneck"] == 16
    assert count_block_kinds(build_card("mobilenetv2-qoperator-int8"))["inverted-residual"] == 16
    assert count_block_kinds(build_card("onnx-light-squeezenet"))["inception"] == 8


def test_convolution_with_long_window_is_an_stft() -> None:
    assert count_block_kinds(build_card("silero-vad"))["stft"] == 1


def test_weight_dtypes_are_listed_by_block() -> None:
    types = {block.kind: block.dtypes for block in build_card("all-minilm-l6-v2-int4-matmulnbits").structure.blocks}
    assert set(types["layer-norm"]) == set(types["embedding"]) == {"float32"}
    assert types["linear"]["int4"] == 10_616_832
    assert types["linear"]["float32"] == types["linear"].get("float32") == 6 * (4 * 384 + 1536 + 384)  # the biases


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_node_locations_are_drawn_layers(name: str) -> None:
    report = load_report(name)
    locations = {row.block for row in report.nodes() if row.block is not None}
    layers = {location.split("[")[0] for location in locations if "[" in location}
    drawn = {box.kind for box in report.card.structure.tree.children if box.repeats}  # type: ignore[union-attr]
    assert layers <= drawn


def test_node_location_has_the_layer_index() -> None:
    report = load_report("all-minilm-l6-v2-ts-op14")
    locations = [row.block for row in report.nodes() if row.op == "Softmax"]
    assert locations == [f"encoder-layer[{at}]/attention" for at in range(6)]


def test_too_many_inlined_nodes_are_a_gap(tmp_path: Path) -> None:
    """Each of 20 functions calls the next one twice."""
    head = '<domain: "local", opset_import: ["" : 18, "local" : 1]>'
    calls = [f"{{ z = local.f{at + 1}(x) y = local.f{at + 1}(z) }}" for at in range(20)]
    functions = "".join(f"{head} f{at} (x) => (y) {body}\n" for at, body in enumerate(calls))
    functions += '<domain: "local", opset_import: ["" : 18]> f20 (x) => (y) { y = Relu(x) }'
    structure = describe_text("g (float[4] x) => (float y) { y = local.f0(x) }", functions=functions)
    assert structure.family.name == "unknown"
    assert "over 100,336 nodes, too many for the architecture analysis; --max-rows raises the limit" in structure.gap


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
def test_family_of_small_graphs(body: str, name: str) -> None:
    assert describe_text(f"g (float[1,4] x) => (float y) {{ {body} }}").family.name == name


def test_convolutions_of_unknown_size_are_a_cnn() -> None:
    text = """
    g (float[n] x, int64[4] d) => (float y)
    { s = Constant <value_ints = [4, 4, 3, 3]> () w = ConstantOfShape(s) t = Constant <value_ints = [4, 4]> ()
       l = ConstantOfShape(t) i = Reshape(x, d) a = Conv(i, w) b = Relu(a) c = Conv(b, w) e = Relu(c) f = Conv(e, w)
       p = GlobalAveragePool(f) q = Flatten(p) r = MatMul(q, l) u = Relu(r) y = MatMul(u, l) }
    """
    structure = describe_text(text)
    assert structure.tree is not None and structure.tree.macs is None
    assert structure.family.name == "cnn"


WINDOW = "s = Constant <value_ints = [66, 1, 64]> () w = ConstantOfShape(s)"
MEL = "t = Constant <value_ints = [33, 20]> () b = ConstantOfShape(t)"
POWER = "c = Conv <strides = [32]> (x, w) z = Constant <value_ints = [1, 2, 33, -1]> () h = Reshape(c, z)"
BANDS = (
    "o = Constant <value_ints = [1]> () p = ReduceSumSquare <keepdims = 0> (h, o) q = Transpose <perm = [0, 2, 1]> (p)"
)


def test_spectrogram_is_preprocessing_unless_a_network_follows() -> None:
    """A convolution with a long window computes a spectrum; a linear layer computes its mel bands."""
    front = f"{WINDOW} {MEL} {POWER} {BANDS} q = Transpose <perm = [0, 2, 1]> (p) m = MatMul(q, b)"
    alone = describe_text(f"g (float[1,1,4096] x) => (float y) {{ {front} y = Log(m) }}")
    assert alone.family.name == "preprocessing"
    net = "f = Constant <value_ints = [20, 20]> () g = ConstantOfShape(f) r = MatMul(m, g) u = Relu(r) y = MatMul(u, g)"
    behind = describe_text(f"g (float[1,1,4096] x) => (float y) {{ {front} {net} }}")
    assert behind.family.name == "mlp"


def write_depthwise_net(layers: int) -> str:
    """Return layers of ConvNeXt: a depthwise convolution, then two linear layers with nearly all MACs."""
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
def test_depthwise_convolution_in_every_layer_is_a_cnn(layers: int, name: str) -> None:
    assert describe_text(write_depthwise_net(layers)).family.name == name


def test_evidence_is_pluralized() -> None:
    assert "4 MLPs" in build_card("local-functions-mlp").structure.evidence


def test_too_many_node_inputs_are_a_gap() -> None:
    sums = " ".join(f"s{at} = Sum({', '.join(['x'] * 9)})" for at in range(3))
    sum_model = model(f"g (float[4] x) => (float[4] s2) {{ {sums} }}")
    binding, shapes = bind_and_infer(sum_model, Request())
    with within(Limits(rows=27)):
        assert describe(measure(sum_model, binding, shapes)).gap == ""
    with within(Limits(rows=26)):
        gap = describe(measure(sum_model, binding, shapes)).gap
    assert (
        gap == "nodes have over 26 inputs in total, too many for the architecture analysis; --max-rows raises the limit"
    )
