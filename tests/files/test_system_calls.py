"""System calls of a card: no file outside of the model's folder is opened or looked up, and no socket."""

import re
from pathlib import Path

import pytest

from tests.files._external_data import create_model_with_all_kinds
from tests.files._system_calls import PROGRAM_FOLDERS, Call, trace_command

OPTIONS = ((), ("--weights",), ("--sha256",), ("--weights", "--sha256"))
NETWORK = ("socket", "socketpair", "connect", "bind", "sendto", "sendmsg")


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_card_opens_only_the_model_its_weights_and_the_output(options: tuple[str, ...], tmp_path: Path) -> None:
    path, outside = create_model_with_all_kinds(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    calls = trace_command(tmp_path, "card", path, *options, "-o", out / "card.json")
    _check_canary(calls, outside)
    _check_weights(calls, path, bool(options))
    assert _foreign_paths(calls, path.parent, out, tmp_path / "home") == []
    assert [call for call in calls if call.name in NETWORK] == []


def _check_canary(calls: list[Call], outside: Path) -> None:
    """Neither by name nor by inode, except that a hard link in the folder has its inode and must be looked up."""
    assert [call for call in calls if outside.name in f"{call.arguments} {call.where}"] == []
    number = f"st_ino={outside.stat().st_ino},"
    lookups = [call for call in calls if number in call.arguments]
    assert lookups and all(
        "/add_hard_link>" in call.arguments and "AT_SYMLINK_NOFOLLOW" in call.arguments for call in lookups
    )


def _check_weights(calls: list[Call], path: Path, has_weights: bool) -> None:
    """Regular files are looked up once and opened only if weights are requested."""
    opened = {call.opened for call in calls if call.opened is not None}
    below = {place for place in opened if Path(place).is_relative_to(path.parent)}
    assert below == {str(path), *([str(path.parent / "add_regular_file" / "w.bin")] if has_weights else [])}
    lookups = [call for call in calls if re.search(r'/add_regular_file>, "w.bin"', call.arguments)]
    assert len(lookups) == 1 or has_weights
    assert all("NOFOLLOW" in call.arguments for call in lookups)


def _foreign_paths(calls: list[Call], *folders: Path) -> list[str]:
    """Return opened paths that belong neither to the model, nor to the output, nor to the program."""
    allowed = (*map(str, folders), *PROGRAM_FOLDERS)
    return [call.opened for call in calls if call.opened is not None and not call.opened.startswith(allowed)]
