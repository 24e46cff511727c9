"""The specification's own test cases: every one is costed, or listed with its reason; none breaks."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc.analysis import Facts
from onnx_autodoc.api import measure_model
from onnx_autodoc.card.builder import node_rows
from onnx_autodoc.ops import OPERATORS, Trait
from tests.ops.test_onnx_cases import as_constants, cases, read_case


def measured(case: Any, path: Path, constant: bool) -> Facts:
    inputs, _ = case.data_sets[0]
    return measure_model(*read_case(as_constants(case.model, inputs) if constant else case.model, inputs, path))


@pytest.mark.parametrize("constant", [False, True], ids=["as they are", "with constant inputs"])
def test_every_case_is_costed_or_listed(constant: bool, tmp_path: Path) -> None:
    counts, silent, slips = Counter[str](), [], []
    for case in cases():
        facts = measured(case, tmp_path / "case.onnx", constant)
        total = facts.costs.total
        counts["listed" if total.missing else "costed"] += 1
        if total.counted < total.nodes and not total.missing:
            silent.append(case.name)
        slips += [f"{case.name}: {why}" for _, why in total.missing if "failed on this node's" in why]
        rows = list(node_rows(facts))
        assert sum(row.macs or 0 for row in rows) == total.macs, case.name
        if not total.missing:  # of a node with an unknown part, the total has what is known
            assert sum(row.flops or 0 for row in rows) == total.flops, case.name
    assert silent == [] and slips == []
    assert counts["costed"] > 1400, counts
    assert counts["listed"] / counts.total() < (0.05 if constant else 0.12)


def test_every_operator_has_a_documented_cost() -> None:
    assert OPERATORS, Trait
    for key, row in OPERATORS.items():
        if Trait.CONTROL_FLOW in row.traits:
            continue
        assert row.cost is not None, f"{key} has no cost"
        line = row.cost.__doc__ or ""
        assert line.strip() and not line[0].isspace(), f"the cost of {key} is not documented"
        assert not line.endswith("."), f"{key}: {line}"
