"""GitHub: annotations that it takes as they are meant, and a summary that is not too large for it."""

import re
import subprocess
import sys
from typing import Any

import cmarkgfm
import pytest
from msgspec.structs import replace

from onnx_autodoc.render import FORMATS
from onnx_autodoc.render.github import MAX_SUMMARY_BYTES, render_annotations, render_job_summary
from onnx_autodoc.render.outcome import render_outcome_json, render_outcome_text
from tests._corpus import load_report
from tests.policy._cards import SAMPLE
from tests.render._outcomes import check_corpus, check_hostile, is_tame

COMMAND = re.compile(r"::(error|warning|notice) (?:file=([^,:]*),)?title=([^,:]*)::(.*)")


def test_annotations_load_without_charts() -> None:
    script = "import sys, onnx_autodoc.render.github; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "onnx_autodoc.render.github" in loaded
    assert not {"onnx_autodoc.render.charts", "onnx_autodoc.render.sections", "ssl"} & set(loaded)


@pytest.mark.parametrize("make", [check_corpus, check_hostile])
def test_every_line_is_one_annotation(make: Any) -> None:
    lines = render_annotations(make()).splitlines()
    assert lines
    for line in lines:
        assert COMMAND.fullmatch(line), line
        assert "##[" not in line
        assert not re.search(r"%(?!25|0D|0A|3A|2C)", line)


@pytest.mark.parametrize("make", [check_corpus, check_hostile])
def test_annotations_are_limited_per_level(make: Any) -> None:
    result = make()
    levels = [line.split(" ")[0] for line in render_annotations(result).splitlines()]
    assert all(levels.count(level) <= 10 for level in levels)
    failed = sum(len(verdict.failed) for verdict in result.verdicts)
    assert levels.count("::error") == min(failed, 10)
    if failed > 10:
        assert f"::error title=onnx-autodoc::{failed - 9} more, listed in the job summary" in render_annotations(result)


def test_card_alone_has_annotations() -> None:
    text = str(FORMATS["github"].render(load_report(SAMPLE[0])))
    assert all(COMMAND.fullmatch(line) for line in text.splitlines())


def test_passed_models_get_a_notice() -> None:
    result = replace(check_corpus(), verdicts=tuple(replace(each, checks=()) for each in check_corpus().verdicts))
    lines = render_annotations(result).splitlines()
    assert len(lines) == 3
    assert all(COMMAND.fullmatch(line) and "passed: 0 checks" in line for line in lines)


@pytest.mark.parametrize("make", [check_corpus, check_hostile])
def test_job_summary_is_plain_tables(make: Any) -> None:
    text = render_job_summary(make())
    page = cmarkgfm.github_flavored_markdown_to_html(text)
    assert "<script" not in page and "<a href" not in page and "<img" not in page and "<em>" not in page
    rows = len(re.findall(r"^\| ", text, re.M))
    assert page.count("<tr>") == rows + page.count("<thead>")
    assert page.count("<td>") == 4 * rows


def test_job_summary_stays_below_size_limit() -> None:
    result = check_corpus()
    many = replace(result, verdicts=tuple(result.verdicts) * 200)
    for most in (MAX_SUMMARY_BYTES, 50_000, 1_000):
        text = render_job_summary(many, most)
        assert len(text.encode()) < most
        assert "a job summary is limited to" in text
        listed = len(re.findall(r"^\| ", text, re.M))
        left = int(re.findall(r"^([0-9,]+) rows omitted", text, re.M)[0].replace(",", ""))
        assert listed + left == 200 * len(re.findall(r"^\| ", render_job_summary(result), re.M))
    assert "a job summary is limited to" not in render_job_summary(result)
    assert render_job_summary(many, 100) == ""


@pytest.mark.parametrize("render", [render_outcome_text, render_outcome_json])
def test_model_text_is_no_workflow_command_in_any_format(render: Any) -> None:
    assert is_tame(render(check_hostile()))


def test_text_starts_with_verdict_and_has_recommendations() -> None:
    lines = render_outcome_text(check_corpus()).splitlines()
    assert lines[0] == "FAIL 3 models, 3 failed"
    assert lines[1].startswith("FAIL models/all-minilm-l6-v2-ts-op14.onnx: ")
    assert any("recommendation: " in line for line in lines)
    assert all(line.isprintable() for line in render_outcome_text(check_hostile()).splitlines())
