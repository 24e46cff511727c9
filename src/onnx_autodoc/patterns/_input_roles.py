"""What one input is for: a rule for each thing that can be done with it, for integers and flags and for numbers."""

import math
from collections.abc import Callable
from typing import Final

from onnx_autodoc.ir import is_float
from onnx_autodoc.ops import find
from onnx_autodoc.patterns._input_trace import KEEPING, Reach, readers_inside, uses_inside
from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._output_trace import batch, places
from onnx_autodoc.patterns._signals import signal_role
from onnx_autodoc.patterns._tracing import behind
from onnx_autodoc.patterns._words import MIXERS, RECURRENT

_ORDERED: Final = frozenset(("Gather", "GatherND", "GatherElements", "Slice", "Expand", "Tile"))  # by their others
_ANGLES: Final = frozenset(("Sin", "Cos"))
_MAPS: Final = ("linear", "mlp", "gated-mlp", "head", "conv", "conv-norm-act")
_INITIAL: Final = 4  # the inputs of a recurrent operator from here on are lengths and states
_TABULAR: Final = (
    *("Scaler", "Normalizer", "Imputer", "TreeEnsemble", "SVM"),
    *("LinearClassifier", "LinearRegressor", "OneHotEncoder"),
)
_FARTHEST: Final = 300  # values behind a mask
_OF_WORDS: Final = frozenset(("StringNormalizer", "Tokenizer", "TfIdfVectorizer", "StringSplit", "RegexFullMatch"))


def entry_role(net: Net, name: str, value: int) -> str | None:
    known = net.knowns[value]
    reach = Reach(net, value)
    if known is None or known.dtype is None:
        return None
    if known.dtype == "string":
        return "text" if reach.ops & _OF_WORDS else "category"
    rules = _OF_NUMBERS if is_float(known.dtype) or known.dtype == "uint8" else _OF_INTEGERS
    for rule in rules:
        role = rule(net, value, reach)
        if role is not None:
            return role
    return signal_role(net, name, value, reach) if rules is _OF_NUMBERS else None


# -- integers and flags


def _looked_up(net: Net, value: int, reach: Reach) -> str | None:
    """Numbers of rows in a table."""
    met = [term for term, read in reach.meets if term.op == "embedding" and read == term.inputs[0]]
    tables = [term for term in met if _is_data_of(net, term.inputs[0], value)]
    found = [term.facts.get("role") for term in tables]
    if tables and not any(_many(net, term) for term in tables) and not net.of(*MIXERS):
        return "category"
    if "token" in found:
        return "tokens"
    if not found or "CumSum" in reach.ops or is_float(_dtype(net, value)):
        return None  # positions that were counted from a mask
    return "segment" if "type" in found else "positions"


def _is_data_of(net: Net, at: int, value: int) -> bool:
    """Whether a value is another one's numbers, not only put in its order or cut to its size."""
    waiting, seen = [at], {at}
    while waiting and len(seen) < _FARTHEST:
        at = waiting.pop()
        made = net.makers[at]
        if at == value:
            return True
        if made is not None:
            given = made.inputs[:1] if made.op in _ORDERED else net.varying(made)
            waiting.extend(each for each in given if each not in seen)
            seen.update(given)
    return False


def _many(net: Net, table: Term) -> bool:
    """Whether several rows are looked up for one example: words of a text, not a column of a table."""
    count = places(net, table.outputs[0], table.facts.get("width") or 0)
    return count is None or count > 1


def _angles(net: Net, value: int, reach: Reach) -> str | None:
    """Sines and cosines that attention turns by are positions; those that a map reads are a time."""
    turned = [part for term, read in reach.meets for part in readers_inside(term, read) if part.op == "RotaryEmbedding"]
    if turned and not is_float(_dtype(net, value)):
        return "positions"
    if not is_float(_dtype(net, value)) and any(_becomes_angles(net, term) for term in reach.met("linear")):
        return "positions"
    if not reach.ops & _ANGLES:
        return None
    if reach.met("attention"):
        return "positions"
    return "timestep" if reach.met(*_MAPS) and not _many_numbers(net, value) else None


def _becomes_angles(net: Net, term: Term) -> bool:
    """The product of one number with frequencies, as rotary positions are made."""
    return term.facts.get("from") == 1 and bool(Reach(net, term.outputs[0]).ops & _ANGLES)


def _dtype(net: Net, value: int) -> str | None:
    known = net.knowns[value]
    return known.dtype if known is not None else None


def _many_numbers(net: Net, value: int) -> bool:
    return math.prod(net.shape(value) or ()) > batch(net)


def _compared_with_itself(net: Net, value: int, reach: Reach) -> str | None:
    """Whether two tokens are of the same part of a text."""
    equals = [net.varying(term) for term in reach.terms if term.op == "Equal"]
    pairs = [sides for sides in equals if len(sides) == 2 and reach.seen.issuperset(sides)]
    return "segment" if pairs and reach.meets and not reach.met("embedding") else None


def _hiding(net: Net, value: int, reach: Reach) -> str | None:
    """What decides which places attention sees, or which are summed. One number for each example is a length."""
    if reach.met(*RECURRENT) and (net.rank(value) or 0) < 2:
        return "lengths"
    if not (reach.met("attention") or reach.joins or (reach.left and _is_asked_for(net, value))):
        return None
    rank = net.rank(value)
    return "lengths" if rank is not None and rank < 2 else "mask"


