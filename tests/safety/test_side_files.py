"""Untrusted cards, policies, figures, devices and profiles: accepted or refused in one line, in bounded time."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from onnx_autodoc.card import load as load_card
from onnx_autodoc.compare import read_figures
from onnx_autodoc.compare.figures import difference
from onnx_autodoc.errors import AutodocError, BadInput, LimitReached
from onnx_autodoc.hardware.devices import read_toml_file
from onnx_autodoc.limits import Limits, within
from onnx_autodoc.policy import read_policy
from onnx_autodoc.runtime.calibration import load_profile
from onnx_autodoc.storage import read_config_bytes, read_config_text

SECONDS = 10

READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "card": ("card.json", lambda path: load_card(read_config_bytes(path, "a JSON card"), str(path))),
    "policy": ("policy.json", read_policy),
    "TOML policy": ("policy.toml", read_policy),
    "YAML policy": ("policy.yaml", read_policy),
    "figures": ("figures.csv", lambda path: read_figures(read_config_text(path, "figures"), str(path))),
    "devices": ("devices.toml", read_toml_file),
    "profile": ("profile.json", load_profile),
}
TEXTS: dict[str, bytes] = {
    "nothing": b"",
    "zero bytes": b"\0" * 1000,
    "half a letter": b"\xff\xfe{\0}\0",
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "lists in lists": b"[" * 100_000,
    "tables in tables": b'{"a":' * 100_000,
    "TOML lists in lists": b"a = " + b"[" * 100_000,
    "a dotted key": b"a" + b".a" * 50_000 + b" = 1",
    "a dotted title": b"[" + b"a." * 50_000 + b"a]",
    "a quoted dotted key": b'"a"' + b'."a"' * 30_000 + b" = 1",
    "a huge number": b'{"limits": {"graph.nodes": {"max": ' + b"9" * 100_000 + b"}}}",
    "a huge TOML number": b"a = " + b"9" * 100_000,
    "no number": b'{"schema_version": NaN, "limits": Infinity}',
    "a key twice": b'{"limits": {}, "limits": {}}',
    "wrong types": b'{"schema_version": [], "limits": 3, "machine": {}}',
    "a long path": b'{"limits": {"model.opsets' + b".a" * 30_000 + b'": {"max": 1}}}',
    "a path with many readings": b'{"limits": {"structure.tree' + b".children" * 50 + b'.mac": {"max": 1}}}',
    "a long key": b'{"' + b"k" * 1_000_000 + b'": 1}',
    "aliases of aliases": b"".join(
        b"a%d: &a%d [%s]\n" % (at, at, b",".join([b"*a%d" % (at - 1)] * 9) if at else b"1") for at in range(30)
    ),
    "merged aliases": b"a0: &a0 {x: 1}\n"
    + b"".join(b"a%d: &a%d {<<: [%s]}\n" % (at, at, b",".join([b"*a%d" % (at - 1)] * 9)) for at in range(1, 30)),
    "an alias of itself": b"limits: &a {b: *a}",
    "a tag that runs": b"limits: !!python/object/apply:os.system [echo]",
    "a time that is none": b"limits: !!timestamp 99",
    "a flag that is none": b"limits: !!bool x",
    "many cells": b"model,a\n" + b"m,1\n" * 100_000,
    "an open quote": b'model,a\n"' + b"m" * 200_000,
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("reader", READERS)
def test_malformed_file_is_refused_in_one_line(reader: str, text: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    (tmp_path / name).write_bytes(TEXTS[text])
    start = time.process_time()
    try:
        read(tmp_path / name)
    except AutodocError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 3_000
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize("reader", READERS)
def test_pipe_folder_and_missing_file_are_refused(reader: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    with pytest.raises(BadInput, match="file not found"):
        read(tmp_path / name)
    os.mkfifo(tmp_path / name)
    with pytest.raises(BadInput, match="is a pipe or a device"):
        read(tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(BadInput, match="is a folder"):
        read(tmp_path / name)


@pytest.mark.parametrize("reader", READERS)
def test_text_limit_holds_to_the_byte_and_names_its_option(reader: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    path = tmp_path / name
    path.write_bytes(b" " * 1_000)
    with within(Limits(text=1_000)), pytest.raises(AutodocError) as error:
        read(path)
        raise BadInput("the file is valid")
    assert not isinstance(error.value, LimitReached)
    path.write_bytes(b" " * 1_001)
    with within(Limits(text=1_000)), pytest.raises(LimitReached, match=r"at most 1,000 bytes.*--max-text raises"):
        read(path)


def test_file_of_300_megabytes_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    with path.open("wb") as file:
        file.truncate(300_000_000)
    with pytest.raises(LimitReached, match="--max-text"):
        read_config_bytes(path, "a JSON card")


def test_text_limit_may_exceed_the_default_of_a_format(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"rules": {"fail_on": "error"}}) + " " * (1 << 22))
    with pytest.raises(LimitReached):
        read_policy(path)
    with within(Limits(text=1 << 23)):
        assert read_policy(path).rules.fail_on == "error"


def test_numbers_of_any_size_are_compared() -> None:
    assert difference(3, 10**400) == (10**400 - 3, None)
    assert difference(1.5, 10**400) == (None, None)
    assert difference(-1e308, 1e308) == (None, None)
    assert difference(1e-320, 1e308)[1] is None
    assert difference(4, 5) == (1, 25)
