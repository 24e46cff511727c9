"""Text in Markdown that is nothing but text, whatever is in it."""

import re
from typing import Final

from onnx_autodoc.text import clean

# Whatever could begin markup, a link, a mention, a formula or an entity is written so that it cannot. The rest stays as
# it is: people read the text itself, too.
_ACTIVE: Final = re.compile(r"[\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])")
_ENTITY: Final = re.compile(r"&(?=[#a-zA-Z])|<(?=[a-zA-Z/!?])|\$|:(?=//)|(?<=mailto):|(?<=xmpp):|w(?=ww\.)", re.I)
# Addresses and mentions are sought once entities are read: only what stands between parts them.
_ADDRESS: Final = re.compile(r"@(?=[\w.+-])")
APART: Final = "<!-- -->"
_LONGEST: Final = 20_000  # letters: more is no text


def escaped(text: str) -> str:
    """Text that is nothing but text, on one line."""
    return _ADDRESS.sub(f"@{APART}", plain(text))


def plain(text: str) -> str:
    """As words behind a picture, which hold no links."""
    text = clean(" ".join(text.split()) if "\n" in text else text, _LONGEST)
    text = _ACTIVE.sub(r"\\\g<0>", text)
    return _ENTITY.sub(lambda found: f"&#{ord(found[0])};", text)
