"""What a comparison says in a terminal, and what it leaves to the other formats."""

import re

from msgspec.structs import replace

from onnx_autodoc.compare import CountChange, WeightsChange, compare
from onnx_autodoc.compare._similarity import _ratio
from onnx_autodoc.render.comparison import COMPARISONS, _words
from tests.compare._cards import of_corpus
from tests.render.test_comparison import AT, MINILM, SETS, Page, made


def test_remarks_on_runtimes_are_counted_in_a_terminal_and_told_elsewhere() -> None:
    text = made(SETS[0], "terminal")
    assert "unsupported-operator" not in text
    assert "remarks on runtimes: 3 new" in text
    assert made(SETS[0], "markdown").count("unsupported-operator") >= 3


def test_equal_numbers_of_equal_cards_are_no_table() -> None:
    assert made(SETS[5], "terminal").count("\n") <= 3
    assert "| Parameters |" not in made(SETS[5], "markdown")
    assert not any(tag == "table" for tag, _ in Page(made(SETS[5], "html")).tags)


def test_long_names_break_where_they_have_a_mark() -> None:
    names = "a_rather_long_name.of_a_model.fp32.onnx", "a_rather_long_name.of_a_model.int8.onnx"
    cards = [of_corpus(name) for name in SETS[0]]
    text = COMPARISONS["terminal"].render(compare(cards, names, generated=AT))
    head = text.split("\nPrecision")[0].split("\n\n")[-1]
    assert [line.split()[0] for line in head.splitlines()] == ["a_rather_long_name", ".of_a_model.fp32", ".onnx"]


def test_one_operator_of_two_domains_is_told_apart() -> None:
    change = CountChange(name="Conv", domain="com.microsoft.nchwc", was=0, now=33)
    assert _words.operator(change) == "com.microsoft.nchwc.Conv"
    assert _words.operator(replace(change, domain="ai.onnx")) == "Conv"


def test_imports_of_one_file_alone_are_one_line() -> None:
    card = of_corpus(MINILM)
    more = {**card.model.opsets, **{f"domain.{at}": 1 for at in range(9)}}
    other = replace(card, model=replace(card.model, opsets=more))
    text = COMPARISONS["terminal"].render(compare([card, other], ["a", "b"], generated=AT))
    assert text.count("Also imports: domain.0 1") == 1
    assert "and 3 more" in " ".join(text.split())
    assert "Opset of" not in text.split("Besides")[1]


def test_a_changed_tensor_is_named_in_a_terminal() -> None:
    found = WeightsChange(8, 8, 7, 1, 0, 0, 0, 0, 0, 0, "7 of 8 equal", {"changed": ("w\x1b3",)}, ())
    assert _words.weights_line(found) == "7 of 8 equal (“w\\x1b3”)"
    assert _words.weights_line(replace(found, changed=9)) == "7 of 8 equal"


def test_many_models_stand_in_several_tables() -> None:
    cards = [of_corpus(MINILM), *[of_corpus("all-minilm-l6-v2-fp16")] * 6]
    names = [f"model-{at}.onnx" for at in range(7)]
    text = COMPARISONS["terminal"].render(compare(cards, names, generated=AT))
    rows = [line.split() for line in text.splitlines() if line.startswith("Parameters")]
    assert rows == [["Parameters", *["22.6", "M"] * 4]] * 2
    assert max(map(len, text.splitlines())) <= 80


def test_a_figure_of_the_last_model_alone_stands_in_its_column() -> None:
    names = ["a.onnx", "b.onnx", "c.onnx"]
    found = compare([of_corpus(MINILM)] * 3, names, {"c": {"ms": 4}}, generated=AT)
    for format_name in ("terminal", "markdown"):
        row = next(line for line in COMPARISONS[format_name].render(found).splitlines() if "known" in line)
        assert re.findall(r"not known|4", row) == ["not known", "not known", "4"], row


def test_thousands_of_boxes_are_compared_by_their_number() -> None:
    """In their order that takes the square of it."""
    one, other = ["a", "b"] * 2_000, ["a", "a", "b", "b"] * 1_000
    assert _ratio(one, other) == 1
    assert _ratio(one, ["a"] * 4_000) == 0.5
    assert _ratio(["a", "b"], ["b", "a"]) == 0.5
