"""Unit times fitted to timed graphs, and predictions from them."""

import pytest

from onnx_autodoc.runtime.calibration import (
    ErrorRange,
    KernelTimes,
    KernelWork,
    Profile,
    TimedGraph,
    cross_validate,
    fit_times,
    predict,
    predict_seconds,
    sum_work,
)

TIMES = {("", "run"): 2e-5, ("product", "kernels"): 4e-6, ("product", "macs"): 1 / 50e9, ("softmax", "elements"): 1e-9}


def make_timed_graph(name: str, kernels: int, macs: float, elements: float) -> TimedGraph:
    kernels = [KernelWork("product", {"kernels": kernels, "macs": macs}), KernelWork("softmax", {"elements": elements})]
    amounts = sum_work(kernels, cache_bytes=1e6)
    return TimedGraph(name, sum(amounts[key] * time for key, time in TIMES.items()), amounts)


GRAPHS = [make_timed_graph(f"{n} {m} {e}", n, m, e) for n in (1, 10, 100) for m in (0, 1e6, 1e9) for e in (0, 1e5)]


def test_fit_recovers_the_unit_times() -> None:
    result = fit_times(GRAPHS)
    clear = {key: time for key, time in TIMES.items() if key != ("product", "kernels")}
    assert {key: result[key] for key in clear} == pytest.approx(clear, rel=0.05)
    # only the sum of launch and change shows where every second kernel is a change
    own = result["product", "kernels"] + result["", "changes"] / 2
    assert own == pytest.approx(TIMES["product", "kernels"], rel=0.05)


def test_outlier_changes_the_fit_little() -> None:
    slow = TimedGraph("disturbed", GRAPHS[8].seconds * 5, GRAPHS[8].work)
    result = fit_times([*GRAPHS, slow])
    assert result["product", "macs"] == pytest.approx(TIMES["product", "macs"], rel=0.1)


def test_unit_times_are_not_negative() -> None:
    runs = [TimedGraph(f"{n}", 1e-3 / n, sum_work([KernelWork("product", {"kernels": n})], 1e6)) for n in range(1, 9)]
    assert min(fit_times(runs).values()) >= 0


def test_cross_validation_predicts_each_graph_from_the_others() -> None:
    ratios = cross_validate(GRAPHS, GRAPHS)
    assert ratios.keys() == {each.name for each in GRAPHS}
    assert all(ratio == pytest.approx(1, abs=0.1) for ratio in ratios.values())


def test_weights_beyond_the_cache_are_read_from_memory() -> None:
    task = KernelWork("product of a row", {"weights": 1e6}, weight_bytes=1e6)
    near, far = sum_work([task], cache_bytes=1e8), sum_work([task], cache_bytes=1e4)
    assert near["product of a row", "weights"] == pytest.approx(1e6)
    assert far["product of a row", "far weights"] == pytest.approx(1e6)


def test_shared_weights_stay_in_the_cache() -> None:
    steps = [
        KernelWork("product of a row", {"weights": 1e6}, weight_bytes=1e6 if step == 0 else 0.0) for step in range(100)
    ]
    assert sum_work(steps, cache_bytes=1e7)["product of a row", "far weights"] < 1e5


def make_profile() -> Profile:
    kernels = {"": KernelTimes({"run": 2e-5}, 3, 0.1), "product": KernelTimes({"kernels": 4e-6, "macs": 2e-11}, 3, 0.1)}
    return Profile("a machine", "2026-01-01", "onnxruntime 1", 2, 1e6, 1e10, kernels, ErrorRange(0.8, 1.3, 0.1, 5))


def test_prediction_is_the_sum_of_nodes_and_inserted_kernels() -> None:
    kernels = [KernelWork("product", {"kernels": 1, "macs": 1e9}, (3, 4)), KernelWork("reorder", {"kernels": 1})]
    result = predict(kernels, make_profile())
    assert result.rows == {3: pytest.approx(0.0200045)}  # half of the kernels follow one of another class
    assert result.expected == pytest.approx(result.rows[3] + result.added)
    assert (result.low, result.high) == (pytest.approx(0.8 * result.expected), pytest.approx(1.3 * result.expected))


def test_unmeasured_kernels_count_at_usual_times() -> None:
    result = predict(
        [KernelWork("product", {"kernels": 1}), KernelWork("sort", {"kernels": 1, "elements": 1e6})], make_profile()
    )
    assert 0 < result.covered_time < 1
    assert result.expected > predict_seconds({("sort", "elements"): 1e6}, {})
