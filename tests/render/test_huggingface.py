"""A README for the Hub: our part between marks, and no byte of people's text changed."""

import pytest
from msgspec.structs import replace

from onnx_autodoc.render import _markers as markers
from onnx_autodoc.render import markdown
from onnx_autodoc.render.huggingface import front_matter, merge, render_huggingface
from tests.render._readmes import HOSTILE, HUMAN, NEW, PART, card, hub_reads, saying, told, without_part

# A fresh README


def test_a_fresh_readme_has_fields_a_title_and_the_card_between_marks() -> None:
    text = render_huggingface(told("yolov8l-nc1"))
    assert hub_reads(text) == front_matter(card("yolov8l-nc1"))
    assert "\n---\n\n# yolov8l-nc1.onnx\n\n<!-- onnx-autodoc: begin" in text
    assert "\n## " in text[text.index(markers.BEGIN) : text.index(markers.END)]
    assert merge(text, text) == text


def test_what_people_fill_in_is_outside_of_our_part_and_stays() -> None:
    text = render_huggingface(told("yolov8l-nc1"))
    after = text[text.index(markers.END) :]
    assert "*not filled in*" in after
    assert "*not filled in*" not in text[: text.index(markers.END)]
    filled = text.replace("*not filled in*", "We did.")
    assert merge(filled, text) == filled


@pytest.mark.parametrize("text", HOSTILE)
def test_no_word_of_a_model_ends_our_part_or_the_front_matter(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "written", lambda *_: f"## In short\n\n{text}\n{markers.BEGIN}\n{text}\n")
    found = saying(card("yolov8l-nc1"), license=text, description=text)
    model = replace(found.model, name=text, metadata={"license": text, text: text})
    made = render_huggingface(replace(told("yolov8l-nc1"), card=replace(found, model=model)))
    assert hub_reads(made) == front_matter(card("yolov8l-nc1"))
    assert made.count("<!-- onnx-autodoc:") == 2
    assert merge(made, made) == made
    assert without_part(merge(HUMAN, made)).startswith(HUMAN.partition("tags:")[0])
    assert hub_reads(merge(HUMAN, made))["license"] == "apache-2.0"


# A README that people wrote


def test_a_readme_of_people_keeps_every_line_and_gets_what_it_lacks() -> None:
    merged = merge(HUMAN, NEW)
    ours = ["  - onnx", "  - int8", "pipeline_tag: object-detection"]
    left = [line for line in without_part(merged).split("\n") if line not in ours]
    assert "\n".join(left) == HUMAN + "\n\n"
    assert merged.startswith(HUMAN.partition("widget:")[0] + "  - onnx\n  - int8\nwidget:")
    assert merged.endswith(f"write to us.  \n\n{PART}\n")
    read, before = hub_reads(merged), hub_reads(HUMAN)
    assert read == before | {"tags": ["detection", "edge ai", "onnx", "int8"], "pipeline_tag": "object-detection"}
    assert merge(merged, NEW) == merged


def test_line_ends_and_marks_of_byte_order_stay() -> None:
    old = "\ufeff" + HUMAN.replace("\n", "\r\n")
    assert merge(old, NEW) == "\ufeff" + merge(HUMAN, NEW).replace("\n", "\r\n")
    mixed = "---\r\nlicense: mit\nlanguage: en\r\n---\nText\n"
    assert without_part(merge(mixed, NEW)).startswith("---\r\nlicense: mit\nlanguage: en\r\n")


def test_without_a_readme_the_new_one_is_taken_whole() -> None:
    assert merge("", NEW) == NEW


def test_a_readme_without_front_matter_gets_one_on_top() -> None:
    merged = merge("# Mine\n\nText", NEW)
    assert merged == f"{NEW.partition('# best')[0]}# Mine\n\nText\n\n{PART}\n"
    assert merge(merged, NEW) == merged


def test_only_what_is_between_the_marks_is_replaced() -> None:
    old = f"{merge(HUMAN, NEW)}\nMore text.\n"
    newer = NEW.replace("A detector.", "Another one.")
    assert merge(old, newer) == old.replace("A detector.", "Another one.")


