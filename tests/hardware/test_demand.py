"""What a run asks for: nothing that a runtime need not do, nothing that is not known, and a batch if there is one."""

import pytest

from onnx_autodoc.analysis import Facts
from onnx_autodoc.api import facts_of
from onnx_autodoc.hardware import FORMATS, Amount, Demand, Floor, Format, Range, demand, estimate
from onnx_autodoc.hardware._batches import batches, coherent
from onnx_autodoc.hardware._demand import batch_of, load_at
from onnx_autodoc.hardware._estimate import device_row
from onnx_autodoc.hardware._generation import phases
from onnx_autodoc.hardware.devices import Device, find
from onnx_autodoc.readers import read
from onnx_autodoc.shapes import Request, Role
from tests import _corpus as corpus
from tests.hardware._made import facts

T4 = find("t4")


def known(name: str, **sizes: int) -> Facts:
    return facts_of(read(corpus.graph(name)), Request(**sizes))  # type: ignore[arg-type]


def always(seconds: float) -> Range:
    return Range(seconds / 2, seconds, seconds * 2, "typical", "")


def test_products_of_weights_alone_are_no_part_of_the_bound() -> None:
    text = """g (float[1,8] x) => (float[1,8] y) <float[8,512] a, float[512,8] b> {
        w = MatMul(a, b)  y = MatMul(x, w) }"""
    made = demand(facts(text), "mlp")
    assert made.macs == 8 * 512 * 8 + 64  # as the file has them
    assert estimate(made, T4, FORMATS["fp16"], lambda *_: None).floor.compute == pytest.approx(
        2 * 64 / T4.rates["fp16"]
    )


def test_inputs_that_no_node_reads_are_not_moved() -> None:
    text = """g (float[1,8] x, float[1,4096] rest, float[1,4096] sized) => (float[1,8] y, int64[2] s) {
        y = Relu(x)  s = Shape(sized) }"""
    assert demand(facts(text), "other").edges == Amount(16, 16)


@pytest.mark.parametrize(
    ("shapes", "batch"),
    [
        (("float[2,3,8,8] x", "float[2,3,8,8] y"), 2),
        (("float[3,8,8] x", "float[1,3,8,8] y"), None),  # channels of one picture
        (("float[35,1,10] x", "float[35,1,10] y"), None),  # steps of one sequence
        (("float[32,1,8,8] x", "float[32,1,8,8] y"), 32),
        (("float[1,3,8,8] x", "float[3,8,8] y"), 1),
        (("float[B,10] x", "float[B,10] y"), 1),
    ],
)
def test_a_fixed_size_is_a_batch_only_where_outputs_begin_with_it(shapes: tuple[str, str], batch: int | None) -> None:
    wanted = shapes[1].split("[")[1].split("]")[0].replace("B", "-1")
    body = f"r = Relu(x)  to = Constant <value_ints = [{wanted}]> ()  y = Reshape(r, to)"
    assert batch_of(facts(f"g ({shapes[0]}) => ({shapes[1]}) {{ {body} }}")) == batch


def test_no_time_is_expected_of_work_that_is_not_all_known() -> None:
    text = """g (float[1,4] x, int64 n) => (float[1,4] y) <bool c = {1}, float[4,4] w, float[4,4] v> {
        h = MatMul(x, v)
        y = Loop (n, c, h) <body = b (int64 i, bool on, float[1,4] h0) => (bool go, float[1,4] next) {
            go = Identity(on)  next = MatMul(h0, w) }> }"""
    found = estimate(demand(facts(text), "other"), T4, FORMATS["fp32"], lambda *_: always(1.0))
    assert found.range is None and found.basis == "bound"
    assert any("not all of the model is counted" in note for note in device_row(found, None).notes)


def test_memory_with_values_of_unknown_size_is_said_to_be_more() -> None:
    row = device_row(estimate(demand(known("slanet-table-en"), "cnn"), T4, FORMATS["fp32"], lambda *_: None), None)
    assert any("at least this memory" in note for note in row.notes)


def test_numbers_of_one_byte_get_wider_in_a_wider_precision() -> None:
    made = demand(known("mobilenetv2-qoperator-int8"), "cnn")
    need = {name: estimate(made, T4, FORMATS[name], lambda *_: None).need for name in ("int8", "fp16", "fp32")}
    assert need["int8"].activations == made.peak
    assert need["fp16"].activations == 2 * (made.peak or 0)
    assert need["fp32"].activations == 4 * (made.peak or 0)
    assert need["int8"].weights < need["fp16"].weights < need["fp32"].weights


def test_tables_are_not_held_in_four_bits() -> None:
    text = """g (int64[1,5] ids) => (float[1,5,16] y) <float[1000,64] table, float[64,16] w> {
        x = Gather(table, ids)  y = MatMul(x, w) }"""
    made = demand(facts(text), "other")
    weights = {name: estimate(made, T4, FORMATS[name], lambda *_: None).need.weights for name in FORMATS}
    assert weights["int4"] == 64_000 * 2 + 1024 * 4.5 / 8
    assert (weights["fp16"], weights["int8"]) == (65_024 * 2, 65_024)


@pytest.mark.parametrize("name", corpus.KEPT)
def test_the_roofline_is_never_below_the_bound(name: str) -> None:
    made = demand(known(name), "other")
    for precision in ("fp32", "int4"):
        found = estimate(made, T4, FORMATS[precision], lambda *_: None).floor
        assert found.roofline is None or found.seconds is None or found.roofline >= found.seconds * (1 - 1e-9)


