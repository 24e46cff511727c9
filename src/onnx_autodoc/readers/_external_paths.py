"""Paths as models write them, taken apart before a file system sees them.

They are read as Windows does too: a model that leads out of its folder there is refused here as well, so that a card
says the same of a file wherever it is made. A backslash that leads nowhere is a letter, as it is to Linux.
"""

import os
import posixpath
import re
from typing import Final

LONGEST: Final = 4095  # bytes of a path, as Linux has it
DEEPEST: Final = 16  # parts, far above what models have: each folder is opened
_DRIVE: Final = re.compile("[A-Za-z]:")
_USUAL: Final = re.compile(r"[\w-][\w.+-]{0,99}(?:/[\w-][\w.+-]{0,99}){0,3}", re.ASCII)  # nearly all paths; a short way
_OUTSIDE: Final = "is outside of the model's folder"


class Refused(Exception):
    """Why a file is not looked at. The text follows the file's name."""


def parts_of(path: str) -> tuple[str, ...]:
    """The folders of a path and its last name, of which none is empty, `.` or `..`; else `Refused`."""
    if _USUAL.fullmatch(path):
        return tuple(path.split("/"))
    if not path:
        raise Refused("has no name")
    if "\0" in path:
        raise Refused("has a name with a zero byte, which no file can have")
    if leads_out(path):
        raise Refused(_OUTSIDE)
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise Refused("has a path that goes up again (..); such a path is not followed")
    if not parts or path.endswith(("/", "/.")):
        raise Refused("is a folder, no regular file")
    _check_length(path, len(parts))
    return parts


def one_spelling(path: str) -> str:
    """`./a//b` as `a/b`: one file is listed once, however a model spells it. What is refused stays as it is."""
    try:
        return "/".join(parts_of(path))
    except Refused:
        return path


def leads_out(path: str) -> bool:
    """Whether a path is absolute or ends above where it began; a drive is absolute."""
    slashed = path.replace("\\", "/")
    ends = posixpath.normpath(slashed)
    return ends.startswith(("/", "../")) or ends == ".." or bool(_DRIVE.match(path))


def _check_length(path: str, parts: int) -> None:
    try:
        length = len(os.fsencode(path))
    except UnicodeEncodeError:
        raise Refused("has a name that this system cannot spell") from None
    if length > LONGEST:
        raise Refused(f"has a path of {length:,} bytes; {LONGEST:,} are the most that a system takes")
    if parts > DEEPEST:
        raise Refused(f"has a path of {parts:,} parts; {DEEPEST:,} are the most that are followed")
