"""Embeddings of tokens, positions and image patches, and lookups that are not embeddings."""

import numpy as np
import pytest

from onnx_autodoc.patterns.attributes import EmbeddingAttributes
from tests.patterns._attention import END, HEADS, SCORES, W
from tests.patterns._nets import Value, build_net, count_blocks, find_only, list_kinds, list_residual_kinds

ATTENTION = f"{HEADS} {SCORES} p = Softmax(s) {END}".replace("{b}", "1").replace("{s}", "6")
IDS: dict[str, Value] = {"ids": "int64[1,6]", "types": "int64[1,6]", "T": (100, 32), "P": (48, 32), "Y": (2, 32)}
BYTES = np.ones((100, 32), np.uint8)


def list_tables(body: str, **values: Value) -> list[tuple[str | None, int | None, int | None]]:
    """Return role, rows and width of each table, in order."""
    net = build_net(body, **{**IDS, **W, **values})
    return [(op.embedding.role, op.embedding.rows, op.out_features) for op in net.of("embedding")]


@pytest.mark.parametrize(
    "body",
    [
        "y = Gather(T, ids)",
        "y = Gather(T, Cast<to = 6>(ids))",
        "y = Cast<to = 1>(Gather(Cast<to = 10>(T), ids))",
        "y = DequantizeLinear(Gather(Q, ids), 0.1)",
        "y = com.microsoft.GatherBlockQuantized<block_size = 32, bits = 8>(Q, ids, S)",
        "y = MatMul(Cast<to = 1>(Equal(Unsqueeze(ids, [2]), N)), T)",
        "y = MatMul(OneHot(ids, 100, [0.0, 1.0]), T)",
    ],
)
def test_gather_of_a_table_is_an_embedding(body: str) -> None:
    net = build_net(body, **IDS, Q=BYTES, S=(100, 1), N=np.arange(100).reshape(1, 1, 100))
    embedding = find_only(net, "embedding")
    assert (embedding.embedding.role, embedding.embedding.rows, embedding.out_features) == ("token", 100, 32)
    assert embedding.inputs[0] == net.inputs["ids"]


def test_embedding_roles_follow_from_row_counts() -> None:
    """In BERT as torch exports it, positions are a slice of a constant, by the sequence length."""
    body = "n = Unsqueeze(Gather(Shape(ids), 1), [0]) at = Slice(L, [0], n, [1])"
    body += " x = Add(Add(Gather(T, ids), Gather(Y, types)), Gather(P, at))"
    net = list_tables(body + ATTENTION, L=np.arange(48).reshape(1, 48))
    assert net == [("token", 100, 32), ("type", 2, 32), ("position", 48, 32)]


def test_sums_of_embeddings_are_not_residuals() -> None:
    body = "x = Add(Add(Gather(T, ids), Gather(Y, types)), Gather(P, at))"
    net = build_net(body + ATTENTION, **IDS, **W, at="int64[1,6]")
    assert list_residual_kinds(net) == []
    assert [op.embedding.role for op in net.of("embedding")] == ["token", "type", "position"]


@pytest.mark.parametrize("at", ["Range(0, Gather(Shape(ids), 1), 1)", "Sub(CumSum(mask, 1), 1)"])
def test_counted_indices_are_positions(at: str) -> None:
    net = list_tables(f"x = Add(Gather(T, ids), Gather(P, {at}))" + ATTENTION, mask="int64[1,6]")
    assert net == [("token", 100, 32), ("position", 48, 32)]


@pytest.mark.parametrize("table", [(6, 32), (1, 6, 32)])
def test_table_added_before_attention_is_positions(table: tuple[int, ...]) -> None:
    assert list_tables("x = Add(Gather(T, ids), A)" + ATTENTION, A=table) == [("token", 100, 32), ("position", 6, 32)]


def test_bias_is_not_a_position_table() -> None:
    """A bias spans one axis, positions span two."""
    net = build_net("x = Add(MatMul(e, O), C)" + ATTENTION, e=(1, 6, 32), **W)
    assert count_blocks(net, "embedding") == 0
    net = build_net("x = Add(Add(MatMul(e, O), C), A)" + ATTENTION, e=(1, 6, 32), **W, A=(6, 32))
    assert [op.embedding.role for op in net.of("embedding")] == ["position"]


def test_table_added_to_features_is_not_an_embedding() -> None:
    """The other operand is not a sum of embeddings."""
    net = build_net("x = Add(Add(MatMul(e, O), z), A)" + ATTENTION, e=(1, 6, 32), z=(1, 6, 32), **W, A=(6, 32))
    assert count_blocks(net, "embedding") == 0


