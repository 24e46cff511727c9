"""The drawing holds whatever the graph is: few boxes, no cycle, nothing lost, the same each run, bounded time."""

import os
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnx_autodoc.card import Box
from tests._corpus import graph
from tests.architecture._described import chain, described, tree_of

W = "<float[16,16] w = {" + ",".join(["0.1"] * 256) + "}>"
SECONDS = 20  # a bound, far above what any of these takes


def weighted(text: str) -> str:
    """The same graph with a weight w that its products can use."""
    return text.replace("=> (float y)\n", f"=> (float y)\n{W}\n")


@st.composite
def graphs(draw: st.DrawFn) -> str:
    """Any order of products, sums, joins and activations over what was made before."""
    names, lines = ["x"], []
    for at in range(draw(st.integers(1, 60))):
        op = draw(st.sampled_from(("MatMul", "Add", "Relu", "Mul", "Softmax", "Transpose", "LayerNorm")))
        one, other = draw(st.sampled_from(names[-6:])), draw(st.sampled_from(names))
        right = {"MatMul": f"MatMul({one}, w)", "Add": f"Add({one}, {other})", "Mul": f"Mul({one}, {other})"}
        right |= {"Relu": f"Relu({one})", "Softmax": f"Softmax({one})", "LayerNorm": f"MatMul({one}, w)"}
        right |= {"Transpose": f"Tanh({one})"}
        lines.append(f"v{at} = {right[op]}")
        names.append(f"v{at}")
    return weighted(chain([*lines, f"e = Sum({', '.join(names)})"], "e"))  # so that nothing is dead


def assert_sound(tree: Box) -> None:
    assert len(tree.children) <= 30
    for box in (tree, *tree.children):
        ids = [child.id for child in box.children]
        assert len(ids) == len(set(ids))
        assert all(edge.source in ids and edge.target in ids for edge in box.edges)
    assert_no_cycle(tree)


def assert_no_cycle(tree: Box) -> None:
    left = {box.id: sum(edge.target == box.id for edge in tree.edges) for box in tree.children}
    ready = [name for name, count in left.items() if not count]
    for name in ready:
        for edge in tree.edges:
            if edge.source == name:
                left[edge.target] -= 1
                if not left[edge.target]:
                    ready.append(edge.target)
    assert len(ready) == len(tree.children)


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_any_graph_has_a_sound_drawing(text: str) -> None:
    found = described(text)
    assert found.tree is not None
    assert_sound(found.tree)
    assert sum(box.macs or 0 for box in found.tree.children) == (found.tree.macs or 0)


def diamonds(count: int) -> str:
    lines = ["h0 = Relu(x)"]
    for at in range(count):
        lines += [f"r{at} = Tanh(h{at})", f"h{at + 1} = Add(h{at}, r{at})"]
    return chain([*lines, f"p = Softmax(h{count})"], "p")


def ladder(count: int) -> str:
    """Two rails with rungs in both directions."""
    lines = ["a0 = MatMul(x, w)", "b0 = MatMul(x, w)"]
    for at in range(count):
        lines += [f"m{at} = MatMul(a{at}, w)", f"a{at + 1} = Add(m{at}, b{at})"]
        lines += [f"n{at} = MatMul(b{at}, w)", f"b{at + 1} = Add(n{at}, a{at})"]
    return weighted(chain([*lines, f"e = Add(a{count}, b{count})"], "e"))


def nested(count: int) -> str:
    """Skips around skips around skips."""
    lines = [f"d{at + 1} = MatMul({'x' if not at else f'd{at}'}, w)" for at in range(count)]
    lines += [
        f"u{at} = Add({f'u{at + 1}' if at + 1 < count else f'd{count}'}, d{at + 1})" for at in reversed(range(count))
    ]
    return weighted(chain(lines, "u0"))


def wide(count: int) -> str:
    lines = [f"a{at} = MatMul(x, w)" for at in range(count)]
    return weighted(chain([*lines, f"c = Concat <axis = 2> ({', '.join(f'a{at}' for at in range(count))})"], "c"))


def long(count: int) -> str:
    lines = [f"v{at} = Tanh({'x' if not at else f'v{at - 1}'})" for at in range(count)]
    return chain([*lines, f"p = Softmax(v{count - 1})"], "p")


@pytest.mark.parametrize(
    "text",
    [diamonds(200), ladder(60), nested(400), wide(800), long(900)],
    ids=["diamonds before a softmax", "ladder", "skips around skips", "wide join", "900 in a row"],
)
def test_odd_graphs_take_bounded_time(text: str) -> None:
    began = time.monotonic()
    found = described(text)
    assert found.tree is not None
    assert_sound(found.tree)
    assert time.monotonic() - began < SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "g (float[2] x) => (float[2] y) { y = Identity(x) }",
        "g (float[2] x, float[2] z) => (float[2] y) { y = Identity(x) }",
        "g (float[2] x) => (float[2] y) { k = Relu(x) y = Identity(x) }",
        "g (float[2] x) => (float[2] y) { y = Constant <value = float[2] {1, 2}> () }",
    ],
    ids=["an output that is an input", "an input that nothing reads", "a node that nothing reads", "a constant"],
)
def test_a_graph_of_nothing_is_drawn_as_such(text: str) -> None:
    assert_sound(tree_of(text))


@pytest.mark.parametrize("name", ["yolov8l-nc1", "smollm2-135m-kv-op17", "slanet-table-en"])
def test_the_drawing_is_the_same_in_every_run(name: str) -> None:
    command = [sys.executable, "-m", "onnx_autodoc", str(graph(name)), "--format", "json"]
    texts = set()
    for seed in ("0", "1", "777"):
        seeded = {**os.environ, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": "0"}
        texts.add(subprocess.run(command, capture_output=True, check=True, env=seeded).stdout)
    assert len(texts) == 1


def test_unlike_units_in_a_row_are_not_folded() -> None:
    """Maps over places and maps over channels in turn (a mixer) are pairs, not so many of one."""
    lines, last = [], "x"
    for at in range(4):
        lines += [
            f"t{at} = Transpose <perm = [0, 2, 1]> ({last})",
            f"a{at} = MatMul(t{at}, p)  b{at} = Relu(a{at})  c{at} = MatMul(b{at}, q)",
            f"s{at} = Transpose <perm = [0, 2, 1]> (c{at})  h{at} = Add({last}, s{at})",
            f"d{at} = MatMul(h{at}, w)  e{at} = Relu(d{at})  f{at} = MatMul(e{at}, w)  k{at} = Add(h{at}, f{at})",
        ]
        last = f"k{at}"
    places = "float[8,4] p = {" + ",".join(["0.1"] * 32) + "}, float[4,8] q = {" + ",".join(["0.1"] * 32) + "}"
    text = weighted(chain(lines, last)).replace("<float[16,16]", f"<{places}, float[16,16]")
    folded = [box for box in tree_of(text).children if box.repeats]
    assert [(box.count, box.kind) for box in folded] == [(4, "layer")]
