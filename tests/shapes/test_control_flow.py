"""If, Loop, Scan, SequenceMap and functions: the nodes that run, the number of iterations, and the outputs."""

import numpy as np
import onnx
import onnxruntime
import pytest

from onnx_autodoc.ops import Unknown
from onnx_autodoc.shapes import Request, bind, infer_shapes
from tests._text import infer_y, model, proto, save_and_read, shapes

IF = """g (float[2,3] x, bool c) => (float[] y) {
    y = If (c) <then_branch = t () => (float a) { a = Transpose(x) }, else_branch = e () => (float b) { b = ELSE }> }"""


def test_known_condition_selects_its_branch() -> None:
    inferred = shapes(IF.replace("ELSE", "Relu(x)"), values=("c=true",))
    assert inferred.values["y"].concrete == (3, 2)
    taken, other = inferred.steps[0].bodies
    assert (taken.times, other.times) == (1, 0)
    assert "not run: the condition is true" in other.steps[0].gap
    assert infer_y(IF.replace("ELSE", "Relu(x)"), values=("c=false",)).concrete == (2, 3)


def test_unknown_condition_gives_what_both_branches_share() -> None:
    assert infer_y(IF.replace("ELSE", "Transpose(x)")).concrete == (3, 2)
    differing = infer_y(IF.replace("ELSE", "Relu(x)"))
    assert differing.concrete is None and "branches of If" in differing.reason


LOOP = """g (float[B,4] x, int64 n, bool c) => (float[] y, float[] z) {
    y, z = Loop (n, c, x) <body = b (int64 i, bool on, float[B,4] h) => (bool go, float next, float out) {
        go = Identity(on)  next = Relu(h)  out = ReduceSum <keepdims = 0> (h, axes) }> }"""
LOOP = LOOP.replace("{\n    y", "{ axes = Constant <value = int64[1] {1}> ()\n    y", 1)


def test_loop_runs_its_trip_count() -> None:
    inferred = shapes(LOOP, "B=2", values=("n=7", "c=1"))
    assert inferred.values["y"].concrete == (2, 4)
    assert inferred.values["z"].concrete == (7, 2)
    assert inferred.steps[1].bodies[0].times == 7


def test_loop_of_unknown_trip_count_has_its_other_dims() -> None:
    inferred = shapes(LOOP, "B=2", values=("c=1",))
    assert inferred.values["y"].concrete == (2, 4)
    assert inferred.values["z"].shape is not None and inferred.values["z"].shape[1] == 2
    assert isinstance(inferred.steps[1].bodies[0].times, Unknown)


def test_loop_that_never_runs_returns_its_initial_values() -> None:
    inferred = shapes(LOOP, "B=2", values=("n=7", "c=0"))
    assert inferred.steps[1].bodies[0].times == 0
    assert inferred.values["z"].concrete == (0, 2)


COUNTED = """g (float[1,3] x) => (float[] y, float[] z) {
    start = Constant <value = int64 {0}> ()  one = Constant <value = int64 {1}> ()
    most = Constant <value = int64 {STOP}> ()  true = Constant <value = bool {1}> ()
    last, y, z = Loop ( , true, start, x) <body = b (int64 i, bool on, int64 k, float[M,3] h)
        => (bool go, int64 k2, float grown, float out) {
        k2 = Add(k, one)  go = Less(k2, most)  grown = Concat <axis = 0> (h, x)  out = Identity(x) }> }"""


def test_counting_condition_is_simulated_to_its_end() -> None:
    inferred = shapes(COUNTED.replace("STOP", "9"))
    loop = inferred.steps[-1]
    assert loop.bodies[0].times == 9
    assert inferred.values["z"].concrete == (9, 1, 3)


def test_tensor_that_grows_in_a_loop_has_its_final_size() -> None:
    inferred = shapes(COUNTED.replace("STOP", "9"))
    assert inferred.values["y"].concrete == (10, 3)
    inside = inferred.steps[-1].bodies[0].steps
    assert "changes between iterations" in next(step.gap for step in inside if step.node.op == "Concat")


def test_loop_above_the_limit_has_a_gap_with_reason() -> None:
    inferred = shapes(COUNTED.replace("STOP", "100000000"))
    assert "runs more than" in inferred.values["z"].reason


