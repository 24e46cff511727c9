from tests.lint._judged import found


def text(dims: str) -> str:
    nodes = "[conv] c = Conv<pads=[1, 1, 1, 1]>(x, w) [act] y = Relu(c)"
    zeros = ", ".join(["0"] * 72)
    return f"g (float[{dims}] x) => (float y) <float[8, 1, 3, 3] w = {{{zeros}}}> {{ {nodes} }}"


def test_values_far_above_the_weights_are_found_with_the_sizes_they_hold_for() -> None:
    (finding,) = found("large-activations", text("batch, 1, 1024, 1024"), "batch=2")
    assert finding.message == "activations peak at 128 MiB, 466,034 times the 288 bytes of weights at batch = 2"
    assert finding.evidence == ("act",)


def test_sizes_that_the_file_fixes_need_no_words() -> None:
    (finding,) = found("large-activations", text("2, 1, 1024, 1024"))
    assert finding.message == "activations peak at 128 MiB, 466,034 times the 288 bytes of weights"


def test_few_bytes_are_not_much_however_small_the_weights() -> None:
    assert found("large-activations", text("1, 1, 512, 512")) == []


def test_a_model_without_weights_is_not_compared_with_them() -> None:
    assert found("large-activations", "g (float[64, 1024, 1024] x) => (float y) { y = Relu(x) }") == []
