"""The command line as a user and a script meet it."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from onnx_autodoc.cli import main
from onnx_autodoc.schema import card_schema
from tests._corpus import KEPT, graph, reported
from tests._text import proto
from tests._wire import chunk, model, value

MINILM = str(graph("all-minilm-l6-v2-ts-op14"))
CONTROL = str(graph("control-flow-loop-if"))


def ran(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "onnx_autodoc", *words]
    surroundings = {**os.environ, "SOURCE_DATE_EPOCH": "0", **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=surroundings)


def test_a_model_alone_prints_its_card() -> None:
    short, long = ran(MINILM), ran("card", MINILM)
    assert short.returncode == 0
    assert short.stdout == long.stdout
    assert short.stderr == ""
    for piece in ("all-minilm-l6-v2-ts-op14.onnx", "opset 14", "pytorch 2.13.0", "646 nodes", "last_hidden_state"):
        assert piece in short.stdout


@pytest.mark.parametrize("name", KEPT)
def test_the_terminal_card_fits_a_terminal(name: str) -> None:
    from onnx_autodoc.render import render_terminal

    lines = render_terminal(reported(name)).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert all(line.isprintable() for line in lines)


def test_colours_are_for_terminals_only() -> None:
    assert "\x1b" not in ran(MINILM).stdout
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "onnx_autodoc", CONTROL]
    subprocess.run(command, stdout=follower, stderr=follower, check=True, env=environment)
    os.close(follower)
    assert b"\x1b[" in os.read(leader, 100_000)


def test_json_follows_the_published_schema_and_the_contract() -> None:
    card = json.loads(ran(MINILM, "--format", "json").stdout)
    jsonschema.validate(card, json.loads(card_schema()))
    assert {"schema_version", "generated", "model", "interface", "assumptions", "graph", "gaps"} <= set(card)
    assert card["schema_version"] == "1.0"
    assert card["generated"]["at"] == "1970-01-01T00:00:00Z"
    assert card["model"]["precision"]["label"] == "fp32"
    assert card["assumptions"]["dims"] == {"batch_size": 1, "sequence_length": 128}
    assert card["interface"]["outputs"][0]["shape"] == ["batch_size", "sequence_length", 384]
    assert card["interface"]["outputs"][0]["bound"] == [1, 128, 384]


def test_a_flag_that_was_given_is_a_flag_in_json(tmp_path: Path) -> None:
    text = """g (float[2] x, bool c) => (float[] y) { y = If (c) <then_branch = a () => (float p) { p = Relu(x) },
        else_branch = b () => (float q) { q = Exp(x) }> }"""
    (tmp_path / "flag.onnx").write_bytes(proto(text).SerializeToString())
    card = json.loads(ran(str(tmp_path / "flag.onnx"), "--value", "c=true", "--format", "json").stdout)
    jsonschema.validate(card, json.loads(card_schema()))
    assert card["assumptions"]["values"] == {"c": True}


def test_nodes_are_one_object_per_line_in_file_order() -> None:
    rows = [json.loads(line) for line in ran(CONTROL, "--format", "nodes", "--value", "n=3").stdout.splitlines()]
    keys = {"scope", "name", "op", "domain", "outputs", "params", "macs", "flops", "read_bytes", "written_bytes"}
    assert all(keys | {"block", "gap"} == set(row) for row in rows)
    assert len(rows) == 23
    scopes = [row["scope"] for row in rows]
    assert scopes[0] == "" and "/Loop/body" in scopes and "/Loop/body//If/then_branch" in scopes
    loop = next(at for at, row in enumerate(rows) if row["op"] == "Loop")
    assert scopes[loop + 1] == "/Loop/body"
    assert all(set(cell) == {"name", "dtype", "shape"} for row in rows for cell in row["outputs"])


def test_csv_has_the_same_rows() -> None:
    lines = list(csv.DictReader(io.StringIO(ran(CONTROL, "--format", "csv", "--value", "n=3").stdout)))
    rows = [json.loads(line) for line in ran(CONTROL, "--format", "nodes", "--value", "n=3").stdout.splitlines()]
    assert [line["name"] for line in lines] == [row["name"] for row in rows]
    assert [line["op"] for line in lines] == [row["op"] for row in rows]
    assert any(
        line["outputs"] == "/Loop_output_0 float32 1x32" or line["outputs"] == "h float32 1x32" for line in lines
    )


@pytest.mark.parametrize(
    ("words", "path", "expected"),
    [
        (["--dim", "sequence_length=7"], MINILM, [1, 7, 384]),
        (["--dim", "input_ids.1=9"], MINILM, [1, 9, 384]),
        (["--seq", "5", "--batch", "2"], MINILM, [2, 5, 384]),
        (["--size", "64x96"], str(graph("ppocr-mobile-cls-v2")), [1, 2]),
    ],
)
def test_every_dimension_option_changes_the_card(words: list[str], path: str, expected: list[int]) -> None:
    card = json.loads(ran(path, "--format", "json", *words).stdout)
    assert card["interface"]["outputs"][0]["bound"] == expected
    assert card != json.loads(ran(path, "--format", "json").stdout)


def test_the_hash_is_made_when_asked_for() -> None:
    import hashlib

    digest = hashlib.sha256(Path(CONTROL).read_bytes()).hexdigest()
    assert json.loads(ran(CONTROL, "--format", "json", "--sha256").stdout)["model"]["file"]["sha256"] == digest
    assert json.loads(ran(CONTROL, "--format", "json").stdout)["model"]["file"]["sha256"] is None


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--format", "json"],
        ["--format", "nodes"],
        ["--format", "csv"],
    ],
)
def test_the_same_model_gives_the_same_bytes(words: list[str], tmp_path: Path) -> None:
    copied = tmp_path / Path(MINILM).name
    copied.write_bytes(Path(MINILM).read_bytes())
    one = ran(MINILM, *words, PYTHONHASHSEED="1", LC_ALL="C", TZ="UTC")
    other = ran(str(copied), *words, PYTHONHASHSEED="2", LC_ALL="C.UTF-8", TZ="Asia/Tokyo")
    assert one.stdout == other.stdout != ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "required"),
        (["no-such-file.onnx"], "no such file"),
        ([MINILM, "--dim", "nobody=3"], "no open dimension 'nobody'"),
        ([MINILM, "--size", "3x3"], "no open height"),
        ([MINILM, "--size", "big"], "HEIGHTxWIDTH"),
        ([MINILM, "--batch", "0"], "no whole number above 0"),
        ([MINILM, "--batch", "many"], "no whole number above 0"),
        ([MINILM, "--value", "input_ids=x"], "no number"),
        ([MINILM, "--format", "poem"], "invalid choice"),
        ([MINILM, "--colour"], "unrecognized"),
        ([MINILM, "--form", "json"], "unrecognized"),
        ([MINILM, "-o", "card.poem"], "no known format"),
        ([MINILM, "-o", "no/such/folder/card.json"], "no folder"),
        ([MINILM, "-o", ".", "--format", "json"], "a folder gets several formats"),
        ([MINILM, "--pictures", "png"], "only Markdown written with -o has pictures"),
        ([MINILM, "-o", "x.json", "--pictures", "svg"], "only Markdown written with -o has pictures"),
    ],
)
def test_a_wrong_request_is_one_line_and_exit_2(words: list[str], said: str) -> None:
    done = ran("card", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("onnx-autodoc: error: ")
    assert said in done.stderr


def test_a_file_gets_the_format_of_its_suffix(tmp_path: Path) -> None:
    for suffix, start in ((".json", "{"), (".jsonl", '{"scope"'), (".csv", "scope,name"), (".txt", "control-flow")):
        target = tmp_path / f"card{suffix}"
        done = ran(CONTROL, "-o", str(target))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert target.read_text().startswith(start)
    assert len(list(tmp_path.iterdir())) == 4


def test_a_folder_gets_what_people_read_and_the_numbers(tmp_path: Path) -> None:
    assert ran(MINILM, "-o", str(tmp_path / "made.card")).returncode == 0
    made = {path.name for path in (tmp_path / "made.card").iterdir()}
    assert made == {"card.md", "card.html", "card.json", "architecture.md", "nodes.csv", "pictures"}
    text = (tmp_path / "made.card" / "card.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\]\((pictures/[a-z]+\.svg)\)", text))
    assert shown == {f"pictures/{path.name}" for path in (tmp_path / "made.card" / "pictures").iterdir()}
    assert "pictures/memory.svg" in shown


def test_markdown_has_its_pictures_beside_it(tmp_path: Path) -> None:
    assert ran(MINILM, "-o", str(tmp_path / "a b.md"), "--pictures", "png").returncode == 0
    assert "](a%20b.pictures/memory.png)" in (tmp_path / "a b.md").read_text(encoding="utf-8")
    assert (tmp_path / "a b.pictures" / "memory.png").read_bytes().startswith(b"\x89PNG")


def test_markdown_on_standard_output_has_no_pictures() -> None:
    assert "](" not in ran(CONTROL, "--format", "markdown").stdout


def test_what_people_wrote_in_a_readme_stays(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("---\nlicense: mit # ours\n---\n\n# Mine\n\nWords of a person.\n", encoding="utf-8")
    for _ in range(2):
        assert ran(CONTROL, "-o", str(readme), "--format", "huggingface").returncode == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("---\nlicense: mit # ours\n") and "\n# Mine\n\nWords of a person.\n" in text
    assert text.count("onnx-autodoc: begin") == text.count("## Key numbers") == 1


def test_a_readme_that_cannot_be_merged_is_left_alone(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    for broken in ("---\nlicense: mit\n", "<!-- onnx-autodoc: begin -->\n", "\udcff"):
        readme.write_bytes(broken.encode(errors="surrogateescape"))
        done = ran(CONTROL, "-o", str(readme), "--format", "huggingface")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert readme.read_bytes() == broken.encode(errors="surrogateescape")


def test_an_existing_report_survives_a_failure(tmp_path: Path) -> None:
    target = tmp_path / "card.json"
    target.write_text("the old report")
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"\x08\x08\x3a\x7f")
    assert ran(str(bad), "-o", str(target)).returncode == 2
    assert target.read_text() == "the old report"


def test_demo_and_schema_work_without_a_model() -> None:
    demo = ran("demo")
    assert demo.returncode == 0 and "demo.onnx" in demo.stdout
    assert json.loads(ran("schema").stdout)["$defs"]["Card"]


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = f"{sys.executable} -m onnx_autodoc {graph('smollm2-135m-kv-op17')} --format nodes | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1 and done.stderr == ""


def test_names_from_the_file_stay_inert(tmp_path: Path) -> None:
    evil = "=cmd|'/c'!A1\x1b[31m[bold]\u202e\n<script>"
    path = tmp_path / "model.onnx"
    relu = chunk(1, chunk(1, "x") + chunk(2, evil) + chunk(4, "Relu"))
    path.write_bytes(model(value(11, "x", (2,)) + relu + value(12, evil, (2,))))
    text = ran(str(path)).stdout
    assert all(line.isprintable() for line in text.splitlines())
    assert "=cmd|'/c'!A1\\x1b[31m[bold]" in text
    rows = list(csv.reader(io.StringIO(ran(str(path), "--format", "csv").stdout)))
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert json.loads(ran(str(path), "--format", "nodes").stdout)["outputs"][0]["name"] == evil


def test_a_card_takes_the_place_of_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.onnx"
    before = graph("local-functions-mlp").read_bytes()
    path.write_bytes(before)
    assert main([str(path), "--format", "json", "-o", str(path)]) == 2
    assert "take the place of what it is made from" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize("command", [["card"], ["compare", str(graph("local-functions-mlp"))]])
def test_a_device_is_no_file_to_replace(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, str(graph("local-functions-mlp")), "--format", "json", "-o", "/dev/null"]) == 2
    assert "a pipe or a device; for standard output use -o -" in capsys.readouterr().err
    assert not Path("/dev/null").is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_behind_standard_output_is_one_line() -> None:
    for command in (["card", str(graph("local-functions-mlp"))], ["rules"], ["schema"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run([sys.executable, "-m", "onnx_autodoc", *command], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 3
        assert (
            done.stderr.decode()
            == "onnx-autodoc: error: standard output: could not be written: No space left on device\n"
        )
