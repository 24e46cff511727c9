"""The diagram of any graph: at most 30 boxes, acyclic, complete, deterministic, in bounded time."""

import os
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnx_autodoc.card import Box
from tests._corpus import graph
from tests.architecture._structures import describe_text, draw_text, write_chain

W = "<float[16,16] w = {" + ",".join(["0.1"] * 256) + "}>"
MAX_SECONDS = 20  # far more than any of these takes


def add_weight(text: str) -> str:
    """Return the graph with a weight w for its products."""
    return text.replace("=> (float y)\n", f"=> (float y)\n{W}\n")


@st.composite
def random_graphs(draw: st.DrawFn) -> str:
    """Return products, sums and activations of earlier values in any order."""
    names, lines = ["x"], []
    for at in range(draw(st.integers(1, 60))):
        op = draw(st.sampled_from(("MatMul", "Add", "Relu", "Mul", "Softmax", "Transpose", "LayerNorm")))
        recent, earlier = draw(st.sampled_from(names[-6:])), draw(st.sampled_from(names))
        calls = {
            "MatMul": f"MatMul({recent}, w)",
            "Add": f"Add({recent}, {earlier})",
            "Mul": f"Mul({recent}, {earlier})",
            "Relu": f"Relu({recent})",
            "Softmax": f"Softmax({recent})",
            "LayerNorm": f"MatMul({recent}, w)",
            "Transpose": f"Tanh({recent})",
        }
        lines.append(f"v{at} = {calls[op]}")
        names.append(f"v{at}")
    return add_weight(write_chain([*lines, f"e = Sum({', '.join(names)})"], "e"))  # so that nothing is dead


def assert_is_valid(tree: Box) -> None:
    assert len(tree.children) <= 30
    for box in (tree, *tree.children):
        ids = [child.id for child in box.children]
        assert len(ids) == len(set(ids))
        assert all(edge.source in ids and edge.target in ids for edge in box.edges)
    assert_is_acyclic(tree)


def assert_is_acyclic(tree: Box) -> None:
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
@given(random_graphs())
def test_any_graph_has_a_valid_diagram(text: str) -> None:
    structure = describe_text(text)
    assert structure.tree is not None
    assert_is_valid(structure.tree)
    assert sum(box.macs or 0 for box in structure.tree.children) == (structure.tree.macs or 0)


def write_diamonds(count: int) -> str:
    lines = ["h0 = Relu(x)"]
    for at in range(count):
        lines += [f"r{at} = Tanh(h{at})", f"h{at + 1} = Add(h{at}, r{at})"]
    return write_chain([*lines, f"p = Softmax(h{count})"], "p")


def write_ladder(count: int) -> str:
    """Return two parallel chains that read each other."""
    lines = ["a0 = MatMul(x, w)", "b0 = MatMul(x, w)"]
    for at in range(count):
        lines += [f"m{at} = MatMul(a{at}, w)", f"a{at + 1} = Add(m{at}, b{at})"]
        lines += [f"n{at} = MatMul(b{at}, w)", f"b{at + 1} = Add(n{at}, a{at})"]
    return add_weight(write_chain([*lines, f"e = Add(a{count}, b{count})"], "e"))


def write_nested_skips(count: int) -> str:
    """Return nested skip connections."""
    lines = [f"d{at + 1} = MatMul({'x' if not at else f'd{at}'}, w)" for at in range(count)]
    lines += [
        f"u{at} = Add({f'u{at + 1}' if at + 1 < count else f'd{count}'}, d{at + 1})" for at in reversed(range(count))
    ]
    return add_weight(write_chain(lines, "u0"))


def write_wide_concat(count: int) -> str:
    lines = [f"a{at} = MatMul(x, w)" for at in range(count)]
    return add_weight(
        write_chain([*lines, f"c = Concat <axis = 2> ({', '.join(f'a{at}' for at in range(count))})"], "c")
    )


def write_chain_of_activations(count: int) -> str:
    lines = [f"v{at} = Tanh({'x' if not at else f'v{at - 1}'})" for at in range(count)]
    return write_chain([*lines, f"p = Softmax(v{count - 1})"], "p")


@pytest.mark.parametrize(
    "text",
    [
        write_diamonds(200),
        write_ladder(60),
        write_nested_skips(400),
        write_wide_concat(800),
        write_chain_of_activations(900),
    ],
    ids=["diamonds before a softmax", "ladder", "nested skips", "wide concat", "900 in a row"],
)
def test_irregular_graphs_take_bounded_time(text: str) -> None:
    start = time.monotonic()
    structure = describe_text(text)
    assert structure.tree is not None
    assert_is_valid(structure.tree)
    assert time.monotonic() - start < MAX_SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "g (float[2] x) => (float[2] y) { y = Identity(x) }",
        "g (float[2] x, float[2] z) => (float[2] y) { y = Identity(x) }",
        "g (float[2] x) => (float[2] y) { k = Relu(x) y = Identity(x) }",
        "g (float[2] x) => (float[2] y) { y = Constant <value = float[2] {1, 2}> () }",
    ],
    ids=["an output that is an input", "an unused input", "a dead node", "a constant"],
)
def test_graph_without_blocks_has_a_valid_diagram(text: str) -> None:
    assert_is_valid(draw_text(text))


@pytest.mark.parametrize("name", ["yolov8l-nc1", "smollm2-135m-kv-op17", "slanet-table-en"])
def test_diagram_is_deterministic(name: str) -> None:
    command = [sys.executable, "-m", "onnx_autodoc", str(graph(name)), "--format", "json"]
    texts = set()
    for seed in ("0", "1", "777"):
        seeded = {**os.environ, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": "0"}
        texts.add(subprocess.run(command, capture_output=True, check=True, env=seeded).stdout)
    assert len(texts) == 1


def test_alternating_units_are_folded_in_pairs() -> None:
    """A mixer alternates linear layers over positions and over channels."""
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
    text = add_weight(write_chain(lines, last)).replace("<float[16,16]", f"<{places}, float[16,16]")
    folded = [box for box in draw_text(text).children if box.repeats]
    assert [(box.count, box.kind) for box in folded] == [(4, "layer")]
