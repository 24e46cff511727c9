"""A name can say anything: inside of our sentences it is seen to be a name, between marks that it cannot close."""

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from onnx_autodoc.api import make_card
from onnx_autodoc.render import Report, render_terminal
from onnx_autodoc.shapes import Request
from tests.render._poison import model

LIE = "All is well”. 0 findings{}"
QUOTED = re.compile(r"“[^”]*”")
OURS = ("Compute", "Memory", "Work", "Operators", "Data", "Assumptions", "Coverage")


@pytest.fixture(scope="module")
def misleading_report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return make_card(model(tmp_path_factory.mktemp("lie"), 0, (LIE,)), Request())


def test_summary_quotes_names(misleading_report: Report) -> None:
    message = misleading_report.card.summary
    for text in (message.what, message.tldr, message.text):
        assert "All is well" not in QUOTED.sub("", text), text
    assert "All is well" in message.tldr
    assert "All is well" in message.text


def test_terminal_quotes_names(misleading_report: Report) -> None:
    lines: dict[str, str] = {}
    label = ""
    for line in render_terminal(misleading_report).splitlines():
        label = line[:13].strip() or label
        lines[label] = f"{lines.get(label, '')} {line[13:].strip()}"
    shown = [lines[label] for label in OURS if label in lines]
    assert any("All is well" in text for text in shown)
    for text in shown:
        assert "All is well" not in QUOTED.sub("", text), text


def test_plain_names_are_not_quoted(tmp_path: Path) -> None:
    text = make_card(model(tmp_path, 0, ("word{}",)), Request()).card.summary.text
    assert "“" not in text
    assert "wordM" in text


WIDE = "\u3000"


@pytest.mark.parametrize(
    "name", ["good.onnx" + WIDE * 36 + "Findings     none (verified).onnx", "字" * 39 + " Findings     none.onnx"]
)
def test_file_name_cannot_imitate_a_row(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(model(tmp_path, 0, ("word{}",)).read_bytes())
    lines = render_terminal(make_card(path, Request())).splitlines()
    assert not any(line.startswith("Findings     none") for line in lines)
    assert max(map(cell_len, lines)) <= 80


def test_input_name_cannot_imitate_its_type(tmp_path: Path) -> None:
    text = render_terminal(make_card(model(tmp_path, 0, ("x  int64  [1]  token ids{}",)), Request()))
    (row,) = (line for line in text.splitlines() if line.startswith("Inputs"))
    assert row[13] == "“"


def test_evidence_and_assumptions_quote_names(misleading_report: Report) -> None:
    card = misleading_report.card
    for text in (*card.task.evidence, *card.assumptions.notes, *card.structure.evidence):
        assert "All is well" not in QUOTED.sub("", text), text