def test_a_larger_batch_takes_at_least_as_long_and_at_most_as_many_times() -> None:
    text = "g (float[B,64] x) => (float[B,64] y) <float[64,64] w> { y = MatMul(x, w) }"
    said = {1: 1.0, 2: 0.5, 4: 9.0}

    def grade(demand: Demand, device: Device, wanted: Format, floor: Floor) -> Range | None:
        return always(said.get(demand.batch or 0, 4.0))

    made = facts(text, "B=1")
    rows = [estimate(each, T4, FORMATS["fp32"], grade) for each in batches(made, demand(made, "mlp"))]
    assert [row.expected for row in coherent(rows)][:4] == [1.0, 1.0, 2.0, 4.0]


def test_the_kernels_of_prompts_and_steps_are_those_at_their_sizes() -> None:
    """Worked out at one size, and stretched: within a few percent of what they are at another."""
    model = known("smollm2-135m-genai-int4")
    found = {
        (each.name, each.context): each.demand.load for each in phases(model, demand(model, "decoder"), None, True)
    }
    for context in (512, 2048):
        sizes = {"prefill": (context, 0), "decode": (1, context - 1)}
        for name, (new, past) in sizes.items():
            true = load_at(model, {Role.SEQUENCE: new, Role.PAST: past})
            assert true is not None
            assert found[name, context].macs.sum() == pytest.approx(true.macs.sum(), rel=1e-9)
            assert found[name, context].floats.sum() == pytest.approx(true.floats.sum(), rel=0.05)


def test_a_long_prompt_computes_and_a_step_waits_for_memory() -> None:
    model = known("smollm2-135m-kv-op17")
    found = phases(model, demand(model, "decoder"), None, True)
    rows = {(each.name, each.context): estimate(each.demand, T4, FORMATS["fp16"], twice) for each in found}
    assert rows["prefill", 2048].bottleneck == "compute"
    assert rows["decode", 2048].bottleneck == "memory"


def twice(demand: Demand, device: Device, wanted: Format, floor: Floor) -> Range | None:
    return always(2 * floor.roofline) if floor.roofline else None


def test_a_quantized_model_holds_what_its_file_has() -> None:
    """Also where its kernels read scales with the weights."""
    made = known("resnet50-qdq-int8")
    found = estimate(demand(made, "cnn"), T4, FORMATS["int8"], lambda *_: None)
    assert found.need.weights == made.parameters.nbytes


def test_weights_that_nodes_make_are_held_too() -> None:
    text = """g (float[1,64] x) => (float[1,64] y) <float[64,64] a> {
        s = Constant <value_ints = [64, 64]> ()  w = ConstantOfShape(s)  h = MatMul(x, a)  y = MatMul(h, w) }"""
    assert demand(facts(text), "mlp").stored == 2 * 64 * 64 * 4 - 2 * 4  # the two numbers of `s` pass for weights


def test_a_small_models_weights_may_stay_on_an_npu() -> None:
    """And those of a large one may not, or only a part."""
    npu, gpu = find("hailo_10h"), find("t4")
    small, large = (
        f"g (float[1,{n}] x) => (float[1,{n}] y) <float[{n},{n}] w> {{ y = MatMul(x, w) }}" for n in (4096, 16384)
    )
    seconds = [
        estimate(demand(facts(text), "mlp"), device, FORMATS["int8"], lambda *_: None).floor.memory or 0.0
        for device in (npu, gpu)
        for text in (small, large)
    ]
    assert seconds[0] == pytest.approx(2 * 4096 / 17e9)
    assert seconds[1] == pytest.approx((16384**2 - (32 << 20) + 2 * 16384) / 17e9)
    assert seconds[2] == pytest.approx((4096**2 + 2 * 4096) / gpu.bandwidth)


def test_a_step_of_a_large_graph_is_timed_by_the_cards_own_kernels() -> None:
    made = known("smollm2-135m-kv-op17")
    found = {(each.name, each.context): each.demand for each in phases(made, demand(made, "x"), None, asked=False)}
    asked = {(each.name, each.context): each.demand for each in phases(made, demand(made, "x"), None, asked=True)}
    assert not len(found["prefill", 512].load.macs), "worked out only for who names a device"
    for context in (128, 2048):
        whole, near = (float(each["decode", context].load.floats.sum()) for each in (asked, found))
        assert near == pytest.approx(whole, rel=0.05)


def test_it_is_said_that_quantizing_while_it_runs_is_more_work_than_was_published() -> None:
    made = known("all-minilm-l6-v2-dynquant-int8")
    row = device_row(estimate(demand(made, "transformer-encoder"), T4, FORMATS["int8"], lambda *_: always(1e-3)), None)
    assert any("quantizes its data while it runs" in note for note in row.notes)


@pytest.mark.parametrize(("device", "said"), [("apple_m2", True), ("jetson_tx2", False)])
def test_a_rate_that_nobody_found_is_said_to_be_unknown(device: str, said: bool) -> None:
    made = demand(known("resnet50-ts-op17"), "cnn")
    (note,) = (each for each in device_row(estimate(made, find(device), FORMATS["int8"], lambda *_: None), None).notes)
    assert note.startswith("int8 is computed at its fp16 rate")
    assert ("in int8 itself is not known" in note) is said
