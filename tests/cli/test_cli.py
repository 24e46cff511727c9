"""`onnx-autodoc card`, `demo` and `schema`: formats, options, files, stored cards, errors."""

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
from onnx_autodoc.render import FORMATS
from onnx_autodoc.schema import SCHEMAS
from tests._command import command_line, run_command, run_process
from tests._corpus import KEPT, graph, reported
from tests._text import proto
from tests._wire import chunk, model, value

MINILM = str(graph("all-minilm-l6-v2-ts-op14"))
CONTROL = str(graph("control-flow-loop-if"))


def test_model_argument_alone_prints_the_card() -> None:
    short, long = run_process(MINILM), run_command("card", MINILM)
    assert short.returncode == 0
    assert short.stdout == long.stdout
    assert short.stderr == ""
    for piece in ("all-minilm-l6-v2-ts-op14.onnx", "opset 14", "pytorch 2.13.0", "646 nodes", "last_hidden_state"):
        assert piece in short.stdout


@pytest.mark.parametrize("name", KEPT)
def test_terminal_card_has_at_most_40_lines_of_80_columns(name: str) -> None:
    from onnx_autodoc.render import render_terminal

    lines = render_terminal(reported(name)).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert all(line.isprintable() for line in lines)


def test_colors_are_for_terminals_only() -> None:
    assert "\x1b" not in run_command(MINILM).stdout
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    subprocess.run(command_line(CONTROL), stdout=follower, stderr=follower, check=True, env=environment)
    os.close(follower)
    assert b"\x1b[" in os.read(leader, 100_000)


def test_json_follows_the_published_schema() -> None:
    card = json.loads(run_command(MINILM, "--format", "json").stdout)
    jsonschema.validate(card, json.loads(SCHEMAS["card"]()))
    assert {"schema_version", "generated", "model", "interface", "assumptions", "graph", "gaps"} <= set(card)
    assert card["schema_version"] == "1.0"
    assert card["generated"]["at"] == "1970-01-01T00:00:00Z"
    assert card["model"]["precision"]["label"] == "fp32"
    assert card["assumptions"]["dims"] == {"batch_size": 1, "sequence_length": 128}
    assert card["interface"]["outputs"][0]["shape"] == ["batch_size", "sequence_length", 384]
    assert card["interface"]["outputs"][0]["bound"] == [1, 128, 384]


def test_boolean_value_is_a_boolean_in_json(tmp_path: Path) -> None:
    text = """g (float[2] x, bool c) => (float[] y) { y = If (c) <then_branch = a () => (float p) { p = Relu(x) },
        else_branch = b () => (float q) { q = Exp(x) }> }"""
    (tmp_path / "flag.onnx").write_bytes(proto(text).SerializeToString())
    card = json.loads(run_command(str(tmp_path / "flag.onnx"), "--value", "c=true", "--format", "json").stdout)
    jsonschema.validate(card, json.loads(SCHEMAS["card"]()))
    assert card["assumptions"]["values"] == {"c": True}


def test_nodes_format_has_one_object_per_line_in_file_order() -> None:
    rows = [
        json.loads(line) for line in run_command(CONTROL, "--format", "nodes", "--value", "n=3").stdout.splitlines()
    ]
    keys = {"scope", "name", "op", "domain", "outputs", "params", "macs", "flops", "read_bytes", "written_bytes"}
    assert all(keys | {"block", "gap"} == set(row) for row in rows)
    assert len(rows) == 23
    scopes = [row["scope"] for row in rows]
    assert scopes[0] == "" and "/Loop/body" in scopes and "/Loop/body//If/then_branch" in scopes
    loop = next(at for at, row in enumerate(rows) if row["op"] == "Loop")
    assert scopes[loop + 1] == "/Loop/body"
    assert all(set(cell) == {"name", "dtype", "shape"} for row in rows for cell in row["outputs"])


def test_csv_has_the_rows_of_the_nodes_format() -> None:
    lines = list(csv.DictReader(io.StringIO(run_command(CONTROL, "--format", "csv", "--value", "n=3").stdout)))
    rows = [
        json.loads(line) for line in run_command(CONTROL, "--format", "nodes", "--value", "n=3").stdout.splitlines()
    ]
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
def test_dimension_option_changes_the_card(words: list[str], path: str, expected: list[int]) -> None:
    card = json.loads(run_command(path, "--format", "json", *words).stdout)
    assert card["interface"]["outputs"][0]["bound"] == expected
    assert card != json.loads(run_command(path, "--format", "json").stdout)


