"""The terminal output of a comparison, and parts that only the other formats have."""

import re

from msgspec.structs import replace

from onnx_autodoc.compare import CountChange, WeightsChange, compare
from onnx_autodoc.compare.relation import similarity_ratio
from onnx_autodoc.render import COMPARISON_FORMATS
from onnx_autodoc.render.comparison.terminal import format_weights_change, operator_name
from tests.compare._cards import of_corpus
from tests.render.test_comparison import AT, MINILM, SETS, Page, render_pair


def test_runtime_findings_are_counted_in_the_terminal() -> None:
    text = render_pair(SETS[0], "terminal")
    assert "unsupported-operator" not in text
    assert "runtime support (info): 3 new" in text
    assert render_pair(SETS[0], "markdown").count("unsupported-operator") >= 3


def test_equal_cards_have_no_table_of_numbers() -> None:
    assert render_pair(SETS[5], "terminal").count("\n") <= 3
    assert "| Parameters |" not in render_pair(SETS[5], "markdown")
    assert not any(tag == "table" for tag, _ in Page(render_pair(SETS[5], "html")).tags)


def test_long_names_wrap_at_separators() -> None:
    names = "a_rather_long_name.of_a_model.fp32.onnx", "a_rather_long_name.of_a_model.int8.onnx"
    cards = [of_corpus(name) for name in SETS[0]]
    text = COMPARISON_FORMATS["terminal"].render(compare(cards, names, generated=AT))
    head = text.split("\nPrecision")[0].split("\n\n")[-1]
    assert [line.split()[0] for line in head.splitlines()] == ["a_rather_long_name", ".of_a_model.fp32", ".onnx"]


def test_operator_names_include_the_domain() -> None:
    change = CountChange(name="Conv", domain="com.microsoft.nchwc", was=0, now=33)
    assert operator_name(change) == "com.microsoft.nchwc.Conv"
    assert operator_name(replace(change, domain="ai.onnx")) == "Conv"


def test_opsets_of_one_file_are_one_line() -> None:
    card = of_corpus(MINILM)
    more = {**card.model.opsets, **{f"domain.{at}": 1 for at in range(9)}}
    second = replace(card, model=replace(card.model, opsets=more))
    text = COMPARISON_FORMATS["terminal"].render(compare([card, second], ["a", "b"], generated=AT))
    assert text.count("Opsets added: domain.0 1") == 1
    assert "and 3 more" in " ".join(text.split())
    assert "Opset of" not in text.split("Other changes")[1]


def test_changed_tensor_is_named_in_the_terminal() -> None:
    change = WeightsChange(8, 8, 7, 1, 0, 0, 0, 0, 0, 0, "7 of 8 equal", {"changed": ("w\x1b3",)}, ())
    assert format_weights_change(change) == "7 of 8 equal (“w\\x1b3”)"
    assert format_weights_change(replace(change, changed=9)) == "7 of 8 equal"


def test_many_models_are_split_into_tables() -> None:
    cards = [of_corpus(MINILM), *[of_corpus("all-minilm-l6-v2-fp16")] * 6]
    names = [f"model-{at}.onnx" for at in range(7)]
    text = COMPARISON_FORMATS["terminal"].render(compare(cards, names, generated=AT))
    rows = [line.split() for line in text.splitlines() if line.startswith("Parameters")]
    assert rows == [["Parameters", *["22.6", "M"] * 4]] * 2
    assert max(map(len, text.splitlines())) <= 80


def test_figure_of_the_last_model_is_in_its_column() -> None:
    names = ["a.onnx", "b.onnx", "c.onnx"]
    comparison = compare([of_corpus(MINILM)] * 3, names, {"c": {"ms": 4}}, generated=AT)
    for format_name in ("terminal", "markdown"):
        row = next(line for line in COMPARISON_FORMATS[format_name].render(comparison).splitlines() if "known" in line)
        assert re.findall(r"unknown|4", row) == ["unknown", "unknown", "4"], row


def test_thousands_of_boxes_are_compared_by_count() -> None:
    """In their order that takes the square of it."""
    first, second = ["a", "b"] * 2_000, ["a", "a", "b", "b"] * 1_000
    assert similarity_ratio(first, second) == 1
    assert similarity_ratio(first, ["a"] * 4_000) == 0.5
    assert similarity_ratio(["a", "b"], ["b", "a"]) == 0.5
