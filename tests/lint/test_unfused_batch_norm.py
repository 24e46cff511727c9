import pytest

from tests.lint._check import check_rule

_PARAMETERS = "float[4] s = {1,1,1,1}, float[4] b = {0,0,0,0}, float[4] m = {0,0,0,0}, float[4] v = {1,1,1,1}"
_WEIGHT = "float[4, 1, 1, 1] w = {1,1,1,1}"


def graph(nodes: str, inputs: str = "", outputs: str = "float y") -> str:
    return f"g (float[1, 1, 8, 8] x{inputs}) => ({outputs}) <{_WEIGHT}, {_PARAMETERS}> {{ {nodes} }}"


def test_normalization_after_a_convolution_is_reported() -> None:
    nodes = "[conv] c = Conv(x, w) [norm] y = BatchNormalization(c, s, b, m, v)"
    (finding,) = check_rule("unfused-batch-norm", graph(nodes))
    assert finding.evidence == ("norm",)
    assert finding.message == "1 BatchNormalization node could be folded into the preceding convolution or linear layer"


@pytest.mark.parametrize(
    ("nodes", "outputs"),
    [
        ("c = Conv(x, w) r = Relu(c) y = BatchNormalization(r, s, b, m, v)", "float y"),  # not right after it
        ("c = Conv(x, w) y = BatchNormalization(c, s, b, m, v) z = Relu(c)", "float y, float z"),  # others read it
        ("c = Conv(x, w) y = BatchNormalization(c, s, b, m, v)", "float y, float c"),  # the convolution is an output
    ],
)
def test_unfoldable_normalization_is_not_reported(nodes: str, outputs: str) -> None:
    assert check_rule("unfused-batch-norm", graph(nodes, outputs=outputs)) == []


def test_weights_from_inputs_are_not_reported() -> None:
    text = graph("c = Conv(x, k) y = BatchNormalization(c, s, b, m, v)", ", float[4, 1, 1, 1] k")
    assert check_rule("unfused-batch-norm", text) == []


def test_overridable_weights_are_not_reported() -> None:
    text = graph("c = Conv(x, w) y = BatchNormalization(c, s, b, m, v)", ", float[4, 1, 1, 1] w")
    assert check_rule("unfused-batch-norm", text) == []


def test_training_normalization_is_not_reported() -> None:
    assert (
        check_rule(
            "unfused-batch-norm", graph("c = Conv(x, w) y, p, q, r, t = BatchNormalization(c, s, b, m, v)"), opset=9
        )
        == []
    )
    text = graph("c = Conv(x, w) y, p, q = BatchNormalization<training_mode = 1>(c, s, b, m, v)")
    assert check_rule("unfused-batch-norm", text) == []


def test_per_position_parameters_are_not_reported() -> None:
    sizes = "float[4, 1, 1] k = {1,1,1,1}"
    nodes = "c = Conv(x, w) y = BatchNormalization<spatial = 0>(c, k, k, k, k)"
    text = f"g (float[1, 1, 1, 1] x) => (float y) <{_WEIGHT}, {sizes}> {{ {nodes} }}"
    assert check_rule("unfused-batch-norm", text, opset=8) == []
    assert len(check_rule("unfused-batch-norm", text.replace("<spatial = 0>", ""), opset=8)) == 1


def test_quantized_weight_is_not_reported() -> None:
    stored = "int8[4, 1, 1, 1] q = {1,1,1,1}, float scale = {0.5}"
    nodes = "w = DequantizeLinear(q, scale) c = Conv(x, w) y = BatchNormalization(c, s, b, m, v)"
    text = f"g (float[1, 1, 8, 8] x) => (float y) <{stored}, {_PARAMETERS}> {{ {nodes} }}"
    assert check_rule("unfused-batch-norm", text) == []
