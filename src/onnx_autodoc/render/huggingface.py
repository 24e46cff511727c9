"""A README for a model's page on the Hugging Face Hub: fields that the file proves, and the card.

Nothing is guessed: no data set, no language, no base model. Where people wrote a README, `merge` adds what it lacks and
replaces our own part of it; every other byte of it stays.
"""

import re
from typing import Final

from onnx_autodoc.card import SURE, Card
from onnx_autodoc.render import _front_matter as matter
from onnx_autodoc.render import _hub as hub
from onnx_autodoc.render import _markers as markers
from onnx_autodoc.render._blocks import Blank
from onnx_autodoc.render._report import Report
from onnx_autodoc.render._yaml_lines import Entry, entries
from onnx_autodoc.render.sections import card_sections
from onnx_autodoc.text import clean

# A field is also said by others: who names a licence of his own has chosen one. And a library is the one of the whole
# repository: where the Hub finds another one by itself (transformers beside its ONNX export), ours would hide it.
_SAID_BY: Final = {"license": ("license_name", "license_link")}
_ONLY_FRESH: Final = ("library_name",)


def render_huggingface(report: Report) -> str:
    """A whole README, where there is none yet. What people are asked to fill in stands after our part, and stays."""
    from onnx_autodoc.render._escape import escaped
    from onnx_autodoc.render.markdown import written

    card, sections = report.card, card_sections(report.card)
    asked = tuple(section for section in sections if any(isinstance(block, Blank) for block in section.blocks))
    told = tuple(section for section in sections if section not in asked)
    fields = "\n".join(matter.written(front_matter(card)))
    title = markers.unmarked(escaped(clean(card.model.name)))
    ours = markers.enclosed(written(told, card, report.beside))
    theirs = "\n" + markers.unmarked(written(asked, card, report.beside)) if asked else ""
    return f"---\n{fields}\n---\n\n# {title}\n\n{ours}{theirs}"


def front_matter(card: Card) -> dict[str, str | list[str]]:
    """What the file proves, in the Hub's words. No text of the file is among them, only words of our tables."""
    task, license_id = _pipeline_tag(card), hub.license_id(card.dataset.said.extras.get("license", ""))
    fields: dict[str, str | list[str]] = {"library_name": "onnx"}
    fields |= {"pipeline_tag": task} if task else {}
    fields |= {"license": license_id} if license_id else {}
    return fields | {"tags": _tags(card)}


def _tags(card: Card) -> list[str]:
    precision, family = hub.PRECISIONS.get(card.model.precision.label or ""), card.structure.family
    return ["onnx", *filter(None, (precision, family if family in hub.FAMILIES else None))]


def _pipeline_tag(card: Card) -> str | None:
    task = card.task
    if task.name is None or task.confidence < SURE:
        return None
    if task.name == "feature extraction":
        roles = {(port.role or "").split(" ")[0] for port in card.interface.inputs} & hub.FEATURES.keys()
        return hub.FEATURES[roles.pop()] if len(roles) == 1 else None
    return hub.TASKS.get(task.name)


def merge(old: str, new: str) -> str:
    """The README to write where one is: the old one, with our part of it from the new one.

    ValueError, in one line, where it is not certain what is ours, or where its front matter is not understood.
    """
    if not old:
        return new
    ours = matter.split(new)
    theirs = matter.split(old)
    ending = matter.line_break(old)
    head = _with_fields(theirs, matter.read(ours.block or ""), ending)
    return _with_part(head, theirs.after, _part(ours.after), ending)


def _part(text: str) -> str:
    found = markers.place(text)
    if found is None:
        raise ValueError("the new text has no part between marks")
    return text[found[0] : found[1]]


def _with_part(head: str, text: str, part: str, ending: str) -> str:
    """Between its marks; at the end, after a blank line, where there are none."""
    found = markers.place(text)
    if found is not None:
        return head + text[: found[0]] + part.replace("\n", ending) + text[found[1] :]
    whole = head + text
    breaks = 0 if whole.endswith(("\n\n", "\n\r\n")) else 1 if whole.endswith("\n") else 2
    return whole + ending * breaks + f"{markers.BEGIN}\n{part}{markers.END}\n".replace("\n", ending)


def _with_fields(theirs: matter.Split, fields: dict[str, str | list[str]], ending: str) -> str:
    """Their front matter, with what it lacks at its end."""
    if theirs.block is None:
        lines = ["---", *matter.written(fields), "---", "", ""]
        return theirs.before + ending.join(lines)
    rows = matter.rows_of(theirs.block)
    try:
        found = entries([matter.bare(row) for row in rows])
    except ValueError as error:
        raise ValueError(f"its front matter is not understood: {error}") from None
    block = "".join(_completed(rows, found, fields, ending))
    breaks = ending if block and theirs.closing.startswith("-") else ""
    return theirs.before + block + breaks + theirs.closing


def _completed(rows: list[str], found: tuple[Entry, ...], fields: dict[str, str | list[str]], ending: str) -> list[str]:
    missing = {key: value for key, value in fields.items() if _is_missing(key, rows, found)}
    if missing:
        margin = rows[found[0].first][: _indent(rows[found[0].first])] if found else ""
        rows = matter.with_rows(rows, len(rows), [margin + line for line in matter.written(missing)], ending)
    return _with_tags(rows, found, fields, ending)


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


def _is_missing(key: str, rows: list[str], found: tuple[Entry, ...]) -> bool:
    said = {entry.key for entry in found}
    if key in _ONLY_FRESH or said & {key, *_SAID_BY.get(key, ())}:
        return False
    tags = " ".join(row for entry in found if entry.key == "tags" for row in rows[entry.first : entry.end])
    return key != "pipeline_tag" or not hub.PIPELINE_TAGS & set(re.findall(r"[a-z0-9-]+", tags))


def _with_tags(rows: list[str], found: tuple[Entry, ...], fields: dict[str, str | list[str]], ending: str) -> list[str]:
    """Our tags among theirs, where they have one list of them that is plain."""
    lists = [entry for entry in found if entry.key == "tags"]
    there = matter.listed([matter.bare(row) for row in rows], lists[0]) if len(lists) == 1 else None
    if there is None:
        return rows
    known = {tag.lower() for tag in there}
    new = [tag for tag in fields.get("tags", ()) if tag not in known]
    return matter.with_items(rows, lists[0], new, ending) if new else rows
