"""The workload of a run: multiply-adds, weights, memory, batch, and the phases of generation."""

import pytest

from onnx_autodoc.hardware import (
    NUMBER_FORMATS,
    DataVolume,
    LowerBound,
    NumberFormat,
    TimeRange,
    Workload,
    estimate,
    measure_workload,
)
from onnx_autodoc.hardware.devices import Device, find_device
from onnx_autodoc.hardware.estimate import make_device_row
from onnx_autodoc.hardware.scaling import find_phases, make_consistent, scale_batches
from onnx_autodoc.hardware.workload import find_batch, kernels_at
from onnx_autodoc.shapes import Role
from tests import _corpus as corpus
from tests.hardware._models import measure_corpus_model, measure_text

T4 = find_device("t4")


def make_constant_range(seconds: float) -> TimeRange:
    return TimeRange(seconds / 2, seconds, seconds * 2, "typical", "")


def test_constant_products_are_not_part_of_the_bound() -> None:
    text = """g (float[1,8] x) => (float[1,8] y) <float[8,512] a, float[512,8] b> {
        w = MatMul(a, b)  y = MatMul(x, w) }"""
    workload = measure_workload(measure_text(text), "mlp")
    assert workload.macs == 8 * 512 * 8 + 64  # as the file has them
    assert estimate(workload, T4, NUMBER_FORMATS["fp16"], lambda *_: None).lower_bound.compute == pytest.approx(
        2 * 64 / T4.rates["fp16"]
    )


def test_unread_inputs_are_not_counted() -> None:
    text = """g (float[1,8] x, float[1,4096] rest, float[1,4096] sized) => (float[1,8] y, int64[2] s) {
        y = Relu(x)  s = Shape(sized) }"""
    assert measure_workload(measure_text(text), "other").io_volume == DataVolume(16, 16)


@pytest.mark.parametrize(
    ("shapes", "batch"),
    [
        (("float[2,3,8,8] x", "float[2,3,8,8] y"), 2),
        (("float[3,8,8] x", "float[1,3,8,8] y"), None),  # channels of one image
        (("float[35,1,10] x", "float[35,1,10] y"), None),  # steps of one sequence
        (("float[32,1,8,8] x", "float[32,1,8,8] y"), 32),
        (("float[1,3,8,8] x", "float[3,8,8] y"), 1),
        (("float[B,10] x", "float[B,10] y"), 1),
    ],
)
def test_static_size_is_a_batch_if_outputs_begin_with_it(shapes: tuple[str, str], batch: int | None) -> None:
    wanted = shapes[1].split("[")[1].split("]")[0].replace("B", "-1")
    body = f"r = Relu(x)  to = Constant <value_ints = [{wanted}]> ()  y = Reshape(r, to)"
    assert find_batch(measure_text(f"g ({shapes[0]}) => ({shapes[1]}) {{ {body} }}")) == batch


def test_partial_workload_has_no_expected_time() -> None:
    text = """g (float[1,4] x, int64 n) => (float[1,4] y) <bool c = {1}, float[4,4] w, float[4,4] v> {
        h = MatMul(x, v)
        y = Loop (n, c, h) <body = b (int64 i, bool on, float[1,4] h0) => (bool go, float[1,4] next) {
            go = Identity(on)  next = MatMul(h0, w) }> }"""
    result = estimate(
        measure_workload(measure_text(text), "other"), T4, NUMBER_FORMATS["fp32"], lambda *_: make_constant_range(1.0)
    )
    assert result.range is None and result.basis == "bound"
    assert any("coverage is below 100%" in note for note in make_device_row(result, None).notes)


def test_unknown_sizes_make_memory_a_lower_bound() -> None:
    row = make_device_row(
        estimate(
            measure_workload(measure_corpus_model("slanet-table-en"), "cnn"),
            T4,
            NUMBER_FORMATS["fp32"],
            lambda *_: None,
        ),
        None,
    )
    assert any("the memory is a lower bound" in note for note in row.notes)


def test_quantized_activations_widen_with_the_precision() -> None:
    workload = measure_workload(measure_corpus_model("mobilenetv2-qoperator-int8"), "cnn")
    need = {
        name: estimate(workload, T4, NUMBER_FORMATS[name], lambda *_: None).need for name in ("int8", "fp16", "fp32")
    }
    assert need["int8"].activations == workload.peak_activation_bytes
    assert need["fp16"].activations == 2 * (workload.peak_activation_bytes or 0)
    assert need["fp32"].activations == 4 * (workload.peak_activation_bytes or 0)
    assert need["int8"].weights < need["fp16"].weights < need["fp32"].weights


def test_embeddings_are_not_stored_in_four_bits() -> None:
    text = """g (int64[1,5] ids) => (float[1,5,16] y) <float[1000,64] table, float[64,16] w> {
        x = Gather(table, ids)  y = MatMul(x, w) }"""
    workload = measure_workload(measure_text(text), "other")
    weights = {
        name: estimate(workload, T4, NUMBER_FORMATS[name], lambda *_: None).need.weights for name in NUMBER_FORMATS
    }
    assert weights["int4"] == 64_000 * 2 + 1024 * 4.5 / 8
    assert (weights["fp16"], weights["int8"]) == (65_024 * 2, 65_024)


@pytest.mark.parametrize("name", corpus.GRAPH_NAMES)
def test_roofline_is_not_below_the_bound(name: str) -> None:
    workload = measure_workload(measure_corpus_model(name), "other")
    for precision in ("fp32", "int4"):
        result = estimate(workload, T4, NUMBER_FORMATS[precision], lambda *_: None).lower_bound
        assert result.roofline is None or result.seconds is None or result.roofline >= result.seconds * (1 - 1e-9)


