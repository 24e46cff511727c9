"""`onnx-autodoc check`: exit codes, output files, names and encodings, overhead."""

import json
import os
import re
import time
from pathlib import Path

import jsonschema
import pytest

from onnx_autodoc.schema import SCHEMAS
from tests._command import run_command, run_process
from tests._corpus import graph
from tests._text import proto

RELU = "g (float[n,3] x) => (float[n,3] y) { y = Relu(x) }"
WIDER = "g (float[n,3] x) => (float[n,3] y) { z = Relu(x) y = Exp(z) }"
MINILM = str(graph("all-minilm-l6-v2-ts-op14"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with two small models and policies that they pass and fail."""
    for name, text in (("relu", RELU), ("wider", WIDER)):
        (tmp_path / f"{name}.onnx").write_bytes(proto(text).SerializeToString())
    (tmp_path / "one.toml").write_text('[limits]\n"graph.nodes" = { max = 1 }\n')
    (tmp_path / "none.toml").write_text('[limits]\n"graph.nodes" = { max = 0 }\n')
    (tmp_path / "changes.toml").write_text('[changes]\n"graph.nodes" = { max_increase = 0 }\n')
    return tmp_path


def test_limit_passes_at_its_value_and_fails_above(place: Path) -> None:
    passed = run_process("check", "relu.onnx", "--policy", "one.toml", cwd=place)
    assert (passed.returncode, passed.stderr) == (0, "")
    assert passed.stdout.startswith("PASS relu.onnx: ")
    failed = run_command("check", "wider.onnx", "--policy", "one.toml", cwd=place)
    assert (failed.returncode, failed.stderr) == (1, "")
    assert failed.stdout.startswith("FAIL wider.onnx: ")
    assert "graph.nodes is 2, the policy requires at most 1" in failed.stdout


def test_baseline_may_be_a_card_or_a_model(place: Path) -> None:
    assert run_command("relu.onnx", "-o", "relu.json", cwd=place).returncode == 0
    for baseline in ("relu.json", "relu.onnx"):
        check = ("--policy", "changes.toml", "--baseline", baseline)
        assert run_command("check", "relu.onnx", *check, cwd=place).returncode == 0
        assert run_command("check", "relu.json", *check, cwd=place).returncode == 0
        assert run_command("check", "wider.onnx", *check, cwd=place).returncode == 1
        assert run_command("check", "wider.onnx", "--batch", "4", *check, cwd=place).returncode == 1


def test_one_failing_model_fails_the_check(place: Path) -> None:
    done = run_command("check", "relu.onnx", "wider.onnx", "--policy", "one.toml", "--format", "json", cwd=place)
    outcome = json.loads(done.stdout)
    jsonschema.validate(outcome, json.loads(SCHEMAS["verdict"]()))
    assert done.returncode == 1
    assert [(verdict["model"], verdict["passed"]) for verdict in outcome["verdicts"]] == [
        ("relu.onnx", True),
        ("wider.onnx", False),
    ]


WRONG = [
    (["--policy", "absent.toml"], "absent.toml"),
    (["--policy", "typo.toml"], "similar: compute.macs"),
    (["--policy", "changes.toml"], "--baseline"),
    (["--policy", "one.toml", "--baseline", "relu.onnx"], "has neither [changes] nor only_new"),
    (["--policy", "changes.toml", "--baseline", "absent.json"], "absent.json"),
    (["--policy", "one.toml", "-o", "out.docx"], ".docx"),
    (["--policy", "one.toml", "-o", "no/out.json"], "folder not found: no"),
    (["--policy", "one.toml", "-o", "."], "a folder"),
    (["--policy", "one.toml", "-o", "/dev/null", "--format", "json"], "a device"),
    (["--policy", "one.toml", "-o", "relu.onnx", "--format", "json"], "would overwrite a source file"),
    (["--policy", "one.toml", "-o", "./one.toml", "--format", "json"], "would overwrite a source file"),
    (["--policy", "one.toml", "-o", "a.json", "-o", "./a.json"], "a.json: given twice"),
    (["--policy", "none.toml", "--policy", "one.toml"], "given twice, first as none.toml"),
    (
        ["--policy", "changes.toml", "--baseline", "relu.onnx", "--baseline", "x.onnx"],
        "given twice, first as relu.onnx",
    ),
    (["--policy", "empty.toml"], "no requirement"),
    (["absent.onnx", "--policy", "one.toml", "-o", "out.xml"], "absent.onnx"),
    (["--policy", "one.toml", "-o", "a.json", "-o", "b.sarif", "--format", "json"], "--format"),
    (["bad.onnx", "--policy", "one.toml", "-o", "out.json"], "bad.onnx"),
    (["--policy", "one.toml", "--dim", "nobody=3", "-o", "out.json"], "nobody"),
]


@pytest.mark.parametrize(("words", "hint"), WRONG)
def test_wrong_request_is_one_line_and_writes_nothing(place: Path, words: list[str], hint: str) -> None:
    (place / "typo.toml").write_text('[limits]\n"compute.mac" = { max = 1 }\n')
    (place / "empty.toml").write_text("")
    (place / "bad.onnx").write_bytes(b"not a model at all, no")
    before = sorted(place.iterdir())
    done = run_command("check", "relu.onnx", *words, cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert hint in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(place.iterdir()) == before


def test_output_suffixes_choose_the_formats(place: Path) -> None:
    outputs = ["out.json", "out.sarif", "out.xml", "out.md", "out.txt"]
    words = [word for name in outputs for word in ("-o", name)]
    done = run_command("check", "wider.onnx", "--policy", "one.toml", *words, cwd=place)
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


def test_closed_pipe_keeps_the_exit_code(place: Path) -> None:
    for format_name in ("text", "sarif", "github"):
        words = ("check", "wider.onnx", "--policy", "one.toml", "--format", format_name)
        read, write = os.pipe()
        os.close(read)
        assert run_process(*words, cwd=place, stdout=write).returncode == 1
        os.close(write)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no device that is always full")
def test_full_disk_is_one_line(place: Path) -> None:
    words = ("check", "relu.onnx", "--policy", "one.toml")
    with Path("/dev/full").open("w") as full:
        done = run_process(*words, cwd=place, stdout=full)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    done = run_command(*words, "--format", "github", cwd=place, GITHUB_STEP_SUMMARY="/dev/full")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_characters_outside_of_the_terminal_encoding_are_printed(place: Path) -> None:
    (place / "größe.onnx").write_bytes((place / "wider.onnx").read_bytes())
    for format_name in ("text", "json", "junit"):
        words = ("check", "größe.onnx", "--policy", "one.toml", "--format", format_name)
        done = run_process(*words, cwd=place, PYTHONIOENCODING="ascii", PYTHONUTF8="1")
        assert (done.returncode, done.stderr) == (1, "")
        assert "größe.onnx" in done.stdout


def test_repeated_model_is_checked_once(place: Path) -> None:
    done = run_command("check", "relu.onnx", "relu.onnx", "--policy", "one.toml", cwd=place)
    assert done.stdout.count("relu.onnx") == 1


def test_recommendation_is_printed_once(place: Path) -> None:
    (place / "two.toml").write_text('[limits]\n"graph.nodes" = { max = 0 }\n"graph.nodes_total" = { max = 0 }\n')
    done = run_command("check", "relu.onnx", "wider.onnx", "--policy", "two.toml", cwd=place)
    assert done.stdout.count("the policy requires at most 0") == 4
    assert done.stdout.count("recommendation: Change the model") == 1


def test_step_summary_is_appended(place: Path) -> None:
    (place / "summary.md").write_text("before\n")
    words = ("check", "wider.onnx", "--policy", "one.toml", "--format", "github")
    done = run_command(*words, cwd=place, GITHUB_STEP_SUMMARY=str(place / "summary.md"))
    assert done.returncode == 1
    assert done.stdout.startswith("::error file=wider.onnx,title=onnx-autodoc%3A graph.nodes max::")
    assert (place / "summary.md").read_text().startswith("before\n### onnx-autodoc: wider.onnx failed\n")


def test_lone_surrogate_in_a_policy_is_refused(place: Path) -> None:
    (place / "p.json").write_bytes(rb'{"limits": {"\ud800": {"max": 1}}}')
    done = run_command("check", "relu.onnx", "--policy", "p.json", cwd=place)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "p.json" in done.stderr and "\\ud800" in done.stderr and "internal" not in done.stderr


def test_absolute_path_is_printed_relative_to_the_current_folder(place: Path) -> None:
    done = run_command("check", str(place / "wider.onnx"), "--policy", "one.toml", cwd=place)
    assert done.stdout.startswith("FAIL wider.onnx: ")


@pytest.mark.parametrize("format_name", ["text", "json", "sarif", "junit", "github"])
def test_undecodable_file_name_is_accepted(place: Path, format_name: str) -> None:
    odd = place / os.fsdecode(b"\xff\n::error::.onnx")
    odd.write_bytes((place / "relu.onnx").read_bytes())
    done = run_command("check", odd.name, "--policy", "none.toml", "--format", format_name, cwd=place)
    assert (done.returncode, done.stderr) == (1, "")
    commands = [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]
    assert all(re.match(r"::(error|warning|notice) file=", line) for line in commands)


@pytest.mark.parametrize("format_name", ["text", "json", "sarif", "junit", "github"])
def test_output_is_reproducible(place: Path, format_name: str) -> None:
    words = ("check", "wider.onnx", "--policy", "one.toml", "--format", format_name)
    first, second = (run_command(*words, cwd=place) for _ in range(2))
    assert first.stdout == second.stdout != ""


def test_check_takes_under_5_percent_of_the_time_of_a_card(tmp_path: Path) -> None:
    """The policy with everything in it, against the card of a graph of 646 nodes."""
    from onnx_autodoc.api import make_card
    from onnx_autodoc.policy import check_card, read_policy
    from onnx_autodoc.shapes import Request

    policy = read_policy(Path(__file__).parent.parent.parent / "docs" / "policy.toml")
    check_card(make_card(MINILM, Request()).card, policy, make_card(MINILM, Request()).card)
    card_seconds, check_seconds = [], []
    for _ in range(3):
        start = time.process_time()
        card = make_card(MINILM, Request()).card
        card_seconds.append(time.process_time() - start)
        start = time.process_time()
        check_card(card, policy, card)
        check_seconds.append(time.process_time() - start)
    assert min(check_seconds) < 0.05 * min(card_seconds)
