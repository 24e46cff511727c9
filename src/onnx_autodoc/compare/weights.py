"""Comparison of weights tensor by tensor, by name and then by hash."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from onnx_autodoc.card import Card, Numbers
from onnx_autodoc.compare.types import Renamed, WeightsChange
from onnx_autodoc.text import format_count, pluralize

_MAX_NAMES: Final = 100
_CONSTANT_DTYPES: Final = ("int64", "bool", "string")  # shapes, axes, indices, names: not trained
_TEXTS: Final = {
    "equal": "{} equal",
    "changed": "{} with other numbers",
    "retyped": "{} in another type",
    "reshaped": "{} of another shape",
    "renamed": "{} the same under another name",
    "gone": "{} gone",
    "added": "{} added",
    "unread": "{} not read, so not compared",
}

_Key = tuple[str, int]  # name, and occurrence: subgraphs may reuse a name
_Tensors = dict[_Key, Numbers]


def weight_changes(was: Card, now: Card) -> WeightsChange | None:
    """Compare the weights; None where a card has no hashes of them."""
    if was.weights is None or now.weights is None:
        return None
    old, new = (_key_tensors(card.weights.tensors) for card in (was, now) if card.weights is not None)
    states: dict[str, list[_Key]] = defaultdict(list)
    for key in old:
        if key in new:
            states[_compare_tensors(old[key], new[key])].append(key)
    renamed = _find_renamed(old, new)
    retyped = _find_retyped(old, new, renamed)
    states["retyped"] += retyped
    states["gone"] = [key for key in old if key not in new and key not in renamed and key not in retyped]
    found = {*renamed.values(), *retyped.values()}
    states["added"] = [key for key in new if key not in old and key not in found]
    tensors = old | new
    listed = {  # constants after weights, since lists are cut
        state: sorted(keys, key=lambda key: _is_constant(tensors[key]))
        for state, keys in states.items()
        if keys and state != "equal"
    }
    states["renamed"] = list(renamed)
    return WeightsChange(
        tensors_was=len(old),
        tensors_is=len(new),
        **{state: len(states.get(state, ())) for state in _TEXTS},
        text=_describe(old, new, states),
        names={state: tuple(key[0] for key in keys[:_MAX_NAMES]) for state, keys in listed.items()},
        pairs=tuple(Renamed(was=one[0], now=two[0]) for one, two in list(renamed.items())[:_MAX_NAMES]),
    )


def _key_tensors(tensors: Iterable[Numbers]) -> _Tensors:
    occurrences = Counter[str]()
    keyed: _Tensors = {}
    for tensor in tensors:
        keyed[tensor.name, occurrences[tensor.name]] = tensor
        occurrences[tensor.name] += 1
    return keyed


def _compare_tensors(old: Numbers, new: Numbers) -> str:
    if old.dtype != new.dtype:
        return "retyped"
    if old.dims != new.dims:
        return "reshaped"
    if old.sha256 is None or new.sha256 is None:
        return "unread"
    return "equal" if old.sha256 == new.sha256 else "changed"


def _content(tensor: Numbers) -> tuple[object, ...]:
    return tensor.dtype, tensor.dims, tensor.sha256


def _find_renamed(old: _Tensors, new: _Tensors) -> dict[_Key, _Key]:
    """Pair tensors that only one side has by equal content, in file order where several are equal."""
    candidates: dict[tuple[object, ...], list[_Key]] = defaultdict(list)
    for key, tensor in reversed(new.items()):
        if key not in old and tensor.sha256 is not None:
            candidates[_content(tensor)].append(key)
    left = ((key, _content(tensor)) for key, tensor in old.items() if key not in new and tensor.sha256 is not None)
    return {key: candidates[content].pop() for key, content in left if candidates.get(content)}


def _find_retyped(old: _Tensors, new: _Tensors, renamed: dict[_Key, _Key]) -> dict[_Key, _Key]:
    """Pair tensors of equal shape by name without a suffix: quantization tools append one."""
    taken = set(renamed.values())
    left = ((key, tensor) for key, tensor in new.items() if key not in old and key not in taken)
    candidates = {(key[0].rpartition("_")[0], tensor.dims): key for key, tensor in left}
    pairs: dict[_Key, _Key] = {}
    for key, tensor in old.items():
        other = candidates.get((key[0], tensor.dims)) if key not in new and key not in renamed else None
        if other is not None and new[other].dtype != tensor.dtype:
            pairs[key] = other
    return pairs


def _is_constant(tensor: Numbers) -> bool:
    """Whether it is a scalar or holds integers: exporters write those as they please."""
    return tensor.dtype in _CONSTANT_DTYPES or not tensor.dims


def _describe(old: _Tensors, new: _Tensors, states: Mapping[str, Sequence[_Key]]) -> str:
    """One count of all tensors; constants are counted on their own where some of them differ."""
    constants = {key for key, tensor in (old | new).items() if _is_constant(tensor)}
    among = {state: len(constants.intersection(keys)) for state, keys in states.items()}
    if len(constants) == len(old | new) or not any(count for state, count in among.items() if state != "equal"):
        return _describe_counts(len(old), len(new), {state: len(keys) for state, keys in states.items()}, "tensor")
    rest = {state: len(keys) - among[state] for state, keys in states.items()}
    was, now = (sum(key not in constants for key in side) for side in (old, new))
    weights = _describe_counts(was, now, rest, "weight tensor")
    return f"{weights}. Small constants (int64, bool, single numbers): {', '.join(_list_counts(among))}"


def _describe_counts(was: int, now: int, counts: Mapping[str, int], noun: str) -> str:
    if not was and not now:
        return f"neither model holds {noun}s"
    equal = counts.get("equal", 0)
    if was == now == equal:
        return f"all {pluralize(was, noun)} equal" if was > 1 else f"the only {noun} is equal"
    if was == now == counts.get("renamed", 0):
        return f"the same numbers in all {pluralize(was, noun)}, under other names"
    same = f"{format_count(equal) if equal else 'none'} of {pluralize(was, noun)} equal"
    return "; ".join((same, *_list_counts({**counts, "equal": 0})))


def _list_counts(counts: Mapping[str, int]) -> list[str]:
    return [text.format(format_count(counts[state])) for state, text in _TEXTS.items() if counts.get(state)]