def test_times_of_batches_are_consistent() -> None:
    text = "g (float[B,64] x) => (float[B,64] y) <float[64,64] w> { y = MatMul(x, w) }"
    seconds_by_batch = {1: 1.0, 2: 0.5, 4: 9.0}

    def estimate_time(
        workload: Workload, device: Device, number_format: NumberFormat, bound: LowerBound
    ) -> TimeRange | None:
        return make_constant_range(seconds_by_batch.get(workload.batch or 0, 4.0))

    workload = measure_text(text, "B=1")
    rows = [
        estimate(each, T4, NUMBER_FORMATS["fp32"], estimate_time)
        for each in scale_batches(workload, measure_workload(workload, "mlp"))
    ]
    assert [row.expected for row in make_consistent(rows)][:4] == [1.0, 1.0, 2.0, 4.0]


def test_scaled_kernels_of_phases_match_inferred_ones() -> None:
    """Kernels are inferred at one size and scaled: within 5% of those inferred at another."""
    model = measure_corpus_model("smollm2-135m-genai-int4")
    result = {
        (each.name, each.context): each.workload.kernels
        for each in find_phases(model, measure_workload(model, "decoder"), None, True)
    }
    for context in (512, 2048):
        sizes = {"prefill": (context, 0), "decode": (1, context - 1)}
        for name, (new, past) in sizes.items():
            true = kernels_at(model, {Role.SEQUENCE: new, Role.PAST: past})
            assert true is not None
            assert result[name, context].macs.sum() == pytest.approx(true.macs.sum(), rel=1e-9)
            assert result[name, context].floats.sum() == pytest.approx(true.floats.sum(), rel=0.05)


def test_prefill_is_compute_bound_and_decode_memory_bound() -> None:
    model = measure_corpus_model("smollm2-135m-kv-op17")
    result = find_phases(model, measure_workload(model, "decoder"), None, True)
    rows = {(each.name, each.context): estimate(each.workload, T4, NUMBER_FORMATS["fp16"], twice) for each in result}
    assert rows["prefill", 2048].bottleneck == "compute"
    assert rows["decode", 2048].bottleneck == "memory"


def twice(workload: Workload, device: Device, number_format: NumberFormat, bound: LowerBound) -> TimeRange | None:
    return make_constant_range(2 * bound.roofline) if bound.roofline else None


def test_quantized_weights_take_the_bytes_of_the_file() -> None:
    """Also where its kernels read scales with the weights."""
    workload = measure_corpus_model("resnet50-qdq-int8")
    result = estimate(measure_workload(workload, "cnn"), T4, NUMBER_FORMATS["int8"], lambda *_: None)
    assert result.need.weights == workload.parameters.nbytes


def test_generated_weights_count_as_stored() -> None:
    text = """g (float[1,64] x) => (float[1,64] y) <float[64,64] a> {
        s = Constant <value_ints = [64, 64]> ()  w = ConstantOfShape(s)  h = MatMul(x, a)  y = MatMul(h, w) }"""
    assert (
        measure_workload(measure_text(text), "mlp").weight_bytes == 2 * 64 * 64 * 4 - 2 * 4
    )  # the two numbers of `s` pass for weights


def test_small_weights_may_stay_on_an_npu() -> None:
    """Of a larger model only a part may."""
    npu = find_device("hailo_10h")
    small, large = (
        measure_workload(
            measure_text(f"g (float[1,{n}] x) => (float[1,{n}] y) <float[{n},{n}] w> {{ y = MatMul(x, w) }}"), "mlp"
        )
        for n in (512, 6144)
    )
    cases = ((small, npu), (large, npu), (small, T4))
    seconds = [estimate(*case, NUMBER_FORMATS["int8"], lambda *_: None).lower_bound.memory for case in cases]
    assert T4.bandwidth is not None
    assert seconds[0] == pytest.approx(2 * 512 / 17e9)
    assert seconds[1] == pytest.approx((6144**2 - (32 << 20) + 2 * 6144) / 17e9)
    assert seconds[2] == pytest.approx((512**2 + 2 * 512) / T4.bandwidth)


def test_decode_of_a_large_graph_uses_the_kernels_of_the_card() -> None:
    own = measure_corpus_model("smollm2-135m-kv-op17")
    workload = measure_workload(own, "x")
    unrequested, requested = (
        {(each.name, each.context): each.workload.kernels for each in find_phases(own, workload, None, is_requested)}
        for is_requested in (False, True)
    )
    assert not len(unrequested["prefill", 512].macs), "inferred only for requested devices"
    for context in (128, 2048):
        inferred = float(requested["decode", context].floats.sum())
        assert float(unrequested["decode", context].floats.sum()) == pytest.approx(inferred, rel=0.05)


def test_dynamic_quantization_is_noted() -> None:
    workload = measure_corpus_model("all-minilm-l6-v2-dynquant-int8")
    row = make_device_row(
        estimate(
            measure_workload(workload, "transformer-encoder"),
            T4,
            NUMBER_FORMATS["int8"],
            lambda *_: make_constant_range(1e-3),
        ),
        None,
    )
    assert any("quantizes activations at run time" in note for note in row.notes)


@pytest.mark.parametrize(("device", "is_noted"), [("apple_m2", True), ("jetson_tx2", False)])
def test_unknown_rate_is_noted(device: str, is_noted: bool) -> None:
    workload = measure_workload(measure_corpus_model("resnet50-ts-op17"), "cnn")
    row = estimate(workload, find_device(device), NUMBER_FORMATS["int8"], lambda *_: None)
    (note,) = make_device_row(row, None).notes
    assert note.startswith("int8 is computed at the fp16 rate of the device")
    assert ("its int8 rate is unknown" in note) is is_noted
