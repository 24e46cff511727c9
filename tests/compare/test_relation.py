"""Relations between models of the corpus whose origin is known."""

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Card
from tests.compare._cards import compare_cards, compare_corpus_models, of_proto, of_text
from tests.compare._nets import Layer, encoder

MINILM = "all-minilm-l6-v2-ts-op14"
KNOWN = [
    (MINILM, "all-minilm-l6-v2-fp16", "The same model in another precision: fp32 → fp16."),
    (MINILM, "all-minilm-l6-v2-dynquant-int8", "The same model in another precision: fp32 → int8-dynamic."),
    (MINILM, "all-minilm-l6-v2-int4-matmulnbits", "The same model in another precision: fp32 → int4-weights."),
    ("resnet50-ts-op17", "resnet50-qdq-int8", "The same model in another precision: fp32 → int8-qdq."),
    (
        "smollm2-135m-kv-op17",
        "smollm2-135m-genai-int4",
        "Looks like the same model in another precision: fp32 → int4-weights.",
    ),
    (MINILM, "all-minilm-l6-v2-ortfused", "Looks like the same architecture, exported or optimized differently."),
    (
        "bert-base-qa-ts-op12",
        "bert-base-qa-dynamo",
        "Looks like the same architecture, exported or optimized differently.",
    ),
    (
        "bert-base-qa-ts-op12",
        "bert-base-qa-ortfused",
        "Looks like the same architecture, exported or optimized differently.",
    ),
    (
        "resnet50-ts-op17",
        "resnet50-unfused-bn-op13",
        "Looks like the same architecture, exported or optimized differently.",
    ),
    (
        "silero-vad-16k-op15",
        "silero-vad-half",
        "Looks like the same architecture, exported or optimized differently.",
    ),
    (
        "all-minilm-l6-v2-dynquant-int8",
        "e5-small-v2-dynquant-int8",
        "The same family with different sizes: layers 6 → 12.",
    ),
    (
        "resnet50-ts-op17",
        "onnx-light-resnet50",
        (
            "Looks like the same architecture except in 2 places without weights, first: "
            "GlobalAveragePool replaced by AveragePool after Bottleneck 16."
        ),
    ),
    ("resnet50-ts-op17", MINILM, "A different model: cnn → transformer-encoder."),
    ("onnx-light-squeezenet", "onnx-light-bvlc-alexnet", "A different model of the same family (cnn)."),
]


@pytest.mark.parametrize(("was", "now", "text"), KNOWN)
def test_related_models_are_recognized(was: str, now: str, text: str) -> None:
    assert compare_corpus_models(was, now).relation.text == text


@pytest.mark.parametrize(("was", "now", "text"), KNOWN)
def test_relation_is_symmetric(was: str, now: str, text: str) -> None:
    forward, backward = compare_corpus_models(was, now).relation, compare_corpus_models(now, was).relation
    assert forward.kind == backward.kind
    assert (
        forward.text.startswith("Looks like") == backward.text.startswith("Looks like") == text.startswith("Looks like")
    )


def test_relation_has_evidence() -> None:
    relation = compare_corpus_models(MINILM, "all-minilm-l6-v2-dynquant-int8").relation
    assert "same inputs and outputs" in relation.evidence
    assert "22,565,376 parameters in both" in relation.evidence
    assert relation.against == ()


def test_relation_has_counter_evidence() -> None:
    relation = compare_corpus_models("smollm2-135m-kv-op17", "smollm2-135m-genai-int4").relation
    assert "different parameter count" in relation.against


def test_int8_model_differs_in_weights_not_in_compute() -> None:
    diff = compare_corpus_models(MINILM, "all-minilm-l6-v2-dynquant-int8")
    changed = {change.path: change for change in diff.numbers}
    assert changed["parameters.bytes"].percent == pytest.approx(-74.9, abs=0.05)
    assert "parameters.total" not in changed
    assert "compute.macs" not in changed
    assert (diff.interface, diff.blocks, diff.kinds) == ((), (), ())


def test_same_model_at_other_sizes_is_recognized() -> None:
    text = "g (float[n, 3] x) => (float[n, 3] y) { y = Relu(x) }"
    diff = compare_cards(of_text(text, "n=2"), of_text(text, "n=5"))
    assert diff.relation.kind == "other-assumptions"
    assert diff.sizes is not None
    assert "x 2×3 vs. x 5×3" in diff.sizes.text
    assert {change.note for change in diff.numbers if change.path.startswith(("compute.flops", "memory.peak"))} == {
        "at other sizes"
    }
    assert all(change.change is None for change in diff.numbers if change.note)


def quantize_card(card: Card) -> Card:
    """Return the card of a quantized model whose diagram is incomplete: another precision, other inferred sizes."""
    model = replace(card.model, precision=replace(card.model.precision, label="int8-qdq"))
    return replace(card, model=model, structure=replace(card.structure, layers=1, hidden=8, family="hybrid"))


def test_equal_node_names_outweigh_inferred_sizes() -> None:
    card = of_proto(encoder([Layer()] * 3))
    relation = compare_cards(card, quantize_card(card)).relation
    assert relation.text == "Looks like the same model in another precision: fp32 → int8-qdq."
    assert "detected layers 3 → 1" in relation.against


def test_different_macs_are_not_outweighed() -> None:
    was, now = (of_proto(encoder([Layer(inner=inner)] * 3)) for inner in (96, 128))
    assert compare_cards(was, quantize_card(now)).relation.kind not in ("other-precision", "other-export")


def test_activation_that_regroups_blocks_is_not_an_export() -> None:
    was, now = (of_proto(encoder([Layer(), Layer(act=act), Layer()])) for act in ("Relu", "Sin"))
    relation = compare_cards(was, now).relation
    assert relation.kind == "variant"
    assert "MLP" in relation.text


def test_differing_parts_of_one_architecture_are_named() -> None:
    model, renamed = encoder([Layer()]), encoder([Layer()])
    old = renamed.graph.input[0].name
    renamed.graph.input[0].name = "mine"
    for node in renamed.graph.node:
        node.input[:] = ["mine" if name == old else name for name in node.input]
    relation = compare_cards(of_proto(model, weights=True), of_proto(renamed, weights=True)).relation
    assert relation.text.startswith("The same architecture and weights; differences: the interface (1 breaking change)")


BRANCHES = """g (float[1, 8, 8, 8] x) => (float[1, 12, 8, 8] y)
   <float[8, 8, 3, 3] a, float[4, 8, 1, 1] b> {{
   {first}
   {second}
   y = Concat<axis = 1>(p, q)
}}"""


def test_reordered_branches_are_equal() -> None:
    lines = "p = Conv<pads = [1, 1, 1, 1]>(x, a)", "q = Conv(x, b)"
    was, now = (of_text(BRANCHES.format(first=p, second=q)) for p, q in (lines, lines[::-1]))
    assert {change.kind for change in compare_cards(was, now).blocks} <= {"moved", "wiring"}


def test_unknown_families_are_not_equal() -> None:
    was = of_text("g (float[2, 3] x) => (float[2, 3] y) { y = Sin(x) }")
    now = of_text("g (float[4] x) => (float[4] y) { a = Floor(x) b = Cos(a) y = Mul(a, b) }")
    assert {was.structure.family, now.structure.family} == {"unknown"}
    relation = compare_cards(was, now).relation
    assert "unknown" not in relation.text + " ".join(relation.evidence)
    assert "family" not in relation.text + " ".join(relation.evidence)
