from tests.lint._check import check_rule

_NORM = (
    "m{0} = ReduceMean<axes=[-1]>({1}) d{0} = Sub({1}, m{0}) s{0} = Mul(d{0}, d{0}) v{0} = ReduceMean<axes=[-1]>(s{0}) "
    "e{0} = Add(v{0}, eps) r{0} = Sqrt(e{0}) q{0} = Div(d{0}, r{0}) g{0} = Mul(q{0}, gamma) {2} = Add(g{0}, beta)"
)
_CONSTANTS = "<float eps = {1e-5}, float[4] gamma = {1, 1, 1, 1}, float[4] beta = {0, 0, 0, 0}>"


def text(nodes: str) -> str:
    return f"g (float[2, 8, 4] x) => (float y) {_CONSTANTS} {{ {nodes} }}"


def test_unfused_norms_are_reported() -> None:
    nodes = f"{_NORM.format(1, 'x', 'a')} b = Tanh(a) {_NORM.format(2, 'b', 'y')}"
    (finding,) = check_rule("unfused-block", text(nodes), opset=17)
    assert finding.message == "2 layer normalizations are decomposed into small operators"
    assert (finding.evidence[0], finding.count) == ("ReduceMean_0", 18)


def test_fused_blocks_are_not_reported() -> None:
    nodes = "a = LayerNormalization(x, gamma, beta) b = Tanh(a) y = LayerNormalization(b, gamma, beta)"
    assert check_rule("unfused-block", text(nodes), opset=17) == []


def test_single_unfused_block_is_not_reported() -> None:
    nodes = f"{_NORM.format(1, 'x', 'a')} y = LayerNormalization(a, gamma, beta)"
    assert check_rule("unfused-block", text(nodes), opset=17) == []


def test_other_small_operators_are_not_reported() -> None:
    nodes = "m = ReduceMean<axes=[-1]>(x) d = Sub(x, m) a = Abs(d) n = ReduceMean<axes=[-1]>(a) y = Sub(d, n)"
    assert check_rule("unfused-block", text(nodes), opset=17) == []
