"""Comparison of weights tensor by tensor, by name and then by hash."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from onnx_autodoc.card import Card, Numbers
from onnx_autodoc.compare.sections import number_repeats
from onnx_autodoc.compare.types import Renamed, WeightsChange
from onnx_autodoc.text import format_count, pluralize

_MAX_NAMES: Final = 100
_CONSTANT_DTYPES: Final = ("int64", "bool", "string")  # shapes, axes, indices, names: not trained
_TEXTS: Final = {
    "equal": "{} equal",
    "changed": "{} with different values",
    "retyped": "{} with a different type",
    "reshaped": "{} with a different shape",
    "renamed": "{} renamed",
    "gone": "{} removed",
    "added": "{} added",
    "unread": "{} not read, so not compared",
}

_Key = tuple[str, int]  # name, and number of earlier tensors with that name: subgraphs may reuse a name
_Tensors = dict[_Key, Numbers]


def weight_changes(was: Card, now: Card) -> WeightsChange | None:
    """Compare the weights; None where a card has no hashes of them."""
    if was.weights is None or now.weights is None:
        return None
    old, new = (number_repeats(side.tensors, lambda tensor: tensor.name) for side in (was.weights, now.weights))
    states: dict[str, list[_Key]] = defaultdict(list)
    for key in old:
        if key in new:
            states[_compare_tensors(old[key], new[key])].append(key)
    renamed = _find_renamed(old, new)
    retyped = _find_retyped(old, new, renamed)
    states["retyped"] += retyped
    states["gone"] = [key for key in old if key not in new and key not in renamed and key not in retyped]
    matched = {*renamed.values(), *retyped.values()}
    states["added"] = [key for key in new if key not in old and key not in matched]
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
        pairs=tuple(Renamed(before[0], after[0]) for before, after in list(renamed.items())[:_MAX_NAMES]),
    )


def _compare_tensors(old: Numbers, new: Numbers) -> str:
    if old.dtype != new.dtype:
        return "retyped"
    if old.dims != new.dims:
        return "reshaped"
    if old.sha256 is None or new.sha256 is None:
        return "unread"
    return "equal" if old.sha256 == new.sha256 else "changed"


def _find_renamed(old: _Tensors, new: _Tensors) -> dict[_Key, _Key]:
    """Pair tensors that only one side has by equal content, in file order where several are equal."""
    unpaired_old, unpaired_new = (
        [(key, (tensor.dtype, tensor.dims, tensor.sha256)) for key, tensor in side.items() if key not in others]
        for side, others in ((old, new), (new, old))
    )
    candidates = defaultdict(list)
    for key, content in reversed(unpaired_new):
        candidates[content].append(key)
    hashed = ((key, content) for key, content in unpaired_old if content[-1] is not None)
    return {key: candidates[content].pop() for key, content in hashed if candidates.get(content)}


def _find_retyped(old: _Tensors, new: _Tensors, renamed: dict[_Key, _Key]) -> dict[_Key, _Key]:
    """Pair tensors of equal shape by name without a suffix: quantization tools append one."""
    matched = {*old, *renamed.values()}
    candidates = {(key[0].rpartition("_")[0], tensor.dims): key for key, tensor in new.items() if key not in matched}
    unpaired = (key for key in old if key not in new and key not in renamed)
    pairs = {key: candidates[name] for key in unpaired if (name := (key[0], old[key].dims)) in candidates}
    return {key: match for key, match in pairs.items() if new[match].dtype != old[key].dtype}


def _is_constant(tensor: Numbers) -> bool:
    """Whether it is a scalar or holds integers: exporters differ in how they write those."""
    return tensor.dtype in _CONSTANT_DTYPES or not tensor.dims


def _describe(old: _Tensors, new: _Tensors, states: Mapping[str, Sequence[_Key]]) -> str:
    """Return one count of all tensors, or one of weights and one of constants where some constants differ."""
    constants = {key for key, tensor in (old | new).items() if _is_constant(tensor)}
    among = {state: len(constants.intersection(keys)) for state, keys in states.items()}
    if len(constants) == len(old | new) or not any(count for state, count in among.items() if state != "equal"):
        return _describe_counts(len(old), len(new), {state: len(keys) for state, keys in states.items()}, "tensor")
    rest = {state: len(keys) - among[state] for state, keys in states.items()}
    was, now = (sum(key not in constants for key in side) for side in (old, new))
    weights = _describe_counts(was, now, rest, "weight tensor")
    return f"{weights}. Small constants (int64, bool, scalars): {', '.join(_list_counts(among))}"


def _describe_counts(was: int, now: int, counts: Mapping[str, int], noun: str) -> str:
    if not was and not now:
        return f"neither model has {noun}s"
    equal = counts.get("equal", 0)
    if was == now == equal:
        return f"all {pluralize(was, noun)} equal" if was > 1 else f"the only {noun} is equal"
    if was == now == counts.get("renamed", 0):
        return f"equal values in all {pluralize(was, noun)}, under different names"
    same = f"{format_count(equal) if equal else 'none'} of {pluralize(was, noun)} equal"
    return "; ".join((same, *_list_counts({**counts, "equal": 0})))


def _list_counts(counts: Mapping[str, int]) -> list[str]:
    return [text.format(format_count(counts[state])) for state, text in _TEXTS.items() if counts.get(state)]
