"""Alike groups in a row become one with a count: found by structure, whatever the file calls its layers."""

from typing import Final

from onnx_autodoc.architecture._diagram_groups import Group, Sketch
from onnx_autodoc.architecture._names import transformer_kind
from onnx_autodoc.patterns import Term, words

_LONGEST_PERIOD: Final = 8


def fold(sketch: Sketch) -> None:
    for chain in chains(sketch):
        _fold_chain(sketch, chain)
    for chain in chains(sketch):
        _single_layers(sketch, chain)
    sketch.relevel()


def _single_layers(sketch: Sketch, chain: list[Group]) -> None:
    """A layer that comes but once: a mixer, then a map, norms between and after them."""
    at = 0
    while at < len(chain):
        end = _layer_end(chain, at)
        if end and not sketch.leads_back(chain[at:end]):
            _join(sketch, chain[at:end], end - at)
        at = end or at + 1


def _layer_end(chain: list[Group], at: int) -> int:
    """Where a layer that begins here ends; 0 if none begins."""
    if chain[at].kind != "attention-block":
        return 0
    for end in range(at + 1, min(at + 6, len(chain))):
        if chain[end].kind == "mlp-block" and chain[end].count == 1:
            normed = end + 1 < len(chain) and chain[end - 1].kind in words.NORMS and chain[end + 1].kind in words.NORMS
            return end + 1 + normed
        if chain[end].kind not in (*words.NORMS, "attention-block") or chain[end].count > 1:
            return 0
    return 0


def chains(sketch: Sketch) -> list[list[Group]]:
    """Groups in a row, each the only one that goes on from the one before; what comes from farther off is no matter."""
    before, _ = sketch.links()
    main = {group: givers[0] for group, givers in before.items() if givers}
    heirs: dict[Group, list[Group]] = {}
    for group, giver in main.items():
        heirs.setdefault(giver, []).append(group)
    found: list[list[Group]] = []
    inside: dict[Group, list[Group]] = {}
    for group in sketch.groups:
        last = main.get(group)
        if last is not None and len(heirs[last]) == 1 and last in inside:
            inside[last].append(group)
            inside[group] = inside[last]
        else:
            inside[group] = [group]
            found.append(inside[group])
    return found


def _fold_chain(sketch: Sketch, chain: list[Group]) -> None:
    marks = [_mark(sketch, group) for group in chain]
    at = 0
    while at < len(chain):
        period, times = _best(marks, at)
        if times > 1 and not sketch.leads_back(chain[at : at + period * times]):
            _join(sketch, chain[at : at + period * times], period)
        at += max(period * times, 1)


def _mark(sketch: Sketch, group: Group) -> tuple[object, ...]:
    """Groups of one mark are alike: kind, size of the result, and what they read from afar."""
    dims = sketch.net.shape(group.value)
    kind = "ffn" if group.kind in ("mlp-block", "moe") else group.kind
    if group.skip == "concat" and dims is not None:
        dims = dims[2:]  # such units widen what they are given
    crossed = sum(bool(term.facts.get("cross")) for term in group.terms)
    return kind, dims, crossed, _widths(group), frozenset(id(each) for each in sketch.givers(group)[1:])


def _widths(group: Group) -> tuple[object, ...]:
    """The sizes of what has weights, but for projections at the side of a skip: only the first of a stage has one."""
    maps = sorted(_told(term, "inner", "activation") for term in group.terms if term.op in ("mlp", "gated-mlp"))
    heads = sorted(_told(term, "heads", "kv_heads", "head_dim") for term in group.terms if term.op == "attention")
    gates = sum(term.op == "squeeze-excite" for term in group.terms)
    kernels = sorted((max(term.facts.get("kernel") or (1,), default=1), _told(term, "act")) for term in group.terms)
    return *maps, *heads, gates, *(kernel for kernel in kernels if kernel[0] > 1)


def _told(term: Term, *names: str) -> str:
    return str([term.facts.get(name) for name in names])


def _best(marks: list[tuple[object, ...]], at: int) -> tuple[int, int]:
    """The period that covers most from here on, and how often it comes; the shorter one of two."""
    best = (1, 1)
    for period in range(1, min(_LONGEST_PERIOD, (len(marks) - at) // 2) + 1):
        times = 1
        while marks[at : at + period] == marks[at + period * times : at + period * (times + 1)]:
            times += 1
        if times > 1 and period * times > best[0] * best[1]:
            best = (period, times)
    return best


def _join(sketch: Sketch, groups: list[Group], period: int) -> None:
    """One group for all of them, with the last turn as its children: the first may widen or shrink what it is given."""
    last = groups[-period:]
    terms = [term for group in groups for term in group.terms]
    one = [term for group in last for term in group.terms]
    mixes = any(term.op in words.MIXERS for term in one)
    kind = last[0].kind if period == 1 else transformer_kind(one) if mixes else "layer"
    folded = Group(kind, terms, groups[0].level, tuple(last) if period > 1 or last[0].skip else last[0].children)
    folded.count, folded.around, folded.value = len(groups) // period, groups[0].around, groups[-1].value
    turns = [groups[at : at + period] for at in range(0, len(groups), period)]
    folded.turns = [[term for group in turn for term in group.terms] for turn in turns]
    sketch.replace(groups, folded)
