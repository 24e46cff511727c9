"""Whole documents on their way out: a log is read by a machine, too, and a terminal obeys what it is shown.

What a model's strings could do is undone where they are cleaned; here is the last look at every text, whatever it is
made of and wherever lines were broken. It depends on nothing but the text: the same card is the same bytes everywhere.
Sources: GitHub's runner (ActionCommand.cs: `::` after white space at the beginning of a line, `##[` anywhere), Azure's
and TeamCity's pages on logging commands and service messages. GitLab's markers need an escape character.
"""

import re
from typing import Final

from onnx_autodoc.text._text import COMMAND, escape, is_hidden

# In the first column, or after blanks and colours; a blank before it gives way, so that a table stays as wide as it is.
_LEADING: Final = re.compile(r"^((?:[^\S\n]|\x1b\[[0-9;]*m)*?)( ?)::", re.MULTILINE)
_ODD: Final = re.compile(r"[^ -~\n]")


def quiet(text: str) -> str:
    """A text of lines for people: nothing in it is hidden, and no line is a command to a runner."""
    return tame(visible(text))


def visible(text: str) -> str:
    """Escapes for all that cannot be seen, except for the ends of lines."""
    return _ODD.sub(lambda found: escape(found[0]) if is_hidden(found[0]) else found[0], text)


def tame(text: str) -> str:
    """No line of it is a command to a runner."""
    if "::" in text:
        text = _LEADING.sub(r"\1\\::", text)
    return COMMAND.sub(r"#\\x23", text) if "##" in text else text


def quiet_json(text: str) -> str:
    """The same values in other letters: what is hidden, and what could begin a command, as escapes of JSON."""
    if "##" in text:
        text = COMMAND.sub(r"#\\u0023", text)
    return _ODD.sub(lambda found: _json_escape(found[0]) if is_hidden(found[0]) else found[0], text)


def _json_escape(char: str) -> str:
    """As JSON counts: in units of UTF-16."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
