"""Times that are fitted to runs, and what they predict."""

import pytest

from onnx_autodoc.runtime.calibration import Pace, Profile, Run, Spread, Task, left_out, predict, totals
from onnx_autodoc.runtime.calibration._fit import fit, seconds

TIMES = {("", "run"): 2e-5, ("product", "kernels"): 4e-6, ("product", "macs"): 1 / 50e9, ("softmax", "elements"): 1e-9}


def run(name: str, kernels: int, macs: float, elements: float) -> Run:
    made = [Task("product", {"kernels": kernels, "macs": macs}), Task("softmax", {"elements": elements})]
    amounts = totals(made, cache=1e6)
    return Run(name, sum(amounts[key] * time for key, time in TIMES.items()), amounts)


RUNS = [run(f"{n} {m} {e}", n, m, e) for n in (1, 10, 100) for m in (0, 1e6, 1e9) for e in (0, 1e5)]


def test_times_that_made_the_runs_are_found() -> None:
    found = fit(RUNS)
    clear = {key: time for key, time in TIMES.items() if key != ("product", "kernels")}
    assert {key: found[key] for key in clear} == pytest.approx(clear, rel=0.05)
    # of a kernel's own time and that of changing to it, only the sum shows where every second kernel is a change
    own = found["product", "kernels"] + found["", "changes"] / 2
    assert own == pytest.approx(TIMES["product", "kernels"], rel=0.05)


def test_one_run_that_was_disturbed_changes_little() -> None:
    slow = Run("disturbed", RUNS[8].seconds * 5, RUNS[8].totals)
    found = fit([*RUNS, slow])
    assert found["product", "macs"] == pytest.approx(TIMES["product", "macs"], rel=0.1)


def test_no_time_is_negative_whatever_the_runs_say() -> None:
    runs = [Run(f"{n}", 1e-3 / n, totals([Task("product", {"kernels": n})], 1e6)) for n in range(1, 9)]
    assert min(fit(runs).values()) >= 0


def test_a_graph_that_is_left_out_is_predicted_from_the_others() -> None:
    ratios = left_out(RUNS, RUNS)
    assert ratios.keys() == {each.name for each in RUNS}
    assert all(ratio == pytest.approx(1, abs=0.1) for ratio in ratios.values())


def test_weights_beyond_the_cache_come_from_memory() -> None:
    task = Task("product of a row", {"weights": 1e6}, held=1e6)
    near, far = totals([task], cache=1e8), totals([task], cache=1e4)
    assert near["product of a row", "weights"] == pytest.approx(1e6)
    assert far["product of a row", "far weights"] == pytest.approx(1e6)


def test_weights_that_are_read_again_and_again_stay_in_the_cache() -> None:
    steps = [Task("product of a row", {"weights": 1e6}, held=1e6 if step == 0 else 0.0) for step in range(100)]
    assert totals(steps, cache=1e7)["product of a row", "far weights"] < 1e5


def profile() -> Profile:
    paces = {"": Pace({"run": 2e-5}, 3, 0.1), "product": Pace({"kernels": 4e-6, "macs": 2e-11}, 3, 0.1)}
    return Profile("a machine", "2026-01-01", "onnxruntime 1", 2, 1e6, 1e10, paces, Spread(0.8, 1.3, 0.1, 5))


def test_a_prediction_sums_its_nodes_and_what_is_put_in() -> None:
    made = [Task("product", {"kernels": 1, "macs": 1e9}, (3, 4)), Task("reorder", {"kernels": 1})]
    found = predict(made, profile())
    assert found.rows == {3: pytest.approx(0.0200045)}  # half of the kernels come after another kind
    assert found.expected == pytest.approx(found.rows[3] + found.added)
    assert (found.low, found.high) == (pytest.approx(0.8 * found.expected), pytest.approx(1.3 * found.expected))


def test_what_was_never_measured_counts_and_is_said() -> None:
    found = predict([Task("product", {"kernels": 1}), Task("sort", {"kernels": 1, "elements": 1e6})], profile())
    assert 0 < found.covered_time < 1
    assert found.expected > seconds({("sort", "elements"): 1e6}, {})
