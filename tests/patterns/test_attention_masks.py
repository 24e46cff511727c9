"""Attention masks: causal masks in the forms of exporters, and other masks."""

import numpy as np
import pytest

from tests.patterns._attention import END, HEADS, SCORES, W, build_attention, fill_sizes
from tests.patterns._nets import Value, build_net, find_only, list_residual_kinds

LOW = -65504.0
PLACES = "n = Gather(Shape(x), 1) r = Range(0, n, 1)"
COLUMN = "c = Unsqueeze(r, [1])"
SQUARE = np.triu(np.full((6, 6), LOW, np.float32), 1)
ADDED = "p = Softmax(Add(s, m))"
CHOSEN = f"p = Softmax(Where(m, s, {LOW}))"

BACK: dict[str, tuple[str, dict[str, Value]]] = {
    "two ranges compared": (f"{PLACES} {COLUMN} m = Where(LessOrEqual(r, c), 0.0, {LOW}) {ADDED}", {}),
    "two ranges compared, picked": (f"{PLACES} {COLUMN} m = LessOrEqual(r, c) {CHOSEN}", {}),
    "two ranges compared, the other way": (f"{PLACES} {COLUMN} m = Where(Greater(r, c), {LOW}, 0.0) {ADDED}", {}),
    "and padding": (
        f"{PLACES} {COLUMN} b = And(LessOrEqual(r, c), Cast<to = 9>(h)) m = Where(b, 0.0, {LOW}) {ADDED}",
        {"h": "int64[1,1,1,6]"},
    ),
    "positions given": (
        f"{PLACES} m = Where(LessOrEqual(r, Unsqueeze(t, [2])), 0.0, {LOW}) {ADDED}",
        {"t": "int64[1,6]"},
    ),
    "running sums": (
        f"{PLACES} j = Sub(CumSum(t, 1), 1) m = Where(LessOrEqual(r, Unsqueeze(j, [2])), 0.0, {LOW}) {ADDED}",
        {"t": "int64[1,6]"},
    ),
    "a triangle": (f"m = Trilu<upper = 1>(ConstantOfShape<value = float[1] {{-65504.0}}>([6, 6]), 1) {ADDED}", {}),
    "a constant square": (f"m = Identity(T) {ADDED}", {"T": SQUARE}),
    "a constant square for batch and heads": (f"m = Identity(T) {ADDED}", {"T": SQUARE[None, None]}),
    "a constant square, picked": (f"m = Identity(T) {CHOSEN}", {"T": SQUARE == 0}),
    "a part of a constant square": (
        f"n = Unsqueeze(Gather(Shape(x), 1), [0]) m = Slice(Slice(T, [0], n, [2]), [0], n, [3]) {CHOSEN}",
        {"T": np.tri(16, dtype=bool)[None, None]},
    ),
}
AROUND: dict[str, tuple[str, dict[str, Value]]] = {
    "no mask": ("p = Softmax(s)", {}),
    "padding, added": (
        f"m = Mul(Sub(1.0, Cast<to = 1>(Unsqueeze(h, [1, 2]))), {LOW}) {ADDED}",
        {"h": "int64[1,6]"},
    ),
    "padding, picked": (f"m = Cast<to = 9>(Unsqueeze(h, [1, 2])) {CHOSEN}", {"h": "int64[1,6]"}),
    "padding, compared with a number": (
        f"m = Where(Greater(Unsqueeze(h, [1, 2]), 0), 0.0, {LOW}) {ADDED}",
        {"h": "int64[1,6]"},
    ),
    "positions compared with a number": (f"{PLACES} m = Where(GreaterOrEqual(r, 0), 0.0, {LOW}) {ADDED}", {}),
    "positions compared with the size": (f"{PLACES} m = Where(Less(r, n), 0.0, {LOW}) {ADDED}", {}),
    "a bias for each head and distance": (f"m = Identity(T) {ADDED}", {"T": (1, 4, 6, 6)}),
    "one number": (f"m = Identity(T) {ADDED}", {"T": (1,)}),
}


@pytest.mark.parametrize(("masks", "values"), BACK.values(), ids=BACK)
def test_causal_mask_makes_attention_causal(masks: str, values: dict[str, Value]) -> None:
    net = build_attention(f"{HEADS} {SCORES} {masks} {END}", **values)
    assert find_only(net, "attention").attention.causal is True
    assert list_residual_kinds(net) == []


@pytest.mark.parametrize(("masks", "values"), AROUND.values(), ids=AROUND)
def test_other_masks_are_not_causal(masks: str, values: dict[str, Value]) -> None:
    net = build_attention(f"{HEADS} {SCORES} {masks} {END}", **values)
    assert not find_only(net, "attention").attention.causal
    assert list_residual_kinds(net) == []


def test_padding_mask_is_not_causal() -> None:
    """Their number is the batch size, so they are not positions."""
    masks = f"{PLACES} m = Unsqueeze(Less(r, Unsqueeze(h, [1])), [1, 2]) {CHOSEN}"
    net = build_attention(f"{HEADS} {SCORES} {masks} {END}", 4, h="int64[4]")
    assert not find_only(net, "attention").attention.causal


def test_shifted_window_mask_is_not_causal() -> None:
    """Swin: a constant mask per window, a bias per head."""
    body = f"{HEADS} {SCORES} a = Add(s, T) m = Reshape(Add(Reshape(a, [1, 4, 4, 6, 6]), M), [4, 4, 6, 6])"
    net = build_attention(f"{body} p = Softmax(m) {END}", 4, T=(1, 4, 6, 6), M=(1, 4, 1, 6, 6))
    attention = find_only(net, "attention")
    assert not attention.attention.causal
    assert (attention.attention.heads, attention.attention.head_dim, attention.attention.relative_bias) == (4, 8, True)


def test_shared_mask_is_not_a_residual() -> None:
    """The scores of the second layer depend on it through the first layer."""
    body = f"m = Mul(Cast<to = 1>(h), {LOW})" + f"{HEADS} {SCORES} {ADDED} {END}"
    second = f"{HEADS} {SCORES} {ADDED} {END}".replace("(x,", "(y,")
    for name in "qkvsp":
        second = (
            second.replace(f"{name} =", f"{name}2 =")
            .replace(f"({name},", f"({name}2,")
            .replace(f", {name})", f", {name}2)")
        )
    second = second.replace("y =", "z =")
    net = build_net(
        fill_sizes(body + second),
        outputs="z",
        x=(1, 6, 32),
        h="int64[1,1,1,6]",
        **W,
    )
    assert [op.kind for op in net.of("attention")] == ["attention", "attention"]
    assert list_residual_kinds(net) == []
