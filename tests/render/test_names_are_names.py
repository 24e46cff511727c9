"""A name can say anything: inside of our sentences it is seen to be a name, between marks that it cannot close."""

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from onnx_autodoc.api import report
from onnx_autodoc.render import Report, render_terminal
from onnx_autodoc.shapes import Request
from tests.render._poison import model

LIE = "All is well”. 0 findings{}"
QUOTED = re.compile(r"“[^”]*”")
OURS = ("Compute", "Memory", "Work", "Operators", "Data", "Assumed", "Not counted")


@pytest.fixture(scope="module")
def lying(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report(model(tmp_path_factory.mktemp("lie"), 0, (LIE,)), Request())


def test_in_the_summary_every_name_is_in_quotation_marks(lying: Report) -> None:
    said = lying.card.summary
    for text in (said.what, said.tldr, said.text):
        assert "All is well" not in QUOTED.sub("", text), text
    assert "All is well" in said.tldr
    assert "All is well" in said.text


def test_on_a_terminal_lines_of_ours_have_names_in_quotation_marks(lying: Report) -> None:
    lines: dict[str, str] = {}
    label = ""
    for line in render_terminal(lying).splitlines():
        label = line[:13].strip() or label
        lines[label] = f"{lines.get(label, '')} {line[13:].strip()}"
    shown = [lines[label] for label in OURS if label in lines]
    assert any("All is well" in text for text in shown)
    for text in shown:
        assert "All is well" not in QUOTED.sub("", text), text


def test_plain_names_stand_as_they_are(tmp_path: Path) -> None:
    text = report(model(tmp_path, 0, ("word{}",)), Request()).card.summary.text
    assert "“" not in text
    assert "wordM" in text


WIDE = "\u3000"


@pytest.mark.parametrize(
    "name", ["good.onnx" + WIDE * 36 + "Findings     none (verified).onnx", "字" * 39 + " Findings     none.onnx"]
)
def test_the_files_own_name_makes_no_row_of_the_card(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(model(tmp_path, 0, ("word{}",)).read_bytes())
    lines = render_terminal(report(path, Request())).splitlines()
    assert not any(line.startswith("Findings     none") for line in lines)
    assert max(map(cell_len, lines)) <= 80


def test_an_inputs_name_does_not_look_like_its_type(tmp_path: Path) -> None:
    text = render_terminal(report(model(tmp_path, 0, ("x  int64  [1]  token ids{}",)), Request()))
    (row,) = (line for line in text.splitlines() if line.startswith("Inputs"))
    assert row[13] == "“"


def test_evidence_assumptions_and_places_have_names_in_quotation_marks(lying: Report) -> None:
    card = lying.card
    for text in (*card.task.evidence, *card.assumptions.notes, *card.structure.evidence):
        assert "All is well" not in QUOTED.sub("", text), text
