"""The small parts: inputs as arrays, weights beside a model, the profile's times, the load of a machine."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnx_autodoc.architecture import describe
from onnx_autodoc.errors import BadInput
from onnx_autodoc.limits import Limits, within
from onnx_autodoc.runtime import Feed, Load, _machine, feeds_of
from onnx_autodoc.runtime._arrays import FILLABLE, arrays
from onnx_autodoc.runtime._machine import Clock, clock, machine, others, stolen
from onnx_autodoc.runtime._outside import check_external
from onnx_autodoc.runtime._profile import Event, _Args, events, own_times
from onnx_autodoc.runtime._renamed import Renamed
from onnx_autodoc.runtime._session import Wrong, provider_named
from tests._text import model
from tests.runtime._models import facts_of, operators, renamed, saved


def made(feed: Feed) -> np.ndarray:
    found = arrays([feed], lambda bits, number: (bits, number))[feed.name]
    return found[0] if isinstance(found, tuple) else found  # type: ignore[return-value]


@pytest.mark.parametrize("dtype", sorted(FILLABLE))
@pytest.mark.parametrize("dims", [(), (2, 3), (0, 4)])
def test_every_type_can_be_filled(dtype: str, dims: tuple[int, ...]) -> None:
    assert made(Feed("x", dtype, dims, value=1)).shape == dims


def test_fills_are_what_the_card_says() -> None:
    assert made(Feed("x", "int64", (2, 3), "range", low=5)).tolist() == [[5, 6, 7], [5, 6, 7]]
    assert made(Feed("x", "int64", (), "range", low=5)).tolist() == 5
    assert made(Feed("x", "string", (2,), "text", value="a")).tolist() == ["a", "a"]
    assert made(Feed("x", "bool", (2,), value=True)).tolist() == [True, True]
    rows = made(Feed("x", "int32", (1000,), "integers", low=3, high=6))
    assert (rows.dtype, rows.min(), rows.max()) == (np.int32, 3, 5)
    image = made(Feed("x", "float16", (1000,), "uniform", low=0, high=1))
    assert image.dtype == np.float16 and 0 <= image.min() < 0.1 and 0.9 < image.max() <= 1
    assert abs(float(made(Feed("x", "float32", (1000,), "normal", high=0.1)).std()) - 0.1) < 0.02


def test_inputs_are_the_same_in_every_run() -> None:
    feed = Feed("x", "float32", (8,), "normal", high=1)
    assert made(feed).tolist() == made(feed).tolist()


def test_bfloat16_is_the_upper_half_of_float32() -> None:
    assert made(Feed("x", "bfloat16", (1,), value=1)).tolist() == [0x3F80]


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ("seq(float[2])", "it is a sequence, not a tensor"),
        ("optional(float[2])", "it is an optional, not a tensor"),
        ("float[]", "the file does not say how many dimensions it has"),
        ("float[2,?]", r"its size is not known; give it with --dim x\.1=N$"),
    ],
)
def test_what_cannot_be_filled_is_said(declared: str, reason: str, tmp_path: Path) -> None:
    path = saved(tmp_path, f"g ({declared} x, float[2] z) => (float[2] y) {{ y = Relu(z) }}")
    facts = facts_of(path)
    with pytest.raises(BadInput, match=reason):
        feeds_of(facts, describe(facts).samples)


# -- weights beside the model


def external(folder: Path, location: str, held: int | None) -> Path:
    """A model with eight bytes of weights in another file, of which so many are there."""
    path = saved(folder, "g (float[2] x) => (float[2] y) { y = Add(x, w) }")
    proto = onnx.load(path)
    weight = proto.graph.initializer.add(name="w", data_type=1, dims=[2], data_location=1)
    weight.external_data.add(key="location", value=location)
    path.write_bytes(proto.SerializeToString())
    if held is not None:
        (folder / location).write_bytes(b"\0" * held)
    return path


@pytest.mark.parametrize("location", ["/etc/passwd", "../w.bin", "a/../../w.bin"])
def test_weights_outside_of_the_folder_are_refused(location: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"its weights: the file \S+ is outside of the model's folder$"):
        check_external(facts_of(external(tmp_path, location, None)).model)


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret").write_bytes(b"\0" * 8)
    path = external(tmp_path / "in", "w.bin", None)
    (tmp_path / "in" / "w.bin").symlink_to(tmp_path / "secret")
    with pytest.raises(BadInput, match=r"w\.bin is behind a symbolic link; --follow-links allows it$"):
        check_external(facts_of(path).model)


def test_a_download_cache_of_links_is_taken_where_the_user_says_so(tmp_path: Path) -> None:
    """The model and its weights are links into one folder."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "seen").mkdir()
    path = external(tmp_path / "blobs", "w.bin", 8)
    for name in ("model.onnx", "w.bin"):
        (tmp_path / "seen" / name).symlink_to(path.parent / name)
    with within(Limits(follow_links=True)):
        check_external(facts_of(tmp_path / "seen" / "model.onnx").model)


def test_missing_and_short_weights_are_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"its weights in w.bin are not there; put the file beside the model$"):
        check_external(facts_of(external(tmp_path, "w.bin", None)).model)
    with pytest.raises(BadInput, match=r"are not whole: 4 of 8 bytes"):
        check_external(facts_of(external(tmp_path, "w.bin", 4)).model)


