"""Whatever a model names, nothing outside of its folder is opened or looked at, and nothing is connected to."""

import re
from pathlib import Path

import pytest

from tests.files._made import everything
from tests.files._traced import OWN, Call, traced

OPTIONS = ((), ("--weights",), ("--sha256",), ("--weights", "--sha256"))
NETWORK = ("socket", "socketpair", "connect", "bind", "sendto", "sendmsg")


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_nothing_outside_of_the_folder_is_touched(options: tuple[str, ...], tmp_path: Path) -> None:
    path, outside = everything(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    calls = traced(tmp_path, "card", path, *options, "-o", out / "card.json")
    _check_canary(calls, outside)
    _check_weights(calls, path, bool(options))
    assert _strangers(calls, path.parent, out, tmp_path / "home") == []
    assert [call for call in calls if call.name in NETWORK] == []


def _check_canary(calls: list[Call], outside: Path) -> None:
    """Neither its name nor its inode: but a hard link in the folder is the same inode, and is looked at to be told."""
    assert [call for call in calls if outside.name in f"{call.given} {call.where}"] == []
    number = f"st_ino={outside.stat().st_ino},"
    looked = [call for call in calls if number in call.given]
    assert looked and all("/hard_linked>" in call.given and "AT_SYMLINK_NOFOLLOW" in call.given for call in looked)


def _check_weights(calls: list[Call], path: Path, asked: bool) -> None:
    """The other half: plain files are looked at once, opened only if weights are asked for, and that is seen here."""
    opened = {call.opened for call in calls if call.opened is not None}
    below = {place for place in opened if Path(place).is_relative_to(path.parent)}
    assert below == {str(path), *([str(path.parent / "plain" / "w.bin")] if asked else [])}
    looked = [call for call in calls if re.search(r'/plain>, "w.bin"', call.given)]
    assert len(looked) == 1 or asked
    assert all("NOFOLLOW" in call.given for call in looked)


def _strangers(calls: list[Call], *folders: Path) -> list[str]:
    """What was opened that is neither the model's, nor the report's, nor the program's own."""
    mine = (*map(str, folders), *OWN)
    return [call.opened for call in calls if call.opened is not None and not call.opened.startswith(mine)]