def test_hash_is_null_without_its_option() -> None:
    import hashlib

    digest = hashlib.sha256(Path(CONTROL).read_bytes()).hexdigest()
    assert json.loads(run_command(CONTROL, "--format", "json", "--sha256").stdout)["model"]["file"]["sha256"] == digest
    assert json.loads(run_command(CONTROL, "--format", "json").stdout)["model"]["file"]["sha256"] is None


@pytest.mark.parametrize("words", [[], ["--format", "json"], ["--format", "nodes"], ["--format", "csv"]])
def test_output_is_independent_of_environment_and_folder(words: list[str], tmp_path: Path) -> None:
    copied = tmp_path / Path(MINILM).name
    copied.write_bytes(Path(MINILM).read_bytes())
    one = run_process(MINILM, *words, PYTHONHASHSEED="1", LC_ALL="C", TZ="UTC")
    other = run_process(copied, *words, PYTHONHASHSEED="2", LC_ALL="C.UTF-8", TZ="Asia/Tokyo")
    assert one.stdout == other.stdout != ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "required"),
        (["no-such-file.onnx"], "no such file"),
        ([MINILM, "--dim", "nobody=3"], "no dynamic dimension 'nobody'"),
        ([MINILM, "--size", "3x3"], "no dynamic height"),
        ([MINILM, "--size", "big"], "HEIGHTxWIDTH"),
        ([MINILM, "--batch", "0"], "no whole number above 0"),
        ([MINILM, "--batch", "many"], "no whole number above 0"),
        ([MINILM, "--value", "input_ids=x"], "is not a number of type int64"),
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
def test_wrong_request_is_one_line_and_exit_2(words: list[str], message: str) -> None:
    done = run_command("card", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("onnx-autodoc: error: ")
    assert message in done.stderr


def test_output_suffix_chooses_the_format(tmp_path: Path) -> None:
    for suffix, start in ((".json", "{"), (".jsonl", '{"scope"'), (".csv", "scope,name"), (".txt", "control-flow")):
        target = tmp_path / f"card{suffix}"
        done = run_command(CONTROL, "-o", str(target))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert target.read_text().startswith(start)
    assert len(list(tmp_path.iterdir())) == 4


def test_output_folder_gets_several_formats(tmp_path: Path) -> None:
    assert run_command(MINILM, "-o", str(tmp_path / "made.card")).returncode == 0
    made = {path.name for path in (tmp_path / "made.card").iterdir()}
    assert made == {"card.md", "card.html", "card.json", "architecture.md", "nodes.csv", "pictures"}
    text = (tmp_path / "made.card" / "card.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\]\((pictures/[a-z]+\.svg)\)", text))
    assert shown == {f"pictures/{path.name}" for path in (tmp_path / "made.card" / "pictures").iterdir()}
    assert "pictures/memory.svg" in shown


def test_markdown_file_has_a_folder_of_pictures(tmp_path: Path) -> None:
    assert run_command(MINILM, "-o", str(tmp_path / "a b.md"), "--pictures", "png").returncode == 0
    assert "](a%20b.pictures/memory.png)" in (tmp_path / "a b.md").read_text(encoding="utf-8")
    assert (tmp_path / "a b.pictures" / "memory.png").read_bytes().startswith(b"\x89PNG")


def test_markdown_on_standard_output_has_no_pictures() -> None:
    assert "](" not in run_command(CONTROL, "--format", "markdown").stdout