def run_shapes(text: str, **inputs: np.ndarray) -> dict[str, tuple[int, ...]]:
    source = proto(text)
    session = onnxruntime.InferenceSession(source.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return {name: item.shape for name, item in zip(names, session.run(None, inputs))}


SCAN = """g (float[3] s, float[5,3,2] x) => (float[3] y, float[A,B] z) {
    y, z = Scan (s, x) <num_scan_inputs = 1, scan_input_axes = [2], scan_output_axes = [1],
        body = b (float[3] h, float[5,3] e) => (float[3] next, float[5] out) {
        axes = Constant <value = int64[1] {1}> ()  zero = Constant <value = int64[1] {0}> ()
        t = ReduceSum <keepdims = 0> (e, zero)  next = Add(h, t)  out = ReduceSum <keepdims = 0> (e, axes) }> }"""


def test_scan_runs_along_its_axis() -> None:
    actual = run_shapes(SCAN, s=np.zeros(3, np.float32), x=np.zeros((5, 3, 2), np.float32))
    inferred = shapes(SCAN)
    assert {name: inferred.values[name].concrete for name in ("y", "z")} == actual
    assert inferred.steps[0].bodies[0].times == 2


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("scan_input_axes = [2]", "scan_input_axes = [7]", "axis 7 is out of range for rank 3"),
        ("scan_input_axes = [2]", "scan_input_axes = [0, 1]", "scan_input_axes of Scan has length 2, not 1"),
        ("scan_output_axes = [1]", "scan_output_axes = [2]", "axis 2 is out of range for rank 2"),
        ("scan_output_axes = [1]", "scan_output_axes = [0, 0]", "scan_output_axes of Scan has length 2, not 1"),
    ],
)
def test_scan_along_invalid_axes_is_a_contradiction(old: str, new: str, why: str) -> None:
    inferred = shapes(SCAN.replace(old, new))
    assert inferred.contradictions and {conflict.reason for conflict in inferred.contradictions} == {why}
    with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.Fail):
        run_shapes(SCAN.replace(old, new), s=np.zeros(3, np.float32), x=np.zeros((5, 3, 2), np.float32))


def test_scan_of_opset_8_has_a_batch_dimension() -> None:
    body = onnx.parser.parse_graph(
        "b (float[4] h, float[4] e) => (float[4] next, float[4] out) { next = Add(h, e) out = Relu(e) }"
    )
    node = onnx.helper.make_node("Scan", ["", "s", "x"], ["y", "z"], num_scan_inputs=1, body=body)
    info = onnx.helper.make_tensor_value_info
    inputs = [info("s", 1, [2, 4]), info("x", 1, [2, 6, 4])]
    source = onnx.helper.make_model(
        onnx.helper.make_graph([node], "g", inputs, [info("z", 1, None)]),
        opset_imports=[onnx.helper.make_opsetid("", 8)],
    )
    read_back = save_and_read(source)
    inferred = infer_shapes(read_back, bind(read_back, Request()))
    assert (inferred.values["y"].concrete, inferred.values["z"].concrete) == ((2, 4), (2, 6, 4))
    assert inferred.steps[0].bodies[0].times == 12


def test_subgraph_reads_values_of_outer_graphs() -> None:
    text = """g (float[2,3] x, bool c) => (float[] y) { w = Transpose(x)
        y = If (c) <then_branch = t () => (float a) {
            a = If (c) <then_branch = tt () => (float aa) { aa = MatMul(x, w) },
                        else_branch = te () => (float ab) { ab = MatMul(x, w) }> },
        else_branch = e () => (float b) { b = MatMul(x, w) }> }"""
    assert infer_y(text).concrete == (2, 2)


FUNCTION = """<domain: "local", opset_import: ["" : 18]>
    turned <order> (x) => (y) { y = Transpose <perm: ints = @order> (x) }"""


@pytest.mark.parametrize(("order", "shape"), [("[1, 0, 2]", (3, 2, 4)), ("[2, 1, 0]", (4, 3, 2))])
def test_function_takes_attributes_from_its_call(order: str, shape: tuple[int, ...]) -> None:
    text = f"g (float[2,3,4] x) => (float[] y) {{ y = local.turned <order = {order}> (x) }}"
    assert infer_y(text, functions=FUNCTION).concrete == shape


def test_recursive_function_is_a_contradiction() -> None:
    again = '<domain: "local", opset_import: ["" : 18, "local" : 1]> f (x) => (y) { y = local.f(x) }'
    inferred = shapes("g (float[2] x) => (float[] y) { y = local.f(x) }", functions=again)
    assert any("calls itself" in conflict.reason for conflict in inferred.contradictions)


def test_rows_have_the_scope_of_each_node() -> None:
    text = IF.replace("ELSE", "Relu(x)")
    scopes = [scope for scope, _ in shapes(text).rows()]
    assert scopes == ["", "If_0/then_branch", "If_0/else_branch"]
    assert model(text).graph.nodes[0].name == ""


