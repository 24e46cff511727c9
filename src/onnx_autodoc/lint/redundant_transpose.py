"""A transpose is undone by the next one, or could be one with it.

Why it matters: each one reads and writes the whole tensor to put the same numbers in another order. Between two that
undo each other there is nothing that needs that order. Converters between channels-first and channels-last leave them
behind.

What to do: save what onnxruntime's offline optimization makes of the file (SessionOptions.optimized_model_filepath;
its transpose optimizer cancels them), run onnxsim for those that follow right after each other, or export in one
layout (tf2onnx: --inputs-as-nchw for picture inputs).

Between the two may stand nodes that take each number by itself, with one reader each. Axes of size 1 that merely look
turned are not judged.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._waste import outside_functions
from onnx_autodoc.ops import judged, kinds
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.NOTE


def check(case: Case) -> Iterator[Found]:
    pairs = [
        (first, spot) for spot in outside_functions(case, case.of(kinds.TURN)) if (first := _before(spot)) is not None
    ]
    undone = [spot for first, spot in pairs if _undo(first, spot)]
    joined = [spot for first, spot in pairs if not _undo(first, spot) and first.only_reader() is spot]
    told = [f"{plural(len(undone), 'transpose')} {_verb(undone, 'undo')} an earlier one"] if undone else []
    if joined:
        told.append(f"{plural(len(joined), 'transpose')} could be one with the transpose before")
    if told:
        yield Found(", ".join(told), tuple(spot.path for spot in undone + joined))


def _verb(spots: list[Spot], word: str) -> str:
    return word + "es" if len(spots) == 1 else word


def _before(spot: Spot) -> Spot | None:
    """The transpose that this one follows, right away or after nodes that do not mind the order of axes."""
    if not spot.node.inputs or spot.scope.is_fixed(spot.node.inputs[0]):
        return None
    found, reader = next(spot.makers(), None), spot
    while found is not None and _by_itself(found) and found.only_reader() is reader:
        reader = found
        found = _data_maker(reader)
    if found is None or found.node.op != kinds.TURN or found.node.domain:
        return None
    return found if reader is spot or found.only_reader() is reader else None


def _by_itself(spot: Spot) -> bool:
    if spot.node.domain or not spot.node.inputs:
        return False
    return spot.node.op in judged.UNARY or (spot.node.op in judged.WITH_SCALARS and len(_wide(spot)) == 1)


def _wide(spot: Spot) -> list[str]:
    """The inputs that have axes; a number alone is the same whichever way its neighbour is turned."""
    pairs = zip(spot.node.inputs, spot.step.inputs)
    return [name for name, known in pairs if name and not (known is not None and known.shape == ())]


def _data_maker(spot: Spot) -> Spot | None:
    name = spot.node.inputs[0] if spot.node.op in judged.UNARY else _wide(spot)[0]
    return spot.scope.maker(name)


def _order(spot: Spot) -> tuple[int, ...] | None:
    """Where each axis of the output comes from; all turned around if the node does not say."""
    named, known = spot.node.attributes.get("perm"), spot.input(0)
    if isinstance(named, tuple):
        return tuple(at for at in named if isinstance(at, int))
    return tuple(reversed(range(len(known.shape)))) if known is not None and known.shape is not None else None


def _undo(first: Spot, second: Spot) -> bool:
    one, other = _order(first), _order(second)
    if one is None or other is None or len(one) != len(other) or sorted(one) != sorted(other):
        return False
    return all(one[at] == place for place, at in enumerate(other))
