import onnx

from tests._text import proto
from tests.lint._check import check_rule


def test_weights_that_no_node_reads_are_reported() -> None:
    many = ",".join("1" * 300)
    text = f"g (float[2] x) => (float y) <float[2] w = {{1,2}}, float[300] old = {{{many}}}> {{ y = Add(x, w) }}"
    (finding,) = check_rule("unused-weight", text)
    assert finding.message == "1 initializer with 1.17 KiB (>99% of all) is read by no node"
    assert (finding.evidence, finding.severity) == (("old",), "note")


def test_small_unused_weights_are_info() -> None:
    text = "g (float[2] x) => (float y) <float[2] w = {1,2}, float[6] old = {1,2,3,4,5,6}> { y = Add(x, w) }"
    (finding,) = check_rule("unused-weight", text)
    assert finding.message == "1 initializer with 24 bytes (75% of all) is read by no node"
    assert finding.severity == "info"


_BRANCH = """g (float[2] x, bool c) => (float y) <float[2] w = {1,2}, float[2] v = {1,2}> {
    y = If (c) <
        then_branch = t () => (float a) { a = If (c) <
            then_branch = tt () => (float b) { b = Add(x, w) },
            else_branch = te () => (float d) { d = Identity(v) }> },
        else_branch = e () => (float h) <float[1] inner = {1}> { h = Identity(x) }>
}"""


def test_weight_read_in_a_nested_branch_is_used() -> None:
    (finding,) = check_rule("unused-weight", _BRANCH)
    assert finding.evidence == ("inner",)  # the one in the branch itself


def test_weight_that_is_an_output_is_used() -> None:
    assert (
        check_rule("unused-weight", "g (float[2] x) => (float y, float[2] w) <float[2] w = {1,2}> { y = Relu(x) }")
        == []
    )


def test_string_weights_have_no_size_in_the_message() -> None:
    model_proto = proto("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    model_proto.graph.initializer.append(onnx.helper.make_tensor("words", onnx.TensorProto.STRING, [2], [b"a", b"b"]))
    (finding,) = check_rule("unused-weight", model_proto)
    assert finding.message == "1 initializer is read by no node"
