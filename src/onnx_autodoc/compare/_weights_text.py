"""The sentence on weights: what was learned first, then the small constants, which exporters write as they please."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from onnx_autodoc.text import count, plural


class Tensor(Protocol):
    """What is read off a card of a tensor. `sha256` is None where `unread` says why."""

    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str | None: ...
    @property
    def dims(self) -> tuple[int, ...]: ...
    @property
    def sha256(self) -> str | None: ...


Key = tuple[str, int]
_STEERING: Final = ("int64", "bool", "string")  # shapes, axes, indices, names: nobody trains them
_TEXTS: Final = {
    "changed": "{} with other numbers",
    "retyped": "{} in another type",
    "reshaped": "{} of another shape",
    "renamed": "{} the same under another name",
    "gone": "{} gone",
    "added": "{} added",
    "unread": "{} not read, so not compared",
}


def is_constant(tensor: Tensor) -> bool:
    """A single number or a list of integers: "other numbers" in it is no news of the weights."""
    return tensor.dtype in _STEERING or not tensor.dims


def sentence(old: dict[Key, Tensor], new: dict[Key, Tensor], sorts: Mapping[str, Sequence[Key]]) -> str:
    """One count of all tensors; two where small constants differ, lest these pass for weights."""
    small = {key for key, tensor in (old | new).items() if is_constant(tensor)}
    among = {sort: len(small.intersection(keys)) for sort, keys in sorts.items()}
    if not any(among.get(sort) for sort in _TEXTS) or len(small) == len(old | new):
        return _said(len(old), len(new), {sort: len(keys) for sort, keys in sorts.items()}, "tensor")
    rest = {sort: len(keys) - among[sort] for sort, keys in sorts.items()}
    sides = [sum(key not in small for key in side) for side in (old, new)]
    weights = _said(sides[0], sides[1], rest, "weight tensor")
    return f"{weights}. Small constants (int64, bool, single numbers): {', '.join(_parts(among, True))}"


def _said(was: int, now: int, counts: Mapping[str, int], noun: str) -> str:
    if not was and not now:
        return f"neither model holds {noun}s"
    equal = counts.get("equal", 0)
    if was == now == equal:
        return f"all {plural(was, noun)} equal" if was > 1 else f"the only {noun} is equal"
    if was == now == counts.get("renamed", 0):
        return f"the same numbers in all {plural(was, noun)}, under other names"
    same = f"{count(equal) if equal else 'none'} of {plural(was, noun)} equal"
    return "; ".join((same, *_parts(counts, False)))


def _parts(counts: Mapping[str, int], equal: bool) -> list[str]:
    texts = {"equal": "{} equal"} | _TEXTS if equal else _TEXTS
    return [text.format(count(counts[sort])) for sort, text in texts.items() if counts.get(sort)]
