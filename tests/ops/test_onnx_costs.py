"""The specification's own test cases: every one is costed, or listed with its reason; none breaks."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from onnx_autodoc.analysis import Facts
from onnx_autodoc.api import facts_of
from onnx_autodoc.card import node_rows
from onnx_autodoc.ops import TABLES
from tests.ops.test_onnx_cases import as_constants, asked, cases


def measured(case: Any, path: Path, constant: bool) -> Facts:
    inputs, _ = case.data_sets[0]
    return facts_of(*asked(as_constants(case.model, inputs) if constant else case.model, inputs, path))


@pytest.mark.parametrize("constant", [False, True], ids=["as they are", "with constant inputs"])
def test_every_case_is_costed_or_listed(constant: bool, tmp_path: Path) -> None:
    counts, silent, slips = Counter[str](), [], []
    for case in cases():
        facts = measured(case, tmp_path / "case.onnx", constant)
        total = facts.costs.total
        counts["listed" if total.missing else "costed"] += 1
        if total.counted < total.nodes and not total.missing:
            silent.append(case.name)
        slips += [f"{case.name}: {why}" for _, why in total.missing if "could not be applied" in why]
        rows = list(node_rows(facts))
        assert sum(row.macs or 0 for row in rows) == total.macs, case.name
        if not total.missing:  # of a node with an unknown part, the total has what is known
            assert sum(row.flops or 0 for row in rows) == total.flops, case.name
    assert silent == [] and slips == []
    assert counts["costed"] > 1400, counts
    assert counts["listed"] / counts.total() < (0.05 if constant else 0.12)


def test_every_operator_has_a_documented_price() -> None:
    for domain, tables in TABLES.items():
        for table in tables:
            for name, entry in table.items():
                assert entry.cost is not None, f"{domain}.{name} has no cost"
                line = entry.cost.__doc__ or ""
                assert line.strip() and not line[0].isspace(), f"the price of {domain}.{name} says nothing"
                assert not line.endswith("."), f"{domain}.{name}: {line}"
