"""Recurrent cells: an operator of their own, or a loop's body that does what they do.

    LSTM   c' = Add(Mul(Sigmoid, c), Mul(Sigmoid, Tanh)), h' = Mul(Sigmoid, Tanh(c'))
    GRU    h' = Add(Mul(Sub(h, n), z), n), or (1 - z)·n + z·h

Counting sigmoids is not enough: both bodies may have three.
"""

from typing import Final

from onnx_autodoc.patterns._net import Fact, Net, Term
from onnx_autodoc.patterns._pattern import compiled, match

_OPERATORS: Final = {
    "LSTM": "lstm",
    "GRU": "gru",
    "RNN": "rnn",
    "DynamicQuantizeLSTM": "lstm",
    "AttnLSTM": "lstm",
}
_GATE: Final = "Sigmoid|HardSigmoid"  # the hard one is Keras's
_CELLS: Final = (
    (
        "lstm",
        f"c = Add(Mul({_GATE}(f), p), Mul({_GATE}(i), Tanh(g)))\ny = Mul({_GATE}(o), Tanh(c))",
    ),
    ("gru", f"n = Tanh(a)\ny = Add(Mul(Sub(p, n), {_GATE}(z)), n)"),
    ("gru", f"s = {_GATE}(z)\ny = Add(Mul(Sub(1, s), Tanh(a)), Mul(s, p))"),
)
_INSIDE: Final = frozenset(
    (
        "Add",
        "Mul",
        "Slice",
        "Split",
        "Sigmoid",
        "HardSigmoid",
        "Tanh",
        "linear",
        "Squeeze",
        "Gather",
        "Reshape",
        "Concat",
    )
)
_LARGEST: Final = 80  # terms of one cell


def find(net: Net) -> None:
    for term in net.of(*_OPERATORS):
        net.rename(term, _OPERATORS[term.op], **_written(term))
    for kind, text in _CELLS:
        pattern = compiled(text)
        for term in net.of(*pattern.ops):
            if net.terms.get(term.at) is term and (found := match(net, pattern, term)) is not None:
                _cell(net, kind, term, list(found.terms), found["p"])


def _written(term: Term) -> dict[str, Fact]:
    attributes = term.node.attributes if term.node is not None else {}
    direction = attributes.get("direction", "forward")
    hidden = attributes.get("hidden_size")
    return {
        "hidden": hidden if isinstance(hidden, int) else None,
        "bidirectional": direction == "bidirectional",
        "cells": 1,
    }


def _cell(net: Net, kind: str, term: Term, members: list[Term], previous: int) -> None:
    """The gates' products belong to the cell, back to what comes from outside the loop."""
    inside = dict.fromkeys(members)
    waiting = [value for each in members for value in net.varying(each)]
    while waiting and len(inside) < _LARGEST:
        made = net.makers[waiting.pop()]
        if made is None or made in inside or made.op not in _INSIDE or made.loop != term.loop:
            continue
        inside[made] = None
        if made.op != "linear":
            waiting.extend(net.varying(made))
    dims = net.shape(term.outputs[0]) or net.shape(previous)
    kept = [value for each in inside for value in each.outputs if _is_handed_on(net, value, inside)]
    outputs = list(dict.fromkeys([term.outputs[0], *kept]))
    facts = {"hidden": dims[-1] if dims else None, "bidirectional": False, "cells": 1, "looped": bool(term.loop)}
    net.merge(kind, inside, outputs, **facts)


def _is_handed_on(net: Net, value: int, inside: dict[Term, None]) -> bool:
    """A state that the next pass reads, or anything else that is read outside."""
    return value in net.leaving or any(reader not in inside for reader in net.readers[value])
