"""Whether the numbers in the weights are the same: tensor by tensor, by name and then by hash."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.compare._types import Renamed, WeightsChange
from onnx_autodoc.compare._weights_text import Key, Tensor, is_constant, sentence

MOST_NAMES: Final = 100


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
    sorts: dict[str, list[Key]] = defaultdict(list)
    for key in old:
        if key in new:
            sorts[_sort(old[key], new[key])].append(key)
    pairs = _renamed(old, new)
    turned = _converted(old, new, pairs)
    sorts["retyped"] += turned
    known = {*pairs, *turned}, {*pairs.values(), *turned.values()}
    sorts["gone"] = [key for key in old if key not in new and key not in known[0]]
    sorts["added"] = [key for key in new if key not in old and key not in known[1]]
    listed = {sort: _heavy_first(keys, old | new) for sort, keys in sorts.items() if keys and sort != "equal"}
    sorts["renamed"] = list(pairs)
    return WeightsChange(
        tensors_was=len(old),
        tensors_is=len(new),
        **{sort: len(sorts.get(sort, ())) for sort in _SORTS},
        text=sentence(old, new, sorts),
        names={sort: tuple(key[0] for key in keys[:MOST_NAMES]) for sort, keys in listed.items()},
        pairs=tuple(Renamed(was=one[0], now=two[0]) for one, two in list(pairs.items())[:MOST_NAMES]),
    )


def _heavy_first(keys: list[Key], tensors: dict[Key, Tensor]) -> list[Key]:
    """Lists are cut: constants that steer shapes stand behind weights."""
    return sorted(keys, key=lambda key: is_constant(tensors[key]))


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
