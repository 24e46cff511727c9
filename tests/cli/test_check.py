"""`onnx-autodoc check` as CI meets it: exit codes, files, and what it costs."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from onnx_autodoc.schema import verdict_schema
from tests._corpus import graph
from tests._text import proto

RELU = "g (float[n,3] x) => (float[n,3] y) { y = Relu(x) }"
WIDER = "g (float[n,3] x) => (float[n,3] y) { z = Relu(x) y = Exp(z) }"
MINILM = str(graph("all-minilm-l6-v2-ts-op14"))


def ran(
    *words: str, cwd: Path | None = None, stdout: Any = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "onnx_autodoc", *words]
    surroundings = {key: value for key, value in os.environ.items() if key != "GITHUB_STEP_SUMMARY"}
    surroundings |= {"SOURCE_DATE_EPOCH": "0", **environment}
    streams = {"stdout": stdout, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    return subprocess.run(command, **streams, check=False, env=surroundings, cwd=cwd)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with two small models and policies that they pass and fail."""
    for name, text in (("relu", RELU), ("wider", WIDER)):
        (tmp_path / f"{name}.onnx").write_bytes(proto(text).SerializeToString())
    (tmp_path / "one.toml").write_text('[limits]\n"graph.nodes" = { max = 1 }\n')
    (tmp_path / "none.toml").write_text('[limits]\n"graph.nodes" = { max = 0 }\n')
    (tmp_path / "changes.toml").write_text('[changes]\n"graph.nodes" = { max_increase = 0 }\n')
    return tmp_path


def test_n_passes_and_one_more_fails(place: Path) -> None:
    passed = ran("check", "relu.onnx", "--policy", "one.toml", cwd=place)
    assert (passed.returncode, passed.stderr) == (0, "")
    assert passed.stdout.startswith("PASS relu.onnx: ")
    failed = ran("check", "wider.onnx", "--policy", "one.toml", cwd=place)
    assert (failed.returncode, failed.stderr) == (1, "")
    assert failed.stdout.startswith("FAIL wider.onnx: ")
    assert "graph.nodes is 2, the policy asks for at most 1" in failed.stdout


def test_changes_are_measured_against_a_card_or_a_model(place: Path) -> None:
    assert ran("relu.onnx", "-o", "relu.json", cwd=place).returncode == 0
    for baseline in ("relu.json", "relu.onnx"):
        check = ("--policy", "changes.toml", "--baseline", baseline)
        assert ran("check", "relu.onnx", *check, cwd=place).returncode == 0
        assert ran("check", "relu.json", *check, cwd=place).returncode == 0
        assert ran("check", "wider.onnx", *check, cwd=place).returncode == 1
        assert ran("check", "wider.onnx", "--batch", "4", *check, cwd=place).returncode == 1


def test_one_of_several_models_is_enough_to_fail(place: Path) -> None:
    done = ran("check", "relu.onnx", "wider.onnx", "--policy", "one.toml", "--format", "json", cwd=place)
    found = json.loads(done.stdout)
    jsonschema.validate(found, json.loads(verdict_schema()))
    assert done.returncode == 1
    assert [(each["model"], each["passed"]) for each in found["verdicts"]] == [
        ("relu.onnx", True),
        ("wider.onnx", False),
    ]


WRONG = [
    (["--policy", "absent.toml"], "absent.toml"),
    (["--policy", "typo.toml"], "near it: compute.macs"),
    (["--policy", "changes.toml"], "--baseline"),
    (["--policy", "one.toml", "--baseline", "relu.onnx"], "nothing uses it"),
    (["--policy", "changes.toml", "--baseline", "absent.json"], "absent.json"),
    (["--policy", "one.toml", "-o", "out.docx"], ".docx"),
    (["--policy", "one.toml", "-o", "no/out.json"], "no folder"),
    (["--policy", "one.toml", "-o", "."], "a folder"),
    (["--policy", "one.toml", "-o", "/dev/null", "--format", "json"], "a device"),
    (["--policy", "one.toml", "-o", "relu.onnx", "--format", "json"], "what it is made from"),
    (["--policy", "one.toml", "-o", "./one.toml", "--format", "json"], "what it is made from"),
    (["--policy", "one.toml", "-o", "a.json", "-o", "./a.json"], "stands twice"),
    (["--policy", "none.toml", "--policy", "one.toml"], "there is one already, none.toml"),
    (["--policy", "changes.toml", "--baseline", "relu.onnx", "--baseline", "x.onnx"], "there is one already"),
    (["--policy", "empty.toml"], "asks for nothing"),
    (["absent.onnx", "--policy", "one.toml", "-o", "out.xml"], "absent.onnx"),
    (["--policy", "one.toml", "-o", "a.json", "-o", "b.sarif", "--format", "json"], "--format"),
    (["bad.onnx", "--policy", "one.toml", "-o", "out.json"], "bad.onnx"),
    (["--policy", "one.toml", "--dim", "nobody=3", "-o", "out.json"], "nobody"),
]


