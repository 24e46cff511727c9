"""What the rules say of every model of the corpus, as it was read and found true. After a change that is meant:

    pytest tests/lint/test_corpus_findings.py --update

and read the difference against the models: nothing in this list may be false.
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
    made = card(graph(name))
    assert not [gap for gap in made.gaps if gap.section == "findings"]
    return made.findings


def said(name: str) -> str:
    return "".join(f"{one.severity} {one.rule}: {one.message} [{one.confidence}]\n" for one in findings(name))


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_findings_match_the_reviewed_ones(name: str, request: pytest.FixtureRequest) -> None:
    kept = REVIEWED / f"{name}.txt"
    if request.config.getoption("--update"):
        kept.write_text(said(name), encoding="utf-8")
    assert said(name) == kept.read_text(encoding="utf-8"), "--update, once it was found true"


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_every_finding_can_be_acted_on(name: str) -> None:
    for finding in findings(name):
        assert len(finding.recommendation) > 20
        assert finding.message
        assert not finding.message.endswith(".")
        assert finding.count >= len(finding.evidence)


def test_clean_models_have_no_warning() -> None:
    """Plain exports of plain models; what is wrong with others stands in their lists."""
    for name in CLEAN:
        found = [finding for finding in findings(name) if finding.rule not in STRIPPED]
        assert [finding for finding in found if finding.severity.rank >= Severity.WARNING.rank] == []


STRIPPED = ("missing-external-data",)  # the files here are graphs whose weights were left out: true, but not of theirs
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