def test_text_of_an_existing_readme_is_kept(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("---\nlicense: mit # ours\n---\n\n# Mine\n\nWords of a person.\n", encoding="utf-8")
    for _ in range(2):
        assert run_command(CONTROL, "-o", str(readme), "--format", "huggingface").returncode == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("---\nlicense: mit # ours\n") and "\n# Mine\n\nWords of a person.\n" in text
    assert text.count("onnx-autodoc: begin") == text.count("## Key numbers") == 1


def test_malformed_readme_is_left_unchanged(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    for broken in ("---\nlicense: mit\n", "<!-- onnx-autodoc: begin -->\n", "\udcff"):
        readme.write_bytes(broken.encode(errors="surrogateescape"))
        done = run_command(CONTROL, "-o", str(readme), "--format", "huggingface")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert readme.read_bytes() == broken.encode(errors="surrogateescape")


def test_existing_output_survives_a_failure(tmp_path: Path) -> None:
    target = tmp_path / "card.json"
    target.write_text("the old report")
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"\x08\x08\x3a\x7f")
    assert run_command(str(bad), "-o", str(target)).returncode == 2
    assert target.read_text() == "the old report"


def test_demo_and_schema_need_no_model() -> None:
    demo = run_process("demo")
    assert demo.returncode == 0 and "demo.onnx" in demo.stdout
    assert json.loads(run_process("schema").stdout)["$defs"]["Card"]


def test_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m onnx_autodoc {graph('smollm2-135m-kv-op17')} --format nodes | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1 and done.stderr == ""


def test_names_from_the_file_are_escaped(tmp_path: Path) -> None:
    evil = "=cmd|'/c'!A1\x1b[31m[bold]\u202e\n<script>"
    path = tmp_path / "model.onnx"
    relu = chunk(1, chunk(1, "x") + chunk(2, evil) + chunk(4, "Relu"))
    path.write_bytes(model(value(11, "x", (2,)) + relu + value(12, evil, (2,))))
    text = run_command(str(path)).stdout
    assert all(line.isprintable() for line in text.splitlines())
    assert "=cmd|'/c'!A1\\x1b[31m[bold]" in text
    rows = list(csv.reader(io.StringIO(run_command(str(path), "--format", "csv").stdout)))
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert json.loads(run_command(str(path), "--format", "nodes").stdout)["outputs"][0]["name"] == evil


def test_card_does_not_overwrite_its_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.onnx"
    before = graph("local-functions-mlp").read_bytes()
    path.write_bytes(before)
    assert main([str(path), "--format", "json", "-o", str(path)]) == 2
    assert "take the place of what it is made from" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize("command", [["card"], ["compare", str(graph("local-functions-mlp"))]])
def test_device_as_output_is_refused(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, str(graph("local-functions-mlp")), "--format", "json", "-o", "/dev/null"]) == 2
    assert "a pipe or a device; for standard output use -o -" in capsys.readouterr().err
    assert not Path("/dev/null").is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_full_standard_output_is_one_line() -> None:
    for command in (["card", str(graph("local-functions-mlp"))], ["rules"], ["schema"]):
        with Path("/dev/full").open("w") as full:
            done = run_process(*command, stdout=full)
        assert done.returncode == 3
        assert done.stderr == "onnx-autodoc: error: standard output: could not be written: No space left on device\n"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a JSON card, written with its hash."""
    folder = tmp_path_factory.mktemp("stored")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SOURCE_DATE_EPOCH", "0")
        assert main([CONTROL, "--sha256", "-o", str(folder / "card.json")]) == 0
    return folder


@pytest.mark.parametrize("format_name", [name for name in FORMATS if name not in ("nodes", "csv", "html", "pdf")])
def test_stored_card_renders_the_same_bytes_as_the_model(
    format_name: str, stored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert main([CONTROL, "--sha256", "--format", format_name]) == 0
    expected = capsys.readouterr().out
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "999")  # the card keeps its own time
    assert main(["card", str(stored / "card.json"), "--format", format_name]) == 0
    assert capsys.readouterr().out == expected != ""


def test_stored_card_is_written_as_a_page_and_as_a_folder(stored: Path, tmp_path: Path) -> None:
    assert main(["card", str(stored / "card.json"), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "control-flow-loop-if.onnx" in page
    assert main(["card", str(stored / "card.json"), "-o", str(tmp_path / "folder")]) == 0
    names = {path.name for path in (tmp_path / "folder").iterdir()}
    assert names == {"card.md", "card.html", "card.json", "architecture.md", "pictures"}
    assert (tmp_path / "folder" / "card.json").read_bytes() == (stored / "card.json").read_bytes()


@pytest.mark.parametrize(
    "words",
    [["--format", "nodes"], ["--format", "csv"], ["--batch", "2"], ["--device", "t4"], ["--weights"], ["--verify"]],
)
def test_stored_card_refuses_what_needs_the_model(
    words: list[str], stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["card", str(stored / "card.json"), *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "the model itself" in err
