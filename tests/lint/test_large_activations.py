from tests.lint._check import check_rule


def text(dims: str) -> str:
    nodes = "[conv] c = Conv<pads=[1, 1, 1, 1]>(x, w) [act] y = Relu(c)"
    zeros = ", ".join(["0"] * 72)
    return f"g (float[{dims}] x) => (float y) <float[8, 1, 3, 3] w = {{{zeros}}}> {{ {nodes} }}"


def test_large_activations_are_reported_with_their_sizes() -> None:
    (finding,) = check_rule("large-activations", text("batch, 1, 1024, 1024"), "batch=2")
    assert finding.message == "activations peak at 128 MiB, 466,034 times the 288 bytes of weights at batch = 2"
    assert finding.evidence == ("act",)


def test_fixed_sizes_are_not_in_the_message() -> None:
    (finding,) = check_rule("large-activations", text("2, 1, 1024, 1024"))
    assert finding.message == "activations peak at 128 MiB, 466,034 times the 288 bytes of weights"


def test_small_activations_are_not_reported() -> None:
    assert check_rule("large-activations", text("1, 1, 512, 512")) == []


def test_model_without_weights_is_not_reported() -> None:
    assert check_rule("large-activations", "g (float[64, 1024, 1024] x) => (float y) { y = Relu(x) }") == []
