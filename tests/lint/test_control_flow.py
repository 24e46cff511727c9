from tests.lint._check import check_rule

_BRANCHES = (
    "<then_branch = t () => (float a) { a = Neg(x) }, else_branch = e () => (float b) { b = Exp(x) }>"  # of one size
)


def test_branches_and_loops_are_reported() -> None:
    text = f"""g (float[2] x, bool c, int64 n) => (float y, float z) {{ [if] y = If (c) {_BRANCHES}
        [loop] z = Loop (n, c, x) <body = l (int64 i, bool k, float[2] v) => (bool k2, float[2] w) {{
            k2 = Identity(k) w = Neg(v) }}> }}"""
    (finding,) = check_rule("control-flow", text)
    assert finding.message == "the graph contains 2 control-flow nodes: 1 If, 1 Loop"
    assert finding.evidence == ("if", "loop")


_SIZED = f"""g (float[n] x) => (float y) <int64[1] one = {{1}}> {{
    s = Shape(x) q = Equal(s, one) c = Squeeze(q) [if] y = If (c) {_BRANCHES} }}"""


def test_condition_on_sizes_is_a_separate_finding() -> None:
    (finding,) = check_rule("control-flow", _SIZED, "n=4")
    assert finding.message == "1 If node has a condition that depends only on sizes and constants"
    assert (finding.evidence, finding.about) == (("if",), "conditions of sizes")
    assert "make_dynamic_shape_fixed" in finding.recommendation


def test_nodes_of_an_untaken_branch_are_not_listed() -> None:
    text = f"""g (float[2] x, bool k) => (float y) <bool no = {{0}}> {{ [outer] y = If (no) <
        then_branch = t0 () => (float a0) {{ a0 = If (k) {_BRANCHES} }},
        else_branch = e0 () => (float b0) {{ b0 = Neg(x) }}> }}"""
    (finding,) = check_rule("control-flow", text)
    assert finding.evidence == ("outer",)


def test_graph_without_control_flow_is_not_reported() -> None:
    assert check_rule("control-flow", "g (float[2] x, bool[2] c) => (float y) { a = Neg(x) y = Where(c, x, a) }") == []


def test_recommendation_without_dynamic_sizes_has_none_to_fix() -> None:
    (finding,) = check_rule(
        "control-flow", f"g (float[2] x) => (float y) <bool c = {{1}}> {{ y = If (c) {_BRANCHES} }}"
    )
    assert finding.recommendation.startswith("Fold the conditions with onnxsim")