# -- times


def event(ts: int, dur: int, name: str = "n_kernel_time") -> Event:
    return Event("Node", name, ts, dur, _Args())


def test_what_runs_inside_a_kernel_is_not_its_own_time() -> None:
    inner = [event(10, 20), event(40, 30)]
    assert own_times([event(41, 5), *inner, event(0, 100), event(100, 7)]) == [5, 20, 25, 50, 7]


def test_a_line_of_a_profile_that_is_no_json_is_left_out(tmp_path: Path) -> None:
    line = json.dumps({"cat": "Node", "name": "a", "ts": 1, "dur": 2, "args": {}})
    (tmp_path / "p").write_text(f'[\n{line},\n{{"name": "a"b"}},\n{line}\n]')
    assert len(list(events(tmp_path / "p"))) == 2


def test_times_sum_to_the_whole_and_go_to_nodes(tmp_path: Path) -> None:
    text = """g (float[64,64] x) => (float[64,64] y) {
      a = MatMul(x, x) b = Sigmoid(a) y = Softmax(b) }"""
    found = operators(renamed(saved(tmp_path, text), {0: "same", 1: "same"}))
    assert {row.op for row in found.rows} == {"MatMul", "Sigmoid", "Softmax"}
    assert sum(row.share for row in found.rows) == pytest.approx(1)
    assert {way for way, _, _ in found.nodes} == {(0,), (1,), (2,)}
    assert sum(seconds for _, seconds, _ in found.nodes) == pytest.approx(found.seconds)


def test_the_time_of_a_fused_kernel_goes_to_the_node_of_its_operator(tmp_path: Path) -> None:
    """Conv and Relu become one kernel, which some processors' layouts call by what Relu gives."""
    path = saved(tmp_path, "g (float[1,16,8,8] x) => (float[1,16,8,8] y) { a = Conv(x, w) r = Relu(a) y = Erf(r) }")
    proto = onnx.load(path)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((16, 16, 1, 1), np.float32), "w"))
    path.write_bytes(proto.SerializeToString())
    found = {way: fused for way, _, fused in operators(path).nodes}
    assert found == {(0,): True, (2,): False}


def test_which_of_two_was_fused_is_not_guessed(tmp_path: Path) -> None:
    text = "g (float[4] x) => (float[4] y) { a = Exp(x) b = Exp(x) c = Add(a, b) y = Relu(c) }"
    named = Renamed(str(saved(tmp_path, text)))
    assert named.bearer("y_nchwc", "Exp") == 3  # either of both
    assert named.bearer("y_nchwc", "FusedAdd") == 2
    assert named.bearer("c_nchwc", "Add") == 2
    assert named.bearer("oad1e/Fusion/", "Other") == 1
    assert named.bearer("Transpose_7", "Transpose") is None


def test_messages_are_in_the_names_of_the_file(tmp_path: Path) -> None:
    """Also where the file has names like ours."""
    functions = '<domain: "local", opset_import: ["" : 20]> F (p) => (q) { q = Relu(p) }'
    path = saved(tmp_path, "g (float[2] x) => (float[2] y) { a = local.F(x) y = Neg(a) }", functions)
    named = Renamed(str(renamed(path, {1: "last"})))
    assert named.spoken("oad0f oad0e oad2e") == "F F_0 last"
    assert named.spoken(f"oad7e oad{'9' * 5000}e oad3f") == f"oad7e oad{'9' * 5000}e oad3f"
    assert named.bearer("InsertedCast_oad99e", "Cast") is None
    assert named.number("oad99e") is None


def test_a_model_of_any_name_is_read_as_what_it_is(tmp_path: Path) -> None:
    path = saved(tmp_path, "g (float[2] x) => (float[2] y) { y = Relu(x) }")
    assert Renamed(str(path.rename(tmp_path / "model.json"))).ops == ["Relu"]


# -- the machine


def test_what_this_process_does_is_no_load_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_machine.os, "cpu_count", lambda: 4)
    start, end = Clock(10.0, 100.0, 5.0, 1.0), Clock(12.0, 105.0, 5.4, 3.0)
    assert others(start, end) == pytest.approx((5 - 2) / 8)
    assert stolen(start, end) == pytest.approx(0.4 / 8)
    assert others(start, Clock(10.1, 100.1, 5.0, 1.0)) is None  # too near to tell
    assert others(None, end) is None


def test_the_worst_of_both_loads_counts() -> None:
    assert Load(0.1, 0.4, None).worst == 0.4
    assert Load(None, None, None).worst is None


def test_the_machine_has_a_name() -> None:
    found = machine()
    assert found.cpu and found.cores >= 1
    assert clock() is None or clock().busy > 0  # type: ignore[union-attr]


def test_providers_are_found_by_short_names() -> None:
    have = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    assert provider_named("cuda", have) == "CUDAExecutionProvider"
    assert provider_named("CPUExecutionProvider", have) == "CPUExecutionProvider"
    with pytest.raises(Wrong, match=r"near: CUDAExecutionProvider"):
        provider_named("cdua", have)


def test_models_of_text_have_no_weights_outside() -> None:
    check_external(model("g (float[2] x) => (float[2] y) { y = Relu(x) }"))