def test_table_added_after_attention_is_not_an_embedding() -> None:
    net = build_net(ATTENTION.replace("y =", "o =") + "y = Add(o, A)", x=(1, 6, 32), **W, A=(6, 32))
    assert count_blocks(net, "embedding") == 0


@pytest.mark.parametrize(
    "body",
    [
        "y = Mul(x, Cast<to = 1>(Gather(Shape(x), 1)))",  # a size
        "y = Gather(x, 0)",  # one of two rows
        "y = Gather<axis = 1>(x, 0)",  # the first token
        "y = Gather(x, at)",  # rows of data
        "y = Gather(L, at)",  # a vector
        "y = Gather(I, at)",  # a table of indices
        "y = Gather<axis = 1>(T, at)",  # columns
        "y = Gather(N, at)",  # too narrow: box corners
    ],
)
def test_other_lookups_are_not_embeddings(body: str) -> None:
    values: dict[str, Value] = {"T": (100, 32), "L": (100,), "I": np.ones((100, 32), np.int64), "N": (100, 4)}
    net = build_net(body, x=(2, 6, 32), at="int64[12]", **values)
    assert count_blocks(net, "embedding") == 0


def test_gathered_matrices_are_expert_weights() -> None:
    assert list_kinds(build_net("y = Gather(E, at)", at="int64[5]", E=(8, 16, 32))) == ["expert-weights"]


# Images

PATCHES = "t = Transpose<perm = [0, 2, 1]>(Reshape(Conv<strides = [8, 8]>(i, F, C), [1, 32, 6]))"
PICTURE: dict[str, Value] = {"i": (1, 3, 24, 16), "F": (32, 3, 8, 8)}


@pytest.mark.parametrize("before", ["", "i = Div(Sub(j, 0.5), 0.25)"])
def test_image_patches_are_one_embedding(before: str) -> None:
    values = PICTURE if not before else {"j": (1, 3, 24, 16), "F": (32, 3, 8, 8)}
    net = build_net(f"{before} {PATCHES} x = Identity(t) {ATTENTION}", **values, **W)
    block = find_only(net, "patch-embedding")
    assert (block.embedding.patch, block.out_features) == ((8, 8), 32)


def test_positions_are_added_to_patches() -> None:
    net = build_net(f"{PATCHES} x = Add(t, A) {ATTENTION}", **PICTURE, **W, A=(1, 6, 32))
    assert [op.kind for op in net][-3:-1] == ["patch-embedding", "embedding"]
    expected = EmbeddingAttributes(rows=6, out_features=32, role="position")
    assert find_only(net, "embedding").attributes == expected


def test_positions_are_added_after_the_class_token() -> None:
    body = f"{PATCHES} a = Concat<axis = 1>(N, Slice(t, [0], [5], [1])) x = Add(a, A) {ATTENTION}"
    net = build_net(body, **PICTURE, **W, A=(1, 6, 32), N=(1, 1, 32))
    assert count_blocks(net, "patch-embedding") == 1 and find_only(net, "embedding").embedding.role == "position"
    assert list_residual_kinds(net) == []


@pytest.mark.parametrize(
    "body",
    [
        "y = Conv<strides = [8, 8]>(i, F)",  # no attention anywhere
        PATCHES.replace("strides = [8, 8]", "strides = [8, 8], dilations = [1, 1]").replace("t =", "y ="),
    ],
)
def test_without_attention_there_are_no_patches(body: str) -> None:
    assert count_blocks(build_net(body, **PICTURE, **W), "patch-embedding") == 0


def test_overlapping_convolution_is_not_a_patch_embedding() -> None:
    body = PATCHES.replace("strides = [8, 8]", "strides = [4, 4], pads = [2, 2, 2, 2]").replace(
        "[1, 32, 6]", "[1, 32, 24]"
    )
    attention = ATTENTION.replace("[1, 6,", "[1, 24,")
    assert count_blocks(build_net(f"{body} x = Identity(t) {attention}", **PICTURE, **W), "patch-embedding") == 0


@pytest.mark.parametrize("before", ["Relu(Conv<pads = [1, 1, 1, 1]>(i, G))", "Add(i, Conv<pads = [1, 1, 1, 1]>(i, G))"])
def test_inner_convolution_is_not_a_patch_embedding(before: str) -> None:
    """It downsamples features; only the first convolution reads the image."""
    body = f"f = {before} {PATCHES.replace('(i, F, C)', '(f, F, C)')} x = Identity(t) {ATTENTION}"
    assert count_blocks(build_net(body, **PICTURE, **W, G=(3, 3, 3, 3)), "patch-embedding") == 0
