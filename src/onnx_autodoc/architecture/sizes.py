"""The sizes that people know a model by, each read off the blocks: layers, hidden size, heads, vocabulary, context."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from onnx_autodoc.patterns import Net, Term, words

_FFN: Final = ("mlp", "gated-mlp", "moe")


class Sizes(Struct, frozen=True):
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    vocab: int | None = None
    context: int | None = None
    patch: tuple[int, ...] | None = None


def sizes(net: Net, family: str) -> Sizes:
    attending = net.of("attention")
    own = [term for term in attending if not term.facts.get("cross")] or attending
    tokens = [term for term in net.of("embedding") if term.facts.get("role") == "token"]
    places = [term for term in net.of("embedding") if term.facts.get("role") == "position"]
    patches = net.of("patch-embedding")
    return Sizes(
        layers=_layers(net) if family != "cnn" else None,
        hidden=_hidden(net, own),
        heads=_usual(term.facts.get("heads") for term in own),
        kv_heads=_usual(term.facts.get("kv_heads") for term in own),
        head_dim=_usual(term.facts.get("head_dim") for term in own),
        vocab=max((term.facts["rows"] for term in tokens if term.facts["rows"]), default=None),
        context=_usual(term.facts.get("rows") for term in places),
        patch=patches[0].facts["patch"] if patches else None,
    )


def _usual(numbers: Iterable[int | None]) -> int | None:
    """The most frequent one."""
    counts = Counter(number for number in numbers if number is not None)
    return counts.most_common(1)[0][0] if counts else None


def _layers(net: Net) -> int | None:
    """How many skips go around something that mixes places; else around a map; else recurrent layers on one way."""
    units = [terms for end, terms in net.skips.items() if end.facts["skip"] == "add"]
    mixing = [term for terms in units for term in terms if _mixes(term)]
    if mixing:
        return len(dict.fromkeys(mixing))
    cells = net.of(*words.RECURRENT)
    if cells:
        return min(_depth(net), len({_learned(net, term) for term in cells}))
    maps = [[term for term in terms if term.op in _FFN] for terms in units]
    inner = [found for found in maps if found]
    return len(inner) // _period([_width(found[0]) for found in inner]) if inner else None


def _learned(net: Net, term: Term) -> tuple[int, ...]:
    """The weights of a cell: one that is written out for every step is one all the same."""
    return tuple(sorted(value for value in term.inputs if net.fixed[value] and value in net.weights))


def _depth(net: Net) -> int:
    """The most recurrent layers on one way; both directions of one stand side by side."""
    depth: dict[int, int] = {}
    for term in net:
        behind = max((depth.get(value, 0) for value in term.inputs), default=0)
        depth.update(dict.fromkeys(term.outputs, behind + (term.op in words.RECURRENT)))
    return max(depth.values(), default=0)


def _mixes(term: Term) -> bool:
    return term.op == "attention" and not term.facts.get("cross")


def _width(term: Term) -> object:
    return term.op, term.facts.get("from"), term.facts.get("inner")


def _period(marks: list[object]) -> int:
    """After how many units they come again (tokens mixed, then channels)."""
    for period in range(1, len(marks) // 2 + 1):
        if marks == (marks[:period] * len(marks))[: len(marks)]:
            return period
    return 1


def _hidden(net: Net, attending: list[Term]) -> int | None:
    """How wide the trunk is: what attention hands back to it; the state of recurrent cells; what skips add up."""
    wide = _usual(term.facts["width"] for term in attending)
    if wide is not None:
        return wide
    cells = _usual(term.facts.get("hidden") for term in net.of(*words.RECURRENT))
    return cells if cells is not None else _usual(_mapped(net))


def _mapped(net: Net) -> list[int | None]:
    """The widths of skips around maps."""
    ends = [end for end, terms in net.skips.items() if any(term.op in _FFN for term in terms)]
    return [dims[-1] for end in ends if (dims := net.shape(end.outputs[0]))]
