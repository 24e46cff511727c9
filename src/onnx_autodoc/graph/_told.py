"""A name of the file inside of a reason of ours: seen to be a name, and not longer than a line or two.

What cannot be printed is left as it is: `say` makes every text safe, once, where it is shown.
"""

import re
from typing import Final

_LONGEST: Final = 200
_ELLIPSIS: Final = "…"
# A number, or one word with a letter in it, as names are, that is none of ours and ends no sentence; as `say.named`.
_WORD: Final = re.compile(r"\d+|(?=.*[^\W\d_])[\w/.:@][\w./:+\-\[\]@#~$&=%]*(?<![.:])")
_OURS: Final = frozenset(("and", "all", "are", "is", "it", "more", "no", "none", "not", "nothing", "others", "unknown"))
_MARKS: Final = str.maketrans({"“": "\\u201c", "”": "\\u201d"})


def told(name: str, most: int = _LONGEST) -> str:
    """In quotation marks that it cannot close, unless it is one plain word: a name can say anything."""
    short = _short(name, most)
    plain = _WORD.fullmatch(short.rstrip(_ELLIPSIS)) and short not in _OURS
    return short if plain else f"“{short.translate(_MARKS)}”"


def quoted(name: str, most: int = _LONGEST) -> str:
    """Always in quotation marks, those of Python's texts."""
    return repr(_short(name, most))


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + _ELLIPSIS
