"""A README for the Hub: our part between marks, and no byte of people's text changed."""

import pytest
from msgspec.structs import replace

from onnx_autodoc.render import huggingface, readme
from onnx_autodoc.render.huggingface import front_matter, merge_readme, render_huggingface
from tests.render._readmes import HOSTILE, HUMAN, NEW, PART, card, declare, make_report, read_as_hub, remove_generated

# A fresh README


def test_new_readme_has_metadata_title_and_generated_part() -> None:
    text = render_huggingface(make_report("yolov8l-nc1"))
    assert read_as_hub(text) == front_matter(card("yolov8l-nc1"))
    assert "\n---\n\n# yolov8l-nc1.onnx\n\n<!-- onnx-autodoc: begin" in text
    assert "\n## " in text[text.index(readme.BEGIN) : text.index(readme.END)]
    assert merge_readme(text, text) == text


def test_owner_answers_survive_a_merge() -> None:
    text = render_huggingface(make_report("yolov8l-nc1"))
    after = text[text.index(readme.END) :]
    assert "*to be completed*" in after
    assert "*to be completed*" not in text[: text.index(readme.END)]
    filled = text.replace("*to be completed*", "We did.")
    assert merge_readme(filled, text) == filled


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_cannot_end_generated_part_or_front_matter(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface, "write_sections", lambda *_: f"## In short\n\n{text}\n{readme.BEGIN}\n{text}\n")
    result = declare(card("yolov8l-nc1"), license=text, description=text)
    model = replace(result.model, name=text, metadata={"license": text, text: text})
    made = render_huggingface(replace(make_report("yolov8l-nc1"), card=replace(result, model=model)))
    assert read_as_hub(made) == front_matter(card("yolov8l-nc1"))
    assert made.count("<!-- onnx-autodoc:") == 2
    assert merge_readme(made, made) == made
    assert remove_generated(merge_readme(HUMAN, made)).startswith(HUMAN.partition("tags:")[0])
    assert read_as_hub(merge_readme(HUMAN, made))["license"] == "apache-2.0"


# A README that people wrote


def test_existing_readme_keeps_lines_and_gains_missing_fields() -> None:
    merged = merge_readme(HUMAN, NEW)
    ours = ["  - onnx", "  - int8", "pipeline_tag: object-detection"]
    left = [line for line in remove_generated(merged).split("\n") if line not in ours]
    assert "\n".join(left) == HUMAN + "\n\n"
    assert merged.startswith(HUMAN.partition("widget:")[0] + "  - onnx\n  - int8\nwidget:")
    assert merged.endswith(f"write to us.  \n\n{PART}\n")
    read, before = read_as_hub(merged), read_as_hub(HUMAN)
    assert read == before | {"tags": ["detection", "edge ai", "onnx", "int8"], "pipeline_tag": "object-detection"}
    assert merge_readme(merged, NEW) == merged


def test_line_breaks_and_byte_order_mark_are_kept() -> None:
    old = "\ufeff" + HUMAN.replace("\n", "\r\n")
    assert merge_readme(old, NEW) == "\ufeff" + merge_readme(HUMAN, NEW).replace("\n", "\r\n")
    mixed = "---\r\nlicense: mit\nlanguage: en\r\n---\nText\n"
    assert remove_generated(merge_readme(mixed, NEW)).startswith("---\r\nlicense: mit\nlanguage: en\r\n")


def test_empty_readme_is_replaced() -> None:
    assert merge_readme("", NEW) == NEW


def test_readme_without_front_matter_gains_it() -> None:
    merged = merge_readme("# Mine\n\nText", NEW)
    assert merged == f"{NEW.partition('# best')[0]}# Mine\n\nText\n\n{PART}\n"
    assert merge_readme(merged, NEW) == merged


def test_only_generated_part_is_replaced() -> None:
    old = f"{merge_readme(HUMAN, NEW)}\nMore text.\n"
    newer = NEW.replace("A detector.", "Another one.")
    assert merge_readme(old, newer) == old.replace("A detector.", "Another one.")


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
def test_tags_are_added_to_plain_lists_only(tags: str, after: str) -> None:
    merged = merge_readme(f"---\n{tags}\n---\n", NEW)
    assert merged.startswith(f"---\n{after}\npipeline_tag: object-detection\nlicense: agpl-3.0\n---\n")
    assert merge_readme(merged, NEW) == merged
    read_as_hub(merged)


def test_equivalent_fields_are_respected() -> None:
    named = read_as_hub(merge_readme("---\nlicense_name: ours\nlicense_link: LICENSE\n---\n", NEW))
    assert "license" not in named
    tagged = read_as_hub(merge_readme("---\ntags: [image-segmentation]\n---\n", NEW))
    assert "pipeline_tag" not in tagged
    assert "library_name" not in tagged  # the Hub may find another one in the repository by itself


@pytest.mark.parametrize(
    "old", ["---\n---\n", "---\n---", "---\n\n---\n", "---\n# nothing yet\n---", "\n\n---\na: 1\n---\n"]
)
def test_sparse_front_matter_is_filled(old: str) -> None:
    merged = merge_readme(old, NEW)
    assert read_as_hub(merged)["license"] == "agpl-3.0"
    assert "---\n\n<!-- onnx-autodoc: begin" in merged
    assert merge_readme(merged, NEW) == merged


@pytest.mark.parametrize(
    ("old", "why"),
    [
        (f"# A\n{readme.BEGIN}\ntext\n", "has no `onnx-autodoc: end`"),
        (f"# A\n{readme.END}\n", "is misplaced"),
        (f"{PART}\n\n{PART}\n", "is misplaced"),
        (f"{readme.BEGIN}\n{PART}\n", "is misplaced"),
        (f"{readme.END}\n{readme.BEGIN}\n", "is misplaced"),
        (f"```html\n{PART}\n```\n", "in a code fence"),
        (f"~~~~\n```\n~~~\n{PART}\n~~~~\n", "in a code fence"),
        (f"It writes `{readme.BEGIN}`.\n", "is misplaced"),
        ("# A\n\n```\nnever closed\n", "not closed"),
        ("---\nlicense: mit\n# A\n", "no closing `---`"),
        ("--- \nlicense: mit\n---\n", "trailing spaces"),
        ("---\n# A title\n\nSome text.\n\n---\n", "line 3 is not a key"),
        ("---\nlicense: mit: no\n---\n", "line 1 mapping values are not allowed here"),
        ("---\nlicense: 'mit\n---\n", "line 1 found unexpected end of stream"),
        ("---\na:\n  b: 1\n c: 2\n---\n", "line 3 expected <block end>"),
        ("---\na: [1, 2\nb: 3\n---\n", "line 2 expected"),
        ("---\n\tlicense: mit\n---\n", "cannot start any token"),
        ("---\n- license\n---\n", "is not a key"),
        ("---\n{license: mit}\n---\n", "line 1 is not a key"),
        ("---\na: !!python/object:os.system x\n---\n", "line 1 has a tag"),
        ("---\nx: &x {license: mit}\n<<: *x\n---\n", "not a plain word"),
        ("---\na: 1 # \u2028license: mit\n---\n", "U+2028"),
    ],
)
def test_ambiguous_readme_is_refused_in_one_line(old: str, why: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$") as error:
        merge_readme(old, NEW)
    assert why in str(error.value)


def test_fences_in_lists_and_quotes_are_tracked() -> None:
    old = "- ```bash\n  pip\n  ```\n> ```\n> x\n> ```\n1. a\n   ~~~\n   b\n   ~~~\nsee ```x``` there\n"
    assert merge_readme(old, NEW).endswith(f"there\n\n{PART}\n")
