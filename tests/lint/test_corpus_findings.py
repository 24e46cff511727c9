"""The findings of every model of the corpus, as reviewed. After an intended change:

    pytest tests/lint/test_corpus_findings.py --update

and review the difference against the models: no finding in these files may be false.
"""

from functools import cache
from pathlib import Path

import pytest

from onnx_autodoc import card
from onnx_autodoc.card import Finding, Severity
from tests._corpus import GRAPH_NAMES, graph

REVIEWED = Path(__file__).parent / "reviewed"


@cache
def findings(name: str) -> tuple[Finding, ...]:
    result = card(graph(name))
    assert not [gap for gap in result.gaps if gap.section == "findings"]
    return result.findings


def format_findings(name: str) -> str:
    lines = [f"{item.severity} {item.rule}: {item.message} [{item.confidence}]\n" for item in findings(name)]
    return "".join(lines)


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_findings_match_the_reviewed_ones(name: str, request: pytest.FixtureRequest) -> None:
    reviewed = REVIEWED / f"{name}.txt"
    if request.config.getoption("--update"):
        reviewed.write_text(format_findings(name), encoding="utf-8")
    assert format_findings(name) == reviewed.read_text(encoding="utf-8"), (
        "review the difference, then run with --update"
    )


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_every_finding_can_be_acted_on(name: str) -> None:
    for finding in findings(name):
        assert len(finding.recommendation) > 20
        assert finding.message
        assert not finding.message.endswith(".")
        assert finding.count >= len(finding.evidence)


def test_clean_models_have_no_warning() -> None:
    """Covers plain exports of plain models; findings of the others are in their files."""
    for name in CLEAN:
        own = [finding for finding in findings(name) if finding.rule not in STRIPPED]
        assert [finding for finding in own if finding.severity.rank >= Severity.WARNING.rank] == []


STRIPPED = ("missing-external-data",)  # the corpus has graphs without weights
CLEAN = (
    "all-minilm-l6-v2-ts-op14",
    "bert-base-qa-dynamo",
    "resnet50-ts-op17",
    "resnet50-qdq-int8",
    "vit-tiny-dynamo",
    "yolov8l-nc1",
    "whisper-tiny-encoder",
    "smollm2-135m-kv-op17",
)
