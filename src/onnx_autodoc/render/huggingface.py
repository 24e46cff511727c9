"""A README for a model page on the Hugging Face Hub: metadata that the file proves, and the card.

Nothing is guessed: no dataset, language or base model. `merge_readme` adds what an existing README lacks and replaces
the generated part; every other byte stays.
"""

import re
from typing import Final

from onnx_autodoc.card import CERTAIN_TASK, Card
from onnx_autodoc.render import hub_metadata, readme
from onnx_autodoc.render.content import Question, Report
from onnx_autodoc.render.markdown import escape_markdown, write_sections
from onnx_autodoc.render.sections import card_sections
from onnx_autodoc.text import sanitize

# Keys that state a field in another way.
_EQUIVALENT_KEYS: Final = {"license": ("license_name", "license_link")}
# The Hub detects the library of a repository (transformers with an ONNX export); ours would override it.
_ONLY_IN_NEW_README: Final = ("library_name",)


def render_huggingface(report: Report) -> str:
    """Return a whole README. Questions to the owner follow the generated part, so that answers stay."""
    card, sections = report.card, card_sections(report.card)
    questions = tuple(section for section in sections if any(isinstance(block, Question) for block in section.blocks))
    generated = tuple(section for section in sections if section not in questions)
    fields = "\n".join(readme.write_fields(front_matter(card)))
    title = readme.escape_marks(escape_markdown(sanitize(card.model.name)))
    body = readme.enclose(write_sections(generated, card, report.charts))
    rest = "\n" + readme.escape_marks(write_sections(questions, card, report.charts)) if questions else ""
    return f"---\n{fields}\n---\n\n# {title}\n\n{body}{rest}"


def front_matter(card: Card) -> dict[str, str | list[str]]:
    """Return metadata that the file proves, from tables of this package only: no text of the file."""
    fields: dict[str, str | list[str]] = {"library_name": "onnx"}
    task, license_id = _pipeline_tag(card), hub_metadata.license_id(card.dataset.said.extras.get("license", ""))
    fields |= {"pipeline_tag": task} if task else {}
    fields |= {"license": license_id} if license_id else {}
    precision, family = hub_metadata.PRECISIONS.get(card.model.precision.label or ""), card.structure.family
    tags = ["onnx", *filter(None, (precision, family if family in hub_metadata.FAMILIES else None))]
    return fields | {"tags": tags}


def _pipeline_tag(card: Card) -> str | None:
    task = card.task
    if task.name is None or task.confidence < CERTAIN_TASK:
        return None
    if task.name == "feature extraction":
        roles = {(port.role or "").split(" ")[0] for port in card.interface.inputs} & hub_metadata.FEATURE_TASKS.keys()
        return hub_metadata.FEATURE_TASKS[roles.pop()] if len(roles) == 1 else None
    return hub_metadata.TASKS.get(task.name)


def merge_readme(old: str, new: str) -> str:
    """Return the existing README with missing metadata added and the generated part replaced.

    Raise ValueError, in one line, where the generated part or the front matter is ambiguous.
    """
    if not old:
        return new
    new_parts, old_parts = readme.split_readme(new), readme.split_readme(old)
    line_break = re.search(r"\r?\n", old)
    ending = line_break[0] if line_break else "\n"
    head = _merge_fields(old_parts, readme.parse_front_matter(new_parts.block or "").fields, ending)
    span = readme.find_generated(new_parts.after)
    if span is None:
        raise ValueError("the new text has no part between markers")
    generated = new_parts.after[span[0] : span[1]]
    span = readme.find_generated(old_parts.after)
    if span is not None:
        return head + old_parts.after[: span[0]] + generated.replace("\n", ending) + old_parts.after[span[1] :]
    text = head + old_parts.after
    breaks = 0 if text.endswith(("\n\n", "\n\r\n")) else 1 if text.endswith("\n") else 2
    return text + ending * breaks + f"{readme.BEGIN}\n{generated}{readme.END}\n".replace("\n", ending)


def _merge_fields(parts: readme.ReadmeParts, fields: dict[str, str | list[str]], ending: str) -> str:
    """Return the README up to the end of its front matter, with missing fields and tags added."""
    if parts.block is None:
        return parts.before + ending.join(["---", *readme.write_fields(fields), "---", "", ""])
    try:
        matter = readme.parse_front_matter(parts.block)
    except ValueError as error:
        raise ValueError(f"its front matter cannot be parsed: {error}") from None
    block = readme.add_fields(matter, {key: value for key, value in fields.items() if _is_missing(key, matter)}, ending)
    tags = matter.plain_list("tags")
    if tags is not None:
        known = {item.value.lower() for item in tags.value}
        new_tags = [tag for tag in fields.get("tags", ()) if tag not in known]
        block = readme.add_items(block, tags, new_tags, ending) if new_tags else block
    line_break = ending if block and parts.closing.startswith("-") else ""
    return parts.before + block + line_break + parts.closing


def _is_missing(key: str, matter: readme.FrontMatter) -> bool:
    keys = {name for name, _ in matter.entries}
    if key in _ONLY_IN_NEW_README or keys & {key, *_EQUIVALENT_KEYS.get(key, ())}:
        return False
    tags = set(re.findall(r"[a-z0-9-]+", matter.source("tags")))
    return key != "pipeline_tag" or not hub_metadata.PIPELINE_TAGS & tags
