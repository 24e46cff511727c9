"""Whether the numbers in the weights are the same: tensor by tensor, by name and then by hash."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from onnx_autodoc.diff._types import Renamed, WeightsChange
from onnx_autodoc.document import Card
from onnx_autodoc.say import count, plural

MOST_NAMES: Final = 100


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


def tensors_of(card: Card) -> Sequence[Tensor] | None:
    """The tensors of a card; None where its weights were not read."""
    return None if card.weights is None else card.weights.tensors


def weight_changes(was: Card, now: Card) -> WeightsChange | None:
    """None where one of the cards has no hashes."""
    old, new = tensors_of(was), tensors_of(now)
    return None if old is None or new is None else _compared(_keyed(old), _keyed(new))


def _keyed(tensors: Iterable[Tensor]) -> dict[Key, Tensor]:
    """By name; graphs inside of nodes may use one again, and then it counts which."""
    turns = Counter[str]()
    found: dict[Key, Tensor] = {}
    for tensor in tensors:
        found[tensor.name, turns[tensor.name]] = tensor
        turns[tensor.name] += 1
    return found


def _compared(old: dict[Key, Tensor], new: dict[Key, Tensor]) -> WeightsChange:
    sorts: dict[str, list[str]] = defaultdict(list)
    for key in old:
        if key in new:
            sorts[_sort(old[key], new[key])].append(key[0])
    pairs = _renamed(old, new)
    turned = _converted(old, new, pairs)
    sorts["retyped"] += [key[0] for key in turned]
    known = {*pairs, *turned}, {*pairs.values(), *turned.values()}
    sorts["gone"] = [key[0] for key in old if key not in new and key not in known[0]]
    sorts["added"] = [key[0] for key in new if key not in old and key not in known[1]]
    counts = {sort: len(names) for sort, names in sorts.items()}
    counts["renamed"] = len(pairs)
    return WeightsChange(
        tensors_was=len(old),
        tensors_is=len(new),
        **{sort: counts.get(sort, 0) for sort in _SORTS},
        text=_said(len(old), len(new), counts),
        names={sort: tuple(names[:MOST_NAMES]) for sort, names in sorts.items() if names and sort != "equal"},
        pairs=tuple(Renamed(was=one[0], now=two[0]) for one, two in list(pairs.items())[:MOST_NAMES]),
    )


_SORTS: Final = ("equal", "changed", "retyped", "reshaped", "renamed", "added", "gone", "unread")


def _sort(old: Tensor, new: Tensor) -> str:
    if old.dtype != new.dtype:
        return "retyped"
    if old.dims != new.dims:
        return "reshaped"
    if old.sha256 is None or new.sha256 is None:
        return "unread"
    return "equal" if old.sha256 == new.sha256 else "changed"


def _renamed(old: dict[Key, Tensor], new: dict[Key, Tensor]) -> dict[Key, Key]:
    """Of what is left, those that hold the same numbers in the same form; in order where several do."""
    homes: dict[tuple[object, ...], list[Key]] = defaultdict(list)
    for key, tensor in reversed(new.items()):
        if key not in old and tensor.sha256 is not None:
            homes[_content(tensor)].append(key)
    left = ((key, tensor) for key, tensor in old.items() if key not in new and tensor.sha256 is not None)
    return {key: homes[_content(tensor)].pop() for key, tensor in left if homes.get(_content(tensor))}


def _converted(old: dict[Key, Tensor], new: dict[Key, Tensor], pairs: dict[Key, Key]) -> dict[Key, Key]:
    """Tools that quantize add an ending to the name: of the same shape, in another type."""
    taken = set(pairs.values())
    homes = {
        (key[0].rpartition("_")[0], tensor.dims): key
        for key, tensor in new.items()
        if key not in old and key not in taken
    }
    left = ((key, tensor) for key, tensor in old.items() if key not in new and key not in pairs)
    found = ((key, tensor, homes.get((key[0], tensor.dims))) for key, tensor in left)
    return {key: home for key, tensor, home in found if home is not None and new[home].dtype != tensor.dtype}


def _content(tensor: Tensor) -> tuple[object, ...]:
    return tensor.dtype, tensor.dims, tensor.sha256


def _said(was: int, now: int, counts: dict[str, int]) -> str:
    if not was and not now:
        return "neither model holds tensors"
    parts = [text for sort, text in _TEXTS.items() if counts.get(sort) for text in (text.format(count(counts[sort])),)]
    equal = counts.get("equal", 0)
    if was == now == equal:
        return f"all {plural(was, 'tensor')} equal" if was > 1 else "the only tensor is equal"
    if was == now == counts.get("renamed", 0):
        return f"the same numbers in all {plural(was, 'tensor')}, under other names"
    same = f"{count(equal)} of {plural(was, 'tensor')} equal" if equal else f"none of {plural(was, 'tensor')} equal"
    return "; ".join((same, *parts))


_TEXTS: Final = {
    "changed": "{} with other numbers",
    "retyped": "{} in another type",
    "reshaped": "{} of another shape",
    "renamed": "{} the same under another name",
    "gone": "{} gone",
    "added": "{} added",
    "unread": "{} not read, so not compared",
}