GROWN = """g (float[N,2] x) => (float[] y, int64 n, float[] last) { none = SequenceEmpty <dtype = 1> ()
    times = Constant <value = int64 {4}> ()  true = Constant <value = bool {1}> ()
    zero = Constant <value = int64[1] {0}> ()  one = Constant <value = int64 {1}> ()
    end = Constant <value = int64 {-1}> ()
    s = Loop (times, true, none) <body = b (int64 i, bool on, seq(float[P,2]) held) => (bool go, seq(float[P,2]) more) {
        go = Identity(on)  next = Add(i, one)  to = Unsqueeze(next, zero)  row = Slice(x, zero, to, zero)
        more = SequenceInsert(held, row) }>
    y = ConcatFromSequence <axis = 0> (s)  n = SequenceLength(s)  last = SequenceAt(s, end) }"""


def test_sequence_that_grows_in_a_loop_has_its_items() -> None:
    actual = run_shapes(GROWN, x=np.zeros((9, 2), np.float32))
    inferred = shapes(GROWN, "N=9")
    assert {name: inferred.values[name].concrete for name in actual} == actual
    assert inferred.values["n"].value == 4


def test_sequence_that_grows_unknown_times_has_items_of_known_size() -> None:
    text = GROWN.replace("(float[N,2] x)", "(float[N,2] x, int64 often)").replace("Loop (times", "Loop (often")
    inferred = shapes(text.replace("row = Slice(x, zero, to, zero)", "row = Relu(x)"), "N=9")
    assert inferred.values["last"].concrete == (9, 2)
    assert inferred.values["n"].value is None
    assert inferred.values["y"].shape is not None and inferred.values["y"].shape[1] == 2
    assert inferred.contradictions == ()


def test_data_dependent_sequence_has_what_both_branches_share() -> None:
    inferred = shapes("""g (float[3,2] x, bool c) => (float[] y, int64 n) { s = SplitToSequence <axis = 0> (x)
        zero = Constant <value = int64 {0}> ()
        t = If (c) <then_branch = a () => (seq(float[P,2]) more) { more = SequenceInsert(s, x) },
            else_branch = b () => (seq(float[P,2]) less) { less = SequenceErase(s) }>
        y = SequenceAt(t, zero)  n = SequenceLength(t) }""")
    assert inferred.values["n"].value is None
    assert inferred.values["y"].shape is not None and inferred.values["y"].shape[1] == 2


def test_sequence_map_over_different_sizes_is_unrolled() -> None:
    text = """g (float[4,2] x) => (float[] y, int64 n) { parts = Constant <value = int64[3] {1, 2, 1}> ()
        s = SplitToSequence <axis = 0> (x, parts)
        t = SequenceMap (s) <body = b (float[P,2] e) => (float[P,4] wide) { wide = Concat <axis = 1> (e, e) }>
        y = ConcatFromSequence <axis = 0> (t)  n = SequenceLength(t) }"""
    actual = run_shapes(text, x=np.zeros((4, 2), np.float32))
    inferred = shapes(text)
    assert {name: inferred.values[name].concrete for name in actual} == actual
    assert inferred.values["n"].value == 3


def test_input_omitted_by_a_call_is_omitted_in_the_body() -> None:
    function = '<domain: "local", opset_import: ["" : 18]> clipped (x, low) => (y) { y = Clip(x, low) }'
    inferred = shapes("g (float[2,3] x) => (float[] y) { y = local.clipped(x) }", functions=function)
    assert inferred.values["y"].concrete == (2, 3)
    assert inferred.contradictions == ()


@pytest.mark.parametrize("op", ["If", "Loop", "Scan", "SequenceMap"])
@pytest.mark.parametrize("inputs", [0, 1, 3])
def test_control_flow_with_empty_body_is_a_contradiction(op: str, inputs: int) -> None:
    empty = onnx.GraphProto(name="empty")
    names = ["then_branch", "else_branch"] if op == "If" else ["body"]
    values = [onnx.helper.make_tensor_value_info(f"v{at}", 7, [1]) for at in range(inputs)]
    empty.input.extend(values if op != "If" else [])
    node = onnx.helper.make_node(op, [value.name for value in values], ["y"], **dict.fromkeys(names, empty))
    source = onnx.helper.make_model(
        onnx.helper.make_graph([node], "g", values, [onnx.helper.make_tensor_value_info("y", 1, None)]),
        opset_imports=[onnx.helper.make_opsetid("", 18)],
    )
    read_back = save_and_read(source)
    inferred = infer_shapes(read_back, bind(read_back, Request()))
    assert inferred.values["y"].concrete is None and inferred.steps[0].gap
