"""What onnxruntime refuses, at load or on every run, an operator's rule refuses; and nothing that it runs."""

import numpy as np
import pytest

from onnx_autodoc.ops import find
from onnx_autodoc.ops._known import Array, Contradiction
from tests.ops._calls import Case, call_of, name_of, run, seen, stays_right, wrong
from tests.ops._one_node import numbers, zeros

X, PICTURE = zeros(4, 6), zeros(1, 4, 6, 6)


def rows(*items: object, dtype: type = np.int64) -> Array:
    return np.array(items, dtype)


RUNS: list[tuple[str, Case]] = [
    ("", Case("Split", [X], {}, 2, 13)),
    ("", Case("Split", [zeros(0, 6)], {}, 2, 13)),
    ("", Case("Split", [zeros(5, 6)], {"num_outputs": 3}, 3, 18)),
    ("", Case("Split", [zeros(7, 6)], {"num_outputs": 4}, 4, 18)),
    ("", Case("Split", [X, numbers(1, 3)], {}, 2, 18)),
    ("", Case("Slice", [X, numbers(0, 0), numbers(2, 2), numbers(0, -1)], {}, 1, 13)),
    ("", Case("Transpose", [X], {"perm": [1, 0]}, 1, 13)),
    *(("", Case(op, [X], {"keepdims": number}, 1, 13)) for op in ("ReduceMean", "ArgMax") for number in (-1, 0, 1, 7)),
    *(("", Case("ReduceSum", [X], {"noop_with_empty_axes": number}, 1, 13)) for number in (-1, 0, 1, 7)),
]
REFUSED: list[tuple[str, Case]] = [
    ("", Case("Split", [X], {}, 3, 13)),
    ("", Case("Split", [X], {}, 3, 2)),
    ("", Case("Split", [X], {}, 2, 18)),
    ("", Case("Split", [X, numbers(2, 2)], {"num_outputs": 2}, 2, 18)),
    ("", Case("Split", [X], {"num_outputs": 7}, 7, 18)),
    ("", Case("Split", [zeros(5, 6)], {"num_outputs": 4}, 4, 18)),  # 2, 2, 2, and one less than nothing
    ("", Case("Slice", [X, numbers(0, 0), numbers(2, 2), numbers(0, 0)], {}, 1, 13)),
    ("", Case("Transpose", [X], {"perm": [0, -1]}, 1, 13)),
]


def _name(item: object) -> str | None:
    return name_of(item) if isinstance(item, Case) else None


@pytest.mark.parametrize(("domain", "case"), RUNS, ids=_name)
def test_what_runs_is_not_refused(domain: str, case: Case) -> None:
    """Nor where less is known of its inputs."""
    entry = find(domain, case.op)
    assert entry is not None
    truth = seen(run(case, domain))
    assert wrong(entry.infer(call_of(case, domain)), truth) == []
    stays_right(entry.infer, case, domain, truth)


@pytest.mark.parametrize(("domain", "case"), REFUSED, ids=_name)
def test_what_cannot_run_is_refused(domain: str, case: Case) -> None:
    entry = find(domain, case.op)
    assert entry is not None
    with pytest.raises(Contradiction):
        entry.infer(call_of(case, domain))
    with pytest.raises(Exception, match=case.op):
        run(case, domain)