@pytest.mark.parametrize(
    ("tags", "after"),
    [
        ("tags: [a, b]", "tags: [a, b, onnx, int8]"),
        ("tags: [ 'a, b' , \"c\" ]  # why", "tags: [ 'a, b' , \"c\", onnx, int8 ]  # why"),
        ("tags: []", "tags: [onnx, int8]"),
        ("tags: [ONNX]", "tags: [ONNX, int8]"),
        ("tags:\n- a\n# c\n- b # d\n\n# e", "tags:\n- a\n# c\n- b # d\n- onnx\n- int8\n\n# e"),
        ("tags:\n    -   a", "tags:\n    -   a\n    - onnx\n    - int8"),
        ("tags: # mine\n- onnx\n- int8", "tags: # mine\n- onnx\n- int8"),
        *((tags, tags) for tags in ("tags: a", "tags:", "tags: null", "tags: [a,\n  b]", "tags: [a, ]", "tags: [[a]]")),
        *(
            (tags, tags)
            for tags in ("tags:\n- a\n  - b", "tags:\n- [a]", "tags:\n- a: b", "tags: &t\n- a", "tags: >\n a")
        ),
    ],
)
def test_tags_are_added_where_the_list_is_plain_and_left_alone_where_not(tags: str, after: str) -> None:
    merged = merge(f"---\n{tags}\n---\n", NEW)
    assert merged.startswith(f"---\n{after}\npipeline_tag: object-detection\nlicense: agpl-3.0\n---\n")
    assert merge(merged, NEW) == merged
    hub_reads(merged)


def test_a_decision_of_people_that_speaks_for_another_field_counts() -> None:
    named = hub_reads(merge("---\nlicense_name: ours\nlicense_link: LICENSE\n---\n", NEW))
    assert "license" not in named
    tagged = hub_reads(merge("---\ntags: [image-segmentation]\n---\n", NEW))
    assert "pipeline_tag" not in tagged
    assert "library_name" not in tagged  # the Hub may find another one in the repository by itself


@pytest.mark.parametrize(
    "old", ["---\n---\n", "---\n---", "---\n\n---\n", "---\n# nothing yet\n---", "\n\n---\na: 1\n---\n"]
)
def test_a_front_matter_with_little_in_it_is_filled(old: str) -> None:
    merged = merge(old, NEW)
    assert hub_reads(merged)["license"] == "agpl-3.0"
    assert "---\n\n<!-- onnx-autodoc: begin" in merged
    assert merge(merged, NEW) == merged


@pytest.mark.parametrize(
    ("old", "why"),
    [
        (f"# A\n{markers.BEGIN}\ntext\n", "has no `onnx-autodoc: end`"),
        (f"# A\n{markers.END}\n", "where it does not belong"),
        (f"{PART}\n\n{PART}\n", "where it does not belong"),
        (f"{markers.BEGIN}\n{PART}\n", "where it does not belong"),
        (f"{markers.END}\n{markers.BEGIN}\n", "where it does not belong"),
        (f"```html\n{PART}\n```\n", "in a code fence"),
        (f"~~~~\n```\n~~~\n{PART}\n~~~~\n", "in a code fence"),
        (f"It writes `{markers.BEGIN}`.\n", "where it does not belong"),
        ("# A\n\n```\nnever closed\n", "never closed"),
        ("---\nlicense: mit\n# A\n", "never ends"),
        ("--- \nlicense: mit\n---\n", "blanks follow"),
        ("---\n# A title\n\nSome text.\n\n---\n", "line 3 is neither"),
        ("---\nlicense: mit: no\n---\n", "line 1 has a colon"),
        ("---\nlicense: 'mit\n---\n", "never closed"),
        ("---\na:\n  b: 1\n c: 2\n---\n", "line 3 is not indented"),
        ("---\na: [1, 2\nb: 3\n---\n", "never closed"),
        ("---\n\tlicense: mit\n---\n", "has a tab"),
        ("---\n- license\n---\n", "is not a key"),
        ("---\n{license: mit}\n---\n", "line 1 is neither"),
        ("---\na: !!python/object:os.system x\n---\n", "begins with '!'"),
        ("---\nx: &x {license: mit}\n<<: *x\n---\n", "not a plain word"),
        ("---\na: 1 # \u2028license: mit\n---\n", "U+2028"),
    ],
)
def test_where_it_is_not_certain_nothing_is_written_and_one_line_says_why(old: str, why: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$") as error:
        merge(old, NEW)
    assert why in str(error.value)


def test_fences_in_lists_and_quotations_are_closed_where_they_close() -> None:
    old = "- ```bash\n  pip\n  ```\n> ```\n> x\n> ```\n1. a\n   ~~~\n   b\n   ~~~\nsee ```x``` there\n"
    assert merge(old, NEW).endswith(f"there\n\n{PART}\n")
