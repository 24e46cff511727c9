from tests.lint._judged import found


def test_open_dimensions_of_inputs_are_found() -> None:
    (finding,) = found("dynamic-input", "g (float[batch, 3, height, 4] x, float[batch] z) => (float y) { y = Relu(x) }")
    assert finding.message == "2 dimensions of the inputs are open: batch, height"
    assert finding.evidence == ("x", "z")


def test_sizes_that_are_fixed_are_not() -> None:
    assert found("dynamic-input", "g (float[1, 3, 8, 4] x) => (float[n, m] y) { y = Flatten(x) }") == []


def test_a_size_of_0_is_not_called_open() -> None:
    assert found("dynamic-input", "g (float[0, 3] x) => (float[0, 3] y) { y = Relu(x) }") == []
