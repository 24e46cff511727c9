from tests.lint._check import check_rule


def test_tensor_beyond_64_bits_is_an_error() -> None:
    memory, work = check_rule(
        "impossible-size",
        f"g (float[{1 << 62}, 4] x) => (float y) {{ y = Relu(x) }}",
    )
    assert memory.message == "activations peak at more than 2^63 - 1 bytes"
    assert (memory.severity, memory.evidence) == ("error", ("x", "y"))
    assert work.message == "a run takes more than 2^63 - 1 FLOPs and bytes moved"
    assert work.severity == "warning"


def test_requested_size_is_in_the_message() -> None:
    memory, _ = check_rule("impossible-size", "g (float[n, 64] x) => (float y) { y = Relu(x) }", f"n={10**17}")
    assert memory.message == "activations peak at more than 2^63 - 1 bytes at n = 100000000000000000"


def test_work_beyond_64_bits_is_a_warning_that_names_the_node() -> None:
    side = 1 << 24  # the tensors have 2^50 bytes, the product has 2^72 MACs
    (work,) = check_rule(
        "impossible-size", f"g (float[{side}, {side}] x) => (float y) {{ [product] y = MatMul(x, x) }}"
    )
    assert (work.message, work.evidence) == ("a run takes more than 2^63 - 1 FLOPs", ("product",))


def test_sizes_within_64_bits_are_not_reported() -> None:
    side = 1 << 20
    assert check_rule("impossible-size", f"g (float[{side}, {side}] x) => (float y) {{ y = MatMul(x, x) }}") == []
