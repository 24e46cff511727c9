from tests.lint._check import check_rule


def test_open_dimensions_of_inputs_are_reported() -> None:
    (finding,) = check_rule(
        "dynamic-input", "g (float[batch, 3, height, 4] x, float[batch] z) => (float y) { y = Relu(x) }"
    )
    assert finding.message == "the inputs have 2 dynamic dimensions: batch, height"
    assert finding.evidence == ("x", "z")


def test_fixed_sizes_are_not_reported() -> None:
    assert check_rule("dynamic-input", "g (float[1, 3, 8, 4] x) => (float[n, m] y) { y = Flatten(x) }") == []


def test_size_of_0_is_not_reported() -> None:
    assert check_rule("dynamic-input", "g (float[0, 3] x) => (float[0, 3] y) { y = Relu(x) }") == []