@pytest.mark.parametrize(("words", "hint"), WRONG)
def test_what_is_wrong_is_one_line_and_nothing_is_written(place: Path, words: list[str], hint: str) -> None:
    (place / "typo.toml").write_text('[limits]\n"compute.mac" = { max = 1 }\n')
    (place / "empty.toml").write_text("")
    (place / "bad.onnx").write_bytes(b"not a model at all, no")
    before = sorted(place.iterdir())
    done = ran("check", "relu.onnx", *words, cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert hint in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(place.iterdir()) == before


def test_files_are_written_in_the_format_of_their_suffix(place: Path) -> None:
    outputs = ["out.json", "out.sarif", "out.xml", "out.md", "out.txt"]
    words = [word for name in outputs for word in ("-o", name)]
    done = ran("check", "wider.onnx", "--policy", "one.toml", *words, cwd=place)
    assert done.returncode == 1
    assert all(line.startswith("::") for line in done.stdout.splitlines())  # annotations go with the summary
    starts = [
        '{\n  "schema_version"',
        '{\n  "$schema"',
        "<?xml",
        "### onnx-autodoc: wider.onnx failed",
        "FAIL wider.onnx",
    ]
    for name, start in zip(outputs, starts):
        assert (place / name).read_text().startswith(start), name


def test_a_reader_who_leaves_makes_no_failed_gate_pass(place: Path) -> None:
    for format_name in ("text", "sarif", "github"):
        words = ("check", "wider.onnx", "--policy", "one.toml", "--format", format_name)
        read, write = os.pipe()
        os.close(read)
        assert ran(*words, cwd=place, stdout=write).returncode == 1
        os.close(write)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no device that is always full")
def test_a_full_disk_is_said_in_one_line(place: Path) -> None:
    words = ("check", "relu.onnx", "--policy", "one.toml")
    with Path("/dev/full").open("w") as full:
        done = ran(*words, cwd=place, stdout=full)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    done = ran(*words, "--format", "github", cwd=place, GITHUB_STEP_SUMMARY="/dev/full")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_letters_that_the_terminal_does_not_have_are_no_obstacle(place: Path) -> None:
    (place / "größe.onnx").write_bytes((place / "wider.onnx").read_bytes())
    for format_name in ("text", "json", "junit"):
        words = ("check", "größe.onnx", "--policy", "one.toml", "--format", format_name)
        done = ran(*words, cwd=place, PYTHONIOENCODING="ascii", PYTHONUTF8="1")
        assert (done.returncode, done.stderr) == (1, "")
        assert "größe.onnx" in done.stdout


def test_a_model_that_is_named_twice_is_checked_once(place: Path) -> None:
    done = ran("check", "relu.onnx", "relu.onnx", "--policy", "one.toml", cwd=place)
    assert done.stdout.count("relu.onnx") == 1


def test_what_to_do_is_said_once(place: Path) -> None:
    (place / "two.toml").write_text('[limits]\n"graph.nodes" = { max = 0 }\n"graph.nodes_total" = { max = 0 }\n')
    done = ran("check", "relu.onnx", "wider.onnx", "--policy", "two.toml", cwd=place)
    assert done.stdout.count("the policy asks for at most 0") == 4
    assert done.stdout.count("to do: Change the model") == 1


def test_the_summary_goes_behind_what_the_job_has(place: Path) -> None:
    (place / "summary.md").write_text("before\n")
    words = ("check", "wider.onnx", "--policy", "one.toml", "--format", "github")
    done = ran(*words, cwd=place, GITHUB_STEP_SUMMARY=str(place / "summary.md"))
    assert done.returncode == 1
    assert done.stdout.startswith("::error file=wider.onnx,title=onnx-autodoc%3A graph.nodes max::")
    assert (place / "summary.md").read_text().startswith("before\n### onnx-autodoc: wider.onnx failed\n")


def test_half_a_letter_in_a_policy_is_a_wrong_policy(place: Path) -> None:
    (place / "p.json").write_bytes(rb'{"limits": {"\ud800": {"max": 1}}}')
    done = ran("check", "relu.onnx", "--policy", "p.json", cwd=place)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "p.json" in done.stderr and "\\ud800" in done.stderr and "internal" not in done.stderr


def test_a_path_below_here_is_told_as_from_here(place: Path) -> None:
    done = ran("check", str(place / "wider.onnx"), "--policy", "one.toml", cwd=place)
    assert done.stdout.startswith("FAIL wider.onnx: ")


@pytest.mark.parametrize("format_name", ["text", "json", "sarif", "junit", "github"])
def test_a_name_that_is_no_text_is_no_obstacle(place: Path, format_name: str) -> None:
    odd = place / os.fsdecode(b"\xff\n::error::.onnx")
    odd.write_bytes((place / "relu.onnx").read_bytes())
    done = ran("check", odd.name, "--policy", "none.toml", "--format", format_name, cwd=place)
    assert (done.returncode, done.stderr) == (1, "")
    commands = [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]
    assert all(re.match(r"::(error|warning|notice) file=", line) for line in commands)


@pytest.mark.parametrize("format_name", ["text", "json", "sarif", "junit", "github"])
def test_the_same_model_gives_the_same_bytes(place: Path, format_name: str) -> None:
    words = ("check", "wider.onnx", "--policy", "one.toml", "--format", format_name)
    assert ran(*words, cwd=place).stdout == ran(*words, cwd=place).stdout


def test_the_gate_adds_next_to_nothing_to_a_card(tmp_path: Path) -> None:
    """The policy with everything in it, against the card of a graph of 646 nodes."""
    from onnx_autodoc.api import report
    from onnx_autodoc.policy import gate, read_policy
    from onnx_autodoc.shapes import Request

    policy = read_policy(Path(__file__).parent.parent.parent / "docs" / "policy.toml")
    gate(report(MINILM, Request()).card, policy, report(MINILM, Request()).card)
    carded, gated = [], []
    for _ in range(3):
        start = time.process_time()
        found = report(MINILM, Request()).card
        carded.append(time.process_time() - start)
        start = time.process_time()
        gate(found, policy, found)
        gated.append(time.process_time() - start)
    assert min(gated) < 0.05 * min(carded)