def _is_asked_for(net: Net, value: int) -> bool:
    """By an operator that is told of its mask beside the data, or that wants the number of tokens instead."""
    fused = net.of("attention")
    masks = dict.fromkeys(mask for term in fused for mask in term.facts.get("masks", ()))
    made = (step for mask in masks for step in behind(net, mask, lambda _: False, _FARTHEST))
    if value in masks or any(value in step.inputs for step in made):
        return True
    return any(_counts_tokens(part) for term in fused for part in term.within())


def _counts_tokens(part: Term) -> bool:
    """An operator that wants the number of tokens instead of a mask."""
    return part.op == "attention-core" and part.facts.get("form") in ("GroupQueryAttention", "SparseAttention")


# -- real numbers


def _kept(net: Net, value: int, reach: Reach) -> str | None:
    """Keys and values of tokens before, or the state of a cell."""
    for term, read in reach.meets:
        if term.op == "attention" and is_kept(net, term, read) and _is_cache(net, term, value, reach):
            return "past state"
        if term.op == "carry" and any(net.shape(out) == net.shape(value) for out in net.leaving):
            return "state"  # what nobody hands on is none
        if term.op in RECURRENT and _is_initial(net, term, read):
            return "state"
    return None


def is_kept(net: Net, term: Term, value: int) -> bool:
    """Whether an attention takes a value for keys or values as it is: nothing projects it."""
    uses = uses_inside(net, term, value)
    return any(_is_past(part, at) for part, at in uses) and not any(part.op in _MAPS for part, _ in uses)


def _is_cache(net: Net, term: Term, value: int, reach: Reach) -> bool:
    """New tokens are put beside it; or it has heads, and what asks was projected."""
    if reach.ops & KEEPING or any(part.op in KEEPING or part.op == "attention-core" for part in term.within()):
        return True
    return (net.rank(value) or 0) > 3 and any(part.op in _MAPS for part in term.parts)


def _remembered(net: Net, value: int, reach: Reach) -> str | None:
    """Features of another text that are weighed as they are and asked as well. A cache keeps the two apart."""
    if net.rank(value) != 3 or not reach.meets or any(term.op != "attention" for term, _ in reach.meets):
        return None
    uses = [part.op for term, read in reach.meets[:1] for part, _ in uses_inside(net, term, read)]
    asked = [op for op in uses if op == "MatMul" or op in _MAPS]
    return "encoder states" if "MatMul" in uses and len(asked) > 1 and not KEEPING & set(uses) else None


def _is_past(part: Term, value: int) -> bool:
    """Joined to new keys or values, or multiplied as they are."""
    if part.op == "attention-core" and part.node is not None:
        entry = find(part.node.domain, part.node.op)
        taken = [cached.past for cached in entry.caches] if entry is not None else []
        names = [part.node.inputs[at] for at in taken if at < len(part.node.inputs)]
        return bool(any(names)) and value not in (part.facts.get(key) for key in ("queries", "keys", "values"))
    return part.op == "MatMul" or part.op in KEEPING


def _is_initial(net: Net, term: Term, value: int) -> bool:
    if term.facts.get("looped") is None:
        return value in term.inputs[_INITIAL:] and value != term.inputs[0]
    if term.facts["looped"]:
        return False  # a loop's states come in as `carry`
    dims = [dim for dim in net.shape(value) or () if dim != 1]
    return any([dim for dim in net.shape(made) or () if dim != 1] == dims for made in term.outputs)


def _carried(net: Net, value: int, reach: Reach) -> str | None:
    """A window that is handed on: joined with what is new, and an output is its end."""
    if "Concat" not in reach.ops:
        return None
    made = [out for term in reach.terms if term.op in ("Slice", "Concat", "Split") for out in term.outputs]
    alike = any(net.shape(out) == net.shape(value) for out in made if out in net.leaving)
    return "state" if alike else None


def _asked(net: Net, value: int, reach: Reach) -> str | None:
    """What cross attention projects to keys and values, and nobody else reads."""
    crossed = [term for term in reach.met("attention") if term.facts.get("cross")]
    read = [part.op for term, at in reach.meets if term in crossed for part in readers_inside(term, at)]
    return "encoder states" if crossed and "linear" in read and (net.rank(value) or 0) > 2 else None


def _added_mask(net: Net, value: int, reach: Reach) -> str | None:
    """Real numbers that are added to scores."""
    read = [part.op for term, at in reach.meets if term.op == "attention" for part in readers_inside(term, at)]
    return "mask" if read and set(read) <= {"Add", "Where", "Mul"} else None


def _column(net: Net, value: int, reach: Reach) -> str | None:
    """Columns of a table: what trees and scalers read."""
    return "features" if any(op.startswith(_TABULAR) for op in reach.ops) else None


Rule = Callable[[Net, int, Reach], "str | None"]
_OF_INTEGERS: Final[tuple[Rule, ...]] = (_looked_up, _angles, _compared_with_itself, _hiding, _column)
_OF_NUMBERS: Final[tuple[Rule, ...]] = (
    *(_looked_up, _remembered, _kept, _carried, _asked, _angles, _added_mask, _column),
)
